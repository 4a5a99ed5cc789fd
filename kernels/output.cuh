// Reading C, applying the epilogue and writing D, shared by all kernels.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "epilogue.h"

namespace tilepath::kernels {

// The types of C and D, as the lists of entries name them.
namespace outputs {
using f32 = float;
using f16 = __half;
using bf16 = __nv_bfloat16;
}  // namespace outputs
// Their epilogues.
namespace epilogues {
constexpr bool plain = false, linear = true;
}

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

}  // namespace tilepath::kernels
