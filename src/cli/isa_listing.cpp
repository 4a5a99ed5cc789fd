#include "cli/isa_listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "isa/bind.h"
#include "isa/target.h"
#include "report/json_text.h"

namespace tilepath::cli {
namespace {

using isa::Form;
using isa::ModifierSlot;

bool matches(std::string_view text, std::string_view glob) {
    if (glob.empty()) return text.empty();
    if (glob.front() == '*') return matches(text, glob.substr(1)) || (!text.empty() && matches(text.substr(1), glob));
    return !text.empty() && text.front() == glob.front() && matches(text.substr(1), glob.substr(1));
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t end; (end = text.find(at)) != std::string_view::npos; text.remove_prefix(end + 1))
        parts.push_back(text.substr(0, end));
    parts.push_back(text);
    return parts;
}

bool takes(const Form& form, std::span<const std::string_view> words) {
    return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
        return std::any_of(form.modifiers.begin(), form.modifiers.end(),
                           [&](const ModifierSlot& slot) { return slot.accepts(word); });
    });
}

/// Modifiers whose words the form's own text does not show.
std::vector<const ModifierSlot*> named_modifiers(const Form& form) {
    std::vector<const ModifierSlot*> out;
    for (const ModifierSlot& slot : form.modifiers)
        if (slot.words.size() > 1) out.push_back(&slot);
    return out;
}

std::string words_of(const Form& form) {
    std::vector<std::string> out;
    for (const ModifierSlot* slot : named_modifiers(form))
        out.push_back(fmt::format("{}: {}", slot->name, fmt::join(slot->words, " ")));
    return fmt::format("{}", fmt::join(out, "; "));
}

}  // namespace

Result<std::vector<const Form*>> forms_named(std::string_view pattern) {
    std::vector<const Form*> out;
    std::vector<std::string_view> words = split(pattern, '.');
    const std::string_view opcode = pattern.empty() ? "*" : words.front();
    words.erase(words.begin());
    bool opcode_known = false;
    for (const Form& form : isa::all_forms()) {
        if (!matches(form.opcode, opcode)) continue;
        opcode_known = true;
        if (takes(form, words)) out.push_back(&form);
    }
    if (!out.empty()) return out;
    if (opcode_known)
        return fail(fmt::format("no form of '{}' takes {} together", opcode, fmt::join(words, ", ")),
                    fmt::format("`tilepath isa {}` lists its forms", opcode));
    std::vector<std::string_view> near = isa::similar(opcode, isa::all_opcodes());
    return fail(fmt::format("no instruction '{}' is supported", opcode),
                near.empty() ? "`tilepath isa` lists what is" : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

std::string forms_as_text(const std::vector<const Form*>& forms) {
    std::string out;
    for (const Form* form : forms) {
        out += fmt::format("{:<72} {:<24} {:<18} {}\n", form->text, isa::to_string(form->needs), form->family->manual,
                           isa::evidence_text(*form));
        for (const ModifierSlot* slot : named_modifiers(*form))
            out += fmt::format("    {}: {}\n", slot->name, fmt::join(slot->words, " "));
    }
    return out + fmt::format("{} form{}\n", forms.size(), forms.size() == 1 ? "" : "s");
}

std::string forms_as_json(const std::vector<const Form*>& forms) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Form* form : forms) {
        nlohmann::ordered_json words = nlohmann::ordered_json::object();
        for (const ModifierSlot* slot : named_modifiers(*form)) words[slot->name] = slot->words;
        all.push_back({{"form", form->text},
                       {"opcode", form->opcode},
                       {"words", std::move(words)},
                       {"needs",
                        {{"version", fmt::format("{}.{}", form->needs.major, form->needs.minor)},
                         {"sm", form->needs.sm},
                         {"text", isa::to_string(form->needs)}}},
                       {"manual", form->family->manual},
                       {"evidence", isa::evidence_text(*form)}});
    }
    return report::json_text(all) + "\n";
}

std::string forms_as_markdown(const std::vector<const Form*>& forms) {
    std::string out =
        "# Instructions\n\n"
        "Every form that tilepath runs, as `tilepath isa --markdown` prints it. A word in the form that the next "
        "column names stands for\n"
        "one of its choices; what is in `{}` may be left out; modifiers come in any order, but types, layouts and "
        "state spaces keep theirs.\n"
        "Needs: the least `.version` and `.target`; `.shared::cluster`, `.cluster` and other late words ask for more. "
        "Manual: the section of\n"
        "PTX ISA. Evidence: where the values in the form's tests come from, and what no public source settles.\n";
    std::map<std::string_view, std::vector<const Form*>> by_opcode;
    for (const Form* form : forms) by_opcode[form->opcode].push_back(form);
    for (const auto& [opcode, list] : by_opcode) {
        out += fmt::format("\n## {}\n\n| form | words | needs | manual | evidence |\n|---|---|---|---|---|\n", opcode);
        for (const Form* form : list) {
            std::string text = form->text;
            for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
                text.replace(at, 1, "\\|");
            out += fmt::format("| `{}` | {} | {} | {} | {} |\n", text, words_of(*form), isa::to_string(form->needs),
                               form->family->manual, isa::evidence_text(*form));
        }
    }
    return out;
}

}  // namespace tilepath::cli
