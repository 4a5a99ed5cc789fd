// The kernels' types, by the names that gemm_entries.inc gives them. Element: A and B in memory, as the tensor core's
// loads move them. Accumulator: of the product. Stored: C and D in memory. to_accumulator: an element's value. mma: D =
// A B + D.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace tilepath::kernels::types {

#define TILEPATH_MMA(instruction, letter)                                              \
    asm(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
        : "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3])       \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

struct f32 {
    using Element = float;
    using Accumulator = float;
    using Stored = float;
    __device__ static float to_accumulator(float x) { return x; }
};
struct s32 {
    using Stored = int;
};
struct f16 {
    using Element = std::uint16_t;
    using Accumulator = float;
    using Stored = __half;
    __device__ static float to_accumulator(std::uint16_t x) { return __half2float(__ushort_as_half(x)); }
    __device__ static void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
        TILEPATH_MMA("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f");
    }
};
struct bf16 {
    using Element = std::uint16_t;
    using Accumulator = float;
    using Stored = __nv_bfloat16;
    __device__ static float to_accumulator(std::uint16_t x) { return __bfloat162float(__ushort_as_bfloat16(x)); }
    __device__ static void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
        TILEPATH_MMA("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "f");
    }
};
struct tf32 {
    using Element = std::uint32_t;
    using Accumulator = float;
    __device__ static void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
        TILEPATH_MMA("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f");
    }
};
struct s8 {
    using Element = std::uint8_t;
    using Accumulator = int;
    __device__ static int to_accumulator(std::uint8_t x) { return static_cast<signed char>(x); }
    __device__ static void mma(int (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
        TILEPATH_MMA("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "r");
    }
};
#undef TILEPATH_MMA

}  // namespace tilepath::kernels::types
