#include "machine/tensor_map.h"

#include <gtest/gtest.h>

#include <functional>

namespace tilepath::machine {
namespace {

using layout::SwizzleMode;

TensorMap matrix() {
    TensorMap map;
    map.type = TensorType::f16;
    map.rank = 2;
    map.address = 0x2000'0000'1000;
    map.dims = {64, 128, 1, 1, 1};
    map.strides = {128, 0, 0, 0};
    map.box = {64, 128, 1, 1, 1};
    map.swizzle = SwizzleMode::b128;
    return map;
}

TensorMap images() {
    TensorMap map;
    map.type = TensorType::f16;
    map.walk = ImageWalk::im2col;
    map.rank = 4;
    map.address = 0x2000'0000'1000;
    map.dims = {64, 9, 14, 2, 1};
    map.strides = {128, 128 * 9, 128 * 9 * 14, 0};
    map.lower = {-1, -1, 0};
    map.upper = {-1, -1, 0};
    map.channels_per_pixel = 8;
    map.pixels_per_column = 64;
    return map;
}

TEST(TensorMap, BytesGiveItBack) {
    EXPECT_EQ(decode(encode(matrix())), matrix());
    EXPECT_EQ(decode(encode(images())), images());
    TensorMap odd = images();
    odd.dims = {std::uint64_t{1} << 32, 1, 7, 3, 5};
    odd.box = {256, 1, 2, 3, 4};
    odd.element_strides = {8, 1, 2, 3, 4};
    odd.lower = {-32768, 127, -16};
    odd.upper = {32767, -128, 15};
    odd.interleave = Interleave::b16;
    odd.nan_fill = true;
    odd.l2_promotion = 3;
    odd.rank = 5;
    odd.strides[3] = (std::uint64_t{1} << 40) - 16;
    EXPECT_EQ(decode(encode(odd)), odd);
}

TEST(TensorMap, OtherBytesAreRefused) {
    std::array<std::uint8_t, TensorMap::bytes> zeros{};
    EXPECT_FALSE(decode(zeros));
    std::array<std::uint8_t, TensorMap::bytes> poison{};
    poison.fill(0xA5);
    EXPECT_FALSE(decode(poison));
    auto bytes = encode(matrix());
    bytes[0] ^= 1;
    EXPECT_FALSE(decode(bytes));
}

TEST(TensorMap, GoodMapsBreakNoRule) {
    EXPECT_EQ(to_string(broken_rules(matrix())), "");
    EXPECT_EQ(to_string(broken_rules(images())), "");
}

struct Broken {
    const char* message;
    std::function<void(TensorMap&)> change;
};

TEST(TensorMap, EachRuleOfTiles) {
    const Broken broken[] = {
        {"rank: expected 1 to 5, found 0", [](TensorMap& m) { m.rank = 0; }},
        {"rank: expected 3 to 5 when interleaved, found 2", [](TensorMap& m) { m.interleave = Interleave::b16; }},
        {"global address: expected a multiple of 16, found 0x200000001008", [](TensorMap& m) { m.address += 8; }},
        {"dims[1]: expected 1 to 2^32, found 0", [](TensorMap& m) { m.dims[1] = 0; }},
        {"dims[0]: expected 1 to 2^32, found 4294967297", [](TensorMap& m) { m.dims[0] = (1ull << 32) + 1; }},
        {"dims[0]: expected a multiple of 2 with 16u4_align8b, found 65",
         [](TensorMap& m) { m.type = TensorType::u4_align8b, m.dims[0] = 65, m.box[0] = 32; }},
        {"strides[0]: expected a multiple of 16 bytes, found 130", [](TensorMap& m) { m.strides[0] = 130; }},
        {"strides[0]: expected less than 2^40 bytes, found 1099511627776",
         [](TensorMap& m) { m.strides[0] = 1ull << 40; }},
        {"box[1]: expected 1 to 256, found 257", [](TensorMap& m) { m.box[1] = 257; }},
        {"box[1]: expected 1 to 256, found 0", [](TensorMap& m) { m.box[1] = 0; }},
        {"box[0]: expected a multiple of 16 bytes, found 120 bytes", [](TensorMap& m) { m.box[0] = 60; }},
        {"box[0]: expected at most 64 bytes with swizzle 64B, found 128 bytes",
         [](TensorMap& m) { m.swizzle = SwizzleMode::b64; }},
        {"element_strides[1]: expected 1 to 8, found 9", [](TensorMap& m) { m.element_strides[1] = 9; }},
        {"element_strides[1]: expected 1 to 8, found 0", [](TensorMap& m) { m.element_strides[1] = 0; }},
        {"oob fill: expected zero, unless the type is a floating-point one, found nan with u16",
         [](TensorMap& m) { m.type = TensorType::u16, m.nan_fill = true; }},
        {"box[0]: expected a multiple of 16 bytes, found 6 bytes",
         [](TensorMap& m) { m.rank = 3, m.strides[1] = 128 * 128, m.interleave = Interleave::b16, m.box[0] = 3; }},
        {"box: expected at most 233472 bytes in all, found 237568 bytes",
         [](TensorMap& m) {
             m.rank = 3, m.strides[1] = 128 * 128, m.box = {8, 256, 58, 1, 1};
         }},
        {"element_strides[0]: expected 1 to 8, found 9", [](TensorMap& m) { m.element_strides[0] = 9; }},
        {"global address: expected a multiple of 32 with interleave 32B, found 0x200000001010",
         [](TensorMap& m) {
             m.rank = 3, m.strides[1] = 128 * 128, m.interleave = Interleave::b32, m.swizzle = SwizzleMode::b32,
             m.address += 16;
         }},
        {"strides[0]: expected a multiple of 32 bytes with interleave 32B, found 144",
         [](TensorMap& m) {
             m.rank = 3, m.strides = {144, 128 * 128}, m.interleave = Interleave::b32, m.swizzle = SwizzleMode::b32;
         }},
        {"dims[0]: expected a multiple of 128 with 16u6_align16b, found 192",
         [](TensorMap& m) { m.type = TensorType::u6_align16b, m.dims[0] = 192, m.box[0] = 128, m.strides[0] = 160; }},
        {"box[0]: expected 128 with 16u4_align16b, found 64",
         [](TensorMap& m) { m.type = TensorType::u4_align16b, m.dims[0] = 128; }},
        {"swizzle: expected none, 128B or 128B_atom_32B with 16u4_align16b, found 128B_atom_64B",
         [](TensorMap& m) {
             m.type = TensorType::u4_align16b, m.dims[0] = m.box[0] = 128, m.swizzle = SwizzleMode::b128_atom_64b;
         }},
    };
    for (const Broken& each : broken) {
        TensorMap map = matrix();
        each.change(map);
        EXPECT_EQ(to_string(broken_rules(map)), std::string("error: tensor map: ") + each.message + "\n");
    }
}

TEST(TensorMap, EachRuleOfIm2col) {
    const Broken broken[] = {
        {"rank: expected 3 to 5 for im2col, found 2", [](TensorMap& m) { m.rank = 2; }},
        {"lower_corner[0]: expected -128 to 127 for rank 4, found -129", [](TensorMap& m) { m.lower[0] = -129; }},
        {"upper_corner[1]: expected -128 to 127 for rank 4, found 128", [](TensorMap& m) { m.upper[1] = 128; }},
        {"corners of dimension 1: expected a bounding box with at least one pixel, found lower 0, upper -9 in 9",
         [](TensorMap& m) { m.lower[0] = 0, m.upper[0] = -9; }},
        {"channels_per_pixel: expected 1 to 256, found 264", [](TensorMap& m) { m.channels_per_pixel = 264; }},
        {"channels_per_pixel: expected at most 32 bytes with swizzle 32B, found 64 bytes",
         [](TensorMap& m) { m.channels_per_pixel = 32, m.swizzle = SwizzleMode::b32; }},
        {"pixels_per_column: expected 1 to 1024, found 1025", [](TensorMap& m) { m.pixels_per_column = 1025; }},
        {"pixels_per_column: expected 1 to 1024, found 0", [](TensorMap& m) { m.pixels_per_column = 0; }},
    };
    for (const Broken& each : broken) {
        TensorMap map = images();
        each.change(map);
        EXPECT_EQ(to_string(broken_rules(map)), std::string("error: tensor map: ") + each.message + "\n");
    }
    TensorMap three = images();
    three.rank = 3;
    three.lower[0] = -32768;
    three.upper[0] = 0;
    EXPECT_EQ(to_string(broken_rules(three)), "");
    TensorMap five = images();
    five.rank = 5;
    five.strides[3] = 1 << 20;
    five.lower = {-16, 0, 15};
    five.upper = {15, 0, 15};
    five.dims[3] = 4;
    EXPECT_EQ(to_string(broken_rules(five)), "");
}

// The numbers of cuda.h's enumerations and of PTX ISA 9.7.9.27.
TEST(TensorMap, TypesHaveTheirNumbers) {
    EXPECT_EQ(static_cast<int>(TensorType::bf16), 9);
    EXPECT_EQ(static_cast<int>(TensorType::u6_align16b), 15);
    EXPECT_EQ(traits(TensorType::f32).replace_elemtype, 7);
    EXPECT_EQ(traits(TensorType::f32_ftz).replace_elemtype, 8);
    EXPECT_EQ(traits(TensorType::f64).replace_elemtype, 9);
    EXPECT_EQ(tensor_type_named("16u4_align16b"), TensorType::u4_align16b);
    EXPECT_FALSE(tensor_type_named("e4m3"));
}

}  // namespace
}  // namespace tilepath::machine
