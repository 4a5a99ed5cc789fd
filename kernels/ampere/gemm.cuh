// D = epilogue(A B, C) with tensor cores, as for an A100: global -> shared memory by cp.async, four stages deep; shared
// memory -> fragments by ldmatrix out of XOR-swizzled tiles; mma.sync; accumulators -> shared memory -> D, row by row.
#pragma once

#include "../output.cuh"
#include "gemm_config.h"
#include "ptx.cuh"
#include "types.cuh"

extern __shared__ __align__(128) unsigned char gemm_shared[];

namespace tilepath::kernels {

// Owns the ring of stages: `fill` is the stage that cp.async fills next, `drain` the one that ldmatrix reads next.
template <GemmConfig config>
struct StageRing {
    std::uint32_t base;  // shared address of stage 0
    int fill = 0, drain = 0;

    __device__ std::uint32_t fill_a() const { return base + fill * config.stage_bytes(); }
    __device__ std::uint32_t fill_b() const { return fill_a() + config.a_stage_bytes(); }
    __device__ std::uint32_t drain_a() const { return base + drain * config.stage_bytes(); }
    __device__ std::uint32_t drain_b() const { return drain_a() + config.a_stage_bytes(); }
    __device__ void filled() {
        ptx::cp_async_commit_group();  // also when nothing was copied, so that groups count stages
        fill = fill + 1 == config.stages ? 0 : fill + 1;
    }
    __device__ void drained() { drain = drain + 1 == config.stages ? 0 : drain + 1; }
    // Every thread's copies into `drain` have landed, and every warp has left the stage before it.
    __device__ void wait() const {
        ptx::cp_async_wait_group<config.stages - 2>();
        __syncthreads();
    }
};

// A tile of one operand in shared memory. `outer` is m or n. Contiguous along k, its rows are indexed by `outer`; else
// by k.
template <GemmConfig config, int outer_extent, bool k_contiguous>
struct Tile {
    static constexpr int chunk_elements = 16 / config.element_bytes;
    static constexpr int rows = k_contiguous ? outer_extent : config.cta_k();
    static constexpr int chunks = k_contiguous ? config.row_bytes / 16 : outer_extent / chunk_elements;
    static constexpr int row_bytes = chunks * 16;

    __device__ static int offset(int row, int chunk) {
        return row * row_bytes + swizzled_chunk(row, chunk, row_bytes) * 16;
    }

    // Copies the tile at (outer, k) of an operand that is outer_limit x k_limit; what lies beyond becomes zero.
    template <typename Element>
    __device__ static void load(std::uint32_t shared, const Element* global, int leading_dimension, bool aligned,
                                int outer, int k, int outer_limit, int k_limit) {
        const int row_origin = k_contiguous ? outer : k, column_origin = k_contiguous ? k : outer;
        const int row_limit = k_contiguous ? outer_limit : k_limit, column_limit = k_contiguous ? k_limit : outer_limit;
        constexpr int rows_at_once = config.threads() / chunks;
        const int chunk = threadIdx.x % chunks;
        const int column = column_origin + chunk * chunk_elements;
        const int in_row = max(0, min(column_limit - column, chunk_elements));
        const auto valid_in = [&](int row) { return row_origin + row < row_limit ? in_row : 0; };
        const auto source = [&](int row) {
            return global + (static_cast<std::int64_t>(row_origin + row) * leading_dimension + column);
        };
        if (aligned) {
#pragma unroll
            for (int first = 0; first < rows; first += rows_at_once) {
                const int row = first + threadIdx.x / chunks, valid = valid_in(row);
                ptx::cp_async_16(shared + offset(row, chunk), valid > 0 ? source(row) : global,
                                 valid * config.element_bytes);
            }
        } else {
#pragma unroll 1
            for (int row = threadIdx.x / chunks; row < rows; row += rows_at_once) {
#pragma unroll 1
                for (int i = 0; i < chunk_elements; ++i) {
                    ptx::st_shared(shared + offset(row, chunk) + i * config.element_bytes,
                                   i < valid_in(row) ? source(row)[i] : Element{0});
                }
            }
        }
    }

