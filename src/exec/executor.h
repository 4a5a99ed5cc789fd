#pragma once
#include <random>

#include "exec/context.h"
#include "exec/launch_state.h"
#include "exec/matrix_plan.h"
#include "exec/tcgen05.h"
#include "machine/mbarrier.h"
#include "number/engine.h"

namespace tilepath::exec {

/// Whom an effect of an operation is reported for, also when it comes later: the instruction and who issued it.
struct Issuer {
    Warp& warp;
    const LoadedFunction& function;
    const Code& code;
    LaneMask lanes = 0;
};

/// Through which proxy memory is accessed (PTX ISA 8.5).
enum class Proxy : std::uint8_t { generic, async };

/// A live mbarrier of the cluster: where it is, and its state to change.
struct FoundMbarrier {
    std::uint32_t address = 0;
    CtaRun* cta = nullptr;
    std::uint8_t* bytes = nullptr;
    MbarrierRecord* record = nullptr;
    machine::Mbarrier state;
};

/// Runs warps on one host thread. Its files: executor.cpp (the loop), control.cpp (groups of lanes), memory_ops.cpp, …
class Executor {
  public:
    Executor(LaunchState& launch, std::uint32_t thread);

    /// Runs clusters until none is left or the launch stops.
    void run();

    /// Adds the groups of lanes that are resident, and what they wait for.
    void describe_waiting(Deadlock& deadlock);

    /// What runs an operation that is neither a lane function nor control flow nor a plain access; null if nothing
    /// does.
    using Body = Step (Executor::*)(Context&);
    static Body body_of(program::Op op);

  private:
    friend class Tcgen05;
    Step tcgen05(Context& c) { return tcgen05_.execute(c); }
    // scheduler.cpp
    enum class Turn : std::uint8_t { finished, blocked, over };
    bool enter_cluster();
    std::unique_ptr<CtaRun> enter_cta(std::uint64_t cluster, std::uint32_t rank);
    void number_threads(Warp& warp, std::uint32_t index);
    void begin_warp(CtaRun& cta, std::uint32_t index);
    Turn take_turn(ClusterRun& cluster);
    void leave_cluster(std::size_t position);
    void wake(ClusterRun& cluster);
    template <class Visit>
    void each_group(Visit visit);
    bool rouse();
    bool advance_time();
    bool give_up_waits();
    void wait_for_others(std::uint64_t epoch);
    bool can_enter() const;
    bool all_idle(std::uint64_t epoch);
    bool past_deadline();
    // deadlock.cpp
    std::string describe_wait(Warp& warp, Group& group);
    // describe_mbarrier.cpp
    std::string describe_mbarrier(const CtaRun& cta, const Group& group) const;
    std::string describe_place_in_shared(std::uint32_t offset) const;
    std::string describe_use(std::string_view what, const MbarrierUse& use, std::uint64_t phase) const;
    std::string describe_candidates(const MbarrierRecord& record) const;
    std::string describe_cluster_barrier(const ClusterRun& cluster);

    // executor.cpp
    void run_warp(Warp& warp, std::int64_t quantum);
    void end_turn();
    template <bool observed>
    void run_group(Warp& warp, Group& group);
    Step nothing(Context& c);
    Step fence(Context& c);
    // fences.cpp
    void fence_async_proxy(CtaRun& cta, program::FenceKind kind);
    void show_mbarriers(Context& c, program::FenceKind kind);
    bool fence_tensor_maps(Context& c, program::FenceKind kind, machine::Fence& event);
    void before_global_write(machine::Address at, std::uint32_t bytes);
    void before_global_write(const Context& c, std::uint32_t bytes, const Lanes& lanes);
    const std::uint8_t* async_view(machine::Address at, std::uint32_t bytes, std::vector<std::uint8_t>& patched) const;
    // stop.cpp
    bool stops_before(Warp& warp, const Frame& frame, const Code& code, LaneMask lanes);

    // control.cpp
    Group* choose(Warp& warp);
    bool is_alone(const Warp& warp) const { return warp.groups.size() == 1; }
    Group& split(Warp& warp, Group& group, LaneMask lanes, std::uint32_t pc);
    void remove(Warp& warp, Group& group);
    void exit_lanes(Context& c, LaneMask lanes);
    Step branch_indexed(Context& c);
    void check_polling(Warp& warp, Group& group);

