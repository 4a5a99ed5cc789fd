#include "machine/tensor_map.h"

#include <fmt/format.h>

#include <cstring>

namespace tilepath::machine {
namespace {

constexpr std::uint64_t nan_bits = 0x7FF7'7FF7'7FF7'7FF7;

// name, bits in global memory, elemtype of tensormap.replace (PTX ISA 9.7.9.27, its table of values), fill
constexpr TensorTypeTraits types[] = {
    {"u8", 8, 0, 0},
    {"u16", 16, 1, 0},
    {"u32", 32, 2, 0},
    {"s32", 32, 3, 0},
    {"u64", 64, 4, 0},
    {"s64", 64, 5, 0},
    {"f16", 16, 6, nan_bits},
    {"f32", 32, 7, nan_bits},
    {"f64", 64, 9, nan_bits},
    {"bf16", 16, 10, nan_bits},
    {"f32_ftz", 32, 8, nan_bits},
    {"tf32", 32, 11, nan_bits},
    {"tf32_ftz", 32, 12, nan_bits},
    {"16u4_align8b", 4, 13, 0},
    {"16u4_align16b", 4, 14, 0},
    {"16u6_align16b", 6, 15, 0},
};

/// How the map lies in its 128 bytes.
struct Format {
    std::uint64_t magic;
    std::uint64_t address;
    std::uint64_t strides[4];
    std::uint32_t last[5];  ///< dims − 1: 2^32 is allowed
    std::uint16_t box[5];   ///< box − 1
    std::uint16_t channels_per_pixel, pixels_per_column;
    std::int16_t lower[3], upper[3];
    std::uint8_t element_strides[5];
    std::uint8_t type, rank, walk, nan_fill, interleave, swizzle, l2_promotion;
};
constexpr std::uint64_t magic = 0x3150'414D'5354'5054;  // "TPTSMAP1"
static_assert(sizeof(Format) <= TensorMap::bytes);

}  // namespace

std::string_view name(ImageWalk walk) {
    switch (walk) {
        case ImageWalk::tiled: return "tiled";
        case ImageWalk::im2col: return "im2col";
        case ImageWalk::im2col_w: return "im2col_w";
        case ImageWalk::im2col_w_128: return "im2col_w_128";
    }
    return "";
}

const TensorTypeTraits& traits(TensorType type) { return types[static_cast<std::size_t>(type)]; }

std::optional<TensorType> tensor_type_named(std::string_view name) {
    for (std::size_t i = 0; i < std::size(types); ++i)
        if (types[i].name == name) return static_cast<TensorType>(i);
    return {};
}

std::string tensor_type_names() {
    std::string out;
    for (const TensorTypeTraits& row : types) out += fmt::format("{}{}", out.empty() ? "" : " ", row.name);
    return out;
}

bool TensorMap::fits(std::uint64_t most) const {
    std::uint64_t last = interleave == Interleave::none
                             ? (dims[0] * static_cast<std::uint64_t>(traits(type).bits) + 7) / 8
                             : dims[0] * slice_bytes();
    for (std::size_t d = 1; d < rank; ++d) {
        std::uint64_t step = 0;  // 2^32 rows of almost 2^40 bytes are allowed
        if (__builtin_mul_overflow(dims[d] - 1, strides[d - 1], &step) || __builtin_add_overflow(last, step, &last))
            return false;
    }
    return last <= most;
}

std::array<std::uint8_t, TensorMap::bytes> encode(const TensorMap& map) {
    Format out{};
    out.magic = magic;
    out.address = map.address;
    std::memcpy(out.strides, map.strides.data(), sizeof out.strides);
    for (std::size_t d = 0; d < 5; ++d) {
        out.last[d] = static_cast<std::uint32_t>(map.dims[d] - 1);
        out.box[d] = static_cast<std::uint16_t>(map.box[d] - 1);
        out.element_strides[d] = static_cast<std::uint8_t>(map.element_strides[d]);
    }
    for (std::size_t d = 0; d < 3; ++d) {
        out.lower[d] = static_cast<std::int16_t>(map.lower[d]);
        out.upper[d] = static_cast<std::int16_t>(map.upper[d]);
    }
    out.channels_per_pixel = static_cast<std::uint16_t>(map.channels_per_pixel);
    out.pixels_per_column = static_cast<std::uint16_t>(map.pixels_per_column);
    out.type = static_cast<std::uint8_t>(map.type);
    out.rank = static_cast<std::uint8_t>(map.rank);
    out.walk = static_cast<std::uint8_t>(map.walk);
    out.nan_fill = map.nan_fill;
    out.interleave = static_cast<std::uint8_t>(map.interleave);
    out.swizzle = static_cast<std::uint8_t>(map.swizzle);
    out.l2_promotion = map.l2_promotion;
    std::array<std::uint8_t, TensorMap::bytes> bytes{};
    std::memcpy(bytes.data(), &out, sizeof out);
    return bytes;
}

std::optional<TensorMap> decode(std::span<const std::uint8_t, TensorMap::bytes> bytes) {
    Format in;
    std::memcpy(&in, bytes.data(), sizeof in);
    const bool ours = in.magic == magic && in.type < std::size(types) && in.rank <= TensorMap::most_dimensions &&
                      in.walk <= static_cast<std::uint8_t>(ImageWalk::im2col_w_128) &&
                      in.interleave <= static_cast<std::uint8_t>(Interleave::b32) &&
                      in.swizzle < layout::all_swizzle_modes().size();
    if (!ours) return {};
    TensorMap map;
    map.address = in.address;
    std::memcpy(map.strides.data(), in.strides, sizeof in.strides);
    for (std::size_t d = 0; d < 5; ++d) {
        map.dims[d] = std::uint64_t{in.last[d]} + 1;
        map.box[d] = std::uint32_t{in.box[d]} + 1;
        map.element_strides[d] = in.element_strides[d];
    }
    for (std::size_t d = 0; d < 3; ++d) {
        map.lower[d] = in.lower[d];
        map.upper[d] = in.upper[d];
    }
    map.channels_per_pixel = in.channels_per_pixel;
    map.pixels_per_column = in.pixels_per_column;
    map.type = static_cast<TensorType>(in.type);
    map.rank = in.rank;
    map.walk = static_cast<ImageWalk>(in.walk);
    map.nan_fill = in.nan_fill != 0;
    map.interleave = static_cast<Interleave>(in.interleave);
    map.swizzle = static_cast<layout::SwizzleMode>(in.swizzle);
    map.l2_promotion = in.l2_promotion;
    return map;
}

}  // namespace tilepath::machine