    // The row and chunk that a lane names to ldmatrix for 16 along `outer` times one mma's k. The four matrices lie in
    // the order of the fragment's registers: of A, `outer` first, then k; of B, k first, then the next 8 columns.
    template <bool is_a>
    __device__ static int lane_offset(int outer, int mma_of_k) {
        const int lane = threadIdx.x % 32;
        const int first_half = (lane / 8) & 1, second_half = lane / 16;
        const int outer_half = is_a ? first_half : second_half, k_half = is_a ? second_half : first_half;
        if constexpr (k_contiguous)
            return offset(outer + outer_half * 8 + lane % 8, mma_of_k * 2 + k_half);
        else
            return offset(mma_of_k * 16 + k_half * 8 + lane % 8, outer / 8 + outer_half);
    }
};

__device__ inline bool is_aligned(const void* pointer, std::int64_t leading_dimension, int element_bytes,
                                  int alignment) {
    return (reinterpret_cast<std::uintptr_t>(pointer) | leading_dimension * element_bytes) % alignment == 0;
}

template <typename Type, bool a_k_contiguous, bool b_k_contiguous, typename Output, bool linear>
__device__ __forceinline__ void gemm(const typename Type::Element* a, const typename Type::Element* b, const Output* c,
                                     Output* d, const float* bias, int m_extent, int n_extent, int k_extent, int lda,
                                     int ldb, int ldc, int ldd, typename Type::Accumulator alpha,
                                     typename Type::Accumulator beta) {
    using Accumulator = typename Type::Accumulator;
    constexpr GemmConfig config{.element_bytes = sizeof(typename Type::Element)};
    static_assert(config.element_bytes == 2 || (a_k_contiguous && b_k_contiguous),
                  "ldmatrix.trans moves 16-bit elements");
    using TileA = Tile<config, config.cta_m, a_k_contiguous>;
    using TileB = Tile<config, config.cta_n, b_k_contiguous>;
    constexpr int mma_rows = config.warp_m / config.mma_m, mma_columns = config.warp_n / config.mma_n;

    // ---- Who computes what
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_m = warp / config.warps_n() * config.warp_m, warp_n = warp % config.warps_n() * config.warp_n;
    const int cta_m = blockIdx.y * config.cta_m, cta_n = blockIdx.x * config.cta_n;
    const int k_tiles = (k_extent + config.cta_k() - 1) / config.cta_k();
    const bool a_aligned = is_aligned(a, lda, config.element_bytes, 16);
    const bool b_aligned = is_aligned(b, ldb, config.element_bytes, 16);
    StageRing<config> ring{ptx::shared_address(gemm_shared)};
    Accumulator accumulators[mma_rows][mma_columns][4] = {};

    const auto fill = [&](int tile) {
        if (tile < k_tiles) {
            const int k = tile * config.cta_k();
            TileA::load(ring.fill_a(), a, lda, a_aligned, cta_m, k, m_extent, k_extent);
            TileB::load(ring.fill_b(), b, ldb, b_aligned, cta_n, k, n_extent, k_extent);
        }
        ring.filled();
    };

    // ---- Fill all stages but one
#pragma unroll 1
    for (int tile = 0; tile < config.stages - 1; ++tile) fill(tile);

        // ---- Along k: fill one stage, multiply another
#pragma unroll 1
    for (int tile = 0; tile < k_tiles; ++tile) {
        ring.wait();
        fill(tile + config.stages - 1);
#pragma unroll
        for (int step = 0; step < config.row_bytes / config.mma_bytes; ++step) {
            std::uint32_t a_fragment[mma_rows][4], b_fragment[mma_columns][2];
#pragma unroll
            for (int i = 0; i < mma_rows; ++i) {
                auto& f = a_fragment[i];
                ptx::ldmatrix_x4<!a_k_contiguous>(
                    f[0], f[1], f[2], f[3],
                    ring.drain_a() + TileA::template lane_offset<true>(warp_m + i * config.mma_m, step));
            }
#pragma unroll
            for (int j = 0; j < mma_columns; j += 2) {
                auto& f = b_fragment[j];
                auto& g = b_fragment[j + 1];
                ptx::ldmatrix_x4<!b_k_contiguous>(
                    f[0], f[1], g[0], g[1],
                    ring.drain_b() + TileB::template lane_offset<false>(warp_n + j * config.mma_n, step));
            }
#pragma unroll
            for (int i = 0; i < mma_rows; ++i) {
#pragma unroll
                for (int j = 0; j < mma_columns; ++j) Type::mma(accumulators[i][j], a_fragment[i], b_fragment[j]);
            }
        }
        ring.drained();
    }

    // ---- Accumulators to shared memory: rows of 4-byte elements, 16-byte chunks XORed with the row so that no two
    // lanes' banks meet
    ptx::cp_async_wait_group<0>();
    __syncthreads();
    const auto staged = [&](int row, int column) {
        const int chunk = (column / 4) ^ (row % 4 * 2);
        return reinterpret_cast<Accumulator*>(gemm_shared) + row * config.cta_n + chunk * 4 + column % 4;
    };
#pragma unroll
    for (int i = 0; i < mma_rows; ++i) {
#pragma unroll
        for (int j = 0; j < mma_columns; ++j) {
            const auto& f = accumulators[i][j];
            const int row = warp_m + i * config.mma_m + lane / 4, column = warp_n + j * config.mma_n + lane % 4 * 2;
            ptx::st_shared_v2(ptx::shared_address(staged(row, column)), f[0], f[1]);
            ptx::st_shared_v2(ptx::shared_address(staged(row + 8, column)), f[2], f[3]);
        }
    }
    __syncthreads();

    // ---- Epilogue: a warp takes a row, a lane four columns of it
    struct alignas(4 * sizeof(Accumulator)) Quad {
        Accumulator value[4];
    };
    struct alignas(4 * sizeof(Output)) OutputQuad {
        Output value[4];
    };
    const bool d_aligned = is_aligned(d, ldd, sizeof(Output), sizeof(OutputQuad));
    const bool c_read = beta != Accumulator{0};
    const bool c_aligned = is_aligned(c, ldc, sizeof(Output), sizeof(OutputQuad));
    const int n = cta_n + lane * 4;
    // Left unclamped: ptxas 13.0 for sm_90 compiles `max(0, min(columns, 4)) == 4` wrongly, into a predicate of
    // VIMNMX.RELU.
    const int columns = n_extent - n;
    alignas(float4) float bias_values[4] = {};
    if (linear && columns >= 4 && is_aligned(bias, 0, 0, sizeof(float4))) {
        *reinterpret_cast<float4*>(bias_values) = *reinterpret_cast<const float4*>(bias + n);
    } else if constexpr (linear) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            if (e < columns) bias_values[e] = bias[n + e];
        }
    }
