#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <random>

#include "exec/warp.h"
#include "machine/mbarrier.h"
#include "number/engine.h"

namespace tilepath::exec {

/// What the host threads of one launch share.
struct LaunchState {
    LaunchState(const LoadedProgram& loaded_, const machine::Device& device_, machine::DeviceMemory& memory_,
                const LaunchShape& shape_, std::span<const std::uint8_t> parameters_, const LaunchOptions& options_)
        : loaded(loaded_),
          device(device_),
          memory(memory_),
          shape(shape_),
          parameters(parameters_),
          options(options_) {}

    const LoadedProgram& loaded;
    const machine::Device& device;
    machine::DeviceMemory& memory;
    LaunchShape shape;
    std::span<const std::uint8_t> parameters;
    const LaunchOptions& options;
    std::uint32_t shared_begin = 0, shared_end = 0;  ///< offsets that a kernel may access in its CTA's shared memory
    std::uint32_t static_shared_bytes = 0;
    machine::Address grid_workspace = 0;  ///< where CUDA's grid-wide barrier keeps its count; 0: nobody asks
    std::uint32_t threads_per_cta = 0, warps_per_cta = 0, ctas_per_cluster = 1;
    std::uint64_t first_cluster = 0, end_cluster = 0;
    std::uint64_t resident_limit = 1;  ///< clusters that the device holds at once

    std::atomic<std::uint64_t> next_cluster{0}, resident{0}, finished_ctas{0}, operations{0};
    std::atomic<std::uint64_t> time{1'000'000'000};  ///< virtual nanoseconds, of which an operation takes one
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> next_copy_id{0};
    /// How often each host thread has changed memory; their sum is the memory's epoch.
    struct alignas(64) Epoch {
        std::atomic<std::uint64_t> writes{0};
    };
    std::vector<Epoch> epochs;
    std::atomic<std::uint64_t> time_kicks{0};  ///< how often time has jumped for those that look at clocks
    std::atomic<bool> timed_out{false};
    std::mutex mutex;  ///< of what follows
    std::optional<Fault> fault;
    bool deadlocked = false;
    std::chrono::steady_clock::time_point next_progress{};
    /// By host thread: the epoch at which it found nothing to do, or one of these.
    static constexpr std::uint64_t busy = ~0ull, gone = ~0ull - 1;
    std::vector<std::uint64_t> idle_epochs;
    std::vector<bool> idle_timed;
    std::uint64_t jump = 0, jump_epoch = busy;

    std::uint64_t epoch() const {
        std::uint64_t sum = 0;
        for (const Epoch& each : epochs) sum += each.writes.load(std::memory_order_acquire);
        return sum;
    }
};

/// What the body of an operation gets to see.
struct Context {
    Warp& warp;
    Group& group;
    Frame& frame;
    Row* rows;
    LaneMask* predicates;
    const Code& code;
    LaneMask active;

    const program::MicroOp& op() const { return *code.op; }
    const program::Function& function() const { return *frame.function->function; }
    Row& row(std::uint32_t place) const { return rows[place]; }
    std::uint64_t* wide(std::uint32_t place) const { return reinterpret_cast<std::uint64_t*>(&rows[place]); }
    std::uint32_t destination(int i) const { return code.places[i]; }
    std::uint32_t source(int i) const { return code.places[code.op->destinations + i]; }
    bool has_source(int i) const { return i < code.op->sources; }
    LaneMask source_predicate(int i) const { return predicates[source(i)] ^ code.inverts[code.op->destinations + i]; }
    void set_predicate(std::uint32_t place, LaneMask value) const {
        predicates[place] = (predicates[place] & ~active) | (value & active);
    }
    std::uint32_t pc() const { return static_cast<std::uint32_t>(&code - frame.function->code.data()); }
};

/// What becomes of the lanes after an operation.
enum class Step : std::uint8_t {
    next,  ///< they go on with the next operation
    stop,  ///< the groups of the warp have changed: choose one anew
    fault  ///< the launch ends
};

/// Addresses of a warp's access, checked.
struct Lanes {
    /// uniform: every active lane has base's; consecutive: lane i has base + i × bytes, and all lanes are active.
    enum class Pattern : std::uint8_t { scattered, uniform, consecutive } pattern = Pattern::scattered;
    bool mixed = false;                                ///< generic addresses of several spaces: `spaces` tells
    program::Space space = program::Space::global;     ///< where they all lie, unless mixed
    std::uint8_t* base = nullptr;                      ///< where it is not scattered
    alignas(64) machine::Address address[warp_lanes];  ///< within the space; of an inactive lane: some active lane's
    alignas(64) std::uint8_t* host[warp_lanes];        ///< filled if scattered, for inactive lanes too
    program::Space spaces[warp_lanes];

