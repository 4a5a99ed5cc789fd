// Who may read which special register, as ptxas has it; and what is said of operands that are no values.
#include "ptx/special_registers.h"
#include "../ptxas.h"
#include "modules.h"

namespace tilepath::isa {
namespace {

using namespace std::string_literals;

/// Each name, plain and with components, read as every type; and by an instruction that reads none.
std::vector<std::string> reads() {
    std::vector<std::string> names(ptx::special_registers().begin(), ptx::special_registers().end());
    for (const char* numbered : {"%envreg0", "%envreg31", "%pm0", "%pm7", "%pm0_64", "%pm7_64",
                                 "%reserved_smem_offset_0", "%reserved_smem_offset_1"})
        names.push_back(numbered);
    std::vector<std::string> lines;
    for (const std::string& name : names) {
        for (const std::string& component : {""s, ".x"s, ".w"s}) {
            const std::string text = name + component + ";";
            for (const char* head : {"mov.u16 h0, ", "mov.b32 r0, ", "mov.u32 r0, ", "mov.s32 r0, ", "mov.f32 r0, ",
                                     "mov.u64 q0, ", "mov.pred p0, ", "cvt.u64.u32 q0, ", "add.u32 r0, r1, "})
                lines.push_back(head + text);
        }
    }
    return lines;
}

class SpecialRegisters : public testing::TestWithParam<std::pair<std::string, std::string>> {};  // target, version

TEST_P(SpecialRegisters, AreReadAsPtxasHasIt) {
    auto ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    const auto [target, version] = GetParam();
    const std::vector<std::string> lines = reads();
    const ModuleText text{[&](const auto& with) { return module_text(target, version, with); }, first_line};
    const auto theirs = refused_by_ptxas(*ptxas, target, text, lines);
    const auto ours = refused_by_us(target, version, lines);
    EXPECT_GT(lines.size(), theirs.size() + 80);
    for (std::size_t i = 0; i < lines.size(); ++i)
        EXPECT_EQ(ours.contains(i), theirs.contains(i))
            << target << ": " << lines[i] << "  ptxas: " << (theirs.contains(i) ? theirs.at(i) : "takes it");
}

INSTANTIATE_TEST_SUITE_P(Targets, SpecialRegisters,
                         testing::Values(std::pair{"sm_75"s, "6.3"s}, std::pair{"sm_80"s, "7.5"s},
                                         std::pair{"sm_89"s, "9.0"s}, std::pair{"sm_90"s, "7.8"s},
                                         std::pair{"sm_90a"s, "9.0"s}),
                         [](const auto& pair) {
                             const std::string& version = pair.param.second;
                             return fmt::format("{}_in_{}_{}", pair.param.first, version[0], version[2]);
                         });

TEST(Operands, OfTheWrongKindAreCalledWhatTheyAre) {
    const auto message = [](const std::string& line) {
        const Diagnostics faults =
            faults_of(module_text("sm_80", "8.0", {"done: targets: .branchtargets done;", line}));
        return faults.empty() ? std::string() : faults.front().message;
    };
    EXPECT_EQ(message("bra r1;"), "expected a label to branch to, found the .b32 register 'r1'");
    EXPECT_EQ(message("bra g;"), "expected a label to branch to, found the variable 'g' in .global");
    EXPECT_EQ(message("bra targets;"), "expected a label to branch to, found the .branchtargets list 'targets'");
    EXPECT_EQ(message("bra %tid;"), "expected a label to branch to, found the special register '%tid'");
    EXPECT_EQ(message("brx.idx r1, done;"), "expected the label of a .branchtargets list, found the label 'done'");
    EXPECT_EQ(message("call s, ();"), "expected a function or a register, found the variable 's' in .shared");
    EXPECT_EQ(message("add.u32 r1, r2, done;"), "expected a register or a value, found the label 'done'");
    EXPECT_EQ(message("add.u32 g, r2, r3;"), "expected a register to write, found the variable 'g' in .global");
    EXPECT_EQ(message("add.u32 r1, r2, %laneid;"), "'add' does not read special registers");
    EXPECT_EQ(message("mov.u32 r1, %tid;"), "'%tid' has components: write %tid.x");
    EXPECT_EQ(message("mov.u32 r1, %clock64;"), "'%clock64' is a .u64; 'mov' expects a .u32 here");
    EXPECT_EQ(message("mov.u32 r1, %cluster_ctarank;"),
              "%cluster_ctarank needs PTX ISA 7.8 and sm_90; the module says .version 8.0, .target sm_80");
}

}  // namespace
}  // namespace tilepath::isa
