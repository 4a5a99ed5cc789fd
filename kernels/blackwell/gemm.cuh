// D = epilogue(A B, C) as for a B200: persistent CTAs or clusters, each warp with a task of its own. One thread fills a
// ring of shared-memory stages through the Tensor Memory Accelerator; one thread multiplies out of it into Tensor
// Memory; four warps read Tensor Memory and write D through shared memory and TMA, while the next tile is multiplied
// into another accumulator.
#pragma once

#include "../output.cuh"
#include "../stage_ring.cuh"
#include "../tile_order.cuh"
#include "gemm_config.h"
#include "tcgen05.cuh"

extern __shared__ __align__(1024) unsigned char gemm_shared[];

namespace tilepath::kernels::blackwell {

// The ring of stages, with a part of Tensor Memory for each: scales, or A.
template <GemmConfig config>
struct Ring : StageRing<config, config.stages()> {
    __device__ int column() const { return config.stage_column(this->stage); }
    __device__ std::uint32_t a_moved() const { return a_moved(this->stage); }
    __device__ std::uint32_t a_moved(int of) const { return this->empty(of) + config.stages() * 8; }
};

// The ring of accumulators in Tensor Memory.
template <GemmConfig config>
struct AccumulatorRing {
    std::uint32_t base;  // shared address of stage 0
    int accumulator = 0, phase = 0;

    __device__ int column() const { return accumulator * config.cta_n; }
    __device__ std::uint32_t full() const { return full(accumulator); }
    __device__ std::uint32_t empty() const { return empty(accumulator); }
    __device__ std::uint32_t full(int of) const {
        return base + config.barrier_offset() + (3 * config.stages() + of) * 8;
    }
    __device__ std::uint32_t empty(int of) const { return full(of) + config.accumulators * 8; }
    __device__ void next() {
        if (++accumulator == config.accumulators) accumulator = 0, phase ^= 1;
    }
};

// How an operand's tile lies in shared memory, for the descriptors of its MMAs: rows of 128 bytes in the 128B swizzle.
// K-major, a row is an m or n; MN-major, a k, and a box holds as many m or n as fill the row.
template <GemmConfig config, bool mn_major>
struct OperandTile {
    static constexpr int box_mn = config.row_bytes * 8 / config.element_bits;
    static constexpr int box_bytes = config.cta_k() * config.row_bytes;
    // tf32 MN-major comes in atoms of 32 bytes; eight k of them lie in one line of the other types.
    static constexpr bool small_atoms = mn_major && config.element_bits == 32;
    static constexpr Swizzle swizzle = small_atoms ? Swizzle::b128_atom_32b : Swizzle::b128;
    static constexpr int leading = mn_major ? box_bytes : 16;  // to the next box; K-major: not used
    static constexpr int stride = (small_atoms ? 4 : 8) * config.row_bytes;
    // From one MMA's elements to the next one's along k, in the descriptor's units of 16 bytes.
    static constexpr int step = (mn_major ? config.mma_k() * config.row_bytes : config.mma_bytes) / 16;

