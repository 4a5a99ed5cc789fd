// D = epilogue(A B, C) as for an RTX PRO 6000: persistent CTAs; one thread fills a ring of shared-memory stages through
// the Tensor Memory Accelerator; eight warps take fragments out of it with ldmatrix, scales with plain loads, multiply
// with mma.sync, and write D through shared memory and TMA.
#pragma once

#include "../fragment_store.cuh"
#include "../ptx.cuh"
#include "../stage_ring.cuh"
#include "../tile_order.cuh"
#include "gemm_config.h"
#include "types.cuh"

extern __shared__ __align__(1024) unsigned char gemm_shared[];

namespace tilepath::kernels::blackwell_rtx {

template <GemmConfig config>
using Ring = StageRing<config, config.stages>;

struct TensorMaps {
    const CUtensorMap *a, *b, *d, *scale_a, *scale_b;
};

// Row `row` of an MMA's 16, of those that a warp multiplies: the upper eight belong to one slab, the lower eight to the
// next, 32 rows further, for the scale factors of such rows are neighbours in an atom and lie in different banks.
template <GemmConfig config>
__device__ inline int row_of(int warp_m, int mma, int row) {
    return (mma * 2 + row / 8) * config.slab_distance() + warp_m * config.slab_m + row % 8;
}

template <GemmConfig config, typename Input, typename Output, bool linear>
__device__ __forceinline__ void gemm(const TensorMaps& maps, const TmaParameters& p) {
    constexpr bool scaled = config.scale_block != 0;
    constexpr int mma_rows = config.warp_m / config.mma_m, mma_columns = config.warp_n / config.mma_n;

    // ---- Who and where
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int steps = (p.k + config.cta_k() - 1) / config.cta_k();
    const TileOrder<config> order(p);
    Ring<config> ring{ptx::shared_address(gemm_shared)};
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < config.stages; ++stage) {
            ptx::mbarrier_init(ring.full(stage), 1);
            ptx::mbarrier_init(ring.empty(stage), config.warps());
        }
        ptx::fence_mbarrier_init();
    }
    __syncthreads();

    if (warp == config.warps()) {
        // ---- Load: global -> shared memory
        if (ptx::elect_sync()) {
            const auto blocks = [](int extent) { return (extent + 127) / 128; };
            for (int index = blockIdx.x; index < order.count; index += gridDim.x) {
                const Tile tile = order.tile(index, 0);
                for (int step = 0; step < steps; ++step, ring.next()) {
                    const int k = step * config.cta_k(), atom = step * config.scale_atoms();
                    ptx::mbarrier_wait(ring.empty(), ring.phase ^ 1);
                    ptx::mbarrier_arrive_expect_tx(ring.full(), config.stage_bytes());
                    ptx::tma_load(ring.a(), maps.a, ring.full(), k, tile.m, tile.batch);
                    ptx::tma_load(ring.b(), maps.b, ring.full(), k, tile.n, tile.batch);
                    if constexpr (scaled) {
                        ptx::tma_load(ring.scale_a(), maps.scale_a, ring.full(), 0, atom,
                                      tile.batch * blocks(p.m) + tile.m / 128);
                        ptx::tma_load(ring.scale_b(), maps.scale_b, ring.full(), 0, atom,
                                      tile.batch * blocks(p.n) + tile.n / 128);
                    }
                }
            }
        }
        return;
    }

    const int warp_m = warp % config.warps_m(), warp_n = warp / config.warps_m() * config.warp_n;
    for (int index = blockIdx.x; index < order.count; index += gridDim.x) {
        const Tile tile = order.tile(index, 0);

        // ---- Multiply: shared memory -> registers -> accumulators
        float accumulators[mma_rows][mma_columns][4] = {};
#pragma unroll 1
        for (int step = 0; step < steps; ++step, ring.next()) {
            ptx::mbarrier_wait(ring.full(), ring.phase);
            [[maybe_unused]] std::uint32_t scale_a[mma_rows], scale_b[mma_columns];
#pragma unroll
            for (int i = 0; i < config.mmas(); ++i) {
                // The MMA's first factor: its byte in the register that holds four.
                constexpr int factors = scaled ? config.mma_k() / config.scale_block : 1;
                if (scaled && i * factors % 4 == 0) {
                    const auto factor = [&](std::uint32_t scales, int row) {
                        std::uint32_t four;
                        asm volatile("ld.shared.b32 %0, [%1];"
                                     : "=r"(four)
                                     : "r"(scales + i * factors / 4 * 512 + row % 32 * 16 + row / 32 * 4)
                                     : "memory");
                        return four;
                    };
#pragma unroll
                    for (int row = 0; row < mma_rows; ++row)
                        scale_a[row] = factor(ring.scale_a(), row_of<config>(warp_m, row, lane / 4 + lane % 2 * 8));
#pragma unroll
                    for (int column = 0; column < mma_columns; ++column)
                        scale_b[column] = factor(ring.scale_b(), warp_n + column * config.mma_n + lane / 4);
                }
                std::uint32_t a[mma_rows][4], b[mma_columns / 2][4];
#pragma unroll
                for (int row = 0; row < mma_rows; ++row)
                    ptx::ldmatrix_x4(a[row],
                                     swizzled(ring.a(), row_of<config>(warp_m, row, lane % 16), i * 2 + lane / 16));
#pragma unroll
                for (int two = 0; two < mma_columns / 2; ++two)
                    ptx::ldmatrix_x4(
                        b[two], swizzled(ring.b(), warp_n + two * 16 + lane / 16 * 8 + lane % 8, i * 2 + lane / 8 % 2));
#pragma unroll
                for (int row = 0; row < mma_rows; ++row) {
#pragma unroll
                    for (int column = 0; column < mma_columns; ++column) {
                        float(&d)[4] = accumulators[row][column];
                        const std::uint32_t b_fragment[2] = {b[column / 2][column % 2 * 2],
                                                             b[column / 2][column % 2 * 2 + 1]};
                        if constexpr (!scaled)
                            Input::mma(d, a[row], b_fragment);
                        else
                            Input::mma(d, a[row], b_fragment, scale_a[row], scale_b[column], i * factors % 4);
                    }
                }
            }
            __syncwarp();
            if (lane == 0) ptx::mbarrier_arrive(ring.empty());
        }

        // ---- Store: accumulators -> shared memory -> global memory, two boxes of 8 rows and 128 bytes at a time
        constexpr int box_n = config.row_bytes / sizeof(Output), box_columns = box_n / config.mma_n;
        const std::uint32_t boxes = ring.base + config.store_offset() + warp * config.store_bytes();
        const Output* c = reinterpret_cast<const Output*>(p.c) + tile.batch * p.c_batch_stride;
#pragma unroll
        for (int row = 0; row < mma_rows; ++row) {
            const int m[2] = {tile.m + row_of<config>(warp_m, row, 0), tile.m + row_of<config>(warp_m, row, 8)};
#pragma unroll
            for (int first_column = 0; first_column < mma_columns; first_column += box_columns) {
                const int n = tile.n + warp_n + first_column * config.mma_n;
                if (m[0] >= p.m || n >= p.n) continue;
                if (lane == 0) ptx::bulk_wait_group_read<0>();  // the boxes' last stores have read them
                __syncwarp();
#pragma unroll
                for (int step = 0; step < box_columns / 2; ++step) {
                    const int column = first_block<Output>(step);
                    float2 pair[2][2];  // [column][eight rows]
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        const int of = column + i / 2 * blocks_apart<Output>, at = m[i % 2] + lane / 4;
                        const float(&d)[4] = accumulators[row][first_column + of];
                        pair[i / 2][i % 2] =
                            finish_pair<linear>(d[i % 2 * 2], d[i % 2 * 2 + 1], c + std::int64_t{at} * p.ldc, at < p.m,
                                                n + of * config.mma_n + lane % 4 * 2, p);
                    }
                    store_blocks<Output>(boxes, 0, column, pair);
                }
                ptx::fence_proxy_async();
                __syncwarp();
                if (lane == 0) {
                    ptx::tma_store(maps.d, boxes, n, m[0], tile.batch);
                    if (m[1] < p.m) ptx::tma_store(maps.d, boxes + config.box_bytes(), n, m[1], tile.batch);
                    ptx::bulk_commit_group();
                }
            }
        }
    }
    if (lane == 0) ptx::bulk_wait_group_all();
}

}  // namespace tilepath::kernels::blackwell_rtx

