// What the Ampere GEMMs of this folder are: tiling, order of k, shared-memory layout, parameters and entry names, as
// values that the kernels are built from and that a host program reads. Plain C++, host and device.
//
//     D = alpha A B + beta C                        entry NAME           ("plain")
//     D = GELU(alpha A B + beta C + bias)           entry NAME_linear    (bias has one value for each n)
//
// A is M x K, B is K x N; C and D are M x N, row-major. Layouts are named as BLAS names them, A's letter first:
//     A: 't' row-major, A(m, k) = A[m * lda + k]      'n' column-major, A(m, k) = A[k * lda + m]
//     B: 't' row-major, B(k, n) = B[k * ldb + n]      'n' column-major, B(k, n) = B[n * ldb + k]
// so that in `tn` both operands are contiguous along k.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../gemm_types.h"

namespace tilepath::kernels {

// The tensor-core kernel. Every input type uses the same number of bytes along k, so one description serves all four.
struct GemmConfig {
    int cta_m = 128, cta_n = 128;  // the part of D that a CTA computes
    int warp_m = 64, warp_n = 64;  // the part of it that a warp computes
    int mma_m = 16, mma_n = 8;     // mma.sync.m16n8kX
    int row_bytes = 64;            // bytes along k that a stage holds of each row of A and column of B
    int mma_bytes = 32;            // bytes along k that one mma.sync consumes
    int stages = 4;                // cp.async stages in shared memory
    int element_bytes = 2;         // of A and B

    TILEPATH_HOST_DEVICE constexpr int cta_k() const { return row_bytes / element_bytes; }
    TILEPATH_HOST_DEVICE constexpr int mma_k() const { return mma_bytes / element_bytes; }
    TILEPATH_HOST_DEVICE constexpr int warps_m() const { return cta_m / warp_m; }
    TILEPATH_HOST_DEVICE constexpr int warps_n() const { return cta_n / warp_n; }
    TILEPATH_HOST_DEVICE constexpr int threads() const { return 32 * warps_m() * warps_n(); }
    TILEPATH_HOST_DEVICE constexpr int a_stage_bytes() const { return cta_m * row_bytes; }
    TILEPATH_HOST_DEVICE constexpr int b_stage_bytes() const { return cta_n * row_bytes; }
    TILEPATH_HOST_DEVICE constexpr int stage_bytes() const { return a_stage_bytes() + b_stage_bytes(); }
    // The epilogue reuses the stages for a tile of 4-byte accumulators.
    TILEPATH_HOST_DEVICE constexpr int dynamic_shared_bytes() const {
        return stages * stage_bytes() > cta_m * cta_n * 4 ? stages * stage_bytes() : cta_m * cta_n * 4;
    }
};

// The kernel without tensor cores: each thread computes 4 x 4 elements of D, 16 apart.
struct SimtConfig {
    int cta_m = 64, cta_n = 64, cta_k = 32;
    int threads_m = 16, threads_n = 16;

    TILEPATH_HOST_DEVICE constexpr int threads() const { return threads_m * threads_n; }
    TILEPATH_HOST_DEVICE constexpr int thread_m() const { return cta_m / threads_m; }
    TILEPATH_HOST_DEVICE constexpr int thread_n() const { return cta_n / threads_n; }
};

// Order of k. Tensor cores: an accumulator starts at +0 and goes through ceil(K / cta_k) * (cta_k / mma_k) instructions
// in ascending k, each taking mma_k consecutive elements; elements at k >= K are +0. SIMT: one fma per k, ascending,
// from +0 (s8: exact). The launch is grid = (ceil(N / cta_n), ceil(M / cta_m)), block = threads().

// Shared memory: a tile is rows of 16-byte chunks, and the chunk's number is XORed with bits of the row's, so that the
// eight rows which ldmatrix reads for one 8x8 matrix, as the eight chunks which eight lanes of cp.async write, fall
// into different banks. A tile contiguous along k has a row for each m (or n), 64 bytes long; the others a row for each
// k, 256 bytes long.
TILEPATH_HOST_DEVICE constexpr int swizzled_chunk(int row, int chunk, int row_bytes) {
    return row_bytes >= 128 ? chunk ^ (row & 7) : chunk ^ ((row >> 1) & 3);
}

// The parameters of every entry, in order: A, B, C, D, bias; M, N, K, lda, ldb, ldc, ldd (elements); alpha, beta. C may
// be null when beta is zero, bias when the entry is plain. alpha and beta are f32, or s32 where D is s32. bias is f32.
struct GemmParameters {
    std::uint64_t a = 0, b = 0, c = 0, d = 0, bias = 0;  // offsets 0, 8, 16, 24, 32
    std::int32_t m = 0, n = 0, k = 0;                    // 40, 44, 48
    std::int32_t lda = 0, ldb = 0, ldc = 0, ldd = 0;     // 52, 56, 60, 64
    std::uint32_t alpha = 0, beta = 0;                   // 68, 72: the bits of the f32 or s32
};
inline constexpr std::array<std::size_t, 14> gemm_parameter_offsets = {0,  8,  16, 24, 32, 40, 44,
                                                                       48, 52, 56, 60, 64, 68, 72};
static_assert(offsetof(GemmParameters, m) == 40 && offsetof(GemmParameters, beta) == 72);

struct GemmEntry {
    std::string_view name;    // of the .entry
    std::string_view module;  // the PTX file beside this header, without ".ptx"
    bool simt;
    GemmType input;
    char a, b;  // layout letters
    GemmType output;
    bool linear;
};

#define TILEPATH_GEMM_F16
#define TILEPATH_GEMM_BF16
#define TILEPATH_GEMM_TF32
#define TILEPATH_GEMM_S8
#define TILEPATH_GEMM_SIMT
#define TILEPATH_GEMM_ENTRY(module, name, input, a, b, output, epilogue)                                 \
    GemmEntry{#name, #module,          std::string_view(#module) == "gemm_simt", GemmType::input, #a[0], \
              #b[0], GemmType::output, std::string_view(#epilogue) == "linear"},
inline constexpr GemmEntry gemm_entries[] = {
#include "gemm_entries.inc"
};
#undef TILEPATH_GEMM_ENTRY
#undef TILEPATH_GEMM_F16
#undef TILEPATH_GEMM_BF16
#undef TILEPATH_GEMM_TF32
#undef TILEPATH_GEMM_S8
#undef TILEPATH_GEMM_SIMT

constexpr GemmConfig gemm_config(GemmType input) { return {.element_bytes = element_bytes(input)}; }

}  // namespace tilepath::kernels