    __device__ static std::uint64_t descriptor(std::uint32_t tile) {
        return shared_descriptor(tile, leading, stride, swizzle);
    }
};

struct TensorMaps {
    const CUtensorMap *a, *b, *d, *scale_a, *scale_b;
};

// 16 bytes of a row of D, n and what follows: accumulators -> epilogue -> D's type. c_chunk: the same place of C.
template <bool linear, typename Output, int elements>
__device__ uint4 finish(const std::uint32_t* accumulators, const Output* c_chunk, bool row_inside, int n,
                        const TmaParameters& p) {
    const float* bias = reinterpret_cast<const float*>(p.bias);
    union {
        uint4 all;
        Output each[elements];
    } c = {}, d;
    if (p.beta != 0 && row_inside && n < p.n) c.all = *reinterpret_cast<const uint4*>(c_chunk);
#pragma unroll
    for (int i = 0; i < elements; ++i) {
        const bool inside = n + i < p.n;
        const float value =
            epilogue<linear>(__uint_as_float(accumulators[i]), inside ? to_accumulator(c.each[i]) : 0.0f, p.alpha,
                             p.beta, linear && inside ? bias[n + i] : 0.0f);
        d.each[i] = to_output<Output>(value);
    }
    return d.all;
}

template <GemmConfig config, bool a_mn_major, bool b_mn_major, typename Output, bool linear>
__device__ __forceinline__ void gemm(const TensorMaps& maps, const TmaParameters& p) {
    using Mma = Mma<config.kind>;
    using TileA = OperandTile<config, a_mn_major>;
    using TileB = OperandTile<config, b_mn_major>;
    constexpr int cta_group = config.cta_group;
    constexpr bool scaled = config.scale_block != 0, multicast = config.cluster_m > cta_group;
    static_assert(!b_mn_major || config.load_n() % TileB::box_mn == 0, "whole boxes of B");
    static_assert(config.tmem_columns() <= 512);

    // ---- Who and where
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int rank = config.cluster_m > 1 ? ptx::cluster_ctarank() : 0;
    const int in_group = rank % cta_group, group = rank / cta_group;  // the group: CTAs of one MMA
    const int leader = rank - in_group;                               // its first CTA issues the MMAs
    constexpr std::uint16_t whole_cluster = (1 << config.cluster_m) - 1;
    const int steps = (p.k + config.cta_k() - 1) / config.cta_k();
    const TileOrder<config> order(p);
    const int first = blockIdx.x / config.cluster_m, apart = gridDim.x / config.cluster_m;
    Ring<config> ring{ptx::shared_address(gemm_shared)};
    AccumulatorRing<config> accumulators{ring.base};

    // ---- Barriers and Tensor Memory
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < config.stages(); ++stage) {
            ptx::mbarrier_init(ring.full(stage), 1);                              // and the bytes
            ptx::mbarrier_init(ring.empty(stage), config.cluster_m / cta_group);  // each group's commit
            ptx::mbarrier_init(ring.a_moved(stage), 4);                           // each warp that moves A
        }
        for (int i = 0; i < config.accumulators; ++i) {
            ptx::mbarrier_init(accumulators.full(i), 1);
            ptx::mbarrier_init(accumulators.empty(i), 4 * cta_group);  // each warp that stores
        }
        ptx::fence_mbarrier_init();
    }
    if (warp == 1) {
        ptx::tcgen05_alloc<cta_group>(ring.base + config.tmem_address_offset(), config.tmem_columns());
        ptx::tcgen05_relinquish_alloc_permit<cta_group>();
    }
    ptx::tcgen05_fence_before_thread_sync();
    if constexpr (config.cluster_m > 1)
        ptx::cluster_sync();
    else
        __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    const std::uint32_t tmem = *reinterpret_cast<volatile std::uint32_t*>(gemm_shared + config.tmem_address_offset());

    if (warp == 0) {
        // ---- Load: global -> shared memory. In a group, the bytes of both CTAs count on the leader's barrier.
        if (ptx::elect_sync()) {
            for (int index = first; index < order.count; index += apart) {
                const Tile tile = order.tile(index, rank);
                const int n = tile.n + in_group * (config.cta_n / cta_group) + group * config.load_n();
                const std::uint32_t to_b = group * config.load_n() * config.row_bytes;
                for (int step = 0; step < steps; ++step, ring.next()) {
                    const int k = step * config.cta_k();
                    ptx::mbarrier_wait(ring.empty(), ring.phase ^ 1);
                    if (in_group == 0) ptx::mbarrier_arrive_expect_tx(ring.full(), cta_group * config.loaded_bytes());
                    const std::uint32_t full = cta_group == 1 ? ring.full() : ptx::mapa(ring.full(), leader);
                    const auto load = [&](std::uint32_t shared, const CUtensorMap* map, int x, int y, int z) {
                        ptx::tma_load_for<cta_group>(shared, map, full, x, y, z);
                    };
                    const auto load_b = [&](std::uint32_t shared, int x, int y) {
                        // To the CTA in the same place of every group.
                        constexpr std::uint16_t first_ctas = whole_cluster / ((1 << cta_group) - 1);
                        if constexpr (multicast)
                            ptx::tma_load_multicast_pairs(shared, maps.b, full, x, y, tile.batch,
                                                          first_ctas << in_group);
                        else
                            load(shared, maps.b, x, y, tile.batch);
                    };
                    if constexpr (a_mn_major) {
                        for (int box = 0; box < config.cta_m / TileA::box_mn; ++box)
                            load(ring.a() + box * TileA::box_bytes, maps.a, tile.m + box * TileA::box_mn, k,
                                 tile.batch);
                    } else {
                        load(ring.a(), maps.a, k, tile.m, tile.batch);
                    }
                    if constexpr (b_mn_major) {
                        for (int box = 0; box < config.load_n() / TileB::box_mn; ++box)
                            load_b(ring.b() + to_b + box * TileB::box_bytes, n + box * TileB::box_mn, k);
                    } else {
                        load_b(ring.b() + to_b, k, n);
                    }
                    if constexpr (scaled) {
                        const auto blocks = [](int extent) { return (extent + 127) / 128; };
                        const int atom = step * config.scale_atoms();
                        load(ring.scale_a(), maps.scale_a, 0, atom, tile.batch * blocks(p.m) + tile.m / 128);
                        load(ring.scale_b(), maps.scale_b, 0, atom, tile.batch * blocks(p.n) + tile.n / 128);
                    }
                }
            }
            // The commits that still free this CTA's stages must find it alive.
            for (int stage = 0; stage < config.stages(); ++stage, ring.next())
                ptx::mbarrier_wait(ring.empty(), ring.phase ^ 1);
        }
    } else if (warp == 1) {
        // ---- Multiply: shared memory -> Tensor Memory. One thread of each group.
        if (in_group == 0 && ptx::elect_sync()) {
            for (int index = first; index < order.count; index += apart, accumulators.next()) {
                const std::uint32_t d = tmem + accumulators.column();
                ptx::mbarrier_wait(accumulators.empty(), accumulators.phase ^ 1);
                ptx::tcgen05_fence_after_thread_sync();
                for (int step = 0; step < steps; ++step, ring.next()) {
                    ptx::mbarrier_wait(ring.full(), ring.phase);
                    if constexpr (config.a_in_tmem) ptx::mbarrier_wait(ring.a_moved(), ring.phase);
                    ptx::tcgen05_fence_after_thread_sync();
                    const std::uint64_t a = TileA::descriptor(ring.a()), b = TileB::descriptor(ring.b());
                    const std::uint32_t beside = tmem + ring.column();  // scales of A, then of B; or A
                    if constexpr (scaled) {
#pragma unroll
                        for (int atom = 0; atom < config.scale_atoms(); ++atom) {
                            ptx::tcgen05_cp_32x128b_warpx4<cta_group>(
                                beside + atom * 4,
                                shared_descriptor(ring.scale_a() + atom * 512, 16, 128, Swizzle::none));
                            ptx::tcgen05_cp_32x128b_warpx4<cta_group>(
                                beside + config.scale_columns() + atom * 4,
                                shared_descriptor(ring.scale_b() + atom * 512, 16, 128, Swizzle::none));
                        }
                    }
#pragma unroll
                    for (int i = 0; i < config.mmas(); ++i) {
                        constexpr int mma_m = cta_group * config.cta_m;
                        if constexpr (scaled) {
                            // The MMA's first factor: its atom, and the byte in the atom's columns.
                            const int factor = i * (config.mma_k() / config.scale_block), column = factor / 4 * 4;
                            Mma::template mma<cta_group>(
                                d, a + i * TileA::step, b + i * TileB::step,
                                scaled_descriptor(config.format_a, config.format_b, config.kind != Kind::mxf4nvf4,
                                                  a_mn_major, b_mn_major, mma_m, config.cta_n, factor % 4),
                                step | i, beside + column, beside + config.scale_columns() + column);
                        } else {
                            constexpr std::uint32_t descriptor = instruction_descriptor(
                                config.format_a, config.format_b, a_mn_major, b_mn_major, mma_m, config.cta_n);
                            if constexpr (config.a_in_tmem)
                                Mma::template mma_tmem<cta_group>(d, beside + i * config.mma_bytes / 4,
                                                                  b + i * TileB::step, descriptor, step | i);
                            else
                                Mma::template mma<cta_group>(d, a + i * TileA::step, b + i * TileB::step, descriptor,
                                                             step | i);
                        }
                    }
                    if constexpr (config.cluster_m > 1)
                        ptx::tcgen05_commit_multicast<cta_group>(ring.empty(), whole_cluster);
                    else
                        ptx::tcgen05_commit<cta_group>(ring.empty());
                }
                if constexpr (cta_group > 1)
                    ptx::tcgen05_commit_multicast<cta_group>(accumulators.full(), 3 << leader);
                else
                    ptx::tcgen05_commit<cta_group>(accumulators.full());
            }
        }
    } else if (warp < 6) {
        // ---- Store: Tensor Memory -> registers -> shared memory -> global memory. Each warp the 32 lanes it may read,
        // box by box of 32 rows and 128 bytes, in the 128B swizzle.
        constexpr int chunk_elements = 16 / sizeof(Output), box_n = config.row_bytes / sizeof(Output);
        const int slab = warp % 4 * config.slab_m;
        const std::uint32_t boxes =
            ring.base + config.store_offset() + warp % 4 * config.store_boxes * config.box_bytes();
        int boxes_stored = 0;
        for (int index = first; index < order.count; index += apart, accumulators.next()) {
            const Tile tile = order.tile(index, rank);
            const int m = tile.m + slab + lane;
            const bool row_inside = m < p.m;
            const Output* c_row =
                reinterpret_cast<const Output*>(p.c) + tile.batch * p.c_batch_stride + std::int64_t{m} * p.ldc;
            const int stored_boxes = tile.m + slab < p.m ? (min(config.cta_n, p.n - tile.n) + box_n - 1) / box_n : 0;
            ptx::mbarrier_wait(accumulators.full(), accumulators.phase);
            ptx::tcgen05_fence_after_thread_sync();
            for (int box = 0; box < stored_boxes; ++box) {
                const int n = tile.n + box * box_n;
                const std::uint32_t shared = boxes + boxes_stored++ % config.store_boxes * config.box_bytes();
                if (lane == 0) ptx::bulk_wait_group_read<config.store_boxes - 1>();  // the box's last store has read it
                __syncwarp();
#pragma unroll
                for (int column = 0; column < box_n; column += 32) {
                    std::uint32_t r[32];
                    ptx::tcgen05_ld_32x32b_x32(r, tmem + accumulators.column() + (slab << 16) + box * box_n + column);
                    ptx::tcgen05_wait_ld();
#pragma unroll
                    for (int i = 0; i < 32; i += chunk_elements) {
                        const int chunk = (column + i) / chunk_elements;
                        ptx::st_shared_v4(swizzled(shared, lane, chunk),
                                          finish<linear, Output, chunk_elements>(r + i, c_row + n + column + i,
                                                                                 row_inside, n + column + i, p));
                    }
                }
                ptx::fence_proxy_async();
                __syncwarp();
                if (lane == 0) {
                    ptx::tma_store(maps.d, shared, n, tile.m + slab, tile.batch);
                    ptx::bulk_commit_group();
                }
            }
            ptx::tcgen05_fence_before_thread_sync();
            __syncwarp();
            if (lane == 0) ptx::mbarrier_arrive_in(accumulators.empty(), leader);
        }
        if (lane == 0) ptx::bulk_wait_group_all();
    } else if constexpr (config.a_in_tmem) {
        // ---- Move A: shared memory -> registers -> Tensor Memory. A thread takes a row: 128 bytes, 32 columns.
        const int row = warp % 4 * 32 + lane;
        for (int index = first; index < order.count; index += apart) {
            for (int step = 0; step < steps; ++step, ring.next()) {
                ptx::mbarrier_wait(ring.full(), ring.phase);
                ptx::tcgen05_fence_after_thread_sync();  // the MMAs that read these columns before are done
                std::uint32_t r[32];
#pragma unroll
                for (int chunk = 0; chunk < 8; ++chunk) {
                    const uint4 v = ptx::ld_shared_v4(swizzled(ring.a(), row, chunk));
                    r[chunk * 4] = v.x, r[chunk * 4 + 1] = v.y, r[chunk * 4 + 2] = v.z, r[chunk * 4 + 3] = v.w;
                }
                ptx::tcgen05_st_32x32b_x32(tmem + ring.column() + (warp % 4 << 21), r);
                ptx::tcgen05_wait_st();
                ptx::tcgen05_fence_before_thread_sync();
                __syncwarp();
                if (lane == 0) ptx::mbarrier_arrive_in(ring.a_moved(), 0);
            }
        }
    }

    // ---- Tensor Memory is given back when nobody uses it, in this CTA or the other
    ptx::tcgen05_fence_before_thread_sync();
    if constexpr (config.cluster_m > 1)
        ptx::cluster_sync();
    else
        __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    if (warp == 1) ptx::tcgen05_dealloc<cta_group>(tmem, config.tmem_columns());
}

}  // namespace tilepath::kernels::blackwell

