// tcgen05 as micro-operations, and what its lowering refuses. That ptxas refuses the same is legality_test.cpp's to
// say.
#include <gmock/gmock.h>

#include <algorithm>

#include "atom/instruction.h"
#include "atom/targets.h"
#include "instances.h"
#include "isa/build.h"
#include "isa/target.h"
#include "program/print.h"
#include "ptx/read.h"

namespace tilepath::isa {
namespace {

using program::Op;
using program::Tcgen05Mma;
using program::Tcgen05Source;
using ::testing::HasSubstr;

std::string module_of(const std::string& body, const std::string& target) {
    return ".version 9.0\n.target " + target + R"(
.address_size 64
.entry k() { .reg .b32 %r<32>; .reg .f32 %f<16>; .reg .b16 %h<2>; .reg .b64 %q<8>; .reg .pred %p;
.shared .align 8 .b64 mbar;
)" + body + "\nret; }\n";
}

program::Program program_of(const std::string& body, const std::string& target = "sm_100a") {
    const auto module = ptx::read(Source("test.ptx", module_of(body, target)));
    auto program = build(module.value(), "k");
    EXPECT_TRUE(program) << to_string(program.error());
    return program ? *std::move(program) : program::Program{};
}

std::string refusal(const std::string& body, const std::string& target = "sm_100a") {
    const auto module = ptx::read(Source("test.ptx", module_of(body, target)));
    if (!module) return to_string(module.error());
    const auto program = build(*module, "k");
    return program ? "" : to_string(program.error());
}

/// The operations of one kind, as text.
std::vector<std::string> text_of(const program::Program& program, Op op) {
    std::vector<std::string> lines;
    for (const program::MicroOp& each : program.functions[0].ops)
        if (each.op == op) lines.push_back(print(program.functions[0], each));
    return lines;
}

using Lines = std::vector<std::string>;

TEST(Tcgen05, Allocation) {
    const auto program = program_of(R"(
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [mbar+4], 64;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r1, %r2;
        tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;)");
    EXPECT_EQ(text_of(program, Op::tcgen05_alloc),
              Lines{"tcgen05_alloc.shared.b32.aligned.variant2 shared+0x404, 0x40"});
    EXPECT_EQ(text_of(program, Op::tcgen05_dealloc), Lines{"tcgen05_dealloc.b32.aligned.variant2 r1, r2"});
    EXPECT_EQ(text_of(program, Op::tcgen05_relinquish), Lines{"tcgen05_relinquish.aligned.variant2"});
}

TEST(Tcgen05, CommitsAndFences) {
    const auto program = program_of(R"(
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1+8];
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r1], %h1;
        tcgen05.fence::before_thread_sync;
        tcgen05.fence::after_thread_sync;)");
    EXPECT_EQ(text_of(program, Op::tcgen05_commit), (Lines{"tcgen05_commit.shared::cluster.b64.variant1 r1, _ [8]",
                                                           "tcgen05_commit.shared::cluster.b64.variant1 r1, r49"}));
    EXPECT_EQ(text_of(program, Op::tcgen05_fence), (Lines{"tcgen05_fence", "tcgen05_fence.variant1"}));
}

TEST(Tcgen05, Products) {
    const auto program = program_of(R"(
        tcgen05.mma.cta_group::2.kind::f16 [%r0], %q0, %q1, %r2, %p, 3;
        tcgen05.mma.sp.cta_group::2.kind::tf32.ashift.collector::a::lastuse [%r0], [%r1], %q1, [%r3], %r2,
            {%r4, %r5, %r6, %r7, %r8, %r9, %r10, 0}, !%p;)");
    const auto& function = program.functions[0];
    EXPECT_EQ(text_of(program, Op::tcgen05_mma),
              (Lines{"tcgen05_mma.variant2 r0, r50, r51, r2, p58, _, _, _, _",
                     "tcgen05_mma.variant2 r0, r1, r51, r2, !p58, _, _, r3, _, r4, r5, r6, r7, r8, r9, r10, 0x0"}));
    ASSERT_EQ(function.tcgen05_mmas.size(), 2u);
    Tcgen05Mma first, second;
    first.cta_group = 2, first.scale_input_d = 3;
    second.cta_group = 2, second.kind = atom::Tcgen05Kind::tf32, second.sparse = second.a_in_tensor_memory = true;
    second.ashift = true, second.collector = Tcgen05Mma::Buffer::a, second.collect = Tcgen05Mma::Collect::lastuse;
    EXPECT_EQ(function.tcgen05_mmas[0], first);
    EXPECT_EQ(function.tcgen05_mmas[1], second);
}

