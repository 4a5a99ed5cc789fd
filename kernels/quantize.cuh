// f32 to blocks along k that share a scale, as the block-scaled GEMMs take them: packed elements, and scales in atoms
// of 128 rows and 4 blocks (scale_position of tma_gemm.h).
//     mxf8, mxf4: the scale is the least power of two, ue8m0, that brings the block's largest magnitude to within the
//                 element's range, 448 or 6
//     nvf4:       the scale is that magnitude / 6, rounded to e4m3
// Elements are rounded to nearest even, and saturate; blocks of a scale of zero are zeros.
#pragma once

#include <cstdint>

#include "tma_gemm.h"

namespace tilepath::kernels {

struct QuantizeParameters {
    std::uint64_t x = 0, elements = 0, scales = 0;
    std::int32_t rows = 0, k = 0;
    std::int32_t ldx = 0;            // f32 elements from one row of x to the next
    std::int32_t row_bytes = 0;      // from one row of the elements to the next: a multiple of 16
    std::int32_t atoms_along_k = 0;  // of the scales
    std::int32_t unused = 0;
};
static_assert(sizeof(QuantizeParameters) == 48);

// A warp takes 128 elements of a row, a lane four of them. The grid is (chunks of 128 along k, whole atoms; rows / 8,
// whole atoms; 1), so that scales beyond x become zeros.
struct QuantizeConfig {
    int warps = 8;
    int warp_k = 128;
    TILEPATH_HOST_DEVICE constexpr int threads() const { return 32 * warps; }
};

#if defined(__CUDACC__)

namespace ptx {

__device__ inline std::uint8_t cvt_rp_ue8m0(float x) {
    std::uint16_t two;
    asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(two) : "f"(0.0f), "f"(x));
    return static_cast<std::uint8_t>(two);
}
__device__ inline std::uint16_t cvt_rn_e4m3x2(float low, float high) {
    std::uint16_t two;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(high), "f"(low));
    return two;
}
__device__ inline float cvt_e4m3(std::uint8_t x) {
    std::uint32_t two;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(two) : "h"(std::uint16_t{x}));
    float low;
    asm("{\n\t.reg .b16 low, high;\n\tmov.b32 {low, high}, %1;\n\tcvt.f32.f16 %0, low;\n\t}" : "=f"(low) : "r"(two));
    return low;
}
// Four elements, the first in the lowest bits.
__device__ inline std::uint16_t cvt_rn_e2m1x4(const float (&x)[4]) {
    std::uint16_t four;
    asm("{\n\t.reg .b8 low, high;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 low, %2, %1;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 high, %4, %3;\n\t"
        "mov.b16 %0, {low, high};\n\t}"
        : "=h"(four)
        : "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]));
    return four;
}

}  // namespace ptx

template <GemmType element, BlockScale scale>
__device__ __forceinline__ void quantize(const QuantizeParameters& p) {
    constexpr bool is_e2m1 = element == GemmType::e2m1;
    constexpr int block = scale == BlockScale::nv ? 16 : 32;
    constexpr float largest = is_e2m1 ? 6.0f : 448.0f;
    constexpr QuantizeConfig config;

    // ---- Load: four elements of a row
    const int lane = threadIdx.x % 32, row = blockIdx.y * config.warps + threadIdx.x / 32;
    const int k = blockIdx.x * config.warp_k + lane * 4;
    const float* x = reinterpret_cast<const float*>(p.x) + std::int64_t{row} * p.ldx + k;
    float value[4] = {};
    if (row < p.rows) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (k + i < p.k) value[i] = x[i];
    }

    // ---- The block's largest magnitude, over the lanes that share the block
    float magnitude = fmaxf(fmaxf(fabsf(value[0]), fabsf(value[1])), fmaxf(fabsf(value[2]), fabsf(value[3])));
#pragma unroll
    for (int other = 1; other < block / 4; other *= 2)
        magnitude = fmaxf(magnitude, __shfl_xor_sync(0xffffffff, magnitude, other));

    // ---- Scale
    const float exact = __fdiv_rn(magnitude, largest);
    std::uint8_t code;
    if constexpr (scale == BlockScale::mx) {
        code = ptx::cvt_rp_ue8m0(exact);
        // Times 2^(127 - code), exactly: 2^-127 is subnormal.
        const float inverse = __uint_as_float(code == 254 ? 0x00400000u : (254u - code) << 23);
#pragma unroll
        for (int i = 0; i < 4; ++i) value[i] = __fmul_rn(value[i], inverse);
    } else {
        code = static_cast<std::uint8_t>(ptx::cvt_rn_e4m3x2(exact, 0.0f));
        const float divisor = ptx::cvt_e4m3(code);
#pragma unroll
        for (int i = 0; i < 4; ++i) value[i] = divisor == 0.0f ? 0.0f : __fdiv_rn(value[i], divisor);
    }
    if (lane * 4 % block == 0)
        reinterpret_cast<std::uint8_t*>(p.scales)[scale_position(row, k / block, p.atoms_along_k)] = code;

    // ---- Store: what lies behind k, in the last four of a row, is zero
    if (row >= p.rows || k >= p.k) return;
    std::uint8_t* const to = reinterpret_cast<std::uint8_t*>(p.elements) + std::int64_t{row} * p.row_bytes;
    if constexpr (is_e2m1)
        reinterpret_cast<std::uint16_t*>(to)[k / 4] = ptx::cvt_rn_e2m1x4(value);
    else
        reinterpret_cast<std::uint32_t*>(to)[k / 4] =
            ptx::cvt_rn_e4m3x2(value[0], value[1]) | std::uint32_t{ptx::cvt_rn_e4m3x2(value[2], value[3])} << 16;
}

#endif

}  // namespace tilepath::kernels

#define TILEPATH_QUANTIZE_ENTRY(name, element, scale)                                           \
    extern "C" __global__ void __launch_bounds__(tilepath::kernels::QuantizeConfig{}.threads()) \
        name(const __grid_constant__ tilepath::kernels::QuantizeParameters parameters) {        \
        using namespace tilepath::kernels;                                                      \
        quantize<GemmType::element, BlockScale::scale>(parameters);                             \
    }
