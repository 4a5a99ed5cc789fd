// What tcgen05.mma refuses, in words; and what it says of the memory that it touches.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "tcgen05_case.h"

namespace tilepath::exec {
namespace {

using atom::Tcgen05Kind;
using machine::TensorCells;
using testing::HasSubstr;
using enum number::Format;

/// The error of a case whose registers `change` spoils.
std::string error_of(
    const Tcgen05Case& c, const std::function<void(Tcgen05Operands&)>& change = [](auto&) {}) {
    Tcgen05Multiplier multiplier;
    Tcgen05Bench bench(c, 1);
    change(bench.operands[0]);
    return multiplier.plan(words_of(c), bench.operands[0]).error;
}

/// The same for words and a descriptor that no bench could fill.
std::string error_of(const program::Tcgen05Mma& what, std::uint32_t instruction) {
    Tcgen05Multiplier multiplier;
    Tcgen05Operands operands;
    operands.instruction = instruction;
    operands.a = operands.b = 1ull << 46 | 64ull << 32 | 1ull << 16 | 2ull << 61;
    return multiplier.plan(what, operands).error;
}

constexpr std::uint32_t f16_to_f32 = 1u << 4, n64 = 8u << 17, m128 = 8u << 24;

TEST(Tcgen05Faults, TellsWhatTheInstructionDescriptorMayNotSay) {
    const program::Tcgen05Mma dense;
    EXPECT_EQ(error_of(dense, f16_to_f32 | n64 | m128), "");
    EXPECT_THAT(error_of(dense, f16_to_f32 | n64 | 12u << 24), HasSubstr("has m of 64 or 128, found 192"));
    EXPECT_THAT(error_of(dense, f16_to_f32 | m128), HasSubstr("has no n of 0"));
    EXPECT_THAT(error_of(dense, f16_to_f32 | n64 | m128 | 1u << 6), HasSubstr("reserves"));
    EXPECT_THAT(error_of(dense, f16_to_f32 | n64 | m128 | 3u << 7), HasSubstr("no type 3 of A"));
    EXPECT_THAT(error_of(dense, n64 | m128 | 1u << 7), HasSubstr("accumulates in f16 only what is f16 itself"));
    EXPECT_THAT(error_of(dense, f16_to_f32 | n64 | m128 | 1u << 2), HasSubstr("sparse bit (2) set"));
    EXPECT_THAT(error_of(dense, f16_to_f32 | n64 | m128 | 1u << 30), HasSubstr("are for .ws"));
    EXPECT_THAT(error_of({.cta_group = 2}, f16_to_f32 | 1u << 17 | m128), HasSubstr("n is 16 to 256 in steps of 16"));
    EXPECT_THAT(error_of({.weight_stationary = true}, f16_to_f32 | 1u << 17 | m128),
                HasSubstr("n of 64 or 128 or 256"));
    const std::uint32_t mxf4 = 1u << 7 | 1u << 10 | n64 | 1u << 27;
    EXPECT_THAT(error_of({.kind = Tcgen05Kind::mxf4}, mxf4), HasSubstr("scales of ue8m0, found ue4m3"));
    EXPECT_THAT(error_of({.kind = Tcgen05Kind::mxf4nvf4, .block = 32}, mxf4), HasSubstr("32 elements are ue8m0"));
    EXPECT_THAT(error_of({.kind = Tcgen05Kind::mxf4}, mxf4 | 1u << 23 | 1u << 29), HasSubstr("ids of 0 and 2"));
    EXPECT_THAT(error_of({.kind = Tcgen05Kind::mxf4nvf4, .block = 16}, mxf4 | 2u << 29),
                HasSubstr("scale_vec::4X has a factor id of 0, found 2"));
    EXPECT_THAT(error_of({.kind = Tcgen05Kind::f8f6f4}, f16_to_f32 | n64 | m128 | 5u << 7 | 1u << 15),
                HasSubstr("e2m1 operands cannot be MN-major"));
}

TEST(Tcgen05Faults, TellsWhatAMatrixDescriptorMayNotSay) {
    EXPECT_THAT(error_of({}, [](auto& o) { o.a |= 3ull << 61; }), HasSubstr("A's matrix descriptor"));
    EXPECT_THAT(error_of({}, [](auto& o) { o.b |= 3ull << 61; }), HasSubstr("swizzle bits 3 are no mode"));
    EXPECT_THAT(error_of({}, [](auto& o) { o.b &= ~(1ull << 46); }), HasSubstr("must be 0b001, found 0"));
    EXPECT_THAT(error_of({}, [](auto& o) { o.b |= 1ull << 53; }), HasSubstr("reserved bits"));
    EXPECT_THAT(error_of({}, [](auto& o) { o.b |= 1ull << 52; }), HasSubstr("48 bytes of K"));
    EXPECT_THAT(error_of({.kind = Tcgen05Kind::tf32, .a = tf32, .b = tf32, .a_mn_major = true}),
                HasSubstr("need the swizzle 128B_atom_32B"));
    EXPECT_THAT(error_of({.a_mn_major = true, .a_swizzle = Swizzle::b128_atom_32}), HasSubstr("use 128B"));
}

TEST(Tcgen05Faults, TellsWhereOperandsMayNotLie) {
    EXPECT_THAT(error_of({}, [](auto& o) { o.d = 16 << 16; }), HasSubstr("begins at lane 0, found 16"));
    EXPECT_THAT(error_of({.m = 64}, [](auto& o) { o.d = 32 << 16; }), HasSubstr("lane 0 or 16, found 32"));
    EXPECT_THAT(error_of({.m = 64, .a_in_tmem = true}, [](auto& o) { o.d = 16 << 16; }),
                HasSubstr("A in Tensor Memory begins at the lane of D, 16, found 0"));
    EXPECT_THAT(error_of({.sparse = true}, [](auto& o) { o.metadata |= 16 << 16; }), HasSubstr("sparsity metadata"));
    EXPECT_THAT(error_of({.kind = Tcgen05Kind::mxf8f6f4, .a = e4m3, .b = e4m3, .block = 32},
                         [](auto& o) { o.scale_b |= 32 << 16; }),
                HasSubstr("scale factors begin at lane 0, found 32"));
    EXPECT_THAT(error_of({.a_in_tmem = true}, [](auto& o) { o.instruction |= 1u << 15; }),
                HasSubstr("cannot be MN-major"));
    EXPECT_THAT(error_of({.m = 64, .a_in_tmem = true, .ashift = true}), HasSubstr(".ashift wants m of 128"));
    EXPECT_THAT(error_of({.ws = true}, [](auto& o) { o.zero_columns = 9ull << 56; }),
                HasSubstr("shifts B by 9 columns; the instruction descriptor allows 0"));
}

TEST(Tcgen05Faults, TellsWhatOnlySm103Has) {
    const Tcgen05Case c{.kind = Tcgen05Kind::mxf4, .a = e2m1, .b = e2m1, .k96 = true, .block = 32};
    EXPECT_EQ(error_of(c), "");
    Tcgen05Bench bench(c, 1);
    EXPECT_THAT(Tcgen05Multiplier(100).plan(words_of(c), bench.operands[0]).error, HasSubstr("only sm_103 has"));
}

TEST(Tcgen05Faults, TellsWhichMetadataSelectNothing) {
    Tcgen05Multiplier multiplier;
    Tcgen05Bench bench({.n = 8, .sparse = true}, 1);
    bench.tensor[0].column(480)[3] = 0x44444044;  // row 3, columns 8 to 11
    EXPECT_THAT(bench.run(multiplier),
                HasSubstr("row 3, columns 8 to 11, in lane 3, column 480 of Tensor Memory, are 0b0000"));
}

const TensorCells* find(const Tcgen05Plan& plan, TensorCells::Role role, std::uint32_t cta) {
    for (const TensorCells& cells : plan.cells)
        if (cells.role == role && cells.cta == cta) return &cells;
    return nullptr;
}

TEST(Tcgen05Cells, AreThoseThatTheProductTouches) {
    Tcgen05Multiplier multiplier;
    Tcgen05Bench bench({.m = 64, .n = 24, .a_in_tmem = true, .accumulates = false, .lane = 16}, 1);
    const Tcgen05Plan& f = multiplier.plan(words_of({.m = 64, .a_in_tmem = true}), bench.operands[0]);
    ASSERT_EQ(f.error, "");
    ASSERT_EQ(f.cells.size(), 2u);
    const std::array<std::uint32_t, 4> upper{0xFFFF0000, 0xFFFF0000, 0xFFFF0000, 0xFFFF0000};
    for (const TensorCells& cells : f.cells) EXPECT_EQ(cells.lanes, upper);
    const TensorCells &d = *find(f, TensorCells::Role::d, 0), &a = *find(f, TensorCells::Role::a, 0);
    EXPECT_EQ(std::tuple(d.column, d.columns, d.read, d.write), std::tuple(0, 24, false, true));
    EXPECT_EQ(std::tuple(a.column, a.columns, a.read, a.write), std::tuple(0, 8, true, false));
}

TEST(Tcgen05Cells, OfScaleFactorsAreAllTheirCopies) {
    const Tcgen05Case nvf4{.kind = Tcgen05Kind::mxf4nvf4,
                           .a = e2m1,
                           .b = e2m1,
                           .m = 256,
                           .n = 192,
                           .cta_group = 2,
                           .block = 16,
                           .scale = ue4m3,
                           .disabled = {1}};
    Tcgen05Multiplier multiplier;
    Tcgen05Bench bench(nvf4, 1);
    const Tcgen05Plan& plan = multiplier.plan(words_of(nvf4), bench.operands[0]);
    ASSERT_EQ(plan.error, "");
    const std::array<std::uint32_t, 4> all{~0u, ~0u, ~0u, ~0u};
    for (std::uint32_t cta = 0; cta < 2; ++cta) {
        const TensorCells &a = *find(plan, TensorCells::Role::scale_a, cta),
                          &b = *find(plan, TensorCells::Role::scale_b, cta);
        EXPECT_EQ(std::tuple(a.column, a.columns, a.lanes), std::tuple(0, 4, all));
        EXPECT_EQ(std::tuple(b.column, b.columns, b.lanes), std::tuple(0, 6, all));
        const std::array<std::uint32_t, 4> but_one{~1u, ~0u, ~0u, ~0u};
        const TensorCells& d = *find(plan, TensorCells::Role::d, cta);
        EXPECT_EQ(std::tuple(d.columns, d.lanes, d.read), std::tuple(192, cta == 0 ? but_one : all, true));
    }
    // Rows of 32 bytes under the swizzle of 128: A has 16 groups of 8 rows, B's half 12, 1,024 bytes each.
    EXPECT_EQ(plan.first_byte, (std::array<std::int64_t, 2>{0, 0}));
    EXPECT_EQ(plan.last_byte, (std::array<std::int64_t, 2>{16 * 1024, 12 * 1024}));
}

TEST(Tcgen05Plans, AreSharedByTheStepsOfATile) {
    Tcgen05Multiplier multiplier;
    Tcgen05Bench bench({.n = 32, .steps = 2}, 1);
    const program::Tcgen05Mma what = words_of({});
    const Tcgen05Plan& first = multiplier.plan(what, bench.operands[0]);
    EXPECT_EQ(&first, &multiplier.plan(what, bench.operands[1]));
    Tcgen05Operands other = bench.operands[1];
    other.instruction = instruction_descriptor_of({.n = 40});
    EXPECT_NE(first.id, multiplier.plan(what, other).id);
    other = bench.operands[1];
    other.accumulates = false;
    other.a += 2;  // the next 32 bytes of the swizzled row
    EXPECT_EQ(first.id, multiplier.plan(what, other).id);
    EXPECT_EQ(first.chain, multiplier.plan(what, other).chain);
    other.disabled_lanes[0] = 1;
    EXPECT_NE(first.chain, multiplier.plan(what, other).chain);
}

}  // namespace
}  // namespace tilepath::exec
