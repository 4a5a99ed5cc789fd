#include "number/arithmetic.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>
#include <vector>

namespace tilepath::number {
namespace {

constexpr std::pair<Rounding, int> modes[] = {{Rounding::rn, FE_TONEAREST},
                                              {Rounding::rz, FE_TOWARDZERO},
                                              {Rounding::rm, FE_DOWNWARD},
                                              {Rounding::rp, FE_UPWARD}};

template <class T>
struct Type;
template <>
struct Type<float> {
    using Bits = std::uint32_t;
    static constexpr Format format = Format::f32;
    static constexpr int fraction = 23, bias = 127;
};
template <>
struct Type<double> {
    using Bits = std::uint64_t;
    static constexpr Format format = Format::f64;
    static constexpr int fraction = 52, bias = 1023;
};

/// Random bits; short fractions, so that results are exact or tie; exponents near the ends; specials.
template <class T>
T operand(std::mt19937_64& random) {
    using Bits = typename Type<T>::Bits;
    Bits x = Bits(random());
    const unsigned style = random() % 8;
    if (style < 3) x = x >> (random() % Type<T>::fraction) << (random() % Type<T>::fraction);
    const Bits exponent_mask = Bits(2 * Type<T>::bias + 1) << Type<T>::fraction;
    if (style == 3) x = (x & ~exponent_mask) | Bits(random() % 3) << Type<T>::fraction;
    if (style == 4) x = (x & ~exponent_mask) | Bits(Type<T>::bias - 1 + random() % 3) << Type<T>::fraction;
    if (style == 5) x &= ~(exponent_mask >> 1);
    if (style == 6 && random() % 4 == 0)
        x = (x & (Bits(1) << (sizeof(T) * 8 - 1))) | (random() % 2 != 0 ? exponent_mask : 0);
    return std::bit_cast<T>(x);
}

/// The processor's answer under a rounding mode; volatile keeps the compiler from folding or moving it.
template <class T, class F>
T under(int mode, F operation) {
    std::fesetround(mode);
    volatile T result = operation();
    std::fesetround(FE_TONEAREST);
    return result;
}

template <class T>
void compare_with_processor(int rounds) {
    using Bits = typename Type<T>::Bits;
    constexpr Format f = Type<T>::format;
    std::mt19937_64 random(sizeof(T));
    const auto same = [](std::uint64_t ours, T theirs) {
        if (std::isnan(theirs)) return decode(ours, f).kind == Class::nan;
        return ours == std::bit_cast<Bits>(theirs);
    };
    for (int i = 0; i < rounds; ++i) {
        volatile T x = operand<T>(random), y = operand<T>(random), z = operand<T>(random);
        if (i % 5 == 0) z = -x * y;  // cancels
        const Bits a = std::bit_cast<Bits>(T(x)), b = std::bit_cast<Bits>(T(y)), c = std::bit_cast<Bits>(T(z));
        for (const auto& [mode, hardware] : modes) {
            const Arithmetic how{mode};
            ASSERT_TRUE(same(add(f, a, b, how), under<T>(hardware, [&] { return x + y; }))) << x << " + " << y;
            ASSERT_TRUE(same(sub(f, a, b, how), under<T>(hardware, [&] { return x - y; }))) << x << " - " << y;
            ASSERT_TRUE(same(mul(f, a, b, how), under<T>(hardware, [&] { return x * y; }))) << x << " * " << y;
            ASSERT_TRUE(same(div(f, a, b, how), under<T>(hardware, [&] { return x / y; }))) << x << " / " << y;
            ASSERT_TRUE(same(fma(f, a, b, c, how), under<T>(hardware, [&] { return std::fma(T(x), T(y), T(z)); })))
                << x << " * " << y << " + " << z;
            ASSERT_TRUE(same(sqrt(f, a, how), under<T>(hardware, [&] { return std::sqrt(T(x)); }))) << "sqrt " << x;
        }
    }
}

TEST(Arithmetic, F32AgreesWithTheProcessor) { compare_with_processor<float>(60'000); }
TEST(Arithmetic, F64AgreesWithTheProcessor) { compare_with_processor<double>(60'000); }

/// f16 and bf16 results are exact in f64 (add, mul) before one rounding: all values of one operand.
TEST(Arithmetic, HalvesAgreeWithOneRoundingOfTheExactResult) {
    for (const Format f : {Format::f16, Format::bf16})
        for (std::uint64_t a = 0; a < 0x10000; ++a) {
            const std::uint64_t b = (a * 40503 + 77) & 0xffff;
            const double x = to_double(a, f), y = to_double(b, f);
            if (std::isnan(x) || std::isnan(y)) continue;
            const double product = x * y;
            if (!std::isnan(product)) {
                ASSERT_EQ(mul(f, a, b, {}), from_double(product, f)) << a;
            }
            if (f == Format::bf16 && std::fabs(std::ilogb(x) - std::ilogb(y)) > 40) continue;  // not exact in f64
            if (!std::isnan(x + y)) {
                ASSERT_EQ(add(f, a, b, {}), from_double(x + y, f)) << a;
            }
        }
}

TEST(Arithmetic, NanRulesOfAnH200) {
    constexpr std::uint64_t p = 0x7ff4000000000001, q = 0xfff8000000000002, r = 0x7ff8000000000003;
    constexpr std::uint64_t one = 0x3ff0000000000000, inf = 0x7ff0000000000000;
    EXPECT_EQ(fma(Format::f64, p, q, r, {}), q) << "b";
    EXPECT_EQ(fma(Format::f64, p, one, r, {}), r) << "else c";
    EXPECT_EQ(fma(Format::f64, p, one, one, {}), 0x7ffc000000000001) << "else a, quieted";
    EXPECT_EQ(add(Format::f64, p, q, {}), q);
    EXPECT_EQ(mul(Format::f64, p, q, {}), q);
    EXPECT_EQ(div(Format::f64, p, q, {}), 0x7ffc000000000001) << "div: a first";
    EXPECT_EQ(mul(Format::f64, inf, 0, {}), 0xfff8000000000000);
    EXPECT_EQ(sqrt(Format::f64, one | 1ull << 63, {}), 0xfff8000000000000);
    EXPECT_EQ(add(Format::f32, 0xffc01234, 0x3f800000, {}), 0x7fffffffu);
    EXPECT_EQ(mul(Format::f16, 0xfe01, 0x3c00, {}), 0x7fffu);
    EXPECT_EQ(fma(Format::bf16, 0x7f80, 0, 0x3f80, {}), 0x7fffu);
    EXPECT_EQ(minimum(Format::f64, p, q, {}), q);
    EXPECT_EQ(negated(Format::f32, 0xff800001, {}), 0x7fffffffu);
    EXPECT_EQ(negated(Format::f64, p, {}), 0x7ffc000000000001) << "the sign stays";
}

TEST(Arithmetic, FlushingLooksAtTheRoundedResult) {
    const Arithmetic ftz{.rounding = Rounding::rn, .ftz = true};
    EXPECT_EQ(mul(Format::f16, 0x0400, 0xbbff, ftz), 0x8000u) << "(1 - 2^-11) x 2^-14, recorded on an H200";
    EXPECT_EQ(mul(Format::f16, 0x0400, 0xbbff, {}), 0x8400u);
    EXPECT_EQ(mul(Format::f32, 0x00800000, 0x3f7fffff, ftz), 0u);
    EXPECT_EQ(fma(Format::f32, 0x20000000, 0x81000000, 0x00800000, ftz), 0x00800000u)
        << "2^-126 less a trifle rounds to 24 bits as 2^-126, recorded on an H200";
    EXPECT_EQ(add(Format::f32, 0x00400000, 0x3f800000, ftz), 0x3f800000u);
    EXPECT_EQ(add(Format::f32, 0x80400000, 0, ftz), 0u) << "-0 + 0";
    EXPECT_EQ(add(Format::f32, 0x00c00000, 0x80800000, ftz), 0u);
}

TEST(Arithmetic, SaturationReluAndOutOfBounds) {
    const Arithmetic sat{.saturate = true}, relu{.relu = true}, oob{.oob = true};
    EXPECT_EQ(add(Format::f32, 0x3f800000, 0x3f800000, sat), 0x3f800000u);
    EXPECT_EQ(add(Format::f32, 0xbf800000, 0, sat), 0u);
    EXPECT_EQ(add(Format::f32, 0x7fc00000, 0, sat), 0u) << "NaN gives +0";
    EXPECT_EQ(mul(Format::f16, 0x7c00, 0x3c00, sat), 0x3c00u);
    EXPECT_EQ(fma(Format::f16, 0xbc00, 0x3c00, 0, relu), 0u);
    EXPECT_EQ(fma(Format::f16, 0x7e00, 0x3c00, 0, relu), 0x7fffu) << "NaN stays";
    EXPECT_EQ(fma(Format::f16, 0x7ff7, 0x7c00, 0xfc00, oob), 0u);
    EXPECT_EQ(fma(Format::bf16, 0x3f80, 0xfff7, 0x3f80, oob), 0u);
    EXPECT_EQ(fma(Format::bf16, 0x3f80, 0x3f80, 0x7ff7, oob), 0x7fffu) << "c does not count";
}

TEST(Arithmetic, MinimumAndMaximum) {
    EXPECT_EQ(minimum(Format::f32, 0, 0x80000000, {}), 0x80000000u) << "-0 is less than +0";
    EXPECT_EQ(maximum(Format::f32, 0x80000000, 0, {}), 0u);
    EXPECT_EQ(minimum(Format::f32, 0x7fc00000, 0x3f800000, {}), 0x3f800000u);
    EXPECT_EQ(minimum(Format::f32, 0x7fc00000, 0x3f800000, {.nan = true}), 0x7fffffffu);
    EXPECT_EQ(maximum(Format::f16, 0xc000, 0x3c00, {.xorsign_abs = true}), 0xc000u) << "|-2| with the product's sign";
    EXPECT_EQ(minimum(Format::f32, 0x00400000, 0x80800000, {.ftz = true}), 0x80800000u);
    EXPECT_EQ(maximum(Format::f32, 0x00400000, 0x80800000, {.ftz = true}), 0u);
    EXPECT_EQ(absolute(Format::bf16, 0xc000, {}), 0x4000u);
}

}  // namespace
}  // namespace tilepath::number
