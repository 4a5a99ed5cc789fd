// What the GEMMs of this folder are: tiling, order of k, shared-memory and Tensor Memory layout, tensor maps,
// parameters and entry names, as values that the kernels are built from and that a host program reads. Plain C++, host
// and device.
//
// D = alpha A B + beta C (entry NAME) or GELU(alpha A B + beta C + bias) (NAME_linear), for each of `batch` matrices.
// Layout letters as in ../ampere/gemm_config.h. With block scales, A and B are what the elements stand for: each times
// the scale that its block of a row of A or a column of B shares along k. Rows of A, B, C and D must be multiples of 16
// bytes apart and begin at multiples of 16 bytes: the Tensor Memory Accelerator moves nothing else, and of C whole such
// pieces are read.
#pragma once

#include <string_view>

#include "../tma_gemm.h"

namespace tilepath::kernels::blackwell {

// How many CTAs work together, and where A comes from.
enum class Form {
    single,  // one CTA: 128 rows of D
    pair,    // two CTAs, one MMA over both (cta_group::2): 256 rows, each CTA loads half of B
    quad,    // two pairs, one below the other: 512 rows; what one pair loads of B goes to the other too (multicast)
    tmem     // one CTA, A from Tensor Memory
};

// The MMA's kind, and what its instruction descriptor calls an element type (PTX ISA 9.7.16.4.2).
enum class Kind { f16, tf32, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };

constexpr Kind kind_of(GemmType a, GemmType b, BlockScale scale) {
    if (scale == BlockScale::nv) return Kind::mxf4nvf4;
    if (scale == BlockScale::mx) return a == GemmType::e2m1 && b == GemmType::e2m1 ? Kind::mxf4 : Kind::mxf8f6f4;
    if (a == GemmType::tf32) return Kind::tf32;
    return element_bits(a) == 16 ? Kind::f16 : Kind::f8f6f4;
}
constexpr bool is_packed_fp4(Kind kind) { return kind == Kind::mxf4 || kind == Kind::mxf4nvf4; }
constexpr int format_code(Kind kind, GemmType type) {
    switch (type) {
        case GemmType::f16:
        case GemmType::e4m3: return 0;
        case GemmType::bf16:
        case GemmType::e5m2: return 1;
        case GemmType::tf32: return 2;
        case GemmType::e2m3: return 3;
        case GemmType::e3m2: return 4;
        case GemmType::e2m1: return is_packed_fp4(kind) ? 1 : 5;
        case GemmType::f32:
        case GemmType::s8:
        case GemmType::s32: break;
    }
    return -1;
}
// The kinds of mixed types take a byte for each element: TMA spreads those of 4 and 6 bits, 16 of them in 16 bytes.
constexpr bool is_spread(Kind kind, GemmType type) {
    return (kind == Kind::f8f6f4 || kind == Kind::mxf8f6f4) && element_bits(type) < 8;
}

struct GemmConfig {
    Kind kind = Kind::f16;
    int format_a = 0, format_b = 0;
    int element_bits = 16;         // of A and B in shared memory
    int bits_a = 16, bits_b = 16;  // in global memory
    int scale_block = 0;           // elements along k that share a scale; 0: no scales
    int cta_group = 1;             // CTAs over which one MMA goes
    int cluster_m = 1;             // CTAs of a cluster, one below the other
    bool a_in_tmem = false;        // A goes from shared memory through registers into Tensor Memory
    int cta_m = 128;               // rows of D in each CTA: its lanes of Tensor Memory
    int cta_n = 256;               // columns of D
    int row_bytes = 128;   // bytes along k that a stage holds of each row of A and column of B: the 128B swizzle
    int mma_bytes = 32;    // bytes along k that one MMA consumes
    int accumulators = 2;  // in Tensor Memory: one is multiplied into while the other is stored
    int slab_m = 32;       // rows that one warp of the epilogue reads and stores
    int store_boxes = 2;   // boxes of D in shared memory, slab_m x row_bytes, for each warp of the epilogue
    int group_m = 6;       // clusters of one column that run before the next column begins

