#include "number/conversion.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

namespace tilepath::number {
namespace {

std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// All pairs of floating formats of at most 16 bits, all values, against the rounding of the exact double.
TEST(Conversion, SmallFormatsAmongThemselves) {
    for (const Format from : all_formats())
        for (const Format to : all_formats()) {
            const FormatTraits &f = traits(from), &t = traits(to);
            if (!f.floating || !t.floating || f.bits > 16 || t.bits > 16 || to == Format::ue8m0) continue;
            for (std::uint64_t x = 0; x < 1ull << f.bits; ++x) {
                const Class kind = decode(x, from).kind;
                const double value = to_double(x, from);
                for (const Rounding r : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp}) {
                    const std::uint64_t expected =
                        kind == Class::nan ? canonical_nan(to) : from_double(value, to, {r, true});
                    ASSERT_EQ(convert(x, from, to, {.rounding = r, .satfinite = true}), expected)
                        << f.name << " " << x << " to " << t.name;
                }
                const std::uint64_t relu = convert(x, from, to, {.satfinite = true, .relu = true});
                ASSERT_TRUE(kind == Class::nan || !decode(relu, to).negative);
                const std::uint64_t sat = convert(x, from, to, {.saturate = true});
                ASSERT_GE(to_double(sat, to), 0.0);
                ASSERT_LE(to_double(sat, to), 1.0);
            }
        }
}

TEST(Conversion, IntegersToIntegers) {
    EXPECT_EQ(convert(0x80, Format::s8, Format::s32), 0xffffff80u) << "sign-extended";
    EXPECT_EQ(convert(0x80, Format::u8, Format::s32), 0x80u);
    EXPECT_EQ(convert(0xffff, Format::s16, Format::u64), ~0ull);
    EXPECT_EQ(convert(0x12345678, Format::u32, Format::u8), 0x78u) << "chopped";
    EXPECT_EQ(convert(0x12345678, Format::u32, Format::u8, {.saturate = true}), 0xffu);
    EXPECT_EQ(convert(0xffffffff, Format::s32, Format::u8, {.saturate = true}), 0u);
    EXPECT_EQ(convert(0xffffff00, Format::s32, Format::s8, {.saturate = true}), 0x80u);
    EXPECT_EQ(convert(~0ull, Format::u64, Format::s64, {.saturate = true}), 0x7fffffffffffffffu);
    EXPECT_EQ(convert(1ull << 63, Format::s64, Format::s32, {.saturate = true}), 0x80000000u);
}

TEST(Conversion, FloatsToIntegers) {
    // PTX ISA, cvt: clamped to the range; NaN gives 0, or the top bit where a 64-bit type takes part.
    EXPECT_EQ(convert(bits(3.5f), Format::f32, Format::s32), 4u);
    EXPECT_EQ(convert(bits(2.5f), Format::f32, Format::s32), 2u);
    EXPECT_EQ(convert(bits(-2.5f), Format::f32, Format::s32, {.rounding = Rounding::rm}), std::uint32_t(-3));
    EXPECT_EQ(convert(bits(-2.5f), Format::f32, Format::s32, {.rounding = Rounding::rp}), std::uint32_t(-2));
    EXPECT_EQ(convert(bits(1e10f), Format::f32, Format::s32), 0x7fffffffu);
    EXPECT_EQ(convert(bits(-1e10f), Format::f32, Format::s32), 0x80000000u);
    EXPECT_EQ(convert(bits(-1.0f), Format::f32, Format::u32), 0u);
    EXPECT_EQ(convert(bits(300.0f), Format::f32, Format::u8, {.rounding = Rounding::rz}), 255u);
    EXPECT_EQ(convert(0x7fc00000, Format::f32, Format::s32), 0u);
    EXPECT_EQ(convert(0x7fc00000, Format::f32, Format::u64), 1ull << 63);
    EXPECT_EQ(convert(bits(std::nan("")), Format::f64, Format::s32), 0x80000000u);
    EXPECT_EQ(convert(bits(0x1p64), Format::f64, Format::u64), ~0ull);
    EXPECT_EQ(convert(bits(0x1.fffffffffffffp63), Format::f64, Format::u64), 0xfffffffffffff800u);
    EXPECT_EQ(convert(bits(-0x1p63), Format::f64, Format::s64), 1ull << 63);
    EXPECT_EQ(convert(0xfc00, Format::f16, Format::s64), 1ull << 63);
    EXPECT_EQ(convert(1, Format::f32, Format::s32, {.rounding = Rounding::rp}), 1u);
    EXPECT_EQ(convert(1, Format::f32, Format::s32, {.rounding = Rounding::rp, .ftz = true}), 0u);
}

TEST(Conversion, IntegersToFloats) {
    for (const std::int64_t x : {0ll, 1ll, -1ll, 16777217ll, -16777219ll, 0x7fffffffffffffffll, 0x7fffffbfffffffffll})
        EXPECT_EQ(convert(std::uint64_t(x), Format::s64, Format::f32), bits(float(x))) << x;
    EXPECT_EQ(convert(~0ull, Format::u64, Format::f64), bits(0x1p64));
    EXPECT_EQ(convert(~0ull, Format::u64, Format::f64, {.rounding = Rounding::rz}), bits(0x1.fffffffffffffp63));
    EXPECT_EQ(convert(65520, Format::u32, Format::f16), 0x7c00u);
    EXPECT_EQ(convert(65520, Format::u32, Format::f16, {.rounding = Rounding::rz}), 0x7bffu);
    EXPECT_EQ(convert(0, Format::s32, Format::f32, {.rounding = Rounding::rm}), 0u) << "zero is +0 in every mode";
    EXPECT_EQ(convert(5, Format::s32, Format::f32, {.saturate = true}), bits(1.0f));
}

TEST(Conversion, IntegralValues) {
    const auto rounded = [](float x, Rounding r) {
        return convert(bits(x), Format::f32, Format::f32, {.rounding = r, .to_integral = true});
    };
    EXPECT_EQ(rounded(2.5f, Rounding::rn), bits(2.0f));
    EXPECT_EQ(rounded(-0.3f, Rounding::rp), bits(-0.0f));
    EXPECT_EQ(rounded(-0.3f, Rounding::rm), bits(-1.0f));
    EXPECT_EQ(rounded(1e30f, Rounding::rz), bits(1e30f));
    EXPECT_EQ(rounded(0x1.fffffep22f, Rounding::rp), bits(0x1p23f));
    EXPECT_EQ(convert(bits(0.5), Format::f64, Format::f64, {.to_integral = true}), bits(0.0));
}

TEST(Conversion, Tf32) {
    const auto to_tf32 = [](std::uint32_t x, Rounding r) {
        return convert(x, Format::f32, Format::tf32, {.rounding = r});
    };
    EXPECT_EQ(to_tf32(0x3f801000, Rounding::rna), 0x3f802000u) << "ties away from zero";
    EXPECT_EQ(to_tf32(0x3f801000, Rounding::rn), 0x3f800000u) << "ties to even";
    EXPECT_EQ(to_tf32(0x3f803000, Rounding::rn), 0x3f804000u);
    EXPECT_EQ(to_tf32(0x3f801fff, Rounding::rz), 0x3f800000u);
    EXPECT_EQ(to_tf32(0xff7fffff, Rounding::rn), 0xff800000u);
    EXPECT_EQ(convert(0xff7fffff, Format::f32, Format::tf32, {.satfinite = true}), 0xff7fe000u);
    EXPECT_EQ(to_tf32(0x7fc00001, Rounding::rn), 0x7fffe000u);
}

TEST(Conversion, PackedForms) {
    // d = {convert(a), convert(b)}: a in the upper half (PTX ISA, cvt).
    const std::array elements{convert(bits(2.0f), Format::f32, Format::e4m3),
                              convert(bits(-1.0f), Format::f32, Format::e4m3)};
    EXPECT_EQ(pack(Format::e4m3, elements), 0xb840u);
    EXPECT_EQ(convert_packed(0xb840, 2, Format::e4m3, Format::f16), 0xbc004000u);
    EXPECT_EQ(convert_packed(0xbc004000, 2, Format::f16, Format::e4m3, {.satfinite = true}), 0xb840u);
    EXPECT_EQ(convert_packed(0x72, 2, Format::e2m1, Format::f16), 0x46003c00u) << "nibbles: 6 and 1";
    EXPECT_EQ(convert_packed(0x3f1f, 2, Format::e3m2, Format::f16), 0xcf004f00u) << "six bits in each byte";
    EXPECT_EQ(convert_packed(0xff00, 2, Format::ue8m0, Format::bf16), 0x7fff0040u);
    EXPECT_EQ(unpack(0x7f800000, Format::tf32, 0), 0x7f800000u);
    EXPECT_EQ(convert_pack(300, std::uint32_t(-300), 0, 16, true, true), 0x012cfed4u);
    EXPECT_EQ(convert_pack(300, std::uint32_t(-300), 0xabcd, 8, true, true), 0xabcd7f80u);
    EXPECT_EQ(convert_pack(300, std::uint32_t(-300), 0xabcd, 8, false, true), 0xabcdff00u);
    EXPECT_EQ(convert_pack(7, std::uint32_t(-9), 0xabcdef, 4, true, true), 0xabcdef78u);
    EXPECT_EQ(convert_pack(3, 1, 0x1ff, 2, false, true), 0x1ffdu);
}

TEST(Conversion, StochasticRoundingCarriesOutOfTheDiscardedBits) {
    // 1 + 3/4 of an f16 step: 13 bits are dropped, 0x1800 of them; it goes up when the random bits carry.
    const auto f16 = [](std::uint32_t x, std::uint32_t random) {
        return convert(x, Format::f32, Format::f16, {.rounding = Rounding::rs, .random_bits = random});
    };
    EXPECT_EQ(f16(0x3f801800, 0x07ff), 0x3c00u);
    EXPECT_EQ(f16(0x3f801800, 0x0800), 0x3c01u);
    EXPECT_EQ(f16(0xbf801800, 0x0800), 0xbc01u) << "the magnitude grows";
    EXPECT_EQ(f16(0x3f800000, 0x1fff), 0x3c00u) << "what is exact stays";
    EXPECT_EQ(f16(0x477fffff, 0x1fff), 0x7c00u) << "carries into infinity";
    const auto e4m3 = [](float x, std::uint32_t random) {
        return convert(bits(x), Format::f32, Format::e4m3,
                       {.rounding = Rounding::rs, .satfinite = true, .random_bits = random});
    };
    EXPECT_EQ(e4m3(1.0625f, 0x7fff), 0x38u) << "half a step";
    EXPECT_EQ(e4m3(1.0625f, 0x8000), 0x39u);
    EXPECT_EQ(e4m3(0x1p-10f, 0x8000), 0x01u) << "half of the least subnormal";
    EXPECT_EQ(e4m3(0x1p-10f, 0x7fff), 0x00u);
    EXPECT_EQ(e4m3(0x1p-30f, 0xffff), 0x00u) << "too small for the random bits to reach";
    EXPECT_EQ(e4m3(500.0f, 0xffff), 0x7eu);
    EXPECT_EQ(random_bits_of(Format::f16, 0xffff1234, 0), 0x1234u);
    EXPECT_EQ(random_bits_of(Format::f16, 0xffff1234, 1), 0x1fffu);
    EXPECT_EQ(random_bits_of(Format::bf16, 0xabcd1234, 1), 0xabcdu);
    EXPECT_EQ(random_bits_of(Format::e4m3, 0xabcd0001, 0), 1u);
    EXPECT_EQ(random_bits_of(Format::e4m3, 0xabcd0001, 1), 0x8000u) << "the pair's other element reads them backwards";
    EXPECT_EQ(random_bits_of(Format::e4m3, 0xabcd0001, 2), 0xabcdu);
}

}  // namespace
}  // namespace tilepath::number
