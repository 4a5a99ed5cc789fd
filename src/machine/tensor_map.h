#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "layout/swizzle.h"
#include "machine/address_map.h"

namespace tilepath::machine {

/// Element types of a tensor, in the order of CUtensorMapDataType.
enum class TensorType : std::uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f64,
    bf16,
    f32_ftz,
    tf32,
    tf32_ftz,
    u4_align8b,   ///< packed nibbles
    u4_align16b,  ///< 16 nibbles to 8 bytes in global memory, to 16 in shared
    u6_align16b   ///< 16 numbers of 6 bits to 12 bytes in global memory, to 16 in shared
};

struct TensorTypeTraits {
    std::string_view name;  ///< as launch files write it
    int bits;               ///< of an element in global memory
    int replace_elemtype;   ///< elemtype of tensormap.replace, whose order is another one
    std::uint64_t nan;      ///< what an element out of bounds is filled with on request (recorded on an H200); 0: never
    bool padded() const { return name.ends_with("align16b"); }
    /// Bytes that 16 elements take in global and in shared memory.
    int group_global_bytes() const { return bits * 2; }
    int group_shared_bytes() const { return padded() ? 16 : bits * 2; }
};
const TensorTypeTraits& traits(TensorType type);
std::optional<TensorType> tensor_type_named(std::string_view name);
/// Every name, separated by spaces.
std::string tensor_type_names();

enum class Interleave : std::uint8_t { none, b16, b32 };

/// How a map walks an image (PTX ISA 5.5.4, 5.5.5); tiled: not at all.
enum class ImageWalk : std::uint8_t { tiled, im2col, im2col_w, im2col_w_128 };
/// As launch files write it.
std::string_view name(ImageWalk walk);

/// A tensor map as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col describe it. Dimension 0 is the innermost.
struct TensorMap {
    static constexpr int most_dimensions = 5;
    static constexpr std::size_t bytes = 128, alignment = 64;

    TensorType type = TensorType::u8;
    ImageWalk walk = ImageWalk::tiled;
    bool nan_fill = false;
    Interleave interleave = Interleave::none;
    layout::SwizzleMode swizzle = layout::SwizzleMode::none;
    std::uint8_t l2_promotion = 0;  ///< CUtensorMapL2promotion: no result depends on it
    std::uint32_t rank = 1;
    Address address = 0;
    std::array<std::uint64_t, 5> dims{1, 1, 1, 1, 1};
    std::array<std::uint64_t, 4> strides{};  ///< bytes, of dimensions 1 …
    std::array<std::uint32_t, 5> box{1, 1, 1, 1, 1};
    std::array<std::uint32_t, 5> element_strides{1, 1, 1, 1, 1};
    std::array<std::int32_t, 3> lower{}, upper{};  ///< images: corners, W first; im2col_w and _w_128 have W's alone
    std::uint32_t channels_per_pixel = 1, pixels_per_column = 1;

    bool tiled() const { return walk == ImageWalk::tiled; }
    /// Pixels that im2col_w_128 loads, whatever pixels_per_column says; and after how many its halos come.
    static constexpr std::uint32_t wide_pixels = 128, wide_halo_every = 32;
    /// W, H, D of an image.
    std::uint32_t image_dimensions() const { return rank >= 2 ? rank - 2 : 0; }
    /// Bytes of a slice that interleaving makes dimension 0's element.
    std::uint32_t slice_bytes() const { return interleave == Interleave::b16 ? 16 : 32; }

    /// Whether the whole tensor lies in so many bytes from its address on.
    bool fits(std::uint64_t most) const;

    friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

/// Every rule of the encoding functions (cuda.h) that the map breaks, each by name with what was expected and found.
/// `sm`: the device's, for what it does not have yet.
Diagnostics broken_rules(const TensorMap& map, int sm = 100);

/// The 128 bytes, in a format of our own: the hardware's is not public. Fields out of the format's range are a broken
/// rule, which broken_rules() finds; they are cut here.
std::array<std::uint8_t, TensorMap::bytes> encode(const TensorMap& map);
/// Nothing if the bytes hold no tensor map.
std::optional<TensorMap> decode(std::span<const std::uint8_t, TensorMap::bytes> bytes);

}  // namespace tilepath::machine
