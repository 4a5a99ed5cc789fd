#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "machine/address_map.h"
#include "machine/tensor_memory.h"
#include "program/function.h"

namespace tilepath::machine {

class BoxWalk;

/// Which operation, executed by whom. Good only during the call that hands it over.
struct EventSite {
    const program::Function* function = nullptr;
    const program::MicroOp* op = nullptr;
    std::uint32_t cta = 0;      ///< linear index in the grid
    std::uint32_t warp = 0;     ///< in the CTA
    std::uint32_t lanes = 0;    ///< mask of those that execute it
    std::uint32_t rank = 0;     ///< of the CTA in its cluster
    std::uint64_t cluster = 0;  ///< linear index in the grid; without clusters that of the CTA
    std::uint32_t live = 0;     ///< mask of the warp's lanes that have not exited
};

/// The registers of a warp in one function's call. A row is one 32-bit register of all lanes; a 64-bit register takes
/// two rows, lane l in words 2l and 2l + 1. Good only during the call that hands it over.
struct Registers {
    const std::uint32_t (*rows)[32] = nullptr;
    const std::uint32_t* predicates = nullptr;  ///< masks of lanes
    const std::uint32_t* places = nullptr;      ///< of the operation's operands, destinations first: row or predicate
    std::uint64_t frame = 0;                    ///< a number of its own for each call
};

/// A read, write or atomic of memory by the lanes of a warp. A warp's access to generic addresses that point into
/// several spaces gives one event per space.
struct Access {
    enum class Kind : std::uint8_t { read, write, atomic };
    EventSite site;
    Kind kind = Kind::read;
    program::Space space = program::Space::global;  ///< never generic
    std::uint32_t bytes = 0;                        ///< per lane, all elements of a vector
    std::span<const Address, 32> addresses;         ///< by lane, within `space` (shared: rank << 24 | offset)
    const Address* mbarriers = nullptr;  ///< by lane: of st.async, red.async and try_cancel, which count on them when they land
};

/// An asynchronous copy by one lane: cp.async.
struct Copy {
    EventSite site;
    std::uint64_t id = 0;  ///< the same when issued and when landed
    std::uint32_t lane = 0;
    std::uint32_t bytes = 0, source_bytes = 0;  ///< those beyond source_bytes are zeros
    Address destination = 0;                    ///< shared
    Address source = 0;                         ///< global
};

/// A bulk copy by one lane: bytes in a row, or a box of a tensor.
struct BulkCopy {
    EventSite site;
    std::uint64_t id = 0;  ///< the same when issued and when landed
    std::uint32_t lane = 0;
    const program::Bulk* bulk = nullptr;
    Address destination = 0, source = 0;  ///< shared or global, as `bulk` says; of a tensor its map's global address
    std::uint32_t bytes = 0;
    std::uint32_t ctas = 0;        ///< into shared memory: mask of the ranks that it goes to
    const BoxWalk* box = nullptr;  ///< of a tensor: the walk's beginning
    Address mbarrier = 0;          ///< into shared memory: the one that counts, at this offset of each CTA
    std::uint64_t group = 0;       ///< into global memory: bulk groups that the lane has committed before
    Address map = 0;               ///< of a tensor: generic address of its map
};

struct BarrierEvent {
    /// complete: an arrival or transfer that ends the phase. expect and transfer: of an mbarrier's transaction bytes.
    /// wait: of a barrier of the CTA or cluster, its beginning; of an mbarrier, a test that found its phase complete.
    enum class Kind : std::uint8_t { arrive, wait, complete, expect, transfer, init, inval };
    EventSite site;
    Kind kind = Kind::arrive;
    bool mbarrier = false;
    Address barrier = 0;           ///< number of the CTA's barrier, or shared address of the mbarrier; the cluster's: 0
    std::uint64_t generation = 0;  ///< phases completed before this event
    std::int64_t bytes = 0;        ///< mbarrier: transaction bytes that are expected or transferred
    bool cluster = false;          ///< the barrier of the cluster
};

struct Fence {
    EventSite site;
    Address map = 0;  ///< tensormap_acquire: generic address of the tensor map
};

/// Groups of asynchronous operations: closed, or waited for. settle: of wgmma, a register is touched too early.
struct GroupEvent {
    enum class Engine : std::uint8_t { cp_async, bulk, wgmma };
    enum class Kind : std::uint8_t { commit, wait, settle };
    EventSite site;
    Engine engine = Engine::cp_async;
    Kind kind = Kind::commit;
    std::int64_t keep = 0;   ///< wait: groups that may stay pending; −1: none, nor operations of no group
    bool only_read = false;  ///< bulk: their sources have been read
};

/// Bytes in a row of shared memory, relative to something.
struct Run {
    std::int32_t offset = 0;
    std::uint32_t bytes = 0;
};

/// A warp executes a wgmma; its operands are read later, from here on.
struct WgmmaEvent {
    EventSite site;
    const program::Mma* mma = nullptr;
    bool whole = false;                   ///< the last of the warpgroup's four warps
    Address a_base = 0, b_base = 0;       ///< shared addresses that the runs begin from
    std::span<const Run> a_runs, b_runs;  ///< ascending; A in registers: none
};

/// A tensor map in memory is changed: by tensormap.replace, or by tensormap.cp_fenceproxy, which publishes it too.
struct TensorMapEvent {
    EventSite site;
    bool copies = false;
    Place at;
};

/// A CTA begins or has ended.
struct CtaEvent {
    const program::Function* function = nullptr;
    std::uint32_t cta = 0;             ///< linear index in the grid
    std::uint64_t cluster = 0;         ///< linear index
    std::uint32_t rank = 0, ctas = 1;  ///< in the cluster, which has so many
    std::uint32_t warps = 0;
    std::uint32_t shared_end = 0;  ///< behind the last byte of its shared memory
};

/// A matrix multiply of a warp, or a warp's part of a wgmma when it completes: its registers hold D.
struct Multiply {
    EventSite site;
    const program::Mma* mma = nullptr;
    Registers registers;
    std::uint64_t a = 0, b = 0;  ///< of a wgmma: descriptors of what lies in shared memory
    bool accumulates = true;     ///< of a wgmma: scale-d
};

/// An operation that a warp has executed; branches, and what waits for other warps, are none.
struct Executed {
    EventSite site;
    Registers registers;  ///< after it; sources never share a register with destinations
};

/// A tcgen05 operation on Tensor Memory, when it is issued and when it has landed. The first three kinds are one
/// thread's, loads and stores a warp's.
struct TensorOperation {
    enum class Kind : std::uint8_t { multiply, copy, shift, load, store, commit };
    EventSite site;
    std::uint64_t id = 0;  ///< the same when issued and when landed
    Kind kind = Kind::multiply;
    std::uint32_t cta_group = 1;
    std::span<const TensorCells> cells;   ///< what it reads and writes
    std::array<std::uint32_t, 2> ctas{};  ///< linear indices in the grid, by TensorCells::cta
    std::uint64_t a = 0, b = 0;           ///< multiply: matrix descriptors (a may be an address); copy: a
    std::uint32_t instruction = 0;        ///< multiply: its descriptor
    bool accumulates = false;             ///< multiply: adds to D
    Address mbarrier = 0;                 ///< commit: shared address
    std::uint32_t mbarrier_ctas = 0;      ///< commit: mask of the ranks whose mbarrier it arrives on
    bool unwritten = false;               ///< landed: it read cells that nobody has written
    Registers registers;                  ///< load: when it has landed; store: when it is issued
};

/// tcgen05.alloc or dealloc, when the columns have become the CTA's, or are free.
struct TensorAllocation {
    EventSite site;
    bool allocated = false;
    std::uint32_t column = 0, columns = 0;
};

/// The one stream of what a kernel does. Consumers override what they need; without a consumer a kernel runs without
/// hooks.
class Observer {
  public:
    virtual ~Observer() = default;
    virtual void access(const Access&) {}
    virtual void copy_issued(const Copy&) {}
    virtual void copy_landed(const Copy&) {}
    virtual void bulk_issued(const BulkCopy&) {}
    virtual void bulk_landed(const BulkCopy&) {}
    virtual void barrier(const BarrierEvent&) {}
    virtual void fence(const Fence&) {}
    virtual void multiply(const Multiply&) {}
    virtual void group(const GroupEvent&) {}
    virtual void wgmma(const WgmmaEvent&) {}
    virtual void tensor_map(const TensorMapEvent&) {}
    /// Lanes of a warp execute something together that waits for all of them: bar.warp.sync, shfl.sync, `.aligned`.
    virtual void converged(const EventSite&) {}
    virtual void launch_begins(const program::Function&) {}
    virtual void cta_begins(const CtaEvent&) {}
    virtual void cta_ends(const CtaEvent&) {}
    virtual void tensor_issued(const TensorOperation&) {}
    virtual void tensor_landed(const TensorOperation&) {}
    virtual void tensor_allocation(const TensorAllocation&) {}
    /// Every operation that at least one lane executes, before it does; only if wants_operations().
    virtual void operation(const EventSite&) {}
    /// The same after it.
    virtual void executed(const Executed&) {}
    virtual bool wants_operations() const { return false; }
};

}  // namespace tilepath::machine
