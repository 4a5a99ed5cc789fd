// .approx functions: the manual's tables of special values, and its bounds of error against long double, over all
// 16-bit sources and samples of f32 (PTX ISA 9.7.3.13 to 9.7.3.22, 9.7.4.9, 9.7.4.10).
#include <cmath>
#include <functional>

#include "alu_harness.h"
#include "number/format.h"

namespace tilepath::exec::alu_test {
namespace {

using number::Format;
using Real = long double;

constexpr Bits nan_f32 = 0x7FFFFFFF, infinity = 0x7F800000, minus = 0x80000000;

Case approx(Op op, DataType type, bool ftz = false) {
    return Case(op, type, 1).with([&](MicroOp& what) { what.flags.approx = true, what.flags.ftz = ftz; });
}

TEST(AluFunctions, SpecialValues) {
    const struct {
        Op op;
        Bits minus_infinity, minus_one, minus_zero, zero, plus_infinity;
    } rows[] = {{Op::rcp, minus, f32(-1), infinity | minus, infinity, 0},
                {Op::sqrt, nan_f32, nan_f32, minus, 0, infinity},
                {Op::rsqrt, nan_f32, nan_f32, infinity | minus, infinity, 0},
                {Op::sin, nan_f32, 0xBF576AA3, minus, 0, nan_f32},
                {Op::cos, nan_f32, 0x3F0A5141, f32(1), f32(1), nan_f32},
                {Op::lg2, nan_f32, nan_f32, infinity | minus, infinity | minus, infinity},
                {Op::ex2, 0, f32(0.5f), f32(1), f32(1), infinity},
                {Op::tanh, f32(-1), f32(std::tanh(-1.0f)), minus, 0, f32(1)}};
    for (const auto& row : rows) {
        const Case with = approx(row.op, DataType::f32);
        const char* name = program::traits(row.op).name.data();
        EXPECT_EQ(with(f32(-INFINITY)), row.minus_infinity) << name;
        EXPECT_EQ(with(f32(-1)), row.minus_one) << name;
        EXPECT_EQ(with(f32(-0.0f)), row.minus_zero) << name;
        EXPECT_EQ(with(f32(0)), row.zero) << name;
        EXPECT_EQ(with(f32(INFINITY)), row.plus_infinity) << name;
        EXPECT_EQ(with(0xFFC12345), nan_f32) << name;
        EXPECT_EQ(with(0x7F800001), nan_f32) << name;
        if (row.op == Op::tanh) continue;
        // .ftz: a subnormal source is a zero of its sign.
        const Case flushed = approx(row.op, DataType::f32, true);
        EXPECT_EQ(flushed(0x007FFFFF), row.zero) << name;
        EXPECT_EQ(flushed(0x80000001), row.minus_zero) << name;
    }
    EXPECT_EQ(approx(Op::rcp, DataType::f32, true)(f32(0x1.8p127f)), 0u);  // a subnormal result
    EXPECT_EQ(approx(Op::rcp, DataType::f32)(f32(0x1p127f)), f32(0x1p-127f));
    EXPECT_EQ(approx(Op::ex2, DataType::f32, true)(f32(-127)), 0u);
    EXPECT_EQ(approx(Op::ex2, DataType::f32)(f32(-149)), 1u);
    EXPECT_EQ(approx(Op::ex2, DataType::f32)(f32(-151)), 0u);
    EXPECT_EQ(approx(Op::ex2, DataType::f32)(f32(128)), infinity);
    EXPECT_EQ(approx(Op::lg2, DataType::f32)(1), f32(-149));
    EXPECT_EQ(approx(Op::lg2, DataType::f32)(f32(1)), 0u);
    EXPECT_EQ(approx(Op::tanh, DataType::f32)(0x80000123), 0x80000123u);  // subnormals pass through
    EXPECT_EQ(approx(Op::rsqrt, DataType::f32)(4), f32(0x1.6a09e4p73f));
}

/// Samples of all exponents, more of them near 1.
std::vector<Values> samples() {
    std::mt19937_64 random(12);
    std::vector<Values> batches(600);
    for (std::size_t b = 0; b < batches.size(); ++b)
        for (Bits& lane : batches[b].lane) {
            lane = std::uint32_t(random());
            if (b % 2 == 0) lane = (lane & 0x807FFFFF) | Bits(110 + random() % 28) << 23;
        }
    return batches;
}

/// Farthest from the exact value: `relative` times it, or `absolute`.
void expect_within(Op op, const std::function<Real(Real)>& exact, Real relative, Real absolute, Real from, Real to) {
    const Case with = approx(op, DataType::f32);
    int count = 0;
    for (const Values& a : samples()) {
        const Values d = with.run({a})[0];
        for (int i = 0; i < warp_lanes; ++i) {
            const float x = std::bit_cast<float>(std::uint32_t(a.lane[i])),
                        y = std::bit_cast<float>(std::uint32_t(d.lane[i]));
            const Real expected = exact(x);
            if (!(x >= from && x <= to) || std::isnan(expected) || std::abs(expected) >= 0x1p128L) continue;
            ++count;
            ASSERT_LE(std::abs(y - expected), std::abs(expected) * relative + absolute)
                << program::traits(op).name << "(" << x << ") = " << y << ", not " << expected;
        }
    }
    EXPECT_GT(count, 300);
}

/// The manual's bounds, with half of the last place of a subnormal result. What an H200 gives is in
/// tests/vectors/kernels/approximations.txt.
TEST(AluFunctions, F32) {
    constexpr Real tiny = 0x1p-150L, all = 0x1p128L, pi = 3.14159265358979323846L;
    expect_within(
        Op::rcp, [](Real x) { return 1 / x; }, 0x1p-23L, tiny, -all, all);
    expect_within(
        Op::sqrt, [](Real x) { return std::sqrt(x); }, 0x1p-23L, tiny, 0, all);
    expect_within(
        Op::rsqrt, [](Real x) { return 1 / std::sqrt(x); }, 0x1.14p-23L, 0, 0, all);  // 2^-22.9
    expect_within(
        Op::lg2, [](Real x) { return std::log2(x); }, 0, 0x1p-22L, 0.5L, 2);
    expect_within(
        Op::lg2, [](Real x) { return std::log2(x); }, 0x1p-22L, 0, 2.001L, all);
    expect_within(
        Op::ex2, [](Real x) { return std::exp2(x); }, 0x1p-22L, tiny, -all, all);
    expect_within(
        Op::tanh, [](Real x) { return std::tanh(x); }, 0x1p-11L, tiny, -all, all);
    expect_within(
        Op::sin, [](Real x) { return std::sin(x); }, 0, 0x1.6ap-21L, -2 * pi, 2 * pi);  // 2^-20.5
    expect_within(
        Op::cos, [](Real x) { return std::cos(x); }, 0, 0x1.6ap-21L, -2 * pi, 2 * pi);
    expect_within(
        Op::sin, [](Real x) { return std::sin(x); }, 0, 0x1.3bp-15L, -100 * pi, 100 * pi);  // 2^-14.7
    expect_within(
        Op::cos, [](Real x) { return std::cos(x); }, 0, 0x1.3bp-15L, -100 * pi, 100 * pi);
}

struct HalfForm {
    DataType single, pair;
    Format format;
    bool ftz;
};
constexpr HalfForm f16{DataType::f16, DataType::f16x2, Format::f16, false},
    bf16{DataType::bf16, DataType::bf16x2, Format::bf16, false};
constexpr HalfForm bf16_ftz{DataType::bf16, DataType::bf16x2, Format::bf16, true};

/// All sources, and as pairs with their negatives; FNV-1a over the results in order.
std::uint64_t expect_half(Op op, const HalfForm& form, Real (*exact)(Real)) {
    const Case single = approx(op, form.single, form.ftz), pair = approx(op, form.pair, form.ftz);
    const Bits fraction = Bits(number::traits(form.format).fraction_bits);
    std::uint64_t hash = 0xCBF29CE484222325;
    for (Bits first = 0; first < 0x10000; first += warp_lanes) {
        Values a, both;
        for (int i = 0; i < warp_lanes; ++i) {
            a.lane[i] = first + Bits(i);
            both.lane[i] = (a.lane[i] ^ 0x8000) << 16 | a.lane[i];
        }
        const Values d = single.run({a})[0], pairs = pair.run({both})[0];
        for (int i = 0; i < warp_lanes; ++i) {
            for (const Bits byte : {d.lane[i] & 0xFF, d.lane[i] >> 8}) hash = (hash ^ byte) * 0x100000001B3;
            EXPECT_EQ(pairs.lane[i] & 0xFFFF, d.lane[i]);
            const number::Decoded source = number::decode(a.lane[i], form.format);
            const bool subnormal = source.kind == number::Class::finite && source.significand >> fraction == 0;
            double x = number::to_double(a.lane[i], form.format);
            if (form.ftz && subnormal) x = 0 * x;
            if (op == Op::ex2 && std::abs(x) < 0x1p-23) x = 0;
            float y = float(exact(x));
            if (form.ftz && std::abs(y) < 0x1p-126f) y = 0;
            const bool overflows = std::abs(y) >= (form.format == Format::f16 ? 0x1p16f : INFINITY);
            const Bits expected = source.kind == number::Class::nan ? 0x7FFF
                                  : overflows
                                      ? number::infinity(form.format, y < 0)
                                      : number::from_double(y, form.format, {number::Rounding::rz, false, 0, 0});
            EXPECT_EQ(d.lane[i], expected) << program::traits(op).name << " " << x;
        }
    }
    return hash;
}

TEST(AluFunctions, HalvesAreCutOff) {
    const auto tanh = [](Real x) { return std::tanh(x); };
    const auto exp2 = [](Real x) { return std::exp2(x); };
    expect_half(Op::tanh, f16, tanh);
    expect_half(Op::tanh, bf16, tanh);
    // What an H200 gave for all 65,536 sources in order has the same hash.
    EXPECT_EQ(expect_half(Op::ex2, f16, exp2), 0xBB15247E36918E63u);
    EXPECT_EQ(expect_half(Op::ex2, bf16_ftz, exp2), 0xD76E7433B30F62F0u);
}

TEST(AluFunctions, F64) {
    const Case rcp = approx(Op::rcp, DataType::f64, true), rsqrt = approx(Op::rsqrt, DataType::f64, true);
    const Case exact_rsqrt = approx(Op::rsqrt, DataType::f64);
    EXPECT_EQ(rcp(f64(2.0) | 12345), f64(0.5));  // the lower word does not count
    EXPECT_EQ(rcp(f64(-INFINITY)), 1ull << 63);
    EXPECT_EQ(rcp(f64(-0.0)), f64(-INFINITY));
    EXPECT_EQ(rcp(0x000FFFFFFFFFFFFF), f64(INFINITY));
    EXPECT_EQ(rcp(0x800FFFFFFFFFFFFF), f64(-INFINITY));
    EXPECT_EQ(rcp(f64(0x1p1023)), 0u);  // a subnormal result
    EXPECT_EQ(rcp(0xFFF0000100000000), 0x7FFFFFFF00000000u);
    EXPECT_EQ(rsqrt(f64(4.0)), f64(0.5));
    EXPECT_EQ(rsqrt(f64(-4.0)), 0x7FFFFFFF00000000u);
    EXPECT_EQ(rsqrt(f64(-INFINITY)), 0x7FFFFFFF00000000u);
    EXPECT_EQ(rsqrt(0x8000000100000000), f64(-INFINITY));
    EXPECT_EQ(rsqrt(f64(INFINITY)), 0u);
    EXPECT_EQ(exact_rsqrt(f64(4.0)), f64(0.5));
    EXPECT_EQ(exact_rsqrt(f64(-4.0)), 0xFFF8000000000000u);
    EXPECT_EQ(exact_rsqrt(f64(-0.0)), f64(-INFINITY));
    std::mt19937_64 random(8);
    for (int i = 0; i < 300; ++i) {
        const Bits bits = (random() & 0x000FFFFFFFFFFFFF) | (1023 - 500 + random() % 1000) << 52;
        const Real x = std::bit_cast<double>(bits), upper = std::bit_cast<double>(bits & 0xFFFFFFFF00000000);
        const auto error = [](Bits got, Real expected) {
            return std::abs(Real(std::bit_cast<double>(got)) / expected - 1);
        };
        EXPECT_LE(error(rcp(bits), 1 / upper), 0x1p-20L);  // cut off after 20 bits
        EXPECT_LE(error(rsqrt(bits), 1 / std::sqrt(upper)), 0x1p-20L);
        EXPECT_LE(error(exact_rsqrt(bits), 1 / std::sqrt(x)), 0x1p-52L);
        EXPECT_EQ(rcp(bits) & 0xFFFFFFFF, 0u);
    }
}

}  // namespace
}  // namespace tilepath::exec::alu_test