    // calls.cpp
    Step call(Context& c);
    Step ret(Context& c);
    bool enter(Context& c, const program::Call& call, std::uint32_t callee, LaneMask lanes);
    void place_frame(const Warp& warp, Frame& frame, std::uint32_t base);
    // builtins.cpp
    Step builtin(Context& c, const program::Call& call);
    std::uint64_t argument(Context& c, const program::Call& call, std::size_t i, int lane);
    void give_result(Context& c, const program::Call& call, int lane, std::uint64_t value);
    const std::uint8_t* generic_byte(Context& c, int lane, machine::Address address);
    bool read_string(Context& c, int lane, machine::Address address, std::string& out);
    bool print(Context& c, const program::Call& call, int lane);
    Step assertion(Context& c, const program::Call& call, int lane);

    // resolve.cpp
    bool resolve(Context& c, machine::Access::Kind kind, std::uint32_t bytes, Lanes& out);
    bool resolve_space(Context& c, machine::Access::Kind kind, program::Space space, std::uint32_t bytes, Lanes& out);
    bool resolve_global(Context& c, machine::Access::Kind kind, std::uint32_t bytes, Lanes& out);
    bool resolve_each(Context& c, machine::Access::Kind kind, program::Space space, std::uint32_t bytes, Lanes& out);
    std::uint8_t* resolve_one(Context& c, machine::Access::Kind kind, int lane, machine::Place place,
                              std::uint32_t bytes);
    CtaRun* peer_holding(const CtaRun& own, machine::Address first, machine::Address end) const;
    bool in_cached_range(std::uint32_t site, machine::Access::Kind kind, machine::Address first, machine::Address end);
    void observe_access(Context& c, machine::Access::Kind kind, std::uint32_t bytes, const Lanes& lanes,
                        const machine::Address* mbarriers = nullptr);
    std::uint8_t* consecutive_elements(const Context& c, machine::Access::Kind kind);
    // memory_ops.cpp, atomics.cpp
    Step load(Context& c);
    Step store(Context& c);
    Step store_bulk(Context& c);  // bulk_store.cpp
    Step atomic(Context& c);

    // special.cpp
    Step special(Context& c);
    std::uint64_t uniform_special(Context& c, program::SpecialRegister which, std::int64_t index);
    Step address_space(Context& c);
    Step cluster_address(Context& c);
    Step stack(Context& c);
    Step sleep(Context& c);

    // gathering.cpp
    bool gather(Context& c);
    void wait_for_others(Context& c);
    Step collective(Context& c);
    void resolve_gathering(Warp& warp);
    bool resolve_aligned(Warp& warp, Group& group);
    bool resolve_collective(Warp& warp, Group& group);

    // matrix.cpp, mma.cpp, wmma.cpp
    Step load_matrix(Context& c);
    Step store_matrix(Context& c);
    Step move_matrix(Context& c);
    Step load_fields(Context& c, const Lanes& rows);
    Step store_fields(Context& c, const Lanes& rows);
    bool matrix_rows(Context& c, machine::Access::Kind kind, Lanes& rows);
    Step wmma_transfer(Context& c);
    Step multiply(Context& c);
    bool multiply_sparse(Context& c, const Row& metadata, const std::uint8_t* a, const std::uint8_t* b,
                         std::uint8_t* accumulators);
    bool multiply_selection(const MatrixPlan& plan, const Row& metadata, std::span<const atom::ElementPlace> places,
                            const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* accumulators, int& wrong_lane);
    bool multiply_scaled(Context& c, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* accumulators);
    bool gather_scales(Context& c, const ScalePlaces& places, int first_source, int count, std::uint8_t* scales);
    void multiply_spread(const MatrixPlan& plan, std::span<const int> selected, const std::uint8_t* a,
                         const std::uint8_t* b, std::uint8_t* accumulators);
    static void multiply_selected(const MatrixPlan& plan, std::span<const int> selected, const std::uint8_t* a,
                                  const std::uint8_t* b, std::uint8_t* accumulators);

    // wgmma.cpp, wgmma_land.cpp
    Step wgmma(Context& c);
    Step wgmma_fence(Context& c);
    Step wgmma_commit(Context& c);
    Step wgmma_wait(Context& c);
    Step wgmma_settle(Context& c);
    void observe_wgmma(const Context& c, const PendingWgmma& operation);
    bool wgmma_descriptors(Context& c, PendingWgmma& out);
    bool joins(Context& c, const PendingWgmma& others, const PendingWgmma& mine);
    bool warpgroup_is_there(Context& c, const Warpgroup& group);
    bool warp_left_warpgroup(Context& c);
    Step complete(Context& c, Warpgroup& group, std::size_t count);
    std::string describe_warpgroup(const Warp& warp) const;
    void land(CtaRun& cta, Warpgroup& group, std::size_t count);
    bool land_all(CtaRun& cta);
    void multiply_run(CtaRun& cta, Warpgroup& group, std::span<const PendingWgmma> run);
    void read_b(const CtaRun& cta, std::span<const PendingWgmma> run);
    void multiply_part(CtaRun& cta, Warpgroup& group, std::span<const PendingWgmma> run, std::size_t part);
    bool multiply_sparse_part(const MatrixPlan& plan, Warp& warp, const PendingWgmma& operation, std::size_t part,
                              const std::uint8_t* a, std::uint8_t* accumulators);

