// Results of f32, f64, f16 and bf16 operations that were worked out by hand, or recorded on an H200.
#include "alu_harness.h"
#include "number/format.h"

namespace tilepath::exec::alu_test {
namespace {

using number::Rounding;

TEST(AluFloat, MinMaxByHand) {
    const Case least(Op::min, DataType::f32, 2), most(Op::max, DataType::f32, 2);
    const Bits nan = 0x7FC12345, canonical = 0x7FFFFFFF;
    EXPECT_EQ(least(f32(0.0f), f32(-0.0f)), f32(-0.0f));
    EXPECT_EQ(least(f32(-0.0f), f32(0.0f)), f32(-0.0f));
    EXPECT_EQ(most(f32(-0.0f), f32(0.0f)), f32(0.0f));
    EXPECT_EQ(least(nan, f32(3)), f32(3));
    EXPECT_EQ(most(f32(3), nan), f32(3));
    EXPECT_EQ(most(nan, nan), canonical);
    const auto flag_nan = [](MicroOp& op) { op.flags.nan = true; };
    EXPECT_EQ(most.with(flag_nan)(f32(3), nan), canonical);
    const auto signs = [](MicroOp& op) { op.flags.xorsign_abs = true; };
    EXPECT_EQ(least.with(signs)(f32(-3), f32(2)), f32(-2));
    EXPECT_EQ(most.with(signs)(f32(-3), f32(-2)), f32(3));
    EXPECT_EQ(most.with(signs)(f32(-3), nan), f32(-3));  // sign: one minus of the two
    const Case three(Op::max, DataType::f32, 3);
    EXPECT_EQ(three(f32(1), f32(5), f32(3)), f32(5));
    EXPECT_EQ(three(nan, nan, f32(3)), f32(3));
    EXPECT_EQ(three.with(flag_nan)(f32(1), nan, f32(3)), canonical);
    const auto magnitudes = [](MicroOp& op) { op.flags.abs = true; };
    EXPECT_EQ(three.with(magnitudes)(f32(1), f32(-5), f32(3)), f32(5));
    EXPECT_EQ(Case(Op::min, DataType::f32, 3).with(magnitudes)(f32(-1), f32(-5), f32(3)), f32(1));
}

TEST(AluFloat, ByHand) {
    const Case mul(Op::mul, DataType::f32, 2), fma(Op::fma, DataType::f32, 3);
    const auto ftz = [](MicroOp& op) { op.flags.ftz = true; };
    const auto sat = [](MicroOp& op) { op.flags.sat = true; };
    const auto toward = [](Rounding rounding) { return [=](MicroOp& op) { op.rounding = rounding; }; };
    EXPECT_EQ(Case(Op::add, DataType::f32, 2)(f32(1.0f), f32(0x1p-24f)), f32(1.0f));  // a tie: to even
    EXPECT_EQ(Case(Op::add, DataType::f32, 2).with(toward(Rounding::rp))(f32(1.0f), f32(0x1p-60f)), 0x3F800001u);
    EXPECT_EQ(Case(Op::add, DataType::f32, 2).with(toward(Rounding::rm))(f32(1.0f), f32(-1.0f)), 0x80000000u);
    EXPECT_EQ(Case(Op::add, DataType::f32, 2).with(toward(Rounding::rz))(0x7F7FFFFF, 0x7F7FFFFF), 0x7F7FFFFFu);
    EXPECT_EQ(Case(Op::add, DataType::f32, 2)(0x7F7FFFFF, 0x7F7FFFFF), 0x7F800000u);
    EXPECT_EQ(fma(f32(1 + 0x1p-12f), f32(1 + 0x1p-12f), f32(-1 - 0x1p-11f)), f32(0x1p-24f));  // not rounded in between
    EXPECT_EQ(mul(f32(INFINITY), f32(0)), 0x7FFFFFFFu);
    // Recorded on an H200: (1 − 2^-24)·2^-126 is flushed, though rounding would make it normal.
    EXPECT_EQ(mul(0x3F7FFFFF, 0x00800000), 0x00800000u);
    EXPECT_EQ(mul.with(ftz)(0x3F7FFFFF, 0x80800000), 0x80000000u);
    EXPECT_EQ(mul.with(ftz)(f32(2.0f), 0x007FFFFF), 0u);
    EXPECT_EQ(mul.with(sat)(f32(3), f32(1)), f32(1));
    EXPECT_EQ(mul.with(sat)(f32(-3), f32(1)), 0u);
    EXPECT_EQ(mul.with(sat)(f32(INFINITY), f32(0)), 0u);
    // f64 NaN, recorded on an H200: add has b's first, div a's, fma b's, c's, a's.
    const Bits x = 0x7FF0000000000001, y = 0xFFF0000000000002, z = 0x7FF8000000000003, quiet = 1ull << 51;
    EXPECT_EQ(Case(Op::add, DataType::f64, 2)(x, y), (y | quiet));
    EXPECT_EQ(Case(Op::div, DataType::f64, 2)(x, y), (x | quiet));
    EXPECT_EQ(Case(Op::fma, DataType::f64, 3)(x, y, z), (y | quiet));
    EXPECT_EQ(Case(Op::fma, DataType::f64, 3)(x, f64(1), z), z);
    EXPECT_EQ(Case(Op::mul, DataType::f64, 2)(f64(INFINITY), f64(0)), 0xFFF8000000000000u);
    // f16: ties and .ftz before rounding.
    EXPECT_EQ(Case(Op::mul, DataType::f16, 2).with(ftz)(0x0400, 0xBBFF), 0x8000u);
    EXPECT_EQ(Case(Op::mul, DataType::f16, 2)(0x0400, 0xBBFF), 0x8400u);
    EXPECT_EQ(Case(Op::add, DataType::f16, 2)(0x7BFF, 0x4C00), 0x7C00u);           // 65504 + 16 rounds to infinity
    EXPECT_EQ(Case(Op::fma, DataType::bf16, 3)(0x3F81, 0x3F81, 0xBF82), 0x3880u);  // (1+2^-7)² − 1 − 2^-6 = 2^-14
}

TEST(AluFloat, ApproximateDivision) {
    const auto approx = [](MicroOp& op) { op.flags.approx = true; };
    const Case div = Case(Op::div, DataType::f32, 2).with(approx);
    EXPECT_EQ(div(f32(6), f32(-3)), f32(-2));
    EXPECT_EQ(div(f32(0x1p127f), f32(0x1.8p126f)), 0u);  // PTX ISA 9.7.3.8: 2^126 < |b| < 2^128
    EXPECT_EQ(div(f32(-0x1p127f), f32(0x1.8p126f)), 0x80000000u);
    EXPECT_EQ(div(f32(INFINITY), f32(0x1.8p126f)), 0x7FFFFFFFu);
    EXPECT_EQ(div(f32(INFINITY), f32(0x1p126f)), 0x7F800000u);
    const Case full = Case(Op::div, DataType::f32, 2).with([](MicroOp& op) { op.flags.full = true; });
    EXPECT_EQ(full(f32(0x1p127f), f32(0x1.8p126f)), f32(2.0f / 1.5f));
}

TEST(AluFloat, CopysignAndTestp) {
    EXPECT_EQ(Case(Op::copysign, DataType::f32, 2)(0x80000000u, 0x7FC00001u), 0xFFC00001u);
    EXPECT_EQ(Case(Op::copysign, DataType::f64, 2)(f64(2), f64(-3)), f64(3));
    using program::TestProperty;
    const struct {
        Bits f32, f64;
        bool finite, infinite, number, nan, normal, subnormal;
    } rows[] = {{0, 0, true, false, true, false, true, false},
                {0x80000000, 1ull << 63, true, false, true, false, true, false},
                {0x007FFFFF, 0x000FFFFFFFFFFFFF, true, false, true, false, false, true},
                {0x80000001, 0x8000000000000001, true, false, true, false, false, true},
                {0x00800000, 0x0010000000000000, true, false, true, false, true, false},
                {0x7F7FFFFF, 0x7FEFFFFFFFFFFFFF, true, false, true, false, true, false},
                {0xFF800000, 0xFFF0000000000000, false, true, true, false, false, false},
                {0x7F800001, 0x7FF0000000000001, false, false, false, true, false, false}};
    for (const auto& row : rows) {
        const std::pair<TestProperty, bool> expected[] = {
            {TestProperty::finite, row.finite}, {TestProperty::infinite, row.infinite},
            {TestProperty::number, row.number}, {TestProperty::notanumber, row.nan},
            {TestProperty::normal, row.normal}, {TestProperty::subnormal, row.subnormal}};
        for (const auto& [property, value] : expected) {
            EXPECT_EQ(Case(Op::testp, DataType::f32, {1}, {32}).variant(property)(row.f32), Bits(value))
                << int(property);
            EXPECT_EQ(Case(Op::testp, DataType::f64, {1}, {64}).variant(property)(row.f64), Bits(value))
                << int(property);
        }
    }
}

}  // namespace
}  // namespace tilepath::exec::alu_test
