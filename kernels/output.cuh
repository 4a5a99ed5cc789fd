// Reading C, applying the epilogue and writing D, shared by all kernels.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "epilogue.h"
#include "tma_gemm.h"

namespace tilepath::kernels {

// The types of C and D, as the lists of entries name them.
namespace outputs {
using f32 = float;
using f16 = __half;
using bf16 = __nv_bfloat16;
}  // namespace outputs

__device__ inline float to_accumulator(float x) { return x; }
__device__ inline float to_accumulator(__half x) { return __half2float(x); }
__device__ inline float to_accumulator(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline int to_accumulator(int x) { return x; }

template <typename Output>
__device__ inline Output to_output(float x) {  // round to nearest even
    if constexpr (sizeof(Output) == 4)
        return x;
    else if constexpr (__is_same(Output, __half))
        return __float2half_rn(x);
    else
        return __float2bfloat16_rn(x);
}
template <typename Output>
__device__ inline Output to_output(int x) {
    return x;
}

template <bool linear, typename Accumulator>
__device__ inline Accumulator epilogue(Accumulator accumulator, Accumulator c, Accumulator alpha, Accumulator beta,
                                       float bias) {
    if constexpr (linear)
        return linear_rn(accumulator, c, alpha, beta, bias);
    else
        return scale_rn(accumulator, c, alpha, beta);
}

// Two 16-bit elements, the first in the low half.
template <typename Output>
__device__ inline std::uint32_t pack(float2 pair) {
    const Output low = to_output<Output>(pair.x), high = to_output<Output>(pair.y);
    return *reinterpret_cast<const std::uint16_t*>(&low) | std::uint32_t{*reinterpret_cast<const std::uint16_t*>(&high)}
                                                               << 16;
}

// The elements (m, n) and (m, n + 1) of D before they are rounded to its type.
template <bool linear, typename Output>
__device__ inline float2 finish_pair(float x, float y, const Output* c_row, bool row_inside, int n, const TmaParameters& p) {
    const float* bias = reinterpret_cast<const float*>(p.bias);
    const bool inside[2] = {n < p.n, n + 1 < p.n};
    float c[2] = {0, 0}, b[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
        if (p.beta != 0 && row_inside && inside[i]) c[i] = to_accumulator(c_row[n + i]);
        if (linear && inside[i]) b[i] = bias[n + i];
    }
    return {epilogue<linear>(x, c[0], p.alpha, p.beta, b[0]), epilogue<linear>(y, c[1], p.alpha, p.beta, b[1])};
}

}  // namespace tilepath::kernels
