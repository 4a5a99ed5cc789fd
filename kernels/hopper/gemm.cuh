// D = epilogue(A B, C) as for an H100 or H200: persistent clusters of two CTAs; a producer thread that fills a ring of
// shared-memory stages through the Tensor Memory Accelerator, B multicast to both CTAs; two consumer warpgroups that
// multiply out of it with wgmma and write D through shared memory and TMA.
#pragma once

#include "../fragment_store.cuh"
#include "../stage_ring.cuh"
#include "../tile_order.cuh"
#include "gemm_config.h"
#include "ptx.cuh"
#include "wgmma.cuh"

extern __shared__ __align__(1024) unsigned char gemm_shared[];

namespace tilepath::kernels::hopper {

template <GemmConfig config>
using Ring = StageRing<config, config.stages>;

// One thread of the CTA. Its half of B goes to both CTAs; the other half comes from the other CTA.
template <GemmConfig config, bool a_mn_major, bool b_mn_major>
__device__ void produce(Ring<config> ring, const CUtensorMap* map_a, const CUtensorMap* map_b, const TmaParameters& p,
                        int rank) {
    const TileOrder<config> order(p);
    constexpr int box_rows = config.box_bytes / config.row_bytes, half_n = config.cta_n / config.cluster_m;
    constexpr std::uint16_t both = (1 << config.cluster_m) - 1;
    const int steps = (p.k + config.cta_k() - 1) / config.cta_k();
    for (int index = blockIdx.x / config.cluster_m; index < order.count; index += gridDim.x / config.cluster_m) {
        const Tile tile = order.tile(index, rank);
        const int n = tile.n + rank * half_n;
        for (int step = 0; step < steps; ++step, ring.next()) {
            const int k = step * config.cta_k();
            ptx::mbarrier_wait(ring.empty(), ring.phase ^ 1);
            ptx::mbarrier_arrive_expect_tx(ring.full(), config.stage_bytes());
            if constexpr (a_mn_major) {
                for (int box = 0; box < config.cta_m / 64; ++box)
                    ptx::tma_load(ring.a() + box * config.box_bytes, map_a, ring.full(), tile.m + box * 64, k,
                                  tile.batch);
            } else {
                ptx::tma_load(ring.a(), map_a, ring.full(), k, tile.m, tile.batch);
            }
            const std::uint32_t b = ring.b() + rank * half_n * config.row_bytes;
            if constexpr (b_mn_major) {
                for (int box = 0; box < half_n / box_rows; ++box)
                    ptx::tma_load_multicast(b + box * config.box_bytes, map_b, ring.full(), n + box * 64, k, tile.batch,
                                            both);
            } else {
                ptx::tma_load_multicast(b, map_b, ring.full(), k, n, tile.batch, both);
            }
        }
    }
}

// A's fragment of 64 x 16 16-bit elements, out of a K-major tile in the 128B swizzle.
__device__ inline void load_a_fragment(std::uint32_t (&a)[4], std::uint32_t tile, int k_chunk) {
    const int thread = threadIdx.x % 128, lane = thread % 32;
    const int row = thread / 32 * 16 + lane % 16, chunk = k_chunk + lane / 16;
    ptx::ldmatrix_x4(a, swizzled(tile, row, chunk));
}

template <GemmConfig config, typename Input, bool a_mn_major, bool b_mn_major, bool a_in_registers>
__device__ void multiply(Accumulators& d, Ring<config>& ring, int warpgroup, int steps) {
    constexpr int mmas = config.cta_k() / config.mma_k();
    constexpr std::uint32_t eight_rows = 8 * config.row_bytes;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        ptx::mbarrier_wait(ring.full(), ring.phase);
        // A of this warpgroup: 64 rows, or the box of 64 m.
        const std::uint32_t a = ring.a() + warpgroup * config.box_bytes;
        const std::uint64_t a_start = matrix_descriptor(a, config.box_bytes, eight_rows);
        const std::uint64_t b_start = matrix_descriptor(ring.b(), config.box_bytes, eight_rows);
        // From one instruction's elements to the next one's along k, in units of 16 bytes: 32 bytes within the row, or
        // mma_k rows.
        constexpr int a_step = (a_mn_major ? config.mma_k() * config.row_bytes : config.mma_bytes) / 16;
        constexpr int b_step = (b_mn_major ? config.mma_k() * config.row_bytes : config.mma_bytes) / 16;
        std::uint32_t fragments[mmas][4];
        if constexpr (a_in_registers)
            for (int i = 0; i < mmas; ++i) load_a_fragment(fragments[i], a, i * 2);
        ptx::wgmma_fence();
#pragma unroll
        for (int i = 0; i < mmas; ++i) {
            if constexpr (a_in_registers)
                Input::template mma_rs<b_mn_major>(d, fragments[i], b_start + i * b_step, step | i);
            else
                Input::template mma<a_mn_major, b_mn_major>(d, a_start + i * a_step, b_start + i * b_step, step | i);
        }
        ptx::wgmma_commit_group();
        // The previous step's wgmma are done when at most this step's are pending; registers of A must not change
        // before theirs are.
        ptx::wgmma_wait_group<a_in_registers ? 0 : 1>();
        const int done = a_in_registers ? ring.stage : (ring.stage + config.stages - 1) % config.stages;
        if ((a_in_registers || step > 0) && threadIdx.x % 128 < config.cluster_m)
            ptx::mbarrier_arrive_in(ring.empty(done), threadIdx.x % 128);
        ring.next();
    }
    ptx::wgmma_wait_group<0>();
    if (!a_in_registers && threadIdx.x % 128 < config.cluster_m)
        ptx::mbarrier_arrive_in(ring.empty((ring.stage + config.stages - 1) % config.stages), threadIdx.x % 128);
}

