#include "machine/tma.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tma_model.h"

namespace tilepath::machine {
namespace {

using layout::SwizzleMode;

constexpr std::uint32_t shared_bytes = 1 << 15;

/// Memory around the tensor, far enough that boxes may begin before it.
struct Memory {
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(1 << 18);
    explicit Memory(std::mt19937& random) {
        for (std::size_t i = 0; i < bytes.size(); i += 4) {
            const auto word = static_cast<std::uint32_t>(random());
            std::memcpy(&bytes[i], &word, 4);
        }
    }
    /// A map's address counts from here, so that the model's pieces do too.
    std::uint8_t* at(Address address) { return bytes.data() + address; }
};

void load(const TensorMap& map, const BoxPlace& place, Memory& memory, std::uint8_t* image) {
    BoxWalk walk(map, place);
    BoxRow row;
    std::uint8_t* const images[] = {image};
    while (walk.next(row))
        load_row(map, walk, row, row.begin == row.end ? nullptr : memory.at(row.global + row.begin), images);
    EXPECT_EQ(walk.rows_left(), 0u);
}

void store(const TensorMap& map, const BoxPlace& place, const std::uint8_t* image, Memory& memory) {
    BoxWalk walk(map, place);
    BoxRow row;
    std::uint8_t data[longest_row];
    while (walk.next(row)) {
        if (row.begin == row.stored_end) continue;
        read_row(map, walk, row, image, data);
        std::memcpy(memory.at(row.global + row.begin), data + row.begin, row.stored_end - row.begin);
    }
}

bool rounds(TensorType type) { return type == TensorType::tf32 || type == TensorType::tf32_ftz; }

void compare(const TensorMap& map, const BoxPlace& place, std::mt19937& random, const std::string& what) {
    ASSERT_EQ(to_string(broken_rules(map)), "") << what;
    const model::Box box = model::box_of(map, place);
    Memory memory(random);
    std::vector<std::uint8_t> image(shared_bytes, 0xC3), expected = image;
    std::uint64_t bits = 0;
    for (const auto& [at, piece] : box) {
        bits += 2;
        const std::uint64_t fill = model::piece_at(
            reinterpret_cast<const std::uint8_t*>("\xF7\x7F\xF7\x7F\xF7\x7F\xF7\x7F"), piece.global % 32);
        const std::uint8_t value = piece.inside   ? model::piece_at(memory.bytes.data(), piece.global)
                                   : map.nan_fill ? static_cast<std::uint8_t>(fill)
                                                  : 0;
        model::set_piece(expected.data(), at, value);
    }
    EXPECT_EQ(BoxWalk(map, place).transaction_bytes() * 8, bits) << what;
    if (!rounds(map.type)) {
        load(map, place, memory, image.data());
        ASSERT_EQ(image, expected) << what;
    }
    for (std::uint8_t& byte : image) byte = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> stored = memory.bytes;
    for (const auto& [at, piece] : box)
        if (piece.stored) model::set_piece(stored.data(), piece.global, model::piece_at(image.data(), at));
    store(map, place, image.data(), memory);
    ASSERT_EQ(memory.bytes, stored) << what;
}

struct Draw {
    std::mt19937 random;
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); }
    std::int32_t between(std::int32_t low, std::int32_t high) {
        return low + static_cast<std::int32_t>(below(static_cast<std::uint32_t>(high - low + 1)));
    }

