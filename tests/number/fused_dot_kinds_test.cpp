#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fused_dot_requests.h"
#include "number/fused_dot.h"

namespace tilepath::number {
namespace {

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