    void fill_host(std::uint32_t bytes);  ///< makes it scattered
};

CodePlace describe_place(const program::Program& program, const program::Function& function,
                         const program::MicroOp* op);

/// Runs warps on one host thread. Its files: executor.cpp (the loop), control.cpp (groups of lanes), memory_ops.cpp, …
class Executor {
  public:
    Executor(LaunchState& launch, std::uint32_t thread);

    /// Runs clusters until none is left or the launch stops.
    void run();

    /// Adds the groups of lanes that are resident, and what they wait for.
    void describe_waiting(Deadlock& deadlock);

  private:
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
    void wait_for_others(std::uint64_t epoch);
    bool can_enter() const;
    bool all_idle(std::uint64_t epoch);
    bool past_deadline();
    // deadlock.cpp
    std::string describe_wait(Warp& warp, Group& group);
    std::string describe_mbarrier(Warp& warp, Group& group);

    // executor.cpp
    void run_warp(Warp& warp, std::int64_t quantum);
    template <bool observed>
    void run_group(Warp& warp, Group& group);
    Step other(Context& c);

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
    void set_frame_base(Frame& frame, std::uint32_t base);
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
    bool in_cached_range(std::uint32_t site, machine::Access::Kind kind, machine::Address first, machine::Address end);
    void observe_access(Context& c, machine::Access::Kind kind, std::uint32_t bytes, const Lanes& lanes);
    std::uint8_t* consecutive_elements(const Context& c, machine::Access::Kind kind);
    // memory_ops.cpp, atomics.cpp
    Step load(Context& c);
    Step store(Context& c);
    Step atomic(Context& c);

    // special.cpp
    Step special(Context& c);
    std::uint64_t uniform_special(Context& c, program::SpecialRegister which, std::int64_t index);
    Step address_space(Context& c);
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
    bool matrix_rows(Context& c, machine::Access::Kind kind, Lanes& rows);
    Step wmma_transfer(Context& c);
    Step multiply(Context& c);
    bool multiply_sparse(Context& c, const Row& metadata, const std::uint8_t* a, const std::uint8_t* b,
                         std::uint8_t* accumulators);

    // barrier.cpp
    Step barrier(Context& c);
    void complete_barrier_if_due(CtaRun& cta, std::uint32_t number);
    void lanes_left(Warp& warp);
    // mbarrier_ops.cpp
    Step mbarrier(Context& c);
    Step mbarrier_update(Context& c, const Lanes& lanes);
    Step mbarrier_wait(Context& c, const Lanes& lanes);
    // copies.cpp
    Step copy_async(Context& c);
    Step copy_arrive(Context& c);
    void read_addresses(Context& c, int source, std::int64_t offset, Lanes& out);
    bool source_bytes(Context& c, std::uint32_t bytes, std::uint8_t* out);
    machine::Copy event_of(const Warp& warp, const machine::PendingCopy& copy) const;
    Step copy_wait(Context& c);
    void land(Warp& warp, const machine::PendingCopy& copy);
    void land_randomly(Warp& warp);

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
    static Context context_of(Warp& warp, Group& group);

    void wrote() { own_epoch_.store(own_epoch_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
    std::uint64_t now() const;

    LaunchState& launch_;
    std::uint32_t thread_;
    std::atomic<std::uint64_t>& own_epoch_;
    machine::Observer* observer_;
    bool observe_operations_;
    FramePool frames_;
    struct CachedRange {
        machine::Address begin = 1, end = 0;
        bool read_only = false;
    };
    std::vector<CachedRange> ranges_;  ///< by Code::site
    std::uint64_t ranges_generation_ = 0;
    std::mt19937_64 random_;
    number::PreparedOperand prepared_a_, prepared_b_;
    std::vector<std::unique_ptr<ClusterRun>> resident_;
    std::vector<std::unique_ptr<CtaRun>> spare_ctas_;
    std::int64_t quantum_ = 0, turn_quantum_ = 0;  ///< operations left in the warp's turn, and at its beginning
    std::int64_t since_branch_ = 0;                ///< operations not yet taken off the quantum
    std::uint64_t operations_ = 0;
    std::int64_t cluster_quantum_ = 0;
    std::chrono::steady_clock::time_point deadline_;
};

}  // namespace tilepath::exec
