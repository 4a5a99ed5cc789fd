// What the GEMMs that read and write through tensor maps have in common: their parameters, and how far apart rows lie.
// Plain C++, host and device.
#pragma once

#include <cstdint>

#include "gemm_types.h"

namespace tilepath::kernels {

// Behind the tensor maps.
struct TmaParameters {
    std::uint64_t c = 0, bias = 0;    // C as D's type, null when beta is zero; bias as f32, null when plain
    std::int64_t c_batch_stride = 0;  // elements from one C to the next
    std::int32_t m = 0, n = 0, k = 0, batch = 1;
    std::int32_t ldc = 0;  // elements
    float alpha = 1, beta = 0;
    std::int32_t unused = 0;
};
static_assert(sizeof(TmaParameters) == 56);

// The least leading dimension that TMA allows, elements: rows are multiples of 16 bytes apart.
constexpr int leading_dimension(int extent, GemmType type) {
    const int bits = element_bits(type), unit = bits == 6 ? 64 : 128 / bits;  // of 6 bits, 48 bytes
    return (extent + unit - 1) / unit * unit;
}

// The byte of the scale factor of a row and a block along k: atoms of 128 rows and 4 blocks, 512 bytes each, those
// along k first.
TILEPATH_HOST_DEVICE constexpr std::int64_t scale_position(int row, int block, int atoms_along_k) {
    return (std::int64_t{row / 128} * atoms_along_k + block / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}

// Where chunk `chunk` of 16 bytes of a row lies in a tile of rows of 128 bytes in the 128B swizzle.
TILEPATH_HOST_DEVICE constexpr std::uint32_t swizzled(std::uint32_t tile, int row, int chunk) {
    return tile + row * 128 + (chunk ^ row % 8) * 16;
}

}  // namespace tilepath::kernels
