// What the binder says of instructions that are not right, and that it takes right ones however they are spelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules.h"

namespace tilepath::isa {
namespace {

using testing::HasSubstr;

/// Everything said of one instruction.
std::string said_of(const std::string& line, const std::string& target = "sm_80", const std::string& version = "8.0") {
    return to_string(faults_of(module_text(target, version, {line})));
}

TEST(Bind, TakesModifiersInAnyOrder) {
    for (const char* line :
         {"add.rn.ftz.sat.f32 r0, r1, r2;", "add.sat.f32.ftz.rn r0, r1, r2;", "setp.u32.lt.and p0, r0, r1, p1;",
          "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {r0, r1, r2, r3}, [s];", "atom.add.release.gpu.u32 r0, [q0], r1;",
          "atom.release.gpu.global.add.s32 r0, [q0], r1;", "cp.async.shared.global.L2::128B.cg [s], [q0], 16;",
          "min.abs.ftz.xorsign.NaN.f32 r0, r1, r2;"})
        EXPECT_EQ(said_of(line, "sm_86"), "") << line;
}

TEST(Bind, KeepsTypesLayoutsAndSpacesInOrder) {
    // cvt.f32.f64 narrows and needs a rounding; it is not cvt.f64.f32 spelled backwards.
    EXPECT_NE(said_of("cvt.f32.f64 r0, q0;"), "");
    EXPECT_EQ(said_of("cvt.f64.f32 q0, r0;"), "");
    EXPECT_NE(said_of("set.eq.f16x2.u32 r0, r1, r2;"), "");
    EXPECT_NE(said_of("cp.async.ca.global.shared [s], [q0], 4;"), "");
    EXPECT_NE(
        said_of(
            "mma.sync.aligned.m16n8k8.col.row.f32.bf16.bf16.f32 {r0, r1, r2, r3}, {r4, r5}, {r6}, {r0, r1, r2, r3};"),
        "");
}

TEST(Bind, OffersOpcodesLikeAnUnknownOne) {
    std::string said = said_of("maad.lo.u32 r0, r1, r2, r3;");
    EXPECT_THAT(said, HasSubstr("'maad' is not an instruction that tilepath supports"));
    EXPECT_THAT(said, HasSubstr("did you mean mad"));
    EXPECT_THAT(said, HasSubstr("test.ptx:11:1"));
}

TEST(Bind, NamesAnUnknownModifierWhereItStands) {
    std::string said = said_of("add.rn.fts.f32 r0, r1, r2;");
    EXPECT_THAT(said, HasSubstr("'.fts' is not a modifier of 'add'"));
    EXPECT_THAT(said, HasSubstr("test.ptx:11:8"));
}

TEST(Bind, TellsOfModifiersThatDoNotGoTogether) {
    EXPECT_THAT(said_of("add.sat.u32 r0, r1, r2;"),
                HasSubstr("'add' does not take these modifiers together, or one is missing"));
    EXPECT_THAT(said_of("mul.u32 r0, r1, r2;"),
                HasSubstr("'mul' does not take these modifiers together, or one is missing"));
    EXPECT_THAT(said_of("div.f32 r0, r1, r2;"), HasSubstr("or one is missing"));
}

TEST(Bind, TellsOperandsThatDoNotFitFromTheForm) {
    std::string said = said_of("add.u32 r0, r1;");
    EXPECT_THAT(said, HasSubstr("the operands of 'add' do not fit: expected 'add.type d, a, b', found 2 operands"));
    EXPECT_THAT(said_of("ld.u32 r0, q0;"), HasSubstr("the operands of 'ld' do not fit"));
    EXPECT_THAT(said_of("and.b32 r0, r1, [q0];"), HasSubstr("the operands of 'and' do not fit"));
}

TEST(Bind, SaysWhatANewerFormNeeds) {
    EXPECT_THAT(said_of("elect.sync r0|p0, -1;"),
                HasSubstr("needs PTX ISA 8.0 and sm_90; the module says .version 8.0, .target sm_80"));
    EXPECT_THAT(said_of("add.bf16 h0, h1, h2;"), HasSubstr("needs PTX ISA 7.8 and sm_90"));
    EXPECT_THAT(said_of("redux.sync.min.f32 r0, r1, -1;", "sm_100", "9.0"),
                HasSubstr("needs PTX ISA 8.6 and sm_100f or sm_100a"));
    EXPECT_EQ(said_of("redux.sync.min.f32 r0, r1, -1;", "sm_103a", "9.0"), "");
    // The word is late, not the form.
    EXPECT_THAT(said_of("ld.shared::cluster.u32 r0, [s];"), HasSubstr("needs PTX ISA 7.8 and sm_90"));
    EXPECT_THAT(said_of("atom.cluster.add.u32 r0, [q0], r1;"), HasSubstr("needs PTX ISA 7.8 and sm_90"));
    EXPECT_THAT(said_of("cp.async.cg.shared.global.L2::128B [s], [q0], 16;", "sm_80", "7.0"),
                HasSubstr("needs PTX ISA 7.4"));
}

// As ptxas 13.0 refuses each of these modules.
TEST(Bind, TellsOfTargetsThatTheVersionDoesNotKnow) {
    const auto said = [](const char* target, const char* version) {
        return to_string(faults_of(module_text(target, version, {"mov.u32 r0, r1;"})));
    };
    EXPECT_THAT(said("sm_100a", "8.5"),
                HasSubstr("the target sm_100a came with PTX ISA 8.6; the module says .version 8.5"));
    EXPECT_THAT(said("sm_103a", "8.7"), HasSubstr("PTX ISA 8.8"));
    EXPECT_THAT(said("sm_100f", "8.7"), HasSubstr("PTX ISA 8.8"));
    EXPECT_THAT(said("sm_110a", "8.8"), HasSubstr("PTX ISA 9.0"));
    EXPECT_THAT(said("sm_120a", "8.6"), HasSubstr("PTX ISA 8.7"));
    EXPECT_THAT(said("sm_90a", "7.8"), HasSubstr("PTX ISA 8.0"));
    for (const auto& [target, version] :
         {std::pair{"sm_100a", "8.6"}, {"sm_120", "8.7"}, {"sm_121f", "8.8"}, {"sm_90", "7.8"}})
        EXPECT_EQ(said(target, version), "") << target;
}

TEST(Bind, ReportsEveryFaultOfAModule) {
    std::string said = to_string(
        faults_of(module_text("sm_80", "8.0", {"add.u33 r0, r1, r2;", "add.u32 r0, r1, r2;", "sub.u32 r0;", "foo;"})));
    EXPECT_THAT(said, HasSubstr("test.ptx:11:"));
    EXPECT_THAT(said, testing::Not(HasSubstr("test.ptx:12:")));
    EXPECT_THAT(said, HasSubstr("test.ptx:13:"));
    EXPECT_THAT(said, HasSubstr("test.ptx:14:"));
}

TEST(Bind, TellsRegistersOfTheWrongWidth) {
    EXPECT_THAT(said_of("add.u64 q0, q1, r2;"), HasSubstr("'r2' is a .b32 register; 'add' expects a .u64 here"));
    EXPECT_THAT(said_of("mul.wide.u32 r0, r1, r2;"), HasSubstr("'r0' is a .b32 register; 'mul' expects a .u64 here"));
    EXPECT_THAT(said_of("and.pred p0, p1, r2;"), HasSubstr("'r2' is a .b32 register; 'and' expects a .pred here"));
    EXPECT_EQ(said_of("cvt.u8.u32 q0, r0;"), "") << "cvt may write a wider register";
}

TEST(Bind, TellsWhatNoFormCanSay) {
    EXPECT_THAT(said_of("cp.async.cg.shared.global [s], [q0], 8;"), HasSubstr("cp.async.cg copies 16 bytes; found 8"));
    EXPECT_THAT(said_of("cp.async.ca.shared.global [s], [q0], 3;"),
                HasSubstr("cp.async.ca copies 4, 8 or 16 bytes; found 3"));
    EXPECT_THAT(said_of("cp.async.ca.shared.global [s], [q0], 8, 9;"), HasSubstr("0 to 8; found 9"));
    EXPECT_THAT(said_of("cp.async.wait_group -1;"), HasSubstr("not negative; found -1"));
    EXPECT_THAT(said_of("bar.sync 16;"), HasSubstr("barriers 0 to 15; found 16"));
    EXPECT_THAT(said_of("bar.sync 1, 33;"), HasSubstr("multiple of the 32 of a warp; found 33"));
    EXPECT_THAT(said_of("lop3.b32 r0, r1, r2, r3, 256;"), HasSubstr("8 bits; found 256"));
    EXPECT_THAT(said_of("cvt.sat.u32.u16 r0, h0;"), HasSubstr("nothing to saturate"));
    EXPECT_THAT(said_of("ld.v4.u64 {q0, q1, q2, q3}, [q4];"), HasSubstr(".v4.u64 needs PTX ISA 8.8 and sm_100"));
    EXPECT_THAT(said_of("ld.v4.u32 {r0, r1}, [q4];"), HasSubstr("expected a vector of 4 registers, found 2"));
    EXPECT_THAT(said_of("discard.global.L2 [q0], 64;"), HasSubstr("128 bytes; found 64"));
    EXPECT_THAT(said_of("mbarrier.init.shared.b64 [s], 0;"), HasSubstr("1 to 1048575 arrivals; found 0"));
    EXPECT_THAT(said_of("alloca.u64 q0, q1, 24;"), HasSubstr("power of two"));
    EXPECT_THAT(said_of("pmevent 16;"), HasSubstr("0 to 15; found 16"));
}

// Sizes that wrap in 32 or 64 bits would look small.
TEST(Bind, TellsOfVariablesThatNoDeviceHolds) {
    const auto module = [](const std::string& outside, const std::string& parameter, const std::string& inside) {
        return to_string(faults_of(".version 8.0\n.target sm_80\n.address_size 64\n" + outside + ".visible .entry k(" +
                                   parameter + ")\n{ .reg .b32 r; " + inside + " ret; }\n"));
    };
    const std::string larger = " variables larger than 1048576 bytes";
    EXPECT_THAT(module("", ".param .b8 a[4294967296]", ""), HasSubstr("'a' makes the .param" + larger));
    EXPECT_THAT(module("", ".param .b8 a[800000], .param .b8 b[800000]", ""),
                HasSubstr("'b' makes the .param" + larger));
    EXPECT_THAT(module("", "", ".local .b8 a[1048577];"), HasSubstr("'a' makes the .local" + larger));
    EXPECT_THAT(module("", "", ".shared .b8 a[4294967290]; .shared .b8 b[100]; mov.b32 r, a; mov.b32 r, b;"),
                HasSubstr("'a' makes the .shared" + larger));
    EXPECT_THAT(module(".global .b8 g[4294967296][4294967296];", "", ""),
                HasSubstr("'g': expected at most 1099511627776 bytes, found 18446744073709551615"));
    EXPECT_THAT(module(".global .b32 g[1000000000] = {1};", "", ""),
                HasSubstr("of a variable with an initialiser, found 4000000000"));
    EXPECT_EQ(module(".global .b32 g[100] = {1};", ".param .b8 a[4096]", ".local .b8 l[400000];"), "");
}

TEST(Bind, AsksAtomWhichMatricesThereAre) {
    EXPECT_THAT(said_of("mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {r0, r1, r2, r3}, {r0, r1, r2, r3}, {r0, "
                        "r1}, {r0, r1, r2, r3};"),
                HasSubstr("m16n8k16"));
    EXPECT_THAT(said_of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {r0, r1, r2, r3}, {r0, r1, r2}, {r0, r1}, "
                        "{r0, r1, r2, r3};"),
                HasSubstr("expected a vector of 4 registers, found one of 3"));
    EXPECT_THAT(
        said_of("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {r0, r1, r2, r3}, {r0, r1}, r2, {r0, r1, r2, r3};"),
        HasSubstr("expected a vector of 1 register, found 'r2'"));
    EXPECT_THAT(
        said_of("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {q0, q1, q2, q3}, {q0, q1}, {q0}, {q0, q1, q2, q3};"),
        HasSubstr("m16n8k4.row.col.f64.f64.f64.f64 needs sm_90"));
    EXPECT_THAT(said_of("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {r0, r1, r2, r3}, {r0, r1, r2, r3}, {r0, "
                        "r1, r2, r3}, "
                        "{r0, r1, r2, r3}, r4, 2;"),
                HasSubstr("0 to 1; found 2"));
    EXPECT_THAT(said_of("wmma.load.a.sync.aligned.row.m16n16k8.f16 {r0, r1, r2, r3}, [q0];"),
                HasSubstr("wmma has no A or B of .f16"));
    EXPECT_THAT(said_of("wmma.load.a.sync.aligned.col.m8n8k32.s4 {r0}, [q0];"), HasSubstr("A is .row and B is .col"));
}

}  // namespace
}  // namespace tilepath::isa