    TensorMap map(TensorType type, SwizzleMode swizzle, std::uint32_t rank, Interleave interleave,
                  std::uint32_t more_pixels = 0) {
        TensorMap out;
        out.type = type;
        out.swizzle = swizzle;
        out.rank = rank;
        out.interleave = interleave;
        out.address = 1 << 16;
        const bool padded = traits(type).padded();
        const std::uint32_t bits = model::bits_of(type), in_unit = padded ? 128 : 128 / bits;
        const std::uint32_t most =
            padded ? 1 : std::max(1u, static_cast<std::uint32_t>(layout::traits(swizzle).span_bytes) / 16);
        out.nan_fill = traits(type).nan != 0 && below(2);
        out.dims[0] = padded ? 256 : bits == 4 ? 2 * (1 + below(40)) : 1 + below(40);
        if (interleave != Interleave::none) out.dims[0] = 1 + below(6) + more_pixels;
        out.box[0] = interleave != Interleave::none
                         ? in_unit
                         : in_unit * (1 + below(swizzle == SwizzleMode::none && !padded ? 3 : most));
        const std::uint64_t row =
            interleave != Interleave::none ? out.slice_bytes() * out.dims[0] : out.dims[0] * bits / 8;
        std::uint64_t stride = (row + 31) / 32 * 32 + 32 * below(2);
        for (std::uint32_t d = 1; d < rank; ++d) {
            out.dims[d] = 1 + below(4) + more_pixels;
            out.box[d] = 1 + below(rank > 3 ? 3 : 6);
            out.element_strides[d] = 1 + below(3);
            out.strides[d - 1] = stride;
            stride = stride * out.dims[d] + 32 * below(3);
        }
        if (interleave != Interleave::none) out.element_strides[0] = 1 + below(3);
        return out;
    }

    BoxPlace place(const TensorMap& map) {
        BoxPlace out;
        // 4-bit elements begin at whole bytes, padded ones at whole groups of 128.
        const std::int32_t unit = map.interleave != Interleave::none ? 1
                                  : traits(map.type).padded()        ? 128
                                  : traits(map.type).bits == 4       ? 2
                                                                     : 1;
        for (std::uint32_t d = 0; d < map.rank; ++d)
            out.at[d] =
                between(-3, static_cast<std::int32_t>(map.dims[d]) + 1) / (d == 0 ? unit : 1) * (d == 0 ? unit : 1);
        out.shared = 128 * (8 + below(16));
        return out;
    }
};

std::string describe(const TensorMap& map, int trial) {
    return std::string(traits(map.type).name) + " swizzle " + std::string(layout::traits(map.swizzle).name) + " rank " +
           std::to_string(map.rank) + " interleave " + std::to_string(static_cast<int>(map.interleave)) + " trial " +
           std::to_string(trial);
}

constexpr int type_count = 16;

TEST(Tma, TilesOfEveryTypeSwizzleAndRank) {
    Draw draw{std::mt19937(1)};
    for (int type = 0; type < type_count; ++type)
        for (const layout::SwizzleTraits& swizzle : layout::all_swizzle_modes())
            for (std::uint32_t rank = 1; rank <= 5; ++rank)
                for (int trial = 0; trial < 2; ++trial) {
                    const TensorMap map = draw.map(static_cast<TensorType>(type), swizzle.mode, rank, Interleave::none);
                    if (!broken_rules(map).empty() && traits(map.type).padded())
                        continue;  // not every swizzle is theirs
                    compare(map, draw.place(map), draw.random, describe(map, trial));
                    if (HasFatalFailure()) return;
                }
}

TEST(Tma, InterleavedTiles) {
    Draw draw{std::mt19937(2)};
    for (std::uint32_t rank = 3; rank <= 5; ++rank)
        for (int trial = 0; trial < 40; ++trial) {
            const bool wide = trial % 2;
            const TensorMap map = draw.map(trial % 4 < 2 ? TensorType::f16 : TensorType::u8,
                                           wide            ? SwizzleMode::b32
                                           : trial % 8 < 4 ? SwizzleMode::none
                                                           : SwizzleMode::b128,
                                           rank, wide ? Interleave::b32 : Interleave::b16);
            compare(map, draw.place(map), draw.random, describe(map, trial));
            if (HasFatalFailure()) return;
        }
}

