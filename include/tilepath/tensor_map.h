#pragma once
#include <tilepath/diagnostic.h>
#include <tilepath/launch.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tilepath {

/// How copies walk the tensor: in boxes (cuTensorMapEncodeTiled), or as an image (cuTensorMapEncodeIm2col and, for the
/// two last, cuTensorMapEncodeIm2colWide).
enum class ImageWalk : std::uint8_t { tiled, im2col, im2col_w, im2col_w_128 };

/// A tensor for TMA copies: the arguments of the encoding function that `walk` names, in
/// their order of dimensions, innermost first. Names as launch files write them (docs/launch-files.md).
struct TensorMap {
    std::string_view dtype = "f16";  ///< u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16 f32_ftz tf32 tf32_ftz …
    DevicePointer address = {};
    std::vector<std::uint64_t> dims;                  ///< elements, 1 to 5 of them
    std::vector<std::uint64_t> strides;               ///< bytes, of dimensions 1 …
    std::vector<std::uint32_t> box;                   ///< elements; of tiled maps
    std::vector<std::uint32_t> element_strides = {};  ///< empty: all 1
    std::string_view swizzle = "none";                ///< none 32B 64B 128B 128B_atom_32B …
    std::string_view interleave = "none";             ///< none 16B 32B
    bool nan_fill = false;                            ///< out of bounds: NaN instead of zero
    ImageWalk walk = ImageWalk::tiled;
    std::vector<std::int32_t> lower_corner = {},
                              upper_corner = {};  ///< images: rank − 2 of them, W first; im2col_w…: W's
    std::uint32_t channels_per_pixel = 1, pixels_per_column = 1;  ///< images

    static constexpr std::size_t bytes = 128;
};

/// The 128 bytes that a kernel finds behind its CUtensorMap parameter, at multiples of 64, in a format of tilepath's
/// own. Errors: every rule of the encoding functions that the map breaks.
Result<std::array<std::uint8_t, TensorMap::bytes>> encode(const TensorMap& map);
/// The same as an argument of a launch: a CUtensorMap by value.
Result<Argument> argument(const TensorMap& map);

}  // namespace tilepath
