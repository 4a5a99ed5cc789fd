#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tilepath/tilepath.h>

#include <cmath>

namespace tilepath {
namespace {

using testing::HasSubstr;

TEST(Number, EncodesAndDecodes) {
    EXPECT_EQ(encode(1.5, "f16"), 0x3E00u);
    EXPECT_EQ(encode(2049, "f16"), 0x6800u) << "ties to even";
    EXPECT_EQ(encode(1e6, "f16"), 0x7C00u);
    EXPECT_EQ(encode(448, "e4m3"), 0x7Eu);
    EXPECT_EQ(encode(-3, "s8"), 0xFDu);
    EXPECT_EQ(encode(300, "u8"), 0xFFu);
    EXPECT_EQ(decode(0x7, "e2m1"), 6.0);
    EXPECT_EQ(decode(0xFD, "s8"), -3.0);
    EXPECT_EQ(decode(0x3F80, "bf16"), 1.0);
    EXPECT_TRUE(std::isnan(decode(0xFF, "ue8m0").value()));
    EXPECT_THAT(to_string(encode(1, "f17").error()), HasSubstr("'f17' is no number format"));
    EXPECT_FALSE(decode(1, ""));
}

TEST(Number, DotProductsTruncateAsTheDeviceDoes) {
    const std::uint64_t one = encode(1, "f16").value(), small = encode(0x1p-13, "f16").value();
    // 1·1 + 2^-13 · 2^-13 = 1 + 2^-26, a bit below what any of these devices keeps of a sum near 1.
    for (const char* arch : {"sm_80", "sm_89", "sm_90"})
        EXPECT_EQ(dot({.arch = arch}, {.a = {one, small}, .b = {one, small}, .c = 0}), 0x3F800000u) << arch;
    // Ampere cuts every term to 24 bits below the largest exponent, Hopper to 25 (docs/numerics.md): four times 2^-25 is
    // nothing or 2^-23.
    const std::uint64_t a = encode(0x1p-12, "f16").value(), b = encode(0x1p-13, "f16").value();
    const DotOperands four{.a = {one, a, a, a, a}, .b = {one, b, b, b, b}, .c = 0};
    EXPECT_EQ(dot({.arch = "sm_80"}, four), 0x3F800000u);
    EXPECT_EQ(dot({.arch = "sm_90"}, four), 0x3F800001u);
}

TEST(Number, IntegersWrapOrClamp) {
    const DotRequest wrap{.a = "s8", .b = "s8", .d = "s32"};
    DotRequest clamp = wrap;
    clamp.satfinite = true;
    const DotOperands operands{.a = {127}, .b = {127}, .c = 0x7FFFFFFF};
    EXPECT_EQ(dot(wrap, operands), 0x80003F00u);
    EXPECT_EQ(dot(clamp, operands), 0x7FFFFFFFu);
}

TEST(Number, BlockScales) {
    const DotRequest request{.arch = "sm_120a", .a = "e2m1", .b = "e2m1", .kind = "mxf4", .scale = "ue8m0"};
    const std::vector<std::uint64_t> twos(64, encode(2, "e2m1").value());
    const std::uint64_t half = encode(0.5, "ue8m0").value(), four = encode(4, "ue8m0").value();
    // 32 · 4 · (½ · 4) + 32 · 4 · (½ · ½) = 256 + 32.
    const auto d = dot(request, {.a = twos, .b = twos, .c = 0, .scale_a = {half, half}, .scale_b = {four, half}});
    ASSERT_TRUE(d) << to_string(d.error());
    EXPECT_EQ(decode(*d, "f32"), 288.0);
    EXPECT_THAT(to_string(dot(request, {.a = twos, .b = twos}).error()), HasSubstr("expected 2 scale factors of A and of B"));
}

TEST(Number, ErrorsSayWhatThereIs) {
    const DotOperands operands{.a = {1}, .b = {1}};
    auto error = [&](const DotRequest& request) {
        const auto d = dot(request, operands);
        return d ? std::string("fine") : to_string(d.error());
    };
    EXPECT_NE(error({.arch = "sm_80", .a = "e4m3", .b = "e4m3"}), "fine");
    EXPECT_NE(error({.arch = "sm_80", .instruction = "wgmma"}), "fine");
    const std::string all = error({.arch = "sm_1", .instruction = "add", .a = "f17", .b = "f18", .kind = "mx"});
    for (const char* part : {"sm_1", "add", "'f17'", "'f18'", "'mx'"}) EXPECT_THAT(all, HasSubstr(part));
    EXPECT_NE(error({.scale = "ue8m0"}), "fine");
    EXPECT_FALSE(dot({}, {}));
    EXPECT_FALSE(dot({}, {.a = {1, 2}, .b = {1}}));
}

}  // namespace
}  // namespace tilepath
