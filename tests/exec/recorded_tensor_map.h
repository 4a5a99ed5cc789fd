#pragma once
// Tensor maps as recordings describe them: the arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, one
// line.
#include <cstdint>
#include <string>
#include <vector>

namespace tilepath::recorded {

/// `type=f16 dims=64,32 strides=128 box=32,8 steps=1,1 interleave=none swizzle=128B fill=zero at=0`. Instead of a box,
/// im2col has `lower=-1,-1 upper=1,1 channels=8 pixels=64`. Names are those of launch files; the numbers of type,
/// interleave, swizzle and fill are those of the driver's enumerations.
struct TensorMap {
    int type = 0;
    std::vector<std::uint64_t> dims;
    std::vector<std::uint64_t> strides;  ///< bytes, of dimensions 1, 2, …
    std::vector<std::uint32_t> box;
    std::vector<int> lower, upper;  ///< of im2col
    std::uint32_t channels = 0, pixels = 0;
    std::vector<std::uint32_t> steps;
    int interleave = 0, swizzle = 0, fill = 0;
    std::uint32_t at = 0;  ///< bytes from the beginning of global memory

    bool im2col() const { return channels != 0; }
    std::size_t rank() const { return dims.size(); }
};

/// Throws std::runtime_error about text that is none.
TensorMap read_tensor_map(const std::string& line);
std::string to_string(const TensorMap& map);

extern const std::vector<std::string> tensor_map_types, tensor_map_interleaves, tensor_map_swizzles, tensor_map_fills;

/// Bits of one element of the type.
int bits_of_tensor_map_type(int type);

}  // namespace tilepath::recorded
