// A head with its operands means one thing: no two forms take both.
#include <gtest/gtest.h>

#include "instances.h"
#include "isa/bind.h"
#include "modules.h"

namespace tilepath::isa {
namespace {

/// Whether some operand list fits both forms.
bool operands_overlap(const Form& a, const Form& b) {
    using Kind = OperandSlot::Kind;
    auto fit = [](Kind x, Kind y) {
        auto both = [&](Kind one, Kind other) { return (x == one && y == other) || (x == other && y == one); };
        return x == y || both(Kind::value_or_pair, Kind::value) || both(Kind::value_or_pair, Kind::pair);
    };
    const std::size_t least = std::max(a.least_operands, b.least_operands),
                      most = std::min(a.operands.size(), b.operands.size());
    if (least > most) return false;
    for (std::size_t i = 0; i < least; ++i)
        if (!fit(a.operands[i].kind, b.operands[i].kind)) return false;
    return true;
}

TEST(Ambiguity, NoTwoFormsTakeOneInstruction) {
    std::size_t heads = 0;
    for (const Form& form : all_forms())
        for (const Instance& instance : instances_of(form, 200)) {
            ++heads;
            ptx::Head head{form.opcode, {}};
            for (std::string_view word : instance.words)
                if (!word.empty()) head.modifiers.push_back({word, 0});
            ASSERT_TRUE(match_head(head, form)) << form.text << " does not take its own " << head_of(instance);
            for (const Form* other : forms_of(form.opcode)) {
                if (other == &form || !operands_overlap(form, *other)) continue;
                // One form for each architecture that has it: a target meets one of them.
                const bool apart = form.needs.suffix == Suffix::architecture &&
                                   other->needs.suffix == Suffix::architecture && form.needs.sm != other->needs.sm;
                if (apart) continue;
                EXPECT_FALSE(match_head(head, *other))
                    << head_of(instance) << " is '" << form.text << "' and '" << other->text << "'";
            }
        }
    EXPECT_GT(heads, 5000u);
}

/// Modifiers in any order bind to the same form with the same words.
TEST(Ambiguity, OrderOfModifiersDoesNotMatter) {
    for (const Form& form : all_forms())
        for (const Instance& instance : instances_of(form, 8)) {
            ptx::Head head{form.opcode, {}};
            for (std::string_view word : instance.words)
                if (!word.empty()) head.modifiers.push_back({word, 0});
            auto straight = match_head(head, form);
            // Those that keep their order among themselves go last, the others in reverse before them.
            auto ordered = [&](const ptx::Modifier& modifier) {
                return std::any_of(form.modifiers.begin(), form.modifiers.end(), [&](const ModifierSlot& slot) {
                    return slot.ordered != Ordered::no && slot.accepts(modifier.text);
                });
            };
            auto middle = std::stable_partition(head.modifiers.begin(), head.modifiers.end(),
                                                [&](const auto& each) { return !ordered(each); });
            std::reverse(head.modifiers.begin(), middle);
            auto turned = match_head(head, form);
            ASSERT_TRUE(straight && turned) << form.text;
            // Slots with the same words may trade them: cp.async's sizes never do, sets of words are what counts.
            auto sorted = [](std::vector<std::string_view> words) {
                std::sort(words.begin(), words.end());
                return words;
            };
            EXPECT_EQ(sorted(straight->words), sorted(turned->words)) << form.text;
            EXPECT_EQ(straight->types, turned->types) << form.text;
        }
}

}  // namespace
}  // namespace tilepath::isa