    TILEPATH_HOST_DEVICE constexpr int cta_k() const { return row_bytes * 8 / element_bits; }
    TILEPATH_HOST_DEVICE constexpr int mma_k() const { return mma_bytes * 8 / element_bits; }
    TILEPATH_HOST_DEVICE constexpr int mmas() const { return row_bytes / mma_bytes; }
    TILEPATH_HOST_DEVICE constexpr int load_n() const { return cta_n / cluster_m; }  // columns of B that a CTA loads
    // Warps: 0 loads, 1 multiplies, 2 to 5 store; of form tmem, 6 to 9 move A.
    TILEPATH_HOST_DEVICE constexpr int threads() const { return a_in_tmem ? 320 : 192; }

    // Shared memory: stages of A, B, scales of A, scales of B; boxes of D; barriers.
    TILEPATH_HOST_DEVICE constexpr int a_stage_bytes() const { return cta_m * row_bytes; }
    TILEPATH_HOST_DEVICE constexpr int b_stage_bytes() const { return cta_n / cta_group * row_bytes; }
    // Scales lie in atoms of 128 rows and 4 blocks along k, 512 bytes each.
    TILEPATH_HOST_DEVICE constexpr int scale_atoms() const { return scale_block ? cta_k() / scale_block / 4 : 0; }
    TILEPATH_HOST_DEVICE constexpr int scale_stage_bytes() const { return scale_atoms() * 512; }  // of A; of B
    TILEPATH_HOST_DEVICE constexpr int stage_bytes() const {
        return a_stage_bytes() + b_stage_bytes() + 2 * scale_stage_bytes();
    }
    // What the TMA counts on the barrier of a stage: bytes as they lie in global memory.
    TILEPATH_HOST_DEVICE constexpr int loaded_bytes() const {
        return a_stage_bytes() / element_bits * bits_a + b_stage_bytes() / element_bits * bits_b +
               2 * scale_stage_bytes();
    }
    TILEPATH_HOST_DEVICE constexpr int box_bytes() const { return slab_m * row_bytes; }
    TILEPATH_HOST_DEVICE constexpr int store_bytes() const { return cta_m / slab_m * store_boxes * box_bytes(); }
    TILEPATH_HOST_DEVICE constexpr int stages() const {
        constexpr int available = 227 * 1024 - 1024;  // of a CTA, but for the barriers
        const int fitting = (available - store_bytes()) / stage_bytes();
        return fitting < 6 ? fitting : 6;
    }
    TILEPATH_HOST_DEVICE constexpr int store_offset() const { return stages() * stage_bytes(); }
    TILEPATH_HOST_DEVICE constexpr int barrier_offset() const { return store_offset() + store_bytes(); }
    // full[stages], empty[stages], a_moved[stages], accumulator_full[accumulators], accumulator_empty[accumulators], 8
    // bytes each; then the address of the Tensor Memory, 4 bytes.
    TILEPATH_HOST_DEVICE constexpr int tmem_address_offset() const {
        return barrier_offset() + (3 * stages() + 2 * accumulators) * 8;
    }
    TILEPATH_HOST_DEVICE constexpr int dynamic_shared_bytes() const { return tmem_address_offset() + 8; }