#define TILEPATH_BLACKWELL_MAP(name) const __grid_constant__ CUtensorMap name
#define TILEPATH_BLACKWELL_HEAD(name, input, input_b, scale, form)                                                \
    constexpr tilepath::kernels::blackwell::GemmConfig name##_config = tilepath::kernels::blackwell::gemm_config( \
        tilepath::kernels::GemmType::input, tilepath::kernels::GemmType::input_b,                                 \
        tilepath::kernels::BlockScale::scale, tilepath::kernels::blackwell::Form::form);                          \
    extern "C" __global__ void __cluster_dims__(name##_config.cluster_m, 1, 1)                                    \
        __launch_bounds__(name##_config.threads(), 1) name
#define TILEPATH_BLACKWELL_BODY(name, a, b, output, epilogue, ...)                                        \
    {                                                                                                     \
        using namespace tilepath::kernels;                                                                \
        blackwell::gemm<name##_config, #a[0] == 'n', #b[0] == 't', outputs::output, epilogues::epilogue>( \
            {__VA_ARGS__}, parameters);                                                                   \
    }
#define TILEPATH_BLACKWELL_LAUNCHED_ENTRY(module, name, input, input_b, scale, a, b, output, epilogue, form) \
    TILEPATH_BLACKWELL_HEAD(name, input, input_b, scale, form)                                               \
    (TILEPATH_BLACKWELL_MAP(map_a), TILEPATH_BLACKWELL_MAP(map_b), TILEPATH_BLACKWELL_MAP(map_d),            \
     const __grid_constant__ tilepath::kernels::TmaParameters parameters)                                    \
        TILEPATH_BLACKWELL_BODY(name, a, b, output, epilogue, &map_a, &map_b, &map_d, nullptr, nullptr)
#define TILEPATH_BLACKWELL_LAUNCHED_SCALED_ENTRY(module, name, input, input_b, scale, a, b, output, epilogue, form) \
    TILEPATH_BLACKWELL_HEAD(name, input, input_b, scale, form)                                                      \
    (TILEPATH_BLACKWELL_MAP(map_a), TILEPATH_BLACKWELL_MAP(map_b), TILEPATH_BLACKWELL_MAP(map_d),                   \
     TILEPATH_BLACKWELL_MAP(map_scale_a), TILEPATH_BLACKWELL_MAP(map_scale_b),                                      \
     const __grid_constant__ tilepath::kernels::TmaParameters parameters)                                           \
        TILEPATH_BLACKWELL_BODY(name, a, b, output, epilogue, &map_a, &map_b, &map_d, &map_scale_a, &map_scale_b)
