#include "number/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "second_model.h"

namespace tilepath::number {
namespace {

/// Floating formats of at most 16 bits: every value is tested.
std::vector<Format> small_floats() {
    std::vector<Format> result;
    for (const Format f : all_formats())
        if (traits(f).floating && traits(f).bits <= 16) result.push_back(f);
    return result;
}

TEST(Format, NamesAreFound) {
    for (const Format f : all_formats()) EXPECT_EQ(format_named(traits(f).name), f);
    EXPECT_EQ(format_named("e4m4"), std::nullopt);
    EXPECT_THAT(small_floats(), testing::SizeIs(9));
}

TEST(Format, EveryValueOfSmallFormatsDecodesByItsFields) {
    for (const Format f : small_floats()) {
        const FormatTraits& t = traits(f);
        for (std::uint64_t bits = 0; bits < 1ull << t.bits; ++bits) {
            const Decoded d = decode(bits, f);
            if (d.kind == Class::nan || d.kind == Class::infinity) continue;
            const double expected = f == Format::ue8m0
                                        ? std::ldexp(1.0, int(bits) - 127)
                                        : value_of(bits, t.exponent_bits, t.fraction_bits, t.bias, t.is_signed);
            ASSERT_EQ(to_double(bits, f), expected) << t.name << " " << bits;
            ASSERT_EQ(std::signbit(to_double(bits, f)), std::signbit(expected)) << t.name << " " << bits;
            ASSERT_EQ(from_double(expected, f), bits) << t.name;
        }
    }
}

TEST(Format, SpecialsOfEachFormat) {
    const auto count = [](Format f, Class kind) {
        int n = 0;
        for (std::uint64_t bits = 0; bits < 1ull << traits(f).bits; ++bits) n += decode(bits, f).kind == kind;
        return n;
    };
    EXPECT_EQ(count(Format::f16, Class::infinity), 2);
    EXPECT_EQ(count(Format::f16, Class::nan), 2046);
    EXPECT_EQ(count(Format::bf16, Class::nan), 254);
    EXPECT_EQ(count(Format::e5m2, Class::infinity), 2);
    EXPECT_EQ(count(Format::e5m2, Class::nan), 6);
    EXPECT_EQ(count(Format::e4m3, Class::infinity), 0);
    EXPECT_EQ(count(Format::e4m3, Class::nan), 2);
    EXPECT_EQ(count(Format::ue4m3, Class::nan), 1);
    EXPECT_EQ(count(Format::ue8m0, Class::nan), 1);
    EXPECT_EQ(count(Format::ue8m0, Class::zero), 0);
    for (const Format f : {Format::e2m1, Format::e2m3, Format::e3m2}) {
        EXPECT_EQ(count(f, Class::nan) + count(f, Class::infinity), 0);
        EXPECT_EQ(count(f, Class::zero), 2);
    }
    EXPECT_EQ(to_double(largest_finite(Format::e4m3, false), Format::e4m3), 448);
    EXPECT_EQ(to_double(largest_finite(Format::e5m2, true), Format::e5m2), -57344);
    EXPECT_EQ(to_double(largest_finite(Format::e3m2, false), Format::e3m2), 28);
    EXPECT_EQ(to_double(largest_finite(Format::e2m3, false), Format::e2m3), 7.5);
    EXPECT_EQ(to_double(largest_finite(Format::e2m1, false), Format::e2m1), 6);
    EXPECT_EQ(to_double(largest_finite(Format::f16, false), Format::f16), 65504);
    EXPECT_EQ(to_double(0x7f, Format::ue8m0), 1);
    EXPECT_EQ(to_double(0xb8, Format::ue4m3), to_double(0x38, Format::ue4m3)) << "bit 7 is ignored";
    EXPECT_EQ(decode(0x7f800001, Format::tf32).kind, Class::infinity) << "the low 13 bits are ignored";
}

/// All finite values in ascending order, one of the two zeros.
std::vector<double> ladder(Format f) {
    std::vector<double> values;
    for (std::uint64_t bits = 0; bits < 1ull << traits(f).bits; ++bits) {
        const Class kind = decode(bits, f).kind;
        if (kind == Class::finite) values.push_back(to_double(bits, f));
    }
    if (f != Format::ue8m0) values.push_back(0.0);
    std::ranges::sort(values);
    return values;
}

/// Between any two neighbours: just above the lower, just below, at and just above the middle, just below the upper.
TEST(Format, RoundsToTheNeighbourThatTheModeNames) {
    for (const Format f : small_floats()) {
        if (f == Format::ue8m0) continue;  // has no fraction to round: Conversion.ScalesTakeAnExponent
        const std::vector<double> values = ladder(f);
        for (std::size_t i = 0; i + 1 < values.size(); ++i) {
            const double low = values[i], high = values[i + 1], middle = (low + high) / 2;
            const bool low_even = from_double(low, f) % 2 == 0;
            const double away = low >= 0 ? high : low, nearer_zero = low >= 0 ? low : high;
            struct Case {
                double x, nearest, nearest_away;
            };
            const double tie = low_even ? low : high;
            for (const Case& c :
                 {Case{std::nextafter(low, high), low, low}, Case{std::nextafter(middle, low), low, low},
                  Case{middle, tie, away}, Case{std::nextafter(middle, high), high, high},
                  Case{std::nextafter(high, low), high, high}}) {
                const auto rounded = [&](Rounding mode) { return to_double(from_double(c.x, f, {mode}), f); };
                ASSERT_EQ(rounded(Rounding::rn), c.nearest) << traits(f).name << " " << c.x;
                ASSERT_EQ(rounded(Rounding::rna), c.nearest_away) << traits(f).name << " " << c.x;
                ASSERT_EQ(rounded(Rounding::rz), nearer_zero) << traits(f).name << " " << c.x;
                ASSERT_EQ(rounded(Rounding::rm), low) << traits(f).name << " " << c.x;
                ASSERT_EQ(rounded(Rounding::rp), high) << traits(f).name << " " << c.x;
                ASSERT_EQ(std::signbit(rounded(Rounding::rn)), std::signbit(c.x)) << "zeros keep their sign";
            }
        }
    }
}

TEST(Format, OverflowFollowsTheRoundingMode) {
    const double beyond = 65520;  // half a unit over the largest f16
    EXPECT_EQ(from_double(std::nextafter(beyond, 0), Format::f16), 0x7bffu);
    EXPECT_EQ(from_double(beyond, Format::f16), 0x7c00u);
    EXPECT_EQ(from_double(1e30, Format::f16, {Rounding::rz}), 0x7bffu);
    EXPECT_EQ(from_double(1e30, Format::f16, {Rounding::rm}), 0x7bffu);
    EXPECT_EQ(from_double(1e30, Format::f16, {Rounding::rp}), 0x7c00u);
    EXPECT_EQ(from_double(-1e30, Format::f16, {Rounding::rp}), 0xfbffu);
    EXPECT_EQ(from_double(-1e30, Format::f16, {Rounding::rm}), 0xfc00u);
    EXPECT_EQ(from_double(1e30, Format::f16, {Rounding::rn, true}), 0x7bffu);
    EXPECT_EQ(from_double(464, Format::e4m3), 0x7eu) << "the tie goes to the even 448";
    EXPECT_EQ(from_double(465, Format::e4m3), 0x7fu) << "e4m3 has no infinity";
    EXPECT_EQ(from_double(465, Format::e4m3, {Rounding::rn, true}), 0x7eu);
    EXPECT_EQ(from_double(1e9, Format::e2m1), 0x7u) << "e2m1 has neither infinity nor NaN";
    EXPECT_EQ(from_double(-1.0, Format::ue4m3), 0u);
    EXPECT_EQ(from_double(std::numeric_limits<double>::quiet_NaN(), Format::e2m1), 0x7u);
    EXPECT_EQ(from_double(std::numeric_limits<double>::quiet_NaN(), Format::bf16), 0x7fffu);
    EXPECT_EQ(from_double(5e-324, Format::f16, {Rounding::rp}), 1u);
    EXPECT_EQ(from_double(-5e-324, Format::bf16, {Rounding::rm}), 0x8001u);
}

TEST(Format, WideFormatsAgreeWithTheProcessor) {
    for (std::uint64_t i = 0; i < 2'000'000; ++i) {
        const std::uint64_t bits = i * 0x9e3779b97f4a7c15;
        const double x = std::bit_cast<double>(bits);
        if (!std::isnan(x)) {
            ASSERT_EQ(from_double(x, Format::f64), bits);
            ASSERT_EQ(from_double(x, Format::f32), std::bit_cast<std::uint32_t>(float(x))) << x;
        }
        const float y = std::bit_cast<float>(std::uint32_t(bits >> 32));
        if (!std::isnan(y)) {
            ASSERT_EQ(to_double(bits >> 32, Format::f32), double(y));
        }
        // Doubles in f32's range, where the cast above mostly over- or underflows.
        const double z = std::ldexp(1.0 + double(bits >> 12) * 0x1p-52, int(bits % 300) - 170);
        ASSERT_EQ(from_double(z, Format::f32), std::bit_cast<std::uint32_t>(float(z))) << z;
    }
}

TEST(Format, IntegersDecodeByTwosComplement) {
    EXPECT_EQ(to_double(0x80, Format::s8), -128);
    EXPECT_EQ(to_double(0x80, Format::u8), 128);
    EXPECT_EQ(to_double(0x8, Format::s4), -8);
    EXPECT_EQ(to_double(0xf, Format::u4), 15);
    EXPECT_EQ(to_double(0x80000000, Format::s32), -2147483648.0);
    EXPECT_EQ(to_double(1, Format::b1), 1);
    EXPECT_EQ(to_double(0x8000000000000000, Format::s64), -0x1p63);
    EXPECT_EQ(from_double(-200, Format::s8), 0x80u);
    EXPECT_EQ(from_double(2.5, Format::s8), 2u);
    EXPECT_EQ(from_double(1e300, Format::u64), ~0ull);
}

}  // namespace
}  // namespace tilepath::number
