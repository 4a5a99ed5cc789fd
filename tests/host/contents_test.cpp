#include "host/contents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "host/npy.h"

namespace tilepath::host {
namespace {

using Kind = Contents::Kind;
using Distribution = Contents::Distribution;

Buffer buffer(std::string_view dtype, std::vector<std::int64_t> shape) {
    Buffer out;
    out.name = "b";
    out.dtype = *dtype_named(dtype);
    out.shape = std::move(shape);
    out.bytes.resize(bytes_of(out.dtype, out.elements()));
    return out;
}

std::vector<double> numbers(const Buffer& buffer, const Contents& contents) {
    const auto bytes = make_contents(contents, buffer, 0xA5);
    if (!bytes) return {};
    std::vector<double> out;
    for (std::uint64_t i = 0; i < buffer.elements(); ++i) out.push_back(to_number(buffer.dtype, element(*bytes, buffer.dtype, buffer.position(i))));
    return out;
}

TEST(Contents, ZeroValueIotaPoisonHex) {
    const Buffer halves = buffer("f16", {2, 2});
    EXPECT_EQ(numbers(halves, {.kind = Kind::zero}), (std::vector<double>{0, 0, 0, 0}));
    EXPECT_EQ(numbers(halves, {.kind = Kind::value, .value = 1.5}), (std::vector<double>{1.5, 1.5, 1.5, 1.5}));
    EXPECT_EQ(numbers(halves, {.kind = Kind::iota}), (std::vector<double>{0, 1, 2, 3}));
    EXPECT_EQ(*make_contents({.kind = Kind::poison}, halves, 0), std::vector<std::uint8_t>(8, 0xA5));
    EXPECT_EQ(*make_contents({.kind = Kind::hex, .text = "00 3c_0040\n0042\t0044"}, halves, 0),
              (std::vector<std::uint8_t>{0, 0x3C, 0, 0x40, 0, 0x42, 0, 0x44}));
    EXPECT_EQ(numbers(buffer("e2m1", {5}), {.kind = Kind::iota}), (std::vector<double>{0, 1, 2, 3, 4}));
    EXPECT_EQ(numbers(buffer("s4", {10}), {.kind = Kind::iota}).back(), 7) << "clamped";
}

TEST(Contents, GapsKeepWhatLiesBetween) {
    Buffer b = buffer("u8", {2});
    b.positions = {0, 3};
    b.bytes.resize(4);
    EXPECT_EQ(*make_contents({.kind = Kind::value, .value = 1}, b, 0xA5), (std::vector<std::uint8_t>{1, 0xA5, 0xA5, 1}));
}

TEST(Contents, RandomNumbersFollowTheirDistribution) {
    const Buffer floats = buffer("f32", {20000});
    auto moments = [](const std::vector<double>& all) {
        double mean = 0, square = 0;
        for (double x : all) mean += x / static_cast<double>(all.size());
        for (double x : all) square += (x - mean) * (x - mean) / static_cast<double>(all.size());
        return std::pair(mean, std::sqrt(square));
    };
    auto [mean, deviation] = moments(numbers(floats, {.kind = Kind::random, .seed = 1, .a = 3, .b = 2}));
    EXPECT_NEAR(mean, 3, 0.1);
    EXPECT_NEAR(deviation, 2, 0.1);
    const auto uniform = numbers(floats, {.kind = Kind::random, .distribution = Distribution::uniform, .seed = 1, .a = -1, .b = 3});
    EXPECT_GE(*std::ranges::min_element(uniform), -1);
    EXPECT_LE(*std::ranges::max_element(uniform), 3);
    EXPECT_NEAR(moments(uniform).first, 1, 0.05);
    // Every pattern of a byte occurs among 20,000 random ones.
    std::vector<double> bytes = numbers(buffer("u8", {20000}), {.kind = Kind::random, .distribution = Distribution::bits});
    std::ranges::sort(bytes);
    EXPECT_EQ(std::ranges::unique(bytes).begin() - bytes.begin(), 256);
}

TEST(Contents, SeedsGiveTheSameBitsEverywhere) {
    const Buffer halves = buffer("f16", {64});
    const Contents one{.kind = Kind::random, .seed = 1}, two{.kind = Kind::random, .seed = 2};
    EXPECT_EQ(*make_contents(one, halves, 0), *make_contents(one, halves, 0));
    EXPECT_NE(*make_contents(one, halves, 0), *make_contents(two, halves, 0));
    // SplitMix64's own first outputs for the state 0 (Steele, Lea, Flood 2014): seed 0 mixes to 0.
    EXPECT_EQ(random_bits(0, 0), 0xE220A8397B1DCDAFu);
    EXPECT_EQ(random_bits(0, 1), 0x6E789E6AA1B965F4u);
    EXPECT_EQ(random_bits(0, 2), 0x06C45D188009454Fu);
}

TEST(Contents, NpyFilesFillElementsWhereverTheyLie) {
    const std::string path = testing::TempDir() + "tilepath_contents.npy";
    ASSERT_TRUE(write_npy(path, *dtype_named("u8"), {2}, {7, 9}));
    Buffer b = buffer("u8", {2});
    b.positions = {2, 0};
    b.bytes.resize(3);
    EXPECT_EQ(*make_contents({.kind = Kind::file, .text = path}, b, 0), (std::vector<std::uint8_t>{9, 0, 7}));
    // One byte for each 4-bit element.
    EXPECT_EQ(*make_contents({.kind = Kind::file, .text = path}, buffer("u4", {2}), 0), std::vector<std::uint8_t>{0x97});
}

TEST(Contents, RawFilesHoldTheBuffersMemory) {
    const std::string path = testing::TempDir() + "tilepath_contents.bin";
    ASSERT_TRUE(write_bytes(path, {1, 2, 3}));
    Buffer b = buffer("u8", {2});
    b.positions = {0, 2};
    b.bytes.resize(3);
    EXPECT_EQ(*make_contents({.kind = Kind::file, .text = path}, b, 0), (std::vector<std::uint8_t>{1, 2, 3}));
    const auto wrong = make_contents({.kind = Kind::file, .text = path}, buffer("u8", {4}), 0);
    ASSERT_FALSE(wrong);
    EXPECT_NE(to_string(wrong.error()).find("has 3 bytes; 'b' has 4"), std::string::npos) << to_string(wrong.error());
}

}  // namespace
}  // namespace tilepath::host