TEST(Tcgen05, ScaledAndWeightStationaryProducts) {
    const auto program = program_of(R"(
        tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r0], %q0, %q1, %r2, [%r3], [%r4+8], %p;
        tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r0], %q0, %q1, %r2, [%r3], [%r4], 1;
        tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X [%r0], %q0, %q1, %r2, [%r3], [%r4], 0;
        tcgen05.mma.ws.sp.cta_group::1.kind::i8.collector::b2::fill [%r0], [%r1], %q1, [%r3], %r2, %p, %q4;)");
    const auto lines = text_of(program, Op::tcgen05_mma);
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_THAT(lines[0], testing::MatchesRegex("tcgen05_mma.variant1 r0, r50, r51, r2, p58, r3, r[0-9]+, _, _"));
    EXPECT_EQ(lines[1], "tcgen05_mma.variant1 r0, r50, r51, r2, 0x1, r3, r4, _, _");
    EXPECT_EQ(lines[3], "tcgen05_mma.variant1 r0, r1, r51, r2, p58, _, _, r3, r54");
    const auto& mmas = program.functions[0].tcgen05_mmas;
    EXPECT_EQ(mmas[0].block, 16);
    EXPECT_EQ(mmas[1].block, 32);
    EXPECT_EQ(mmas[2].block, 32);
    EXPECT_EQ(mmas[3].block, 0);
    EXPECT_TRUE(mmas[3].weight_stationary && mmas[3].sparse);
    EXPECT_EQ(mmas[3].collector, Tcgen05Mma::Buffer::b2);
    EXPECT_EQ(mmas[3].collect, Tcgen05Mma::Collect::fill);
}

TEST(Tcgen05, CopiesAndShifts) {
    const auto program = program_of(R"(
        tcgen05.cp.cta_group::1.64x128b.warpx2::01_23.b8x16.b4x16_p64 [%r0+16], %q0;
        tcgen05.shift.cta_group::1.down [%r0+8];)");
    EXPECT_EQ(text_of(program, Op::tcgen05_cp), Lines{"tcgen05_cp.shared.variant1 r0, r50 [16]"});
    EXPECT_EQ(text_of(program, Op::tcgen05_shift), Lines{"tcgen05_shift.variant1 r0 [8]"});
    const program::TmemCopy expected{1, atom::TmemCopyShape::s64x128b_01_23, atom::MatrixData::b4x16_p64};
    EXPECT_EQ(program.functions[0].tmem_copies.at(0), expected);
}

// A load's registers live to its wait, and hold what was loaded where they are used before it.
TEST(Tcgen05, LoadsAndTheirRegisters) {
    const auto program = program_of(R"(
        tcgen05.ld.sync.aligned.16x32bx2.x2.pack::16b.b32 {%f0, %r1}, [%r2+4], 16;
        add.u32 %r3, %r1, 1;
        tcgen05.st.sync.aligned.32x32b.x2.b32 [%r2], {%r3, %r4};
        mov.u32 %r4, 7;
        tcgen05.wait::st.sync.aligned;
        tcgen05.wait::ld.sync.aligned;
        st.shared.v2.b32 [mbar], {%f0, %r3};)");
    std::string text;
    for (const program::MicroOp& op : program.functions[0].ops)
        if (op.op != Op::add && op.op != Op::mov) text += print(program.functions[0], op) + "\n";
    EXPECT_EQ(text, R"(tcgen05_ld.b32.aligned r32, r1 <- r2 [4]
tcgen05_settle r1
tcgen05_st.b32.aligned r2, r3, r4
tcgen05_settle r4
tcgen05_wait.aligned.variant1 r3
tcgen05_wait.aligned r32
st.shared.b32.v2 shared+0x400, r32, r3
ret
)");
    const auto& transfer = program.functions[0].tmem_transfers.at(0);
    EXPECT_EQ(transfer.shape, atom::TmemShape::s16x32bx2);
    EXPECT_EQ(transfer.half_split, 16);
    EXPECT_EQ(transfer.repeats, 2);
    EXPECT_TRUE(transfer.packed);
}

TEST(Tcgen05, LoadsThatReduce) {
    const auto program =
        program_of("tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.NaN.f32 {%f0, %f1}, %f2, [%r2];", "sm_103a");
    EXPECT_EQ(text_of(program, Op::tcgen05_ld).at(0).substr(0, 14), "tcgen05_ld.f32");
    EXPECT_THAT(text_of(program, Op::tcgen05_ld).at(0), HasSubstr(" r32, r33, r34 <- r2"));
    const auto& transfer = program.functions[0].tmem_transfers.at(0);
    EXPECT_TRUE(transfer.reduces && transfer.maximum && transfer.absolute && transfer.nan);
    // As Triton 3.9 writes it; ptxas 13.0 takes both.
    const auto braces =
        program_of("tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%f0, %f1}, {%f2}, [%r2];", "sm_103a");
    EXPECT_THAT(text_of(braces, Op::tcgen05_ld).at(0), HasSubstr(" r32, r33, r34 <- r2"));
    EXPECT_THAT(refusal("tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%f0, %f1}, {%f2, %f3}, [%r2];", "sm_103a"),
                HasSubstr("expected one register to write, found 2"));
}

