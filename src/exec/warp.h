#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/bulk.h"
#include "exec/code.h"
#include "exec/mbarrier_record.h"
#include "exec/tmem_state.h"
#include "exec/warpgroup.h"
#include "machine/async_copy.h"
#include "machine/cta.h"
#include "machine/events.h"
#include "machine/local_memory.h"

namespace tilepath::exec {

/// The registers of one call, for the lanes that entered it together.
struct Frame {
    const LoadedFunction* function = nullptr;
    std::vector<Row> rows;
    std::vector<LaneMask> predicates;
    Frame* caller = nullptr;
    const Code* call_site = nullptr;  ///< in the caller; the lanes go on behind it
    std::uint32_t depth = 0;
    std::uint64_t entry = 0;                   ///< a number of its own for each call
    LaneMask lanes = 0;                        ///< those that have not returned or exited
    std::uint32_t rank = 0;                    ///< of the CTA whose shared addresses the constants are
    std::uint32_t local_base = 0;              ///< where the frame's bytes begin in local memory
    std::uint32_t local_top[warp_lanes] = {};  ///< where the next callee's begin; alloca moves it
};

/// Frames by function, used again so that constants are written once.
class FramePool {
  public:
    Frame* take(const LoadedFunction& function);
    void give_back(Frame* frame);

  private:
    std::uint64_t entries_ = 0;
    std::vector<std::unique_ptr<Frame>> all_;
    std::vector<std::vector<Frame*>> free_;  ///< by function index
};

enum class GroupState : std::uint8_t {
    ready,
    gathering,      ///< at an operation that waits for other lanes of the warp
    barrier,        ///< at a barrier of the CTA
    mbarrier,       ///< in a try_wait
    cluster,        ///< at the barrier of the cluster
    sleeping,       ///< nanosleep
    polling,        ///< in a loop that found everything unchanged
    tensor_memory,  ///< at a tcgen05.alloc or dealloc: until columns are free, or for a warp of the peer CTA
    warpgroup,      ///< in a wgmma.wait_group, until other warps have executed what it waits for
    registers       ///< in a setmaxnreg.inc, until the CTA's pool has enough
};

/// Lanes of one warp that stand at the same operation.
struct Group {
    Frame* frame = nullptr;
    std::uint32_t pc = 0;  ///< index into frame->function->code
    LaneMask lanes = 0;
    GroupState state = GroupState::ready;
    bool gives_up = false;          ///< mbarrier: the try ends with false
    std::uint8_t given_up = 0;      ///< mbarrier: how often that has been since memory changed
    bool timed = false;             ///< polling, mbarrier: the loop reads a clock
    std::uint32_t turns = 0;        ///< quanta used up while others were ready
    std::uint32_t barrier = 0;      ///< barrier: its number; mbarrier: its offset in shared memory, or any_mbarrier
    std::uint64_t until = 0;        ///< sleeping, mbarrier: virtual time
    std::uint64_t clock_reads = 0;  ///< mbarrier: the warp's, when the try began
    const Code* tested = nullptr;   ///< the last test_wait that answered false, of the mbarrier `barrier`
    std::uint64_t epoch = 0;        ///< polling, mbarrier: memory's epoch when it was found unchanged

    static constexpr std::uint32_t any_mbarrier = ~0u;  ///< its lanes wait for several
    static constexpr std::uint64_t no_limit = ~0ull;

    bool ready() const { return state == GroupState::ready; }
};

/// What a loop's registers were when it was last looked at, to tell whether it only polls.
struct PollWatch {
    std::uint64_t entry = 0;  ///< of the frame
    std::uint32_t pc = 0;
    LaneMask lanes = 0;
    std::uint64_t epoch = 0, clock_reads = 0, local_changes = 0;
    std::uint32_t visits = 0, next_look = 1;
    std::vector<Row> rows;
    std::vector<LaneMask> predicates;
};

struct CtaRun;

struct Warp {
    CtaRun* cta = nullptr;
    std::uint32_t index = 0;  ///< in the CTA
    LaneMask live = 0;
    std::uint64_t clock_reads = 0, local_changes = 0;  ///< how often local memory has changed
    // Whether loops only poll is looked at in bursts of backward branches, ever longer and ever further apart.
    static constexpr std::int32_t first_burst = 16, longest_burst = 4096, gap_per_burst = 16;
    std::int32_t until_burst = 4 * first_burst;  ///< backward branches before the next burst; negative: within one
    std::int32_t burst_left = first_burst, burst = first_burst;
    std::vector<Group> groups;  ///< disjoint lanes; never more than 32, so that it never reallocates
    std::vector<PollWatch> watches;
    machine::LocalMemory local;
    machine::AsyncCopies copies;
    std::array<std::uint64_t, warp_lanes> bulk_groups{};  ///< that each lane has committed
    Row tid[3];
    LaneMask cluster_arrived = 0;        ///< lanes that have arrived in this phase of the cluster's barrier
    LaneMask cluster_unwaited = 0;       ///< lanes that have arrived and not waited yet
    std::uint32_t register_changes = 0;  ///< setmaxnreg so far
    std::uint32_t registers = 0;         ///< per thread; 0: not counted

    bool finished() const { return live == 0; }
    /// Looks at loops from now on: something tells that the warp may only poll.
    void watch_now() {
        until_burst = 0;
        burst_left = std::max(burst_left, 4 * first_burst);
    }
};

machine::EventSite event_site(const Warp& warp, const LoadedFunction& function, const Code& code, LaneMask lanes);
machine::Registers registers_of(const Frame& frame, const Code& code);

/// One setmaxnreg: which, and how many registers; negative: dec.
struct RegisterRequest {
    const LoadedFunction* function = nullptr;
    const Code* code = nullptr;
    std::int64_t count = 0;
};

/// A CTA that is resident.
struct CtaRun {
    machine::Cta state;
    std::vector<Warp> warps;
    std::vector<MbarrierRecord> mbarriers;  ///< those initialised and not invalidated
    std::vector<Warpgroup> warpgroups;
    std::unique_ptr<TensorState> tensor;  ///< null: no CTA that lay here has used tcgen05
    struct ClusterRun* cluster = nullptr;
    /// By warpgroup: what its warps have executed of setmaxnreg, one after another.
    std::vector<std::vector<RegisterRequest>> register_requests;
    std::uint32_t free_registers = 0;  ///< per thread of a warp, that setmaxnreg.dec has given back
};

/// One lane's st.async, red.async or try_cancel on the way: its sources have been read.
struct AsyncStore {
    Warp* warp = nullptr;
    const LoadedFunction* function = nullptr;
    const Code* code = nullptr;
    std::uint32_t destination = 0, mbarrier = 0;  ///< shared addresses
    std::uint8_t lane = 0, bytes = 0;
    std::array<std::uint8_t, 16> values{};
};

/// The CTAs of one cluster, scheduled together.
struct ClusterRun {
    std::uint64_t index = 0;
    std::vector<PendingBulk> bulks;  ///< in order of issue
    std::vector<std::unique_ptr<CtaRun>> ctas;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> order;  ///< (CTA rank, warp) in which they take turns
    std::vector<AsyncStore> stores;                              ///< that have not landed
    std::vector<PendingTcgen05> tensor_operations;               ///< in order of issue
    // The barrier of the cluster: phases completed, and live threads that have arrived in this one.
    std::uint64_t barrier_phase = 0;
    std::uint32_t barrier_arrived = 0;

    std::uint32_t live_threads() const;

    bool finished() const;
};

}  // namespace tilepath::exec
