#include <algorithm>
#include <unordered_map>

#include "isa/families.h"

namespace tilepath::isa {
namespace {

struct Registry {
    std::vector<Family> families = all_families();
    std::vector<Form> forms;
    std::unordered_map<std::string_view, std::vector<const Form*>> by_opcode;
    std::vector<std::string> opcodes;

    Registry() {
        for (const Family& family : families)
            for (const FormText& text : family.forms) forms.push_back(compile(text, family));
        for (const Form& form : forms) by_opcode[form.opcode].push_back(&form);
        for (const auto& [opcode, list] : by_opcode) opcodes.emplace_back(opcode);
        std::sort(opcodes.begin(), opcodes.end());
    }
};

const Registry& registry() {
    static const Registry all;
    return all;
}

}  // namespace

const std::vector<Form>& all_forms() { return registry().forms; }

const std::vector<const Form*>& forms_of(std::string_view opcode) {
    static const std::vector<const Form*> none;
    auto found = registry().by_opcode.find(opcode);
    return found == registry().by_opcode.end() ? none : found->second;
}

const std::vector<std::string>& all_opcodes() { return registry().opcodes; }

}  // namespace tilepath::isa
