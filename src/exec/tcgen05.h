#pragma once
#include <span>
#include <string>

#include "exec/context.h"
#include "exec/fault.h"
#include "exec/tmem_copy_plan.h"
#include "exec/tmem_state.h"
#include "exec/tmem_transfer_plan.h"
#include "machine/events.h"

namespace tilepath::exec {

class Executor;
struct ClusterRun;

/// tcgen05 and Tensor Memory on one host thread: what an Executor does for these operations. Products, copies and
/// shifts are in ClusterRun::tensor_operations from issue to landing; loads and stores in TensorState::transfers.
class Tcgen05 {
  public:
    Tcgen05(Executor& executor, int architecture) : executor_(executor), multiplier_(architecture) {}

    Step execute(Context& c);

    /// What is held back only so that products in a row are one piece of work; where the policy is eager, all.
    void settle(ClusterRun& cluster);
    /// What the oldest commit tells of, and then it; without one the oldest operation. Whether anything landed.
    bool land_oldest(ClusterRun& cluster);
    void land_randomly(ClusterRun& cluster);
    /// The id of what was issued first, or none.
    static std::uint64_t oldest(const ClusterRun& cluster);
    /// The last thread of a CTA exits, in this operation.
    void cta_exits(Context& c);

    std::string describe_wait(const Warp& warp) const;
    /// What of tcgen05 an mbarrier of this CTA may wait for.
    std::string describe_pending(const CtaRun& cta) const;

  private:
    // tcgen05.cpp
    TensorState& state_of(CtaRun& cta);
    Step fence(Context& c);
    void publish(CtaRun& cta, const Warp* warp);
    bool whole_warp(Context& c);
    bool use_group(Context& c, int cta_group);
    bool uniform(Context& c, int source, std::string_view name);
    static CtaRun* peer_of(const CtaRun& cta);
    std::string line_of(const TensorUse& use) const;
    std::string where(const TensorUse& use) const;
    static TensorUse user(Context& c, LaneMask lanes);
    // tmem_allocation.cpp
    Step allocate(Context& c);
    Step deallocate(Context& c);
    Step relinquish(Context& c);
    bool may_allocate(Context& c, TensorState& state, std::uint32_t columns);
    bool meet(Context& c, TensorState& own, TensorState& peer);
    void finish_allocation(TensorState& state, const TensorUse& by, std::uint32_t column, std::uint32_t columns,
                           std::uint8_t* result);
    bool free_columns(Context& c, TensorState& state, std::uint32_t column, std::uint32_t columns);
    void release_peer(CtaRun& peer);
    void wake(CtaRun& cta);
    Step wait(Context& c);
    // tmem_access.cpp
    std::string describe_allocations(const TensorState& state) const;
    std::string describe_nearest(const TensorState& state, const machine::TensorCells& cells) const;
    bool check_cells(const TensorUse& by, const TensorState& state, const machine::TensorCells& cells,
                     std::string_view what, std::string_view when);
    void fail_cells(const TensorUse& by, FaultKind kind, const machine::TensorCells& cells, const TensorState* state,
                    std::string message);
    static bool any_unwritten(const machine::TensorMemory& memory, const machine::TensorCells& cells);
    static void mark_written(machine::TensorMemory& memory, const machine::TensorCells& cells);
    // tmem_transfers.cpp
    Step transfer(Context& c);
    Step wait_transfers(Context& c);
    Step settle_registers(Context& c);
    void land(CtaRun& cta, PendingTransfer& transfer, bool waited);
    bool check_window(Context& c, const TransferPlan& plan, machine::TensorMemoryAddress& at);
    template <class Choose>
    void land_transfers(CtaRun& cta, Choose choose, bool waited = false);
    void land_transfers_randomly(CtaRun& cta);
    void land_all_transfers(CtaRun& cta);
    // tcgen05_issue.cpp
    Step issue(Context& c);
    void count_uncommitted(const PendingTcgen05& operation);
    bool prepare(Context& c, int lane, PendingTcgen05& out);
    bool prepare_mma(Context& c, int lane, PendingTcgen05& out);
    bool use_collector(Context& c, int lane, const program::Tcgen05Mma& what, const PendingTcgen05& operation);
    bool prepare_copy(Context& c, int lane, PendingTcgen05& out);
    bool prepare_shift(Context& c, int lane, PendingTcgen05& out);
    bool prepare_commit(Context& c, int lane, PendingTcgen05& out);
    bool wrong(Context& c, int lane, std::string message);
    bool check_shared(Context& c, int lane, std::string_view name, std::uint64_t descriptor, std::int64_t first,
                      std::int64_t last);
    // tcgen05_land.cpp
    static constexpr std::uint32_t shifted_columns = 8;
    std::vector<machine::TensorCells> cells_of(const PendingTcgen05& operation);
    static CtaRun& cta_at(const PendingTcgen05& operation, std::uint32_t rank);
    Tcgen05Ctas ctas_of(const PendingTcgen05& operation);
    bool check_all(const PendingTcgen05& operation, std::span<const machine::TensorCells> cells, std::string_view when);
    void land(std::span<const PendingTcgen05> run);
    void copy(const PendingTcgen05& operation, machine::TensorMemory& memory, const std::uint8_t* shared);
    static void shift(std::uint32_t address, machine::TensorMemory& memory);
    void commit(const PendingTcgen05& operation);
    // tcgen05_order.cpp
    void land_marked(ClusterRun& cluster, const std::vector<bool>& marked);
    void land_at_exit(CtaRun& cta);
    // tcgen05_events.cpp
    void tell(const TensorUse& by, bool allocated, std::uint32_t column, std::uint32_t columns);
    void tell(const PendingTcgen05& operation, std::span<const machine::TensorCells> cells, bool landed,
              bool unwritten);
    void tell(const PendingTransfer& transfer, std::span<const machine::TensorCells> cells, bool landed,
              bool unwritten);

    Executor& executor_;
    Tcgen05Multiplier multiplier_;
    TransferPlans transfer_plans_;
    CopyPlans copy_plans_;
};

}  // namespace tilepath::exec