#define TILEPATH_RTX_MAP(name) const __grid_constant__ CUtensorMap name
#define TILEPATH_RTX_HEAD(name, input, scale)                                                \
    constexpr tilepath::kernels::blackwell_rtx::GemmConfig name##_config =                   \
        tilepath::kernels::blackwell_rtx::gemm_config(tilepath::kernels::GemmType::input,    \
                                                      tilepath::kernels::BlockScale::scale); \
    extern "C" __global__ void __launch_bounds__(name##_config.threads(), 1) name
#define TILEPATH_RTX_BODY(name, input, scale, output, epilogue, ...)                                                   \
    {                                                                                                                  \
        using namespace tilepath::kernels;                                                                             \
        blackwell_rtx::gemm<name##_config, blackwell_rtx::inputs::scale::input, outputs::output, epilogues::epilogue>( \
            {__VA_ARGS__}, parameters);                                                                                \
    }
#define TILEPATH_RTX_LAUNCHED_ENTRY(module, name, input, scale, output, epilogue) \
    TILEPATH_RTX_HEAD(name, input, scale)                                         \
    (TILEPATH_RTX_MAP(map_a), TILEPATH_RTX_MAP(map_b), TILEPATH_RTX_MAP(map_d),   \
     const __grid_constant__ tilepath::kernels::TmaParameters parameters)         \
        TILEPATH_RTX_BODY(name, input, scale, output, epilogue, &map_a, &map_b, &map_d, nullptr, nullptr)
#define TILEPATH_RTX_LAUNCHED_SCALED_ENTRY(module, name, input, scale, output, epilogue)                       \
    TILEPATH_RTX_HEAD(name, input, scale)                                                                      \
    (TILEPATH_RTX_MAP(map_a), TILEPATH_RTX_MAP(map_b), TILEPATH_RTX_MAP(map_d), TILEPATH_RTX_MAP(map_scale_a), \
     TILEPATH_RTX_MAP(map_scale_b), const __grid_constant__ tilepath::kernels::TmaParameters parameters)       \
        TILEPATH_RTX_BODY(name, input, scale, output, epilogue, &map_a, &map_b, &map_d, &map_scale_a, &map_scale_b)