TEST(Tma, Im2colOfEveryRank) {
    Draw draw{std::mt19937(3)};
    for (std::uint32_t rank = 3; rank <= 5; ++rank)
        for (int trial = 0; trial < 60; ++trial) {
            const Interleave interleave = trial % 3 == 0   ? Interleave::none
                                          : trial % 3 == 1 ? Interleave::b16
                                                           : Interleave::b32;
            const SwizzleMode swizzle = interleave == Interleave::b32 ? SwizzleMode::b32
                                        : trial % 2                   ? SwizzleMode::b128
                                                                      : SwizzleMode::none;
            TensorMap map = draw.map(trial % 5 ? TensorType::f16 : TensorType::u8, swizzle, rank, interleave, 2);
            map.walk = ImageWalk::im2col;
            map.channels_per_pixel = map.box[0];
            if (interleave != Interleave::none) map.channels_per_pixel = 16;
            map.pixels_per_column = 1 + draw.below(70);
            BoxPlace place = draw.place(map);
            place.mode = BoxMode::im2col;
            for (std::uint32_t i = 0; i < map.image_dimensions(); ++i) {
                const std::uint32_t d = interleave == Interleave::none ? i + 1 : i;
                map.lower[i] = draw.between(-2, 1);
                map.upper[i] = draw.between(std::max(-2, map.lower[i] - static_cast<std::int32_t>(map.dims[d]) + 1), 1);
                place.at[d] = draw.between(map.lower[i], static_cast<std::int32_t>(map.dims[d]) - 1 + map.upper[i]);
                place.offsets[i] = draw.below(4);
            }
            compare(map, place, draw.random, describe(map, trial));
            if (HasFatalFailure()) return;
        }
}

TEST(Tma, WideIm2colOfEveryRank) {
    Draw draw{std::mt19937(5)};
    for (std::uint32_t rank = 3; rank <= 5; ++rank)
        for (int trial = 0; trial < 24; ++trial) {
            const SwizzleMode swizzles[] = {SwizzleMode::b64, SwizzleMode::b128, SwizzleMode::b128_atom_32b};
            TensorMap map = draw.map(TensorType::f16, swizzles[trial % 3], rank, Interleave::none, 2);
            map.walk = trial % 2 ? ImageWalk::im2col_w : ImageWalk::im2col_w_128;
            map.channels_per_pixel = map.box[0];
            map.pixels_per_column = 1 + draw.below(70);
            BoxPlace place = draw.place(map);
            place.mode = BoxMode::im2col;
            map.lower[0] = draw.between(-2, 1);
            map.upper[0] = draw.between(std::max(-2, map.lower[0] - static_cast<std::int32_t>(map.dims[1]) + 1), 1);
            place.at[1] = draw.between(map.lower[0] - 3, static_cast<std::int32_t>(map.dims[1]) - 1 + map.upper[0]);
            place.offsets = {draw.below(4), draw.below(4), 0};
            compare(map, place, draw.random, describe(map, trial));
            if (HasFatalFailure()) return;
        }
}

/// The manual's example of im2col::w (PTX ISA 5.5.5.3): 128 pixels and two halos beside them. W has 9, H stays.
TEST(Tma, WideIm2colExampleOfTheManual) {
    TensorMap map;
    map.type = TensorType::u8;
    map.walk = ImageWalk::im2col_w;
    map.swizzle = SwizzleMode::b64;
    map.rank = 4;
    map.dims = {128, 9, 7, 64, 1};
    map.strides = {128, 128 * 9, 128 * 9 * 7, 0};
    map.channels_per_pixel = 64;
    map.pixels_per_column = 128;
    ASSERT_EQ(to_string(broken_rules(map)), "");
    BoxPlace place;
    place.mode = BoxMode::im2col;
    place.at = {0, 3, 2, 7, 0};
    place.offsets = {2, 0, 0};
    BoxWalk walk(map, place);
    EXPECT_EQ(walk.rows(), 130u);
    EXPECT_EQ(walk.transaction_bytes(), 130u * 64);
    BoxRow row;
    for (std::uint32_t pixel = 0; pixel < 130; ++pixel) {
        ASSERT_TRUE(walk.next(row));
        const std::uint32_t w = (pixel + 3) % 9, n = 7 + (pixel + 3) / 9;
        EXPECT_EQ(row.global, ((n * 7 + 2) * 9 + w) * 128u) << pixel;
    }
    EXPECT_FALSE(walk.next(row));
}

TEST(Tma, FourRows) {
    Draw draw{std::mt19937(4)};
    for (int trial = 0; trial < 20; ++trial) {
        TensorMap map =
            draw.map(TensorType::bf16, trial % 2 ? SwizzleMode::b128 : SwizzleMode::none, 2, Interleave::none);
        map.box[1] = map.element_strides[1] = 1;
        BoxPlace place = draw.place(map);
        place.mode = BoxMode::four_rows;
        for (int i = 1; i < 5; ++i) place.at[i] = draw.between(-1, static_cast<std::int32_t>(map.dims[1]));
        compare(map, place, draw.random, describe(map, trial));
        if (HasFatalFailure()) return;
    }
}