TEST(Tcgen05, GenerationsApart) {
    const std::string fence = "tcgen05.fence::after_thread_sync;",
                      i8 = "tcgen05.mma.cta_group::1.kind::i8 [%r0], %q0, %q1, %r2, %p;";
    EXPECT_EQ(refusal(fence), "");
    EXPECT_THAT(refusal(fence, "sm_80"), HasSubstr("mma.sync"));
    EXPECT_THAT(refusal(fence, "sm_90a"), HasSubstr("wgmma.mma_async (sm_90a)"));
    EXPECT_THAT(refusal(fence, "sm_100"), HasSubstr("'a' or 'f' behind its number"));
    EXPECT_THAT(refusal(fence, "sm_120a"), HasSubstr("FlashAttention-4"));
    EXPECT_THAT(refusal(fence, "sm_120a"), HasSubstr("mma.sync"));
    EXPECT_EQ(refusal(i8), "");
    EXPECT_EQ(refusal(i8, "sm_110a"), "");
    EXPECT_THAT(refusal(i8, "sm_103a"), HasSubstr("sm_100a or sm_110a"));
    EXPECT_THAT(refusal("tcgen05.shift.cta_group::1.down [%r0];", "sm_100f"), HasSubstr("sm_100a, sm_103a or sm_110a"));
    EXPECT_THAT(refusal("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r0, %r1}, %r2, [%r3];"),
                HasSubstr("sm_103a, sm_110a or their f targets"));
}

// What `tilepath show` says of targets and what binding says are two tables; both were compared with ptxas.
TEST(Tcgen05, TargetsAreThoseOfTheAtoms) {
    std::size_t compared = 0;
    for (const Form* form : forms_of("tcgen05"))
        for (const Instance& instance : instances_of(*form, 40)) {
            const auto atom = atom::instruction_named(head_of(instance));
            if (!atom) continue;  // no atom: alloc, commit, fences
            ++compared;
            const auto targets = atom::targets_of(*atom);
            for (const std::string_view name : atom::all_targets())
                EXPECT_EQ(meets(form->needs, 9, 0, target_named(name).value()),
                          std::ranges::find(targets, name) != targets.end())
                    << head_of(instance) << " on " << name;
        }
    EXPECT_GT(compared, 500u);
}

TEST(Tcgen05, OneCtaGroupInAKernel) {
    const std::string single = "tcgen05.shift.cta_group::1.down [%r0];\n",
                      pair = "tcgen05.shift.cta_group::2.down [%r0];\n", none = "tcgen05.wait::ld.sync.aligned;\n";
    EXPECT_EQ(refusal(single + none + single), "");
    EXPECT_EQ(refusal(pair + none + pair), "");
    EXPECT_THAT(refusal(single + none + pair), HasSubstr("cta_group::2 here, cta_group::1 in line 6"));
    EXPECT_THAT(refusal(single + none + pair), HasSubstr("test.ptx:8"));
    const std::string callee =
        R"(.func pair() { .reg .b32 %r0; mov.b32 %r0, 0; tcgen05.shift.cta_group::2.down [%r0]; ret; }
)";
    const auto called = [&](const std::string& body) {
        std::string text = module_of(body, "sm_100a");
        text.insert(text.find(".entry"), callee);
        const auto module = ptx::read(Source("test.ptx", text));
        const auto program = build(module.value(), "k");
        return program ? "" : to_string(program.error());
    };
    EXPECT_EQ(called(single), "");
    EXPECT_EQ(called(pair + "call pair;"), "");
    EXPECT_THAT(called(single + "call pair;"), HasSubstr("cta_group::2 here, cta_group::1 in line 7"));
}

// As ptxas 13.0 refuses each of these.
TEST(Tcgen05, Refusals) {
    struct Case {
        std::string instruction;
        const char* message;
    };
    const std::string mma = "tcgen05.mma.cta_group::1.kind::";
    const Case cases[] = {
        {"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%q0], 48;", "32, 64, 128, 256 or 512 columns; found 48"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%q0], 1024;", "found 1024"},
        {"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 16;", "found 16"},
        {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %r1, %r2}, [%r3];", "expected a vector of 2 registers"},
        {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %r1}, [%q3];", "an address in Tensor Memory is a .b32 register"},
        {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %r1}, [mbar];", "expected an address in Tensor Memory"},
        {"tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r0}, [%r3];", "16x256b has no .x64"},
        {"tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], %r0;", "operands"},
        {mma + "f16 [%r0], %q0, %q1, %r2, %p, 16;", "scale-input-d is 0 to 15"},
        {mma + "f8f6f4 [%r0], %q0, %q1, %r2, %p, 1;", "operands"},
        {mma + "f16 [%r0], %q0, %q1, %r2, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, %p;", "expected a vector of 4"},
        {mma + "f16.ashift [%r0], %q0, %q1, %r2, %p;", "operands"},
        {mma + "f16.ashift.collector::a::fill [%r0], [%r1], %q1, %r2, %p;", "do not go together"},
        {mma + "mxf4nvf4.block_scale [%r0], %q0, %q1, %r2, [%r3], [%r4], %p;", "modifiers"},
        {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%q0], 3;", "expected a register"},
    };
    for (const Case& each : cases) EXPECT_THAT(refusal(each.instruction), HasSubstr(each.message)) << each.instruction;
}

}  // namespace
}  // namespace tilepath::isa
