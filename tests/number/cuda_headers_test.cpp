// Conversions against the host paths of nvcc's headers: compiled only where they are found.
#ifdef TILEPATH_CUDA_HEADERS
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "number/conversion.h"

namespace tilepath::number {
namespace {

/// Every f16 and bf16 as f32, one float on either side of each, ties of every narrower format, and random ones.
std::vector<float> floats() {
    std::vector<float> result;
    for (std::uint32_t i = 0; i < 0x10000; ++i)
        for (const std::uint32_t bits : {std::uint32_t(convert(i, Format::f16, Format::f32)), i << 16})
            for (const std::uint32_t x : {bits - 1, bits, bits + 1, bits | 0x1000, bits | 0x8000})
                result.push_back(std::bit_cast<float>(x));
    std::mt19937 random(1);
    for (int i = 0; i < 500'000; ++i) {
        result.push_back(std::bit_cast<float>(std::uint32_t(random())));
        result.push_back(std::ldexp(float(int(random() % 0x4000) - 0x2000), int(random() % 24) - 24));
    }
    return result;
}

std::uint64_t from_float(float x, Format to, Rounding rounding = Rounding::rn, bool satfinite = false) {
    return convert(std::bit_cast<std::uint32_t>(x), Format::f32, to, {.rounding = rounding, .satfinite = satfinite});
}

std::uint16_t bits(__half x) { return __half_as_ushort(x); }
std::uint16_t bits(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }

TEST(CudaHeaders, HalfAndBfloat16FromFloat) {
    for (const float x : floats()) {
        if (std::isnan(x)) continue;  // the headers keep a sign that the instructions drop
        ASSERT_EQ(from_float(x, Format::f16), bits(__float2half_rn(x))) << x;
        ASSERT_EQ(from_float(x, Format::f16, Rounding::rz), bits(__float2half_rz(x))) << x;
        ASSERT_EQ(from_float(x, Format::f16, Rounding::rm), bits(__float2half_rd(x))) << x;
        ASSERT_EQ(from_float(x, Format::f16, Rounding::rp), bits(__float2half_ru(x))) << x;
        ASSERT_EQ(from_float(x, Format::bf16), bits(__float2bfloat16_rn(x))) << x;
        ASSERT_EQ(from_float(x, Format::bf16, Rounding::rz), bits(__float2bfloat16_rz(x))) << x;
        ASSERT_EQ(from_float(x, Format::bf16, Rounding::rm), bits(__float2bfloat16_rd(x))) << x;
        ASSERT_EQ(from_float(x, Format::bf16, Rounding::rp), bits(__float2bfloat16_ru(x))) << x;
    }
}

TEST(CudaHeaders, HalfAndBfloat16ToFloat) {
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
        const float half = __half2float(__ushort_as_half(std::uint16_t(i)));
        const float brain = __bfloat162float(__ushort_as_bfloat16(std::uint16_t(i)));
        if (!std::isnan(half)) {
            ASSERT_EQ(convert(i, Format::f16, Format::f32), std::bit_cast<std::uint32_t>(half));
        }
        ASSERT_EQ(convert(i, Format::bf16, Format::f32), std::bit_cast<std::uint32_t>(brain));
    }
}

TEST(CudaHeaders, Fp8) {
    for (const auto& [format, kind] : {std::pair{Format::e4m3, __NV_E4M3}, std::pair{Format::e5m2, __NV_E5M2}}) {
        for (const float x : floats()) {
            ASSERT_EQ(from_float(x, format, Rounding::rn, true), __nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind)) << x;
            if (std::isnan(x)) continue;
            ASSERT_EQ(from_float(x, format), __nv_cvt_float_to_fp8(x, __NV_NOSAT, kind)) << x;
        }
        for (std::uint32_t i = 0; i < 0x10000; ++i) {
            const std::uint64_t nan = decode(i, Format::f16).kind == Class::nan;
            if (nan) continue;
            ASSERT_EQ(convert(i, Format::f16, format, {.satfinite = true}),
                      __nv_cvt_halfraw_to_fp8(__half_raw{std::uint16_t(i)}, __NV_SATFINITE, kind));
        }
        for (std::uint32_t i = 0; i < 0x100; ++i) {
            if (decode(i, format).kind == Class::nan) continue;
            ASSERT_EQ(convert(i, format, Format::f16), __nv_cvt_fp8_to_halfraw(std::uint8_t(i), kind).x);
        }
    }
}

TEST(CudaHeaders, Fp6AndFp4) {
    for (const float x : floats()) {
        ASSERT_EQ(from_float(x, Format::e2m3, Rounding::rn, true),
                  __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest))
            << x;
        ASSERT_EQ(from_float(x, Format::e3m2, Rounding::rn, true),
                  __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest))
            << x;
        ASSERT_EQ(from_float(x, Format::e2m1, Rounding::rn, true),
                  __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest))
            << x;
    }
    for (std::uint32_t i = 0; i < 64; ++i) {
        ASSERT_EQ(convert(i, Format::e2m3, Format::f16), __nv_cvt_fp6_to_halfraw(std::uint8_t(i), __NV_E2M3).x);
        ASSERT_EQ(convert(i, Format::e3m2, Format::f16), __nv_cvt_fp6_to_halfraw(std::uint8_t(i), __NV_E3M2).x);
        ASSERT_EQ(convert(i & 15, Format::e2m1, Format::f16),
                  __nv_cvt_fp4_to_halfraw(std::uint8_t(i & 15), __NV_E2M1).x);
    }
}

TEST(CudaHeaders, Scales) {
    for (const float x : floats())
        for (const auto& [mode, cuda] :
             {std::pair{Rounding::rz, cudaRoundZero}, std::pair{Rounding::rp, cudaRoundPosInf}})
            for (const bool satfinite : {true, false})
                ASSERT_EQ(from_float(x, Format::ue8m0, mode, satfinite),
                          __nv_cvt_float_to_e8m0(x, satfinite ? __NV_SATFINITE : __NV_NOSAT, cuda))
                    << x << " " << satfinite;
    for (std::uint32_t i = 0; i < 0x100; ++i)
        ASSERT_EQ(convert(i, Format::ue8m0, Format::bf16), __nv_cvt_e8m0_to_bf16raw(std::uint8_t(i)).x) << i;
}

}  // namespace
}  // namespace tilepath::number
#endif