#pragma unroll 1
    for (int row = warp; row < config.cta_m; row += config.threads() / 32) {
        const int m = cta_m + row;
        if (m >= m_extent || columns <= 0) break;
        const Quad accumulator = *reinterpret_cast<const Quad*>(staged(row, lane * 4));
        const std::int64_t c_at = static_cast<std::int64_t>(m) * ldc + n, d_at = static_cast<std::int64_t>(m) * ldd + n;
        OutputQuad old = {};
        if (c_read && c_aligned && columns >= 4) {
            old = *reinterpret_cast<const OutputQuad*>(c + c_at);
        } else if (c_read) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                if (e < columns) old.value[e] = c[c_at + e];
            }
        }
        OutputQuad result;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            result.value[e] = to_output<Output>(
                epilogue<linear>(accumulator.value[e], to_accumulator(old.value[e]), alpha, beta, bias_values[e]));
        }
        if (d_aligned && columns >= 4) {
            *reinterpret_cast<OutputQuad*>(d + d_at) = result;
        } else {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                if (e < columns) d[d_at + e] = result.value[e];
            }
        }
    }
}

}  // namespace tilepath::kernels

// The rows of gemm_entries.inc as kernels. Two CTAs share an SM: 128 KiB of its shared memory, and all of its
// registers.
#define TILEPATH_GEMM_MMA_ENTRY(module, name, input, a_layout, b_layout, output, epilogue)                            \
    extern "C" __global__ void __launch_bounds__(tilepath::kernels::GemmConfig{}.threads(), 2)                        \
        name(const tilepath::kernels::types::input::Element* a, const tilepath::kernels::types::input::Element* b,    \
             const tilepath::kernels::types::output::Stored* c, tilepath::kernels::types::output::Stored* d,          \
             const float* bias, int m, int n, int k, int lda, int ldb, int ldc, int ldd,                              \
             tilepath::kernels::types::input::Accumulator alpha, tilepath::kernels::types::input::Accumulator beta) { \
        tilepath::kernels::gemm<tilepath::kernels::types::input, #a_layout[0] == 't', #b_layout[0] == 'n',            \
                                tilepath::kernels::types::output::Stored, #epilogue[0] == 'l'>(                       \
            a, b, c, d, bias, m, n, k, lda, ldb, ldc, ldd, alpha, beta);                                              \
    }
