#include "generated/tile_forms.h"

#include "base/assert.h"
#include "generated/instructions.h"
#include "isa/modules.h"

namespace tilepath::generated {
namespace {

/// Where lanes go, and what the other generator has.
const std::set<std::string_view> left_out{"bra",  "brx",  "call", "ret",    "exit",         "trap",     "brkpt",
                                          "addc", "subc", "madc", "alloca", "stackrestore", "stacksave"};

std::string key_of(const isa::Form& form) {
    std::string key = form.opcode;
    for (const isa::ModifierSlot& slot : form.modifiers) {
        if (slot.optional || slot.words.size() != 1 || slot.words[0] != slot.name) break;
        key += "." + slot.name;
    }
    return key;
}

}  // namespace

TileForms::TileForms(const std::string& target) : target_(target) {
    std::vector<isa::Instance> instances;
    std::vector<std::string> lines;
    for (const isa::Form& form : isa::all_forms()) {
        if (role_of(form) != Role::none || left_out.contains(form.opcode)) continue;
        for (isa::Instance& instance : isa::instances_of(form, 40)) {
            lines.push_back(isa::text_of(instance));
            instances.push_back(std::move(instance));
        }
    }
    const std::set<std::size_t> refused = isa::refused_by_us(target, "9.0", lines);
    for (std::size_t i = 0; i < instances.size(); ++i)
        if (!refused.contains(i)) by_words_[key_of(*instances[i].form)].push_back(std::move(instances[i]));
    TILEPATH_ASSERT(has("mbarrier.init") && has("cp.async.bulk"), "the target has asynchronous copies");
}

const isa::Instance& TileForms::choose(std::string_view key, Choices& choices) const {
    return choices.among(by_words_.find(key)->second);
}

const isa::Instance* TileForms::choose(std::string_view key, Choices& choices,
                                       const std::function<bool(const isa::Instance&)>& fits) const {
    if (!has(key)) return nullptr;
    for (int tries = 0; tries < 30; ++tries)
        if (const isa::Instance& instance = choose(key, choices); fits(instance)) return &instance;
    return nullptr;
}

const isa::Instance& TileForms::any(Choices& choices) const {
    const auto at = std::next(by_words_.begin(), choices.below(by_words_.size()));
    return choices.among(at->second);
}

}  // namespace tilepath::generated
