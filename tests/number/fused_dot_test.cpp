#include "number/fused_dot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "number/recipe.h"
#include "second_model.h"

namespace tilepath::number {
namespace {

using Bits = std::vector<std::uint64_t>;

DotRecipe require(const DotRequest& request) {
    const auto r = recipe(request);
    EXPECT_TRUE(r) << to_string(r.error());
    return r.value_or(DotRecipe{});
}

DotRecipe hopper(Format input, Format d, Instruction instruction = Instruction::mma_sync) {
    return require({.device = Generation::hopper, .instruction = instruction, .a = input, .b = input, .d = d});
}

/// A dot product of `length` whose first elements are given and whose others are zero.
std::uint64_t padded_dot(const DotRecipe& r, Bits a, Bits b, std::uint64_t c, std::size_t length = 16) {
    a.resize(length), b.resize(length);
    return dot(r, a, b, c);
}

/// Finite random bits: all patterns, so that exponents spread over the whole range.
std::uint64_t finite_bits(std::mt19937_64& random, Format format) {
    for (;;) {
        const std::uint64_t bits =
            random() & ((traits(format).container_bits == 64) ? ~0ull : (1ull << traits(format).container_bits) - 1);
        const std::uint64_t inside = format == Format::tf32 ? bits : bits & ((1ull << traits(format).bits) - 1);
        const Class kind = decode(inside, format).kind;
        if (kind == Class::finite || kind == Class::zero) return inside;
    }
}

/// As above, or with exponents near those of the accumulator, or few distinct values, so that sums cancel.
Bits finite_row(std::mt19937_64& random, Format format, std::size_t length, unsigned style) {
    Bits row(length);
    for (std::uint64_t& x : row) {
        x = finite_bits(random, format);
        if (style == 1 && random() % 2 == 0) x = zero(format, random() % 2 != 0);
        if (style == 2) x = from_double(double(int(random() % 9)) - 4.0, format);
        if (style == 3) x = from_double((double(random() >> 11) * 0x1p-53 - 0.5) * 8, format);
    }
    return row;
}

struct Case {
    DotRequest request;
    std::size_t length;
};

std::vector<Case> fused_cases() {
    std::vector<Case> cases;
    const Format inputs[] = {Format::f16,  Format::bf16, Format::tf32, Format::e4m3,
                             Format::e5m2, Format::e3m2, Format::e2m3, Format::e2m1};
    for (unsigned device = 0; device <= unsigned(Generation::blackwell_rtx); ++device)
        for (const Instruction instruction :
             {Instruction::mma_sync, Instruction::wgmma, Instruction::tcgen05_mma, Instruction::wmma})
            for (const Format a : inputs)
                for (const Format b : inputs)
                    for (const Format d : {Format::f32, Format::f16})
                        for (const Scaling scaling : {Scaling::none, Scaling::per_dot, Scaling::per_group}) {
                            DotRequest q{.device = Generation(device),
                                         .instruction = instruction,
                                         .a = a,
                                         .b = b,
                                         .d = d,
                                         .scaling = scaling};
                            const auto r = recipe(q);
                            if (!r || r->kind != DotRecipe::Kind::fused) continue;
                            cases.push_back({q, scaling == Scaling::per_group ? 64u
                                                : traits(a).bits <= 8         ? 32u
                                                : traits(a).bits == 16        ? 16u
                                                                              : 8u});
                            if (scaling != Scaling::per_group) continue;
                            q.scale = Format::ue4m3, q.scale_block = 16;
                            cases.push_back({q, 64});
                        }
    return cases;
}

TEST(FusedDot, AgreesWithASecondModelOnEveryRow) {
    std::mt19937_64 random(20251130);
    const auto cases = fused_cases();
    EXPECT_GT(cases.size(), 150u);
    for (const Case& one : cases) {
        const DotRecipe r = require(one.request);
        for (unsigned trial = 0; trial < 400; ++trial) {
            const unsigned style = trial % 4;
            const Bits a = finite_row(random, r.a, one.length, style), b = finite_row(random, r.b, one.length, style);
            const std::uint64_t c = finite_row(random, r.d, 1, (trial / 4) % 4).front();
            Bits scale_a, scale_b;
            for (std::size_t k = 0; r.scale_block != 0 && k < one.length; k += std::size_t(r.scale_block)) {
                // Near one another, so that several groups and c overlap.
                const auto scale = [&] { return r.scale == Format::ue8m0 ? 110 + random() % 30 : random() % 0x7f; };
                scale_a.push_back(scale()), scale_b.push_back(scale());
            }
            const Scales scales{scale_a, scale_b};
            ASSERT_EQ(dot(r, a, b, c, scales), second_fused_dot(r, a, b, c, scales))
                << name(one.request.device) << " " << name(one.request.instruction) << " " << traits(r.a).name << ","
                << traits(r.b).name << "," << traits(r.d).name << " trial " << trial;
        }
    }
}

TEST(FusedDot, ChainsGroupsInAscendingK) {
    // sm_80: two groups of 8. 2^24 enters in the first, 1 in the second, where 2^24 + 1 is cut to 24 bits.
    const DotRecipe r = require({.device = Generation::ampere});
    Bits a(16, 0), b(16, 0);
    a[0] = b[0] = 0x6c00;  // 2^12
    a[8] = b[8] = 0x3c00;
    EXPECT_EQ(dot(r, a, b, 0), 0x4b800000u);
    // Two ones in one group survive together.
    a[9] = b[9] = 0x3c00;
    EXPECT_EQ(dot(r, a, b, 0), 0x4b800001u);
    // In different groups each is cut alone.
    a[9] = b[9] = 0, a[1] = b[1] = 0x3c00;
    EXPECT_EQ(dot(r, a, b, 0), 0x4b800000u);
    // sm_90 has one group of 16.
    EXPECT_EQ(dot(hopper(Format::f16, Format::f32), a, b, 0), 0x4b800001u);
}

TEST(FusedDot, LeastBitOfAZeroAccumulator) {
    // Recorded on an H200: F16 accumulators keep 2^-46, F32 accumulators 2^-158.
    for (const Instruction i : {Instruction::mma_sync, Instruction::wgmma}) {
        const DotRecipe half = hopper(Format::f16, Format::f16, i);
        const auto f16_pow = [](int e) { return from_double(std::ldexp(1.0, e), Format::f16); };
        EXPECT_EQ(padded_dot(half, {f16_pow(-13), f16_pow(-23)}, {f16_pow(-12), f16_pow(-23)}, 0), 1u)
            << "2^-25 + 2^-46";
        EXPECT_EQ(padded_dot(half, {f16_pow(-13), f16_pow(-24)}, {f16_pow(-12), f16_pow(-23)}, 0), 0u)
            << "2^-25 + 2^-47";
        for (const Format f : {Format::bf16, Format::tf32}) {
            const DotRecipe r = hopper(f, Format::f32, i);
            const auto pow = [&](int e) { return from_double(std::ldexp(1.0, e), f); };
            // Two halves of the least subnormal: kept, they make it.
            const auto with_halves_of = [&](int e, std::size_t count) {
                return padded_dot(r, Bits(count, pow(-80)), Bits(count, pow(e + 80)), 0, 8);
            };
            EXPECT_EQ(with_halves_of(-151, 4), 1u);
            EXPECT_EQ(padded_dot(r, {pow(-75), pow(-79), pow(-79)}, {pow(-75), pow(-79), pow(-79)}, 0, 8), 0u)
                << "2^-150 alone is under the grid of f32";
            // 2^-149 − 2^-158 is below 2^-149 only if 2^-158 is kept.
            EXPECT_EQ(padded_dot(r, {pow(-75), pow(-79) | (f == Format::bf16 ? 0x8000u : 0x80000000u)},
                                 {pow(-74), pow(-79)}, 0, 8),
                      0u);
            EXPECT_EQ(padded_dot(r, {pow(-75), pow(-80) | (f == Format::bf16 ? 0x8000u : 0x80000000u)},
                                 {pow(-74), pow(-79)}, 0, 8),
                      1u);
        }
    }
}

TEST(FusedDot, ZeroSumsArePositive) {
    const DotRecipe r = hopper(Format::f16, Format::f32), half = hopper(Format::f16, Format::f16);
    EXPECT_EQ(padded_dot(r, Bits(16, 0x8000), Bits(16, 0x3c00), 0x80000000), 0u) << "all -0";
    EXPECT_EQ(padded_dot(r, {0x3c00}, {0x3c00}, 0xbf800000), 0u) << "1 - 1";
    EXPECT_EQ(padded_dot(half, Bits(16, 0x8000), Bits(16, 0x3c00), 0x8000), 0u);
    EXPECT_EQ(padded_dot(half, {0x8400}, {0x0c00}, 0), 0u) << "-2^-26 vanishes below the grid of f16";
    const DotRecipe bf = hopper(Format::bf16, Format::f32);
    EXPECT_EQ(padded_dot(bf, {0x9980}, {0x1980}, 0), 0u) << "-2^-152 vanishes below the grid of f32";
}

TEST(FusedDot, SpecialValues) {
    constexpr std::uint64_t one = 0x3c00, inf = 0x7c00, minus_inf = 0xfc00, nan = 0x7d01;
    for (const Instruction i : {Instruction::mma_sync, Instruction::wgmma}) {
        const DotRecipe r = hopper(Format::f16, Format::f32, i), half = hopper(Format::f16, Format::f16, i);
        EXPECT_EQ(padded_dot(r, {nan}, {0}, 0), 0x7fffffffu) << "NaN x 0";
        EXPECT_EQ(padded_dot(r, {one}, {one}, 0xffc00001), 0x7fffffffu) << "payload and sign are dropped";
        EXPECT_EQ(padded_dot(half, {0xfe01}, {one}, 0), 0x7fffu);
        EXPECT_EQ(padded_dot(r, {inf}, {0}, 0), 0x7fffffffu) << "Inf x 0";
        EXPECT_EQ(padded_dot(r, {inf}, {0x8000}, 0), 0x7fffffffu);
        EXPECT_EQ(padded_dot(r, {inf, minus_inf}, {one, one}, 0), 0x7fffffffu);
        EXPECT_EQ(padded_dot(r, {inf}, {one}, 0xff800000), 0x7fffffffu);
        EXPECT_EQ(padded_dot(r, {inf, minus_inf}, {one, 0xbc00}, 0x7f800000), 0x7f800000u);
        EXPECT_EQ(padded_dot(r, {minus_inf}, {one}, 0x7f7fffff), 0xff800000u);
        EXPECT_EQ(padded_dot(half, {minus_inf}, {one}, 0x7bff), 0xfc00u);
        // Beyond the largest: infinity, although the rounding is toward zero.
        EXPECT_EQ(padded_dot(r, {0x7bff, 0x7bff}, {0x7bff, 0x7bff}, 0x7f7fffff), 0x7f7fffffu) << "too small to matter";
        EXPECT_EQ(padded_dot(hopper(Format::bf16, Format::f32, i), {0x7f7f, 0x7f7f}, {0x3f80, 0x3f80}, 0), 0x7f800000u);
        EXPECT_EQ(padded_dot(hopper(Format::bf16, Format::f32, i), {0x7f7f, 0xff7f}, {0x7f7f, 0x7f7f}, 0x3f800000), 0u)
            << "products beyond 2^128 cancel; 1 lies below their grid";
        EXPECT_EQ(padded_dot(half, {0x7bff}, {one}, 0x4bff), 0x7bffu) << "65504 + 15.99";
        EXPECT_EQ(padded_dot(half, {0x7bff}, {one}, 0x4c00), 0x7c00u) << "65520 rounds to infinity";
    }
    // sm_80: infinity of the first group stays, whatever the second brings.
    const DotRecipe chained = require({.device = Generation::ampere, .a = Format::bf16, .b = Format::bf16});
    Bits a(16, 0), b(16, 0x3f80);
    a[0] = a[1] = 0x7f7f, a[8] = a[9] = 0xff7f;
    EXPECT_EQ(dot(chained, a, b, 0), 0x7f800000u);
    a[10] = 0xff80;
    EXPECT_EQ(dot(chained, a, b, 0), 0x7fffffffu);
}

TEST(FusedDot, Tf32IgnoresItsLowBits) {
    const DotRecipe r = hopper(Format::tf32, Format::f32);
    EXPECT_EQ(padded_dot(r, {0x7f800001}, {0x3f800000}, 0, 8), 0x7f800000u) << "recorded on an H200: infinity";
    EXPECT_EQ(padded_dot(r, {0x3f801fff}, {0x3f800fff}, 0, 8), 0x3f800000u);
    // wmma: two chained groups of 4, recorded on an H200; mma.sync: one of 8.
    const DotRecipe w = hopper(Format::tf32, Format::f32, Instruction::wmma);
    Bits a(8, 0), b(8, 0x3f800000);
    a[0] = 0x4b800000, a[4] = a[1] = 0x3f800000;  // 2^24, 1, 1
    EXPECT_EQ(dot(r, a, b, 0), 0x4b800001u);
    EXPECT_EQ(dot(w, a, b, 0), 0x4b800000u);
}

TEST(FusedDot, ThirteenBitPathsCutTheAccumulatorToo) {
    for (const DotRequest& q :
         {DotRequest{
              .device = Generation::hopper, .instruction = Instruction::wgmma, .a = Format::e4m3, .b = Format::e4m3},
          DotRequest{.device = Generation::ada, .a = Format::e5m2, .b = Format::e5m2}}) {
        const DotRecipe r = require(q);
        std::mt19937_64 random(5);
        for (int i = 0; i < 2000; ++i) {
            const std::uint64_t c = finite_bits(random, Format::f32);
            if (decode(c, Format::f32).exponent <= -119) continue;  // smaller ones meet the zero terms' exponent
            EXPECT_EQ(padded_dot(r, {}, {}, c, 32), c & 0xfffffc00);
        }
        EXPECT_EQ(padded_dot(r, {0x4f}, {0x38}, 0x7f7fffff, 32), 0x7f7ffc00u) << "recorded on an RTX 4090";
    }
}

TEST(FusedDot, Fp8ThroughF16) {
    // 2^15 and 1 in bytes 0-1, −2^15 in bytes 2-3; c = 2^-11.
    const DotRecipe r = hopper(Format::e5m2, Format::f32);
    ASSERT_EQ(r.kind, DotRecipe::Kind::fp8_through_f16);
    Bits a(32, 0), b(32, 0x3c);
    a[0] = 0x78, a[1] = 0x3c, a[2] = 0xf8;
    EXPECT_EQ(dot(r, a, b, 0x3a000000), 0x3f801000u) << "1 + 2^-11, added last by IEEE addition";
    // The sum of both groups meets c once, rounded to nearest even: 1 + 2^-24 ties to 1, 1 + 3 x 2^-24 to 1 + 2^-22.
    a.assign(32, 0), a[0] = 0x3c;
    EXPECT_EQ(dot(r, a, b, 0x33800000), 0x3f800000u);
    EXPECT_EQ(dot(r, a, b, 0x34400000), 0x3f800002u);
    EXPECT_EQ(dot(r, a, b, 0xbf800000), 0u);
    EXPECT_EQ(dot(r, Bits(32, 0x80), b, 0x80000000), 0u) << "the groups' zero is +0";
    EXPECT_EQ(dot(r, Bits(32, 0x7c), b, 0xff800000), 0x7fffffffu);
    // f16: 2048 + 1 in one chain is rounded to even between the groups; from zero separately they give 1 + 2048.
    DotRequest q{.device = Generation::hopper, .a = Format::e5m2, .b = Format::e5m2, .d = Format::f16};
    a.assign(32, 0), a[0] = 0x68, a[2] = 0x3c, a[3] = 0x3c;
    EXPECT_EQ(dot(require(q), a, b, 0), 0x6801u);
    a[3] = 0;
    EXPECT_EQ(dot(require(q), a, b, 0x3c00), 0x6800u) << "2049 ties to 2048 in the group, and once more with c";
    a[2] = 0, a[6] = 0x3c, a[0] = 0, a[2] = 0x68;
    EXPECT_EQ(dot(require(q), a, b, 0x3c00), 0x6800u);
    // The two lowerings differ where the first group's sum makes the second lose bits.
    DotRequest split = q;
    split.d = Format::f32, split.separate_halves = true;
    q.d = Format::f32;
    a.assign(32, 0), a[0] = 0x78, b[0] = 0x78, a[2] = 0x04, b[2] = 0x3c;  // 2^30, then 2^-14
    EXPECT_EQ(dot(require(q), a, b, 0xce800000), 0u) << "2^-14 is cut away beside 2^30";
    EXPECT_EQ(dot(require(split), a, b, 0xce800000), 0u);
    a[6] = 0xf8, b[6] = 0x78;  // −2^30 with the second group
    EXPECT_EQ(dot(require(q), a, b, 0), 0u);
    EXPECT_EQ(dot(require(split), a, b, 0), 0u);
    std::mt19937_64 random(3);
    int different = 0;
    for (int i = 0; i < 300; ++i) {
        const Bits x = finite_row(random, Format::e5m2, 32, 0), y = finite_row(random, Format::e5m2, 32, 0);
        different += dot(require(q), x, y, 0) != dot(require(split), x, y, 0);
    }
    EXPECT_GT(different, 20);
}

TEST(FusedDot, ScaleSpecials) {
    const DotRequest fp4{.device = Generation::blackwell,
                         .instruction = Instruction::tcgen05_mma,
                         .a = Format::e2m1,
                         .b = Format::e2m1,
                         .scaling = Scaling::per_group};
    const DotRecipe r = require(fp4);
    const Bits ones(64, 0x2);
    const auto with = [&](const DotRecipe& recipe_, const Bits& a, Bits sa, Bits sb, std::uint64_t c) {
        return dot(recipe_, a, ones, c, {sa, sb});
    };
    EXPECT_EQ(with(r, ones, {127, 127}, {127, 127}, 0), 0x42800000u) << "64";
    EXPECT_EQ(with(r, ones, {128, 127}, {127, 126}, 0), 0x42a00000u) << "32 x 2 + 32 / 2";
    EXPECT_EQ(with(r, ones, {0xff, 127}, {127, 127}, 0x7f800000), 0x7fffffffu) << "a NaN scale beats an infinite C";
    EXPECT_EQ(with(r, Bits(64, 0), {0xff, 127}, {127, 127}, 0), 0x7fffffffu);
    EXPECT_EQ(with(r, ones, {254, 127}, {254, 127}, 0), 0x7f800000u);
    EXPECT_EQ(with(r, ones, {254, 127}, {254, 127}, 0xff800000), 0xff800000u) << "an infinite C stays";
    // A group that cancels keeps its scales' exponent: 2^40 − 2^40 leaves 1 below its grid of 2^5.
    Bits cancel(64, 0);
    cancel[0] = 0x2, cancel[1] = 0xa, cancel[32] = 0x2;
    EXPECT_EQ(with(r, cancel, {167, 127}, {127, 127}, 0), 0u);
    EXPECT_EQ(with(r, cancel, {162, 127}, {127, 127}, 0), 0x3f800000u) << "2^35: 1 is the least bit kept";
    EXPECT_EQ(with(r, Bits(64, 0), {254, 254}, {254, 254}, 0x3f800000), 0x3f800000u)
        << "zero products have no exponent";
    DotRequest nv = fp4;
    nv.scale = Format::ue4m3, nv.scale_block = 16;
    const DotRecipe n = require(nv);
    EXPECT_EQ(with(n, ones, {0x38, 0x38, 0x38, 0x38}, {0xb8, 0x38, 0x38, 0x38}, 0), 0x42800000u)
        << "bit 7 of a scale is ignored";
    EXPECT_EQ(with(n, ones, {0x3c, 0, 0, 0}, {0x3c, 0x38, 0x38, 0x38}, 0x3f800000), 0x42140000u)
        << "16 x 1.5 x 1.5 + 1";
    EXPECT_EQ(with(n, ones, {0x7f, 0, 0, 0}, {0x38, 0x38, 0x38, 0x38}, 0), 0x7fffffffu);
    const DotRecipe mx = require(
        {.device = Generation::blackwell_rtx, .a = Format::e4m3, .b = Format::e5m2, .scaling = Scaling::per_dot});
    const Bits a(32, 0x38), b(32, 0x3c), big{0xff}, one{127}, up{137};
    EXPECT_EQ(dot(mx, a, b, 0, {up, one}), 0x47000000u) << "32 x 2^10";
    EXPECT_EQ(dot(mx, a, b, 0x7f800000, {big, one}), 0x7fffffffu);
}

TEST(FusedDot, Integers) {
    DotRequest q{.device = Generation::hopper, .a = Format::s8, .b = Format::s8, .d = Format::s32};
    EXPECT_EQ(dot(require(q), Bits(32, 0x80), Bits(32, 0x80), 0x7fffffff), 0x8007ffffu) << "wraps";
    q.saturate = true;
    EXPECT_EQ(dot(require(q), Bits(32, 0x80), Bits(32, 0x80), 0x7fffffff), 0x7fffffffu);
    EXPECT_EQ(dot(require(q), Bits(32, 0x80), Bits(32, 0x7f), 0x80000000), 0x80000000u);
    EXPECT_EQ(dot(require(q), Bits(32, 0x80), Bits(32, 0x7f), 0x7fffffff), 0x7fffffffu - 32 * 128 * 127);
    q = {.device = Generation::ampere, .a = Format::u8, .b = Format::s8, .d = Format::s32};
    EXPECT_EQ(dot(require(q), Bits(16, 0xff), Bits(16, 0xff), 5), std::uint32_t(5 - 16 * 255));
    q = {.device = Generation::ampere, .a = Format::s4, .b = Format::u4, .d = Format::s32};
    EXPECT_EQ(dot(require(q), Bits(32, 0x8), Bits(32, 0xf), 0), std::uint32_t(-32 * 8 * 15));
    q = {.device = Generation::ampere, .a = Format::b1, .b = Format::b1, .d = Format::s32};
    Bits x(128, 1), y(128, 0);
    y[3] = y[100] = 1;
    EXPECT_EQ(dot(require(q), x, y, 7), 9u);
    q.exclusive_or = true;
    EXPECT_EQ(dot(require(q), x, y, 7), 133u);
    EXPECT_EQ(dot(require(q), x, y, 0xffffffff), 125u) << "wraps";
}

TEST(FusedDot, F64IsAChainOfFma) {
    DotRequest q{.device = Generation::hopper, .a = Format::f64, .b = Format::f64, .d = Format::f64};
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    // 1 + 2^-53 + 2^-53 in ascending k loses both; the other way round it keeps them.
    const Bits ones(3, bits(1.0));
    EXPECT_EQ(dot(require(q), Bits{bits(1.0), bits(0x1p-53), bits(0x1p-53)}, ones, 0), bits(1.0));
    EXPECT_EQ(dot(require(q), Bits{bits(0x1p-53), bits(0x1p-53), bits(1.0)}, ones, 0), bits(1.0 + 0x1p-52));
    q.f64_rounding = Rounding::rp;
    EXPECT_EQ(dot(require(q), Bits{bits(1.0), bits(0x1p-53), bits(0x1p-53)}, ones, 0), bits(1.0 + 0x1p-51));
    q.f64_rounding = Rounding::rn;
    EXPECT_EQ(dot(require(q), Bits{0x7ff0000000000005}, Bits{0xfff4000000000007}, 0x7ff8000000000009),
              0xfffc000000000007u)
        << "b first";
    EXPECT_EQ(dot(require(q), Bits{0x7ff0000000000005}, Bits{bits(1.0)}, 0x7ff8000000000009), 0x7ff8000000000009u)
        << "then c";
    EXPECT_EQ(dot(require(q), Bits{0x7ff0000000000005}, Bits{bits(1.0)}, 0), 0x7ff8000000000005u) << "then a";
    EXPECT_EQ(dot(require(q), Bits{0x7ff0000000000000}, Bits{0}, 0), 0xfff8000000000000u) << "invalid";
    EXPECT_EQ(dot(require(q), Bits{bits(-0.0)}, Bits{bits(1.0)}, bits(-0.0)), bits(-0.0)) << "IEEE signed zero";
}

TEST(FusedDot, M8n8k4RunsInBinary32) {
    // Recorded on an H200: (c + fma(a1, b1, a0 b0)) + fma(a3, b3, a2 b2) for f16, c + (chain of four) for f32.
    DotRequest q{.device = Generation::hopper, .d = Format::f16, .m8n8k4 = true};
    const Bits ones(4, 0x3c00);
    const Bits a{0x6800, 0x3c00, 0x6800, 0x3c00};  // 2048, 1, 2048, 1
    EXPECT_EQ(dot(require(q), a, ones, 0xec00), 0x4000u) << "−4096 + 2049 + 2049, rounded once at the end";
    q.d = Format::f32;
    // The chain: 2^24 + 1 rounds to 2^24 before c = −2^24 takes it away.
    EXPECT_EQ(dot(require(q), Bits{0x6c00, 0x3c00, 0, 0}, Bits{0x6c00, 0x3c00, 0, 0}, 0xcb800000), 0u);
    EXPECT_EQ(dot(require(q), Bits{0x8000, 0, 0, 0}, ones, 0x80000000), 0u) << "the chain starts at +0";
}

TEST(FusedDot, DecodedOperandsGiveTheSame) {
    std::mt19937_64 random(11);
    for (const Format f : {Format::f16, Format::bf16, Format::tf32}) {
        const DotRecipe r = hopper(f, Format::f32);
        for (int trial = 0; trial < 2000; ++trial) {
            Bits a(16), b(16);
            for (std::size_t k = 0; k < 16; ++k)
                a[k] = random() & (f == Format::tf32 ? 0xffffffff : 0xffff),
                b[k] = random() % 7 == 0 ? 0 : a[(k * 5 + 1) % 16];
            const std::uint32_t c = std::uint32_t(random());
            ASSERT_EQ(dot(r, std::span<const Term>(decode_terms(a, f)), decode_terms(b, f), c), dot(r, a, b, c));
        }
    }
}

}  // namespace
}  // namespace tilepath::number