    // barrier.cpp
    Step barrier(Context& c);
    void give_barrier_result(Warp& warp, Group& group, const machine::NamedBarrier& phase);
    void complete_barrier_if_due(CtaRun& cta, std::uint32_t number);
    void lanes_left(Warp& warp);
    // cluster_barrier.cpp
    Step cluster_barrier(Context& c);
    void complete_cluster_barrier_if_due(ClusterRun& cluster);
    // registers.cpp
    Step set_registers(Context& c);
    Step change_registers(Context& c);
    void check_register_requests(CtaRun& cta);
    std::string describe_registers(const Warp& warp, const Group& group) const;
    // cluster_launch.cpp
    Step try_cancel(Context& c);
    void observe_answer(Context& c, const AsyncStore& store);
    Step query_cancel(Context& c);
    // async_store.cpp
    Step store_async(Context& c);
    void land(const AsyncStore& store);
    void issue_stores(ClusterRun& cluster, std::size_t first);
    void land_stores(ClusterRun& cluster);
    void land_stores_randomly(ClusterRun& cluster);
    // cluster_memory.cpp
    static CtaRun* cta_of(const CtaRun& near, machine::Address shared_address);
    /// Shared memory anywhere in the cluster of `near`; null if some of it lies outside.
    std::uint8_t* cluster_bytes(const CtaRun& near, std::uint32_t shared_address, std::uint32_t bytes) const;
    /// complete_tx on an mbarrier anywhere in the issuer's cluster. False after a fault, which names the issuer.
    bool complete_transactions(const Issuer& by, std::uint32_t mbarrier_address, std::int64_t bytes,
                               Proxy proxy = Proxy::generic);
    bool find_mbarrier(const Issuer& by, std::uint32_t address, FoundMbarrier& out, Proxy proxy = Proxy::generic);
    bool sees_mbarrier(const Issuer& by, const FoundMbarrier& mbarrier, Proxy proxy);
    bool change_mbarrier(const Issuer& by, FoundMbarrier& mbarrier, machine::MbarrierError error, bool completed,
                         machine::BarrierEvent::Kind kind, std::int64_t bytes = 0);
    static machine::EventSite site_of(const Issuer& by);
    void observe_group(const Context& c, machine::GroupEvent::Engine engine, machine::GroupEvent::Kind kind,
                       bool only_read = false);
    void observe_converged(const Context& c);
    machine::CtaEvent event_of(const CtaRun& cta) const;
    static void wake_waiters(CtaRun& cta, std::uint32_t offset);
    void fail_mbarrier(const Issuer& by, std::uint32_t address, FaultKind kind, std::string message);
    // mbarrier_ops.cpp
    Step mbarrier(Context& c);
    bool mbarrier_update(Context& c, int lane, std::uint32_t address);
    bool init_mbarrier(Context& c, int lane, std::uint32_t address);
    Step mbarrier_wait(Context& c, const Lanes& lanes);
    void suspend(Context& c, Group& waiter, const Lanes& lanes);
    // copies.cpp
    Step copy_async(Context& c);
    Step copy_arrive(Context& c);
    void read_addresses(Context& c, int source, std::int64_t offset, Lanes& out);
    bool source_bytes(Context& c, std::uint32_t bytes, std::uint8_t* out);
    machine::Copy event_of(const Warp& warp, const machine::PendingCopy& copy) const;
    Step copy_wait(Context& c);
    void land(Warp& warp, const machine::PendingCopy& copy);
    void land_randomly(Warp& warp);
    // bulk_issue.cpp
    Step bulk_copy(Context& c);
    bool prepare_bulk(Context& c, const program::Bulk& what, int lane, PendingBulk& out);
    bool prepare_shared(Context& c, const program::Bulk& what, int lane, PendingBulk& out);
    bool check_bytes(Context& c, int lane, machine::Place at, std::uint32_t bytes, std::uint32_t unit,
                     machine::Access::Kind kind);
    bool wrong_bulk(Context& c, int lane, FaultKind kind, std::string message);
    std::uint64_t source_value(const Context& c, int source, int lane) const;
    // box_issue.cpp
    bool prepare_box(Context& c, const program::Bulk& what, int lane, PendingBulk& out);
    bool judge_box(Context& c, const program::Bulk& what, int lane, const machine::TensorMap& map,
                   const machine::BoxPlace& place);
    bool check_row(Context& c, int lane, const machine::BoxRow& row, machine::Access::Kind kind);
    // bulk.cpp
    void issue_bulk(ClusterRun& cluster, PendingBulk bulk);
    bool advance(ClusterRun& cluster, PendingBulk& bulk, std::uint32_t pieces);
    bool finish(ClusterRun& cluster, PendingBulk& bulk);
    bool load_pieces(ClusterRun& cluster, PendingBulk& bulk, std::uint32_t pieces);
    void read_source(const ClusterRun& cluster, PendingBulk& bulk);
    void write_global(PendingBulk& bulk);
    Step bulk_commit(Context& c);
    Step bulk_wait(Context& c);
    template <class Choose, class Land>
    void land_bulks(ClusterRun& cluster, Choose choose, Land land);
    bool land_oldest_bulk(ClusterRun& cluster);
    void land_bulks_randomly(ClusterRun& cluster);
    void bulks_at_exit(CtaRun& cta);
    machine::BulkCopy event_of(const PendingBulk& bulk) const;
    // tensor_maps.cpp
    const machine::TensorMap* tensor_map(Context& c, int lane, machine::Address generic);
    const std::uint8_t* tensor_map_bytes(Context& c, int lane, machine::Address generic);
    Step replace_tensor_map(Context& c);
    Step copy_tensor_map(Context& c);

