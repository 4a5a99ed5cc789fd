// On what evidence each form stands. recorded_forms.inc is what tests/vectors holds; tests/isa/evidence_test.cpp
// compares the two.
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "base/assert.h"
#include "isa/form.h"

namespace tilepath::isa {

std::string line_of(const Form& form) {
    std::string line = form.text;
    for (const ModifierSlot& slot : form.modifiers) {
        if (slot.words.size() == 1 && slot.words[0] == slot.name) continue;
        line += "; " + slot.name + ":";
        for (std::string_view word : slot.words) line += fmt::format(" {}", word);
    }
    return line;
}

bool recorded_device_has(const Form& form) {
    return form.needs.suffix == Suffix::any ? form.needs.sm <= h200.sm
                                            : form.needs.suffix == Suffix::architecture && form.needs.sm == h200.sm;
}

Evidence evidence_of(const Form& form) {
    static const std::unordered_set<std::string_view> recorded{
#include "isa/recorded_forms.inc"
    };
    return recorded_device_has(form) && recorded.contains(line_of(form)) ? h200 : Evidence{form.family->evidence};
}

std::string evidence_text(const Form& form) {
    const std::string_view inferred = form.family->inferred;
    return to_string(evidence_of(form)) + (inferred.empty() ? "" : fmt::format("; inferred: {}", inferred));
}

std::string to_string(Evidence evidence) {
    switch (evidence.kind) {
        case Evidence::Kind::manual: return "manual";
        case Evidence::Kind::model: return "model";
        case Evidence::Kind::hardware: return fmt::format("hardware(sm_{})", evidence.sm);
    }
    TILEPATH_ASSERT(false, "an Evidence outside its enum");
}

}  // namespace tilepath::isa
