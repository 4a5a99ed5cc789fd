#pragma once
#include <cstdint>
#include <string_view>

namespace tilepath::program {

enum class Op : std::uint8_t {
#define TILEPATH_OP(name, destinations, sources, scope, memory, flow) name,
#include "program/ops.inc"
#undef TILEPATH_OP
};

enum class Scope : std::uint8_t { lane, warp, cta, control };
enum class MemoryEffect : std::uint8_t { none, load, store, atomic, copy, fence };
enum class DataFlow : std::uint8_t { none, move, permute, convert, accumulate, opaque };

struct OpTraits {
    std::string_view name;
    int destinations;  ///< −1: as many as the instruction has
    int sources;       ///< likewise
    Scope scope;
    MemoryEffect memory;
    DataFlow flow;
};

const OpTraits& traits(Op op);
int op_count();

// What MicroOp::variant means, by operation (ops.inc says which).
enum class MulHalf : std::uint8_t { lo, hi, wide };
enum class PermuteMode : std::uint8_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };
enum class ShuffleMode : std::uint8_t { up, down, bfly, idx };
enum class VoteMode : std::uint8_t { all, any, uni, ballot };
enum class ReduxOp : std::uint8_t { add, min, max, and_, or_, xor_ };
/// What ldmatrix and stmatrix move: .b16 as m8n8; .b8 as m16n16 or m16n8; 6- or 4-bit elements, widened to bytes, as
/// m16n16 or m8n16.
enum class MatrixForm : std::uint8_t { m8n8, bytes, m16n16_six_bits, m16n16_four_bits, m8n16_six_bits, m8n16_four_bits };
enum class TensorMapField : std::uint8_t {
    global_address, rank, box_dim, global_dim, global_stride, element_stride,
    elemtype, interleave_layout, swizzle_mode, fill_mode, swizzle_atomicity
};
enum class AtomicOp : std::uint8_t { exch, cas, add, inc, dec, min, max, and_, or_, xor_ };
enum class BarrierMode : std::uint8_t { sync, arrive, red_popc, red_and, red_or };
/// What a fence orders. Proxies: with the generic proxy, both ways where nothing else is said.
enum class FenceKind : std::uint8_t {
    thread,  ///< accesses of the thread, at some scope
    proxy_alias,
    proxy_async,                  ///< all spaces
    proxy_async_global,
    proxy_async_shared_cta,
    proxy_async_shared_cluster,
    async_after_generic_acquire,  ///< .async::generic.acquire, of what lies in shared::cluster
    async_after_generic_release,  ///< .async::generic.release, of what lies in shared::cta
    tensormap_release,
    tensormap_acquire,
    mbarrier_init
};
/// What becomes of a warpgroup's operations at a wgmma_settle, which no PTX names.
enum class Settle : std::uint8_t {
    land,   ///< they complete first
    early,  ///< they do where the policy is eager: the kernel is wrong, and ptxas would wait here
    mark    ///< nothing: their registers are still theirs
};
/// What a memory operation or fence orders, as its `.sem` says; weak: nothing was said.
enum class MemoryOrder : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc };
/// For whom it does; none: nothing was said.
enum class MemoryScope : std::uint8_t { none, cta, cluster, gpu, sys };
enum class TestProperty : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };
enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };
enum class SpecialRegister : std::uint8_t {
    tid, ntid, laneid, warpid, nwarpid, ctaid, nctaid, smid, nsmid, gridid,
    lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
    clock, clock_hi, clock64, globaltimer, globaltimer_lo, globaltimer_hi, pm, pm64, envreg,
    total_smem_size, aggr_smem_size, dynamic_smem_size, reserved_smem_offset, current_graph_exec,
    is_explicit_cluster, clusterid, nclusterid, cluster_ctaid, cluster_nctaid, cluster_ctarank, cluster_nctarank
};

}  // namespace tilepath::program