    // Tensor Memory, columns: accumulators; then for each stage the scales of A and of B, four columns to an atom; or
    // A.
    TILEPATH_HOST_DEVICE constexpr int scale_columns() const { return scale_atoms() * 4; }
    TILEPATH_HOST_DEVICE constexpr int a_columns() const { return a_in_tmem ? row_bytes / 4 : 0; }
    TILEPATH_HOST_DEVICE constexpr int stage_columns() const { return 2 * scale_columns() + a_columns(); }
    TILEPATH_HOST_DEVICE constexpr int stage_column(int stage) const {
        return accumulators * cta_n + stage * stage_columns();
    }
    TILEPATH_HOST_DEVICE constexpr int tmem_columns() const {
        int columns = 32;
        while (columns < stage_column(stages())) columns *= 2;
        return columns;
    }
};

constexpr GemmConfig gemm_config(GemmType a, GemmType b, BlockScale scale, Form form) {
    const Kind kind = kind_of(a, b, scale);
    GemmConfig config{.kind = kind,
                      .format_a = format_code(kind, a),
                      .format_b = format_code(kind, b),
                      .element_bits = is_spread(kind, a) || is_spread(kind, b) ? 8 : element_bits(a),
                      .bits_a = element_bits(a),
                      .bits_b = element_bits(b),
                      .scale_block = scale_block(scale)};
    config.cta_group = form == Form::pair || form == Form::quad ? 2 : 1;
    config.cluster_m = form == Form::quad ? 4 : config.cta_group;
    config.a_in_tmem = form == Form::tmem;
    // Two accumulators of 256 columns are the whole Tensor Memory; scales and A need a part of it.
    if (config.a_in_tmem || config.scale_block) config.cta_n = 128;
    return config;
}

// Order of k: an accumulator begins with the first product and goes through ceil(K / cta_k) * mmas instructions in
// ascending k; elements at k >= K are +0. The launch: cluster = (cluster_m, 1, 1), block = (threads(), 1, 1), grid =
// (cluster_m c, 1, 1) for any c >= 1: c clusters take the tiles in turn.
//
// Tensor maps, of rank 3 with the batch outermost, zeros out of bounds, innermost first; row: as many elements as fill
// 128 bytes:
//     A 't': dims (K, M, batch), box (row, 128, 1)          A 'n': dims (M, K, batch), box (row, cta_k, 1)
//     B 'n': dims (K, N, batch), box (row, load_n, 1)       B 't': dims (N, K, batch), box (row, cta_k, 1)
//     D:     dims (N, M, batch), box (row, slab_m, 1)
// in the 128B swizzle; A 'n' and B 't' of tf32 in the 128B swizzle of 32-byte atoms. Types of less than 8 bits are
// K-major (A 't', B 'n'); where an element takes a byte in shared memory, their boxes are of 16U4_ALIGN16B and
// 16U6_ALIGN16B, and K is a multiple of 128.
//     scales of A: u32, dims (128, atoms along k, 128-row blocks of M * batch), box (128, scale_atoms, 1), no swizzle;
//     of B: the same with N. The factor of row r, block s: byte 16 (r % 32) + 4 (r % 128 / 32) + s % 4 of atom
//     (s / 4, r / 128). Atoms along k: a multiple of scale_atoms; factors beyond K must not be NaN.
//
// The parameters of every entry, in order: map_a, map_b, map_d, and with scales map_scale_a, map_scale_b (CUtensorMap,
// 128 bytes each), then TmaParameters, by value.

struct GemmEntry {
    std::string_view name;    // of the .entry
    std::string_view module;  // the PTX file beside this header, without ".ptx"
    GemmType input, input_b;
    BlockScale scale;
    char a, b;  // layout letters
    GemmType output;
    bool linear;
    Form form;
};

#define TILEPATH_BLACKWELL_F16
#define TILEPATH_BLACKWELL_BF16
#define TILEPATH_BLACKWELL_TF32
#define TILEPATH_BLACKWELL_FP8
#define TILEPATH_BLACKWELL_SCALED
#define TILEPATH_BLACKWELL_NARROW
#define TILEPATH_BLACKWELL_SCALED_NARROW
#define TILEPATH_BLACKWELL_ENTRY(module, name, input, input_b, scale, a, b, output, epilogue, form) \
    GemmEntry{#name,                                                                                \
              #module,                                                                              \
              GemmType::input,                                                                      \
              GemmType::input_b,                                                                    \
              BlockScale::scale,                                                                    \
              #a[0],                                                                                \
              #b[0],                                                                                \
              GemmType::output,                                                                     \
              std::string_view(#epilogue) == "linear",                                              \
              Form::form},
inline constexpr GemmEntry gemm_entries[] = {
#include "gemm_entries.inc"
};
#undef TILEPATH_BLACKWELL_ENTRY
#undef TILEPATH_BLACKWELL_F16
#undef TILEPATH_BLACKWELL_BF16
#undef TILEPATH_BLACKWELL_TF32
#undef TILEPATH_BLACKWELL_FP8
#undef TILEPATH_BLACKWELL_SCALED
#undef TILEPATH_BLACKWELL_NARROW
#undef TILEPATH_BLACKWELL_SCALED_NARROW

}  // namespace tilepath::kernels::blackwell
