// ptxas as the judge of the forms: which words go together, on which targets. Skipped where it is not installed.
#include <gtest/gtest.h>

#include "../ptxas.h"
#include "instances.h"
#include "modules.h"

namespace tilepath::isa {
namespace {

using namespace std::string_literals;

bool tested(const Form& form) {
    // Control flow needs labels and callees around it.
    static const std::set<std::string_view> without{"bra", "brx", "call", "ret", "exit", "trap", "brkpt"};
    return !without.contains(form.opcode);
}

/// What ptxas 13.0 takes beyond the manual. tilepath stays with the manual: what they would compute is not defined.
bool beyond_the_manual(const std::string& text) {
    auto begins = [&](std::string_view start) { return text.starts_with(start); };
    auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    const bool bitwise = has(".and.") || has(".or.") || has(".xor.");
    return begins("testp.f32 ") || begins("testp.f64 ") ||            // without a property
           (begins("madc.") && has("16 ")) ||                         // 16 bits
           (begins("fma.r") && !begins("fma.rn") && has(".bf16")) ||  // directed rounding
           (begins("atom.") && bitwise && std::count(text.begin(), text.end(), ',') == 3) ||
           ((begins("mapa.") || begins("getctarank.")) && (has(".s32") || has(".s64"))) ||
           // The manual has red.async of global memory alone, which is later targets'.
           (begins("red.async.relaxed.") && !has(".cluster") && !has(".global") && !has("mbarrier")) ||
           // These it finds out only when it looks for the library function that does them.
           (begins("wmma.mma.") && (has(".s4.s4.") || has(".u4.u4."))) ||
           ((begins("wmma.load.c.") || begins("wmma.store.d.")) && has("m8n8k") &&
            has(".f32 "));  // an operand too many
}

/// Spellings that ptxas 13.0 takes in older versions than the manual says, or that the forms give one version on all
/// targets.
bool before_its_time(const std::string& version, const std::string& text) {
    const bool fp8 = text.find(".e4m3x2") != std::string::npos || text.find(".e5m2x2") != std::string::npos;
    return (version < "7.8" && text.starts_with("cp.async.") && text.find(".shared::cta") != std::string::npos) ||
           (version == "7.8" && text.starts_with("cvt.") && fp8);
}

void compare(const std::string& target, const std::string& version, const std::vector<std::string>& lines,
             const std::map<std::size_t, std::string>& theirs) {
    const std::set<std::size_t> ours = refused_by_us(target, version, lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        auto refused = theirs.find(i);
        if (ours.contains(i) && refused == theirs.end() && !beyond_the_manual(lines[i]) &&
            !before_its_time(version, lines[i]))
            ADD_FAILURE() << target << ": only ptxas takes " << lines[i];
        if (!ours.contains(i) && refused != theirs.end())
            ADD_FAILURE() << target << ": only tilepath takes " << lines[i] << "  ptxas: " << refused->second;
    }
}

class Legality : public testing::TestWithParam<std::pair<std::string, std::string>> {};  // target, version

TEST_P(Legality, IsAsPtxasHasIt) {
    auto ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    const auto [target, version] = GetParam();
    std::vector<std::string> lines;
    std::set<std::string> seen;
    for (const Form& form : all_forms()) {
        if (!tested(form)) continue;
        std::vector<Instance> instances = instances_of(form, 16);
        for (Instance& each : neighbours_of(form, 10)) instances.push_back(std::move(each));
        for (const Instance& each : instances)
            if (std::string text = text_of(each); seen.insert(text).second) lines.push_back(text);
    }
    const ModuleText text{[&](const auto& with) { return module_text(target, version, with); }, first_line};
    auto theirs = refused_by_ptxas(*ptxas, target, text, lines);
    EXPECT_GT(lines.size(), theirs.size() + 1500);
    compare(target, version, lines, theirs);
}

INSTANTIATE_TEST_SUITE_P(
    Targets, Legality,
    testing::Values(std::pair{"sm_80"s, "9.0"s}, std::pair{"sm_89"s, "9.0"s}, std::pair{"sm_90"s, "9.0"s},
                    std::pair{"sm_90a"s, "9.0"s}, std::pair{"sm_100"s, "9.0"s}, std::pair{"sm_100a"s, "9.0"s},
                    std::pair{"sm_100f"s, "9.0"s}, std::pair{"sm_103a"s, "9.0"s}, std::pair{"sm_103f"s, "9.0"s},
                    std::pair{"sm_110a"s, "9.0"s}, std::pair{"sm_110f"s, "9.0"s}, std::pair{"sm_120"s, "9.0"s},
                    std::pair{"sm_120a"s, "9.0"s}, std::pair{"sm_120f"s, "9.0"s}, std::pair{"sm_80"s, "7.0"s},
                    std::pair{"sm_80"s, "7.5"s}, std::pair{"sm_90"s, "7.8"s}, std::pair{"sm_89"s, "8.3"s},
                    std::pair{"sm_100a"s, "8.6"s}, std::pair{"sm_100a"s, "8.7"s}, std::pair{"sm_120a"s, "8.7"s},
                    std::pair{"sm_100f"s, "8.8"s}, std::pair{"sm_103a"s, "8.8"s}, std::pair{"sm_121a"s, "8.8"s}),
    [](const auto& pair) {
        const std::string& version = pair.param.second;
        return fmt::format("{}_in_{}_{}", pair.param.first, version[0], version[2]);
    });

}  // namespace
}  // namespace tilepath::isa