// A warpgroup's 64 x 256 of D, box by box of 64 rows and 128 bytes: registers -> shared memory (stmatrix, or 8-byte
// stores of f32), 128B swizzle -> global memory. Two boxes take turns.
template <GemmConfig config, bool linear, typename Output>
__device__ void store(const Accumulators& d, std::uint32_t boxes, const CUtensorMap* map_d, const TmaParameters& p,
                      Tile tile, int warpgroup) {
    const int thread = threadIdx.x % 128, lane = thread % 32, warp_row = thread / 32 * 16;
    const int m = tile.m + warpgroup * config.warpgroup_m;
    const int row[2] = {m + warp_row + lane / 4, m + warp_row + lane / 4 + 8};
    const bool row_inside[2] = {row[0] < p.m, row[1] < p.m};
    const Output* c = reinterpret_cast<const Output*>(p.c) + tile.batch * p.c_batch_stride;
    const Output* c_row[2] = {c + std::int64_t{row[0]} * p.ldc, c + std::int64_t{row[1]} * p.ldc};
    constexpr int box_n = config.row_bytes / sizeof(Output), columns = 8;  // of D in a box; of an accumulator's block
    if (m >= p.m) return;                                                  // the whole warpgroup
#pragma unroll
    for (int box = 0; box < config.cta_n / box_n; ++box) {
        const int n = tile.n + box * box_n;
        if (n >= p.n) break;
        const std::uint32_t shared = boxes + box % config.store_boxes * config.box_bytes;
        if (thread == 0) ptx::bulk_wait_group_read<config.store_boxes - 1>();  // the box's last store has read it
        ptx::named_barrier_sync(1 + warpgroup, 128);
#pragma unroll
        for (int step = 0; step < box_n / columns / 2; ++step) {
            const int block = first_block<Output>(step);
            float2 pair[2][2];  // [block][row]
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int of = block + i / 2 * blocks_apart<Output>;
                const int at = (box * box_n / columns + of) * 4 + i % 2 * 2;
                pair[i / 2][i % 2] = finish_pair<linear>(d[at], d[at + 1], c_row[i % 2], row_inside[i % 2],
                                                         n + of * columns + lane % 4 * 2, p);
            }
            store_blocks<Output>(shared, warp_row, block, pair);
        }
        ptx::fence_proxy_async();
        ptx::named_barrier_sync(1 + warpgroup, 128);
        if (thread == 0) {
            ptx::tma_store(map_d, shared, n, m, tile.batch);
            ptx::bulk_commit_group();
        }
    }
}

template <typename Input, char a_layout, char b_layout, typename Output, bool linear, bool a_in_registers>
__device__ void gemm(const CUtensorMap* map_a, const CUtensorMap* map_b, const CUtensorMap* map_d,
                     const TmaParameters& p) {
    constexpr GemmConfig config{.element_bytes = Input::bytes};
    constexpr bool a_mn_major = a_layout == 'n', b_mn_major = b_layout == 't';
    const int warpgroup = threadIdx.x / 128, rank = ptx::cluster_ctarank();
    Ring<config> ring{ptx::shared_address(gemm_shared)};
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < config.stages; ++stage) {
            ptx::mbarrier_init(ring.full(stage), 1);
            ptx::mbarrier_init(ring.empty(stage), config.consumer_warpgroups * config.cluster_m);
        }
        ptx::fence_mbarrier_init();
    }
    ptx::cluster_sync();

    if (warpgroup == config.consumer_warpgroups) {
        ptx::setmaxnreg_dec<40>();
        if (threadIdx.x % 128 == 0) {
            ptx::prefetch_tensormap(map_a);
            ptx::prefetch_tensormap(map_b);
            produce<config, a_mn_major, b_mn_major>(ring, map_a, map_b, p, rank);
        }
    } else {
        ptx::setmaxnreg_inc<232>();
        const TileOrder<config> order(p);
        const int steps = (p.k + config.cta_k() - 1) / config.cta_k();
        const std::uint32_t boxes =
            ring.base + config.store_offset() + warpgroup * config.store_boxes * config.box_bytes;
        for (int index = blockIdx.x / config.cluster_m; index < order.count; index += gridDim.x / config.cluster_m) {
            Accumulators d;
            multiply<config, Input, a_mn_major, b_mn_major, a_in_registers>(d, ring, warpgroup, steps);
            store<config, linear, Output>(d, boxes, map_d, p, order.tile(index, rank), warpgroup);
        }
        if (threadIdx.x % 128 == 0) ptx::bulk_wait_group_all();
    }
    ptx::cluster_sync();  // the other CTA still arrives at this one's barriers and writes its half of B here
}

// The entries' words for where wgmma's A is.
namespace operands {
constexpr bool ss = false, rs = true;
}

}  // namespace tilepath::kernels::hopper

#define TILEPATH_HOPPER_LAUNCHED_ENTRY(module, name, input, a, b, output, epilogue, operand)                        \
    extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)                                  \
        name(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,                  \
             const __grid_constant__ CUtensorMap map_d,                                                             \
             const __grid_constant__ tilepath::kernels::TmaParameters parameters) {                                 \
        using namespace tilepath::kernels;                                                                          \
        hopper::gemm<inputs::input, #a[0], #b[0], outputs::output, epilogues::epilogue, hopper::operands::operand>( \
            &map_a, &map_b, &map_d, parameters);                                                                    \
    }