// The manual's examples of im2col (PTX ISA 5.5.4.1, 5.5.4.2): the first pixels that they access.
TEST(Tma, Im2colExamplesOfTheManual) {
    TensorMap map;
    map.type = TensorType::u8;
    map.walk = ImageWalk::im2col;
    map.rank = 4;
    map.dims = {64, 9, 14, 64, 1};
    map.strides = {64, 64 * 9, 64 * 9 * 14, 0};
    map.lower = {-1, -1, 0};
    map.upper = {-1, -1, 0};
    map.channels_per_pixel = 16;
    map.pixels_per_column = 64;
    BoxPlace place;
    place.mode = BoxMode::im2col;
    place.at = {0, 7, 4, 0, 0};
    const auto pixel = [&](const BoxRow& row) {
        return std::pair(static_cast<std::int64_t>(row.global) / 64 % 9,
                         static_cast<std::int64_t>(row.global) / (64 * 9));
    };
    // W runs over [-1, 7]: 7 is its last, then -1 of the next row.
    BoxWalk walk(map, place);
    BoxRow row;
    ASSERT_TRUE(walk.next(row));
    EXPECT_EQ(pixel(row), std::pair(std::int64_t{7}, std::int64_t{4}));
    ASSERT_TRUE(walk.next(row));
    EXPECT_EQ(row.begin, row.end);  // W = -1 lies out of bounds
    ASSERT_TRUE(walk.next(row));
    EXPECT_EQ(pixel(row), std::pair(std::int64_t{0}, std::int64_t{5}));
    // Corners 0 and -2, offsets (2, 2): W runs over [0, 6] and 2 more.
    map.lower = {0, 0, 0};
    map.upper = {-2, -2, 0};
    place.at = {0, 6, 4, 0, 0};
    place.offsets = {2, 2, 0};
    BoxWalk shifted(map, place);
    ASSERT_TRUE(shifted.next(row));
    EXPECT_EQ(pixel(row), std::pair(std::int64_t{8}, std::int64_t{6}));
    ASSERT_TRUE(shifted.next(row));
    EXPECT_EQ(pixel(row), std::pair(std::int64_t{2}, std::int64_t{7}));
}

// Recorded on an H200: 37 u16 in a row; a store of 64 writes elements 37 to 39 too, a load fills from 37 on.
TEST(Tma, StoresWholeUnitsOf16Bytes) {
    TensorMap map;
    map.type = TensorType::u16;
    map.dims[0] = 37;
    map.box[0] = 64;
    BoxWalk walk(map, {});
    BoxRow row;
    ASSERT_TRUE(walk.next(row));
    EXPECT_EQ(row.end, 74u);
    EXPECT_EQ(row.stored_end, 80u);
}

// Recorded on an H200.
TEST(Tma, LoadsOfTf32Round) {
    TensorMap map;
    map.type = TensorType::tf32;
    map.rank = 1;
    map.dims[0] = 8;
    map.box[0] = 8;
    map.nan_fill = true;
    const std::uint32_t in[] = {0x3F801000, 0x3F801001, 0x3F803000, 0x7F800001, 0xFFC00000, 0x00000FFF, 0x00001001};
    const std::uint32_t out[] = {0x3F800000, 0x3F802000, 0x3F804000, 0x7FFFE000, 0x7FFFE000, 0, 0x2000, 0x7FF77FF7};
    map.dims[0] = 7;
    BoxWalk walk(map, {});
    BoxRow row;
    ASSERT_TRUE(walk.next(row));
    std::uint32_t image[8] = {};
    std::uint8_t* const images[] = {reinterpret_cast<std::uint8_t*>(image)};
    load_row(map, walk, row, reinterpret_cast<const std::uint8_t*>(in), images);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(image[i], out[i]) << i;
}

}  // namespace
}  // namespace tilepath::machine
