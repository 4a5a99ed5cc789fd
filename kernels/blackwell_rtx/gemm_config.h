// What the GEMMs of this folder are, for GPUs with Blackwell's mma.sync and no Tensor Memory (sm_120a): tiling, order
// of k, shared-memory layout, tensor maps, parameters and entry names, as values that the kernels are built from and
// that a host program reads. Plain C++, host and device.
//
// D = alpha A B + beta C (entry NAME) or GELU(alpha A B + beta C + bias) (NAME_linear), for each of `batch` matrices, A
// row-major and B column-major (`tn`). With block scales, A and B are what the elements stand for: each times the scale
// that its block of a row of A or a column of B shares along k. Rows of A, B, C and D must be multiples of 16 bytes
// apart and begin at multiples of 16 bytes: the Tensor Memory Accelerator moves nothing else, and of C whole such
// pieces are read.
#pragma once

#include <string_view>

#include "../tma_gemm.h"

namespace tilepath::kernels::blackwell_rtx {

// Eight warps multiply 32 x 64 each, a ninth loads.
struct GemmConfig {
    int element_bits = 8;  // of A and B
    int scale_block = 0;   // elements along k that share a scale; 0: no scales
    int cluster_m = 1;
    int cta_m = 128, cta_n = 128;  // the part of D that a CTA computes
    int warp_m = 32, warp_n = 64;  // of it, of a warp: slabs of slab_m rows, slab_distance() apart
    int mma_m = 16, mma_n = 8;     // mma.sync.m16n8kX
    int row_bytes = 128;  // bytes along k that a stage holds of each row of A and column of B: the 128B swizzle
    int mma_bytes = 32;   // bytes along k that one mma.sync consumes
    int stages = 2;       // in shared memory: these GPUs have 99 KB for a CTA
    int slab_m = 8;       // rows of D in a box, row_bytes of each; a warp multiplies and stores two slabs at once
    int group_m = 12;     // CTAs of one column that run before the next column begins

    TILEPATH_HOST_DEVICE constexpr int cta_k() const { return row_bytes * 8 / element_bits; }
    TILEPATH_HOST_DEVICE constexpr int mma_k() const { return mma_bytes * 8 / element_bits; }
    TILEPATH_HOST_DEVICE constexpr int mmas() const { return row_bytes / mma_bytes; }
    TILEPATH_HOST_DEVICE constexpr int warps_m() const { return cta_m / warp_m; }
    TILEPATH_HOST_DEVICE constexpr int slab_distance() const { return warps_m() * slab_m; }
    TILEPATH_HOST_DEVICE constexpr int warps() const { return warps_m() * (cta_n / warp_n); }
    TILEPATH_HOST_DEVICE constexpr int threads() const { return 32 * (warps() + 1); }

    // Shared memory: stages of A, B, scales of A, scales of B; two boxes of D for each warp; barriers full[stages],
    // empty[stages], 8 bytes each.
    TILEPATH_HOST_DEVICE constexpr int a_stage_bytes() const { return cta_m * row_bytes; }
    TILEPATH_HOST_DEVICE constexpr int b_stage_bytes() const { return cta_n * row_bytes; }
    // Scales lie in atoms of 128 rows and 4 blocks along k, 512 bytes each.
    TILEPATH_HOST_DEVICE constexpr int scale_atoms() const { return scale_block ? cta_k() / scale_block / 4 : 0; }
    TILEPATH_HOST_DEVICE constexpr int scale_stage_bytes() const { return scale_atoms() * 512; }  // of A; of B
    TILEPATH_HOST_DEVICE constexpr int stage_bytes() const {
        return a_stage_bytes() + b_stage_bytes() + 2 * scale_stage_bytes();
    }
    TILEPATH_HOST_DEVICE constexpr int box_bytes() const { return slab_m * row_bytes; }
    TILEPATH_HOST_DEVICE constexpr int store_bytes() const { return 2 * box_bytes(); }  // of a warp
    TILEPATH_HOST_DEVICE constexpr int store_offset() const { return stages * stage_bytes(); }
    TILEPATH_HOST_DEVICE constexpr int barrier_offset() const { return store_offset() + warps() * store_bytes(); }
    TILEPATH_HOST_DEVICE constexpr int dynamic_shared_bytes() const { return barrier_offset() + 2 * stages * 8; }
};

constexpr GemmConfig gemm_config(GemmType input, BlockScale scale) {
    return {.element_bits = element_bits(input), .scale_block = scale_block(scale)};
}

// Order of k: an accumulator starts at +0 and goes through ceil(K / cta_k) * mmas instructions in ascending k; elements
// at k >= K are +0. The launch: block = (threads(), 1, 1), grid = (c, 1, 1) for any c >= 1: c CTAs take the tiles in
// turn.
//
// Tensor maps, of rank 3 with the batch outermost, 128B swizzle, zeros out of bounds, innermost first; row: as many
// elements as fill 128 bytes:
//     A: dims (K, M, batch), box (row, 128, 1)      B: dims (K, N, batch), box (row, 128, 1)
//     D: dims (N, M, batch), box (row, slab_m, 1)
// and of the scales as ../blackwell/gemm_config.h has them. The parameters of every entry, in order: map_a, map_b,
// map_d, and with scales map_scale_a, map_scale_b (CUtensorMap, 128 bytes each), then TmaParameters, by value.

struct GemmEntry {
    std::string_view name;    // of the .entry
    std::string_view module;  // the PTX file beside this header, without ".ptx"
    GemmType input;
    BlockScale scale;
    char a, b;  // layout letters
    GemmType output;
    bool linear;
};

#define TILEPATH_RTX_FP8
#define TILEPATH_RTX_SCALED
#define TILEPATH_RTX_ENTRY(module, name, input, scale, output, epilogue) \
    GemmEntry{#name, #module, GemmType::input,  BlockScale::scale,       \
              't',   'n',     GemmType::output, std::string_view(#epilogue) == "linear"},
inline constexpr GemmEntry gemm_entries[] = {
#include "gemm_entries.inc"
};
#undef TILEPATH_RTX_ENTRY
#undef TILEPATH_RTX_FP8
#undef TILEPATH_RTX_SCALED

}  // namespace tilepath::kernels::blackwell_rtx
