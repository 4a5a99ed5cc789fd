#include "host/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tilepath::host {
namespace {

DType named(std::string_view name) { return dtype_named(name).value(); }

TEST(DType, FourBitElementsLieLowBitsFirst) {
    const std::vector<std::uint8_t> bytes = {0x21, 0x43};
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(element(bytes, named("u4"), i), i + 1);
    EXPECT_EQ(to_number(named("s4"), 0xF), -1);
    EXPECT_EQ(to_number(named("e2m1"), 0x7), 6);
}

// 6-bit elements 1, 2, 3, 63 in a little-endian stream: 1 | 2<<6 | 3<<12 | 63<<18 = 0xFC3081.
TEST(DType, SixBitElementsCrossBytes) {
    std::vector<std::uint8_t> bytes = {0x81, 0x30, 0xFC};
    const std::uint64_t expected[] = {1, 2, 3, 63};
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(element(bytes, named("e3m2"), i), expected[i]) << i;
    set_element(bytes, named("e3m2"), 1, 0x2A);
    EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0x81, 0x3A, 0xFC}));
    set_element(bytes, named("e3m2"), 3, 0);
    EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0x81, 0x3A, 0x00}));
}

TEST(DType, EveryElementOfEveryTypeIsItsOwn) {
    for (std::string_view name : {"b1", "u4", "16u6_align16b", "e3m2", "s8", "f16", "u32", "f64"}) {
        const DType type = named(name);
        constexpr std::uint64_t count = 11;
        std::vector<std::uint8_t> bytes(bytes_of(type, count), 0xFF);
        EXPECT_EQ(bytes.size(), (count * static_cast<std::uint64_t>(type.bits) + 7) / 8);
        const std::uint64_t mask = type.bits == 64 ? ~0ull : (1ull << type.bits) - 1;
        for (std::uint64_t i = 0; i < count; ++i) set_element(bytes, type, i, i * 0x9E3779B97F4A7C15u);
        for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(element(bytes, type, i), i * 0x9E3779B97F4A7C15u & mask) << name << i;
    }
}

TEST(DType, NumbersAreRoundedToNearestEvenAndClamped) {
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
    struct Row {
        const char* type;
        double value;
        std::uint64_t bits;
    };
    const Row rows[] = {
        {"f16", 1.5, 0x3E00},        {"f16", 2049, 0x6800},        {"f16", 2051, 0x6802},       {"f16", infinity, 0x7C00},
        {"f16", 1e9, 0x7BFF},        {"f16", -0.0, 0x8000},        {"bf16", 1, 0x3F80},         {"tf32", 1, 0x3F800000},
        {"e4m3", 448, 0x7E},         {"e4m3", 1e9, 0x7E},          {"e2m1", 6, 7},              {"e2m1", 2.5, 4},
        {"ue8m0", 1, 127},           {"u8", 255.4, 255},           {"u8", 256, 255},            {"u8", -1, 0},
        {"s8", -129, 0x80},          {"s8", 127.6, 127},           {"s8", -1, 0xFF},            {"s4", -8, 0x8},
        {"s4", 9, 7},                {"u4", 15, 15},               {"b1", 1, 1},                {"b1", 5, 1},
        {"u32", 4294967295.0, ~0u},  {"s32", -2147483648.0, 1u << 31},  {"s32", nan, 0},        {"u64", 0x1p64, ~0ull},
        {"s64", 0x1p63, ~0ull >> 1}, {"s64", -0x1p63, 1ull << 63}, {"u8", 0.5, 0},              {"u8", 1.5, 2},
    };
    for (const Row& row : rows) {
        const DType type = named(row.type);
        const std::uint64_t mask = type.bits == 64 ? ~0ull : (1ull << type.bits) - 1;
        EXPECT_EQ(from_number(type, row.value) & mask, row.bits) << row.type << " " << row.value;
    }
    EXPECT_TRUE(std::isnan(to_number(named("f16"), from_number(named("f16"), nan))));
}

TEST(DType, TextShowsNumberAndBits) {
    EXPECT_EQ(to_text(named("f16"), 0x3E00), "1.5 (0x3e00)");
    EXPECT_EQ(to_text(named("f32"), 0x7F800000), "inf (0x7f800000)");
    EXPECT_EQ(to_text(named("s8"), 0xFF), "-1 (0xff)");
    EXPECT_EQ(to_text(named("s4"), 0x8), "-8 (0x8)");
    EXPECT_EQ(to_text(named("u64"), ~0ull), "18446744073709551615 (0xffffffffffffffff)");
    EXPECT_EQ(to_text(named("e3m2"), 0x3F), "-28 (0x3f)");
}

TEST(DType, UnknownNamesAreNone) {
    EXPECT_FALSE(dtype_named("f8"));
    EXPECT_FALSE(dtype_named(""));
    EXPECT_NE(dtype_names().find("16u6_align16b"), std::string::npos);
}

}  // namespace
}  // namespace tilepath::host
