// What the Hopper GEMMs of this folder are: tiling, order of k, shared-memory layout, tensor maps, parameters and entry
// names, as values that the kernels are built from and that a host program reads. Plain C++, host and device.
//
// D = alpha A B + beta C (entry NAME) or GELU(alpha A B + beta C + bias) (NAME_linear), for each of `batch` matrices.
// Layout letters as in ../ampere/gemm_config.h. Rows of A, B, C and D must be multiples of 16 bytes apart and begin at
// multiples of 16 bytes: the Tensor Memory Accelerator moves nothing else, and of C whole such pieces are read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../tma_gemm.h"

namespace tilepath::kernels::hopper {

// A cluster of two CTAs computes 256 x 256 of D: each its own 128 rows of A, both the same 256 columns of B, of which
// each loads one half for both. Two consumer warpgroups compute 64 x 256 each; one producer thread loads.
struct GemmConfig {
    int cta_m = 128, cta_n = 256;
    int cluster_m = 2;            // CTAs of a cluster, one below the other
    int warpgroup_m = 64;         // wgmma.m64n256kX
    int consumer_warpgroups = 2;  // and one producer warpgroup
    int row_bytes = 128;          // bytes along k that a stage holds of each row of A and column of B: the 128B swizzle
    int mma_bytes = 32;           // bytes along k that one wgmma consumes
    int stages = 4;               // in shared memory
    int element_bytes = 2;        // of A and B
    int box_bytes = 8192;  // 64 rows of 128 bytes: a TMA box of D; MN-major operands are loaded in such boxes too
    int store_boxes = 2;   // boxes of D in shared memory, for each consumer warpgroup
    int group_m = 6;       // clusters of one column that run before the next column begins

    TILEPATH_HOST_DEVICE constexpr int cta_k() const { return row_bytes / element_bytes; }
    TILEPATH_HOST_DEVICE constexpr int mma_k() const { return mma_bytes / element_bytes; }
    TILEPATH_HOST_DEVICE constexpr int threads() const { return 128 * (consumer_warpgroups + 1); }
    TILEPATH_HOST_DEVICE constexpr int a_stage_bytes() const { return cta_m * row_bytes; }
    TILEPATH_HOST_DEVICE constexpr int b_stage_bytes() const { return cta_n * row_bytes; }
    TILEPATH_HOST_DEVICE constexpr int stage_bytes() const { return a_stage_bytes() + b_stage_bytes(); }
    TILEPATH_HOST_DEVICE constexpr int store_offset() const { return stages * stage_bytes(); }
    TILEPATH_HOST_DEVICE constexpr int barrier_offset() const {
        return store_offset() + consumer_warpgroups * store_boxes * box_bytes;
    }
    // full[stages], then empty[stages], 8 bytes each.
    TILEPATH_HOST_DEVICE constexpr int dynamic_shared_bytes() const { return barrier_offset() + 2 * stages * 8; }
};

// Order of k: an accumulator starts at +0 and goes through ceil(K / cta_k) * (cta_k / mma_k) instructions in ascending
// k; elements at k >= K are +0. The launch: cluster = (2, 1, 1), block = (threads(), 1, 1), grid = (2 c, 1, 1) for any
// c >= 1: c clusters take the tiles in turn.
//
// Tensor maps, all of rank 3 with the batch outermost, 128B swizzle, zeros out of bounds, innermost first:
//     A 't': dims (K, M, batch), box (row, 128, 1)        A 'n': dims (M, K, batch), box (64, 64, 1)    16-bit types
//     B 'n': dims (K, N, batch), box (row, 128, 1)        B 't': dims (N, K, batch), box (64, 64, 1)
//     D:     dims (N, M, batch), box (row, 64, 1)         row: as many elements as fill 128 bytes
//
// The parameters of every entry, in order: map_a, map_b, map_d (CUtensorMap, 128 bytes each), then TmaParameters, by
// value.
using GemmParameters = TmaParameters;
using kernels::leading_dimension;

struct GemmEntry {
    std::string_view name;    // of the .entry
    std::string_view module;  // the PTX file beside this header, without ".ptx"
    GemmType input;
    char a, b;  // layout letters
    GemmType output;
    bool linear;
    bool a_in_registers;
};

#define TILEPATH_HOPPER_F16
#define TILEPATH_HOPPER_BF16
#define TILEPATH_HOPPER_TF32
#define TILEPATH_HOPPER_FP8
#define TILEPATH_HOPPER_ENTRY(module, name, input, a, b, output, epilogue, operand) \
    GemmEntry{#name,                                                                \
              #module,                                                              \
              GemmType::input,                                                      \
              #a[0],                                                                \
              #b[0],                                                                \
              GemmType::output,                                                     \
              std::string_view(#epilogue) == "linear",                              \
              std::string_view(#operand) == "rs"},
inline constexpr GemmEntry gemm_entries[] = {
#include "gemm_entries.inc"
};
#undef TILEPATH_HOPPER_ENTRY
#undef TILEPATH_HOPPER_F16
#undef TILEPATH_HOPPER_BF16
#undef TILEPATH_HOPPER_TF32
#undef TILEPATH_HOPPER_FP8

constexpr GemmConfig gemm_config(GemmType input) { return {.element_bytes = element_bytes(input)}; }

}  // namespace tilepath::kernels::hopper