    // fault.cpp
    void record(Fault fault);
    Fault fault_of(const Warp& warp, const LoadedFunction& function, const Code& code, FaultKind kind, LaneMask lanes,
                   std::string message) const;
    void fail_at(Warp& warp, const LoadedFunction& function, const Code& code, FaultKind kind, LaneMask lanes,
                 std::string message);
    Step fail(Context& c, FaultKind kind, LaneMask lanes, std::string message);
    Step fail_access(Context& c, FaultKind kind, machine::Access::Kind access, int lane, machine::Place at,
                     std::uint32_t bytes, std::string message);
    machine::EventSite site(const Context& c) const;
    void observe_executed(const Warp& warp, const Frame& frame, const Code& code, LaneMask lanes) const;
    static Context context_of(Warp& warp, Group& group);

    void wrote() { own_epoch_.store(own_epoch_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
    std::uint64_t now() const;

    LaunchState& launch_;
    std::uint32_t thread_;
    std::atomic<std::uint64_t>& own_epoch_;
    machine::Observer* observer_;
    bool observe_operations_;  ///< an observer or a breakpoint wants to see each
    FramePool frames_;
    struct CachedRange {
        machine::Address begin = 1, end = 0;
        bool read_only = false;
    };
    std::vector<CachedRange> ranges_;  ///< by Code::site
    std::uint64_t ranges_generation_ = 0;
    struct KnownMap {
        std::array<std::uint8_t, machine::TensorMap::bytes> bytes{};
        machine::TensorMap map;
    };
    std::array<KnownMap, 8> known_maps_;  ///< decoded and found to break no rule
    std::size_t next_known_map_ = 0;
    std::vector<std::uint8_t> spare_bulk_bytes_, patched_bytes_;
    std::array<std::uint8_t, machine::TensorMap::bytes> patched_map_{};
    std::mt19937_64 random_;
    Tcgen05 tcgen05_;
    number::PreparedOperand prepared_a_, prepared_b_;
    OperandTables operand_tables_;
    /// B of the wgmmas that were multiplied last, as it was read and as it was prepared: two warpgroups often read the
    /// same.
    struct {
        std::vector<std::uint8_t> bytes, read;
        const number::TileEngine* engine = nullptr;
        number::PreparedOperand prepared;
    } shared_b_;
    std::vector<std::unique_ptr<ClusterRun>> resident_;
    std::vector<std::unique_ptr<CtaRun>> spare_ctas_;
    std::int64_t quantum_ = 0, turn_quantum_ = 0;  ///< operations left in the warp's turn, and at its beginning
    std::int64_t since_branch_ = 0;                ///< operations not yet taken off the quantum
    std::uint64_t operations_ = 0;
    std::uint64_t unshared_time_ = 0;  ///< since the cluster's warps last had their turns: not yet in the launch's time
    std::int64_t cluster_quantum_ = 0;
    std::chrono::steady_clock::time_point deadline_;
};

}  // namespace tilepath::exec
