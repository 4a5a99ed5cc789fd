#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "exec/warp.h"
#include "machine/stale_global.h"

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
    std::uint64_t resident_limit = 1;   ///< clusters that the device holds at once
    std::uint32_t entry_registers = 0;  ///< per thread, before any setmaxnreg; 0: ptxas ignores setmaxnreg
    /// What the async and the tensormap proxy do not see yet of what threads have written to global memory; null where
    /// a missing proxy fence shall change nothing.
    struct StaleImages {
        machine::StaleGlobal async, tensormap;
    };
    std::unique_ptr<StaleImages> stale;

    std::atomic<std::uint64_t> next_cluster{0}, resident{0}, finished_ctas{0}, cancelled_ctas{0}, operations{0};
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
    bool stopped = false;
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

}  // namespace tilepath::exec
