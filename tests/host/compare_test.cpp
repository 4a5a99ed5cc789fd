#include "host/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace tilepath::host {
namespace {

template <class T>
std::vector<std::uint8_t> bytes_of_all(std::initializer_list<T> values) {
    std::vector<std::uint8_t> out(values.size() * sizeof(T));
    std::memcpy(out.data(), values.begin(), out.size());
    return out;
}

Buffer floats(std::int64_t count, Tolerance tolerance = {}) {
    Buffer out;
    out.name = "d";
    out.dtype = *dtype_named("f32");
    out.shape = {count};
    out.tolerance = tolerance;
    return out;
}

std::uint64_t different(const Tolerance& tolerance, float found, float expected) {
    return compare(floats(1, tolerance), bytes_of_all({found}), bytes_of_all({expected})).different;
}

const float nan = std::nanf(""), infinity = HUGE_VALF;

TEST(Compare, EveryBitCountsWithoutATolerance) {
    EXPECT_EQ(different({}, 1, 1), 0u);
    EXPECT_EQ(different({}, nan, nan), 0u);
    EXPECT_EQ(different({}, 0.0f, -0.0f), 1u);
    EXPECT_EQ(different({}, 1, std::nextafterf(1, 2)), 1u);
    EXPECT_EQ(different({}, nan, -nan), 1u);
}

TEST(Compare, UlpCountsStepsOfTheFormat) {
    const Tolerance two{.ulp = 2};
    const float above = std::nextafterf(std::nextafterf(1, 2), 2);
    EXPECT_EQ(different(two, above, 1), 0u);
    EXPECT_EQ(different(two, std::nextafterf(above, 2), 1), 1u);
    // Across a power of two, and across zero: −0 and +0 are one place.
    EXPECT_EQ(different(two, std::nextafterf(1, 0), std::nextafterf(1, 2)), 0u);
    EXPECT_EQ(different(two, 0x1p-149f, -0x1p-149f), 0u);
    EXPECT_EQ(different(two, 0x1p-149f, -0x1p-148f), 1u);
    EXPECT_EQ(different({.ulp = 0}, 0.0f, -0.0f), 0u);
    EXPECT_EQ(different(two, infinity, std::numeric_limits<float>::max()), 1u) << "infinity is no neighbour";
    EXPECT_EQ(different(two, infinity, infinity), 0u);
    EXPECT_EQ(different(two, nan, -nan), 0u) << "a NaN is a NaN";
    EXPECT_EQ(different(two, nan, 1), 1u);
    EXPECT_EQ(different(two, 1, nan), 1u);
}

TEST(Compare, RelativeAndAbsoluteAsNumpyHasThem) {
    EXPECT_EQ(different({.rtol = 0.125}, 9, 8), 0u);
    EXPECT_EQ(different({.rtol = 0.125}, 8, 9.25f), 1u) << "relative to what is expected";
    EXPECT_EQ(different({.rtol = 0.1, .atol = 0.2}, 10.5f, 9.5f), 0u);
    EXPECT_EQ(different({.atol = 0.5}, 0.5f, 0), 0u);
    EXPECT_EQ(different({.atol = 0.5}, 0.75f, 0), 1u);
    EXPECT_EQ(different({.rtol = 0.1}, infinity, 1), 1u);
    EXPECT_EQ(different({.rtol = 0.1}, 1, infinity), 1u);
    EXPECT_EQ(different({.rtol = 0.1}, -infinity, infinity), 1u);
}

TEST(Compare, IntegersWithinSteps) {
    Buffer b = floats(3, {.ulp = 1});
    b.dtype = *dtype_named("s8");
    EXPECT_EQ(compare(b, {1, 0xFF, 0x7F}, {2, 0, 0x80}).different, 1u) << "127 and -128 are far apart";
    b.dtype = *dtype_named("u64");
    b.tolerance = {};
    b.shape = {1};
    EXPECT_EQ(compare(b, bytes_of_all<std::uint64_t>({1ull << 63}), bytes_of_all<std::uint64_t>({(1ull << 63) + 1})).different, 1u);
}

TEST(Compare, TellsTheFirstElementsByIndex) {
    Buffer b = floats(0);
    b.shape = {4, 5};
    std::vector<std::uint8_t> found(80, 0), expected(80, 0);
    for (std::size_t i : {7u, 19u}) found[i * 4 + 3] = 0x40;
    const Difference difference = compare(b, found, expected);
    EXPECT_EQ(difference.compared, 20u);
    EXPECT_EQ(difference.different, 2u);
    EXPECT_EQ(difference.first[0].index, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(difference.largest_ulp, 0x40000000);
    EXPECT_EQ(to_string(b, difference),
              "d: 2 of 20 elements differ from what is expected\n"
              "  d[1, 2] = 2 (0x40000000), expected 0 (0x00000000)\n"
              "  d[3, 4] = 2 (0x40000000), expected 0 (0x00000000)\n"
              "  largest distance of finite elements: 1073741824 ulp\n");
    for (std::size_t i = 0; i < 20; ++i) found[i * 4] = 1;
    const Difference all = compare(b, found, expected);
    EXPECT_EQ(all.first.size(), 8u);
    EXPECT_NE(to_string(b, all).find("  and 12 more\n"), std::string::npos);
    EXPECT_EQ(to_string(b, compare(b, found, found)), "");
}

TEST(Compare, OnlyElementsCountNotWhatLiesBetween) {
    Buffer b = floats(2);
    b.dtype = *dtype_named("u8");
    b.positions = {0, 2};
    EXPECT_EQ(compare(b, {1, 5, 3}, {1, 6, 3}).different, 0u);
    EXPECT_EQ(compare(b, {1, 5, 4}, {1, 5, 3}).different, 1u);
    b.dtype = *dtype_named("u4");
    b.positions = {1, 3};
    EXPECT_EQ(compare(b, {0x1F, 0x2F}, {0x10, 0x20}).different, 0u);
}

}  // namespace
}  // namespace tilepath::host
