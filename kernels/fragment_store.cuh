// The way of D's fragments, as mma.sync and wgmma leave them in registers, through the epilogue into shared-memory
// tiles that the Tensor Memory Accelerator stores.
#pragma once

#include "output.cuh"
#include "ptx.cuh"
#include "tma_gemm.h"

namespace tilepath::kernels {

// Two 16-bit elements, the first in the low half.
template <typename Output>
__device__ inline std::uint32_t pack(float2 pair) {
    const Output low = to_output<Output>(pair.x), high = to_output<Output>(pair.y);
    return *reinterpret_cast<const std::uint16_t*>(&low) | std::uint32_t{*reinterpret_cast<const std::uint16_t*>(&high)}
                                                               << 16;
}

// The elements (m, n) and (m, n + 1) of D before they are rounded to its type; n is even.
template <bool linear, typename Output>
__device__ inline float2 finish_pair(float x, float y, const Output* c_row, bool row_inside, int n,
                                     const TmaParameters& p) {
    struct alignas(2 * sizeof(Output)) Pair {
        Output value[2];
    };
    const float* bias = reinterpret_cast<const float*>(p.bias);
    const bool inside[2] = {n < p.n, n + 1 < p.n};
    float c[2] = {0, 0}, b[2] = {0, 0};
    if (p.beta != 0 && row_inside && inside[0]) {  // rows of C are whole pairs
        const Pair pair = *reinterpret_cast<const Pair*>(c_row + n);
        for (int i = 0; i < 2; ++i) c[i] = inside[i] ? to_accumulator(pair.value[i]) : 0.0f;
    }
    for (int i = 0; i < 2; ++i) {
        if (linear && inside[i]) b[i] = bias[n + i];
    }
    return {epilogue<linear>(x, c[0], p.alpha, p.beta, b[0]), epilogue<linear>(y, c[1], p.alpha, p.beta, b[1])};
}

// A warp's accumulators of 16 rows lie in blocks of 8 columns; two blocks are stored at once, so far apart that the
// 128B swizzle keeps what meets in a phase in different banks. The first block of step `step`, and the distance.
template <typename Output>
constexpr int blocks_apart = sizeof(Output) == 2 ? 1 : 2;
template <typename Output>
__device__ constexpr int first_block(int step) {
    return step / blocks_apart<Output> * 2 * blocks_apart<Output> + step % blocks_apart<Output>;
}

// Those two blocks, finished, as [block][upper and lower eight rows], into a tile of rows of 128 bytes, from `row` on:
// by stmatrix, or f32 in 8-byte stores, where the lanes of odd rows begin with the other block.
template <typename Output>
__device__ inline void store_blocks(std::uint32_t tile, int row, int block, const float2 (&pair)[2][2]) {
    const int lane = threadIdx.x % 32;
    if constexpr (sizeof(Output) == 2) {
        ptx::stmatrix_x4(swizzled(tile, row + lane % 16, block + lane / 16), pack<Output>(pair[0][0]),
                         pack<Output>(pair[0][1]), pack<Output>(pair[1][0]), pack<Output>(pair[1][1]));
    } else {
        const bool odd = lane / 4 % 2;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float2 value = odd ? pair[1 - i / 2][i % 2] : pair[i / 2][i % 2];
            const int from = block + (odd ? 1 - i / 2 : i / 2) * blocks_apart<Output>;
            ptx::st_shared_v2(swizzled(tile, row + i % 2 * 8 + lane / 4, from * 2 + lane % 4 / 2) + lane % 2 * 8,
                              value.x, value.y);
        }
    }
}

}  // namespace tilepath::kernels
