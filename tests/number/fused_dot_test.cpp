#include "number/fused_dot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fused_dot_requests.h"

namespace tilepath::number {
namespace {

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

}  // namespace
}  // namespace tilepath::number
