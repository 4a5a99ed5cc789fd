#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "exec/fault.h"
#include "machine/async_copy.h"
#include "machine/device.h"
#include "machine/device_memory.h"
#include "machine/events.h"

namespace tilepath::exec {

class Breakpoint;  // exec/stop.h

struct LaunchShape {
    machine::Dim3 grid, block, cluster;
    std::uint32_t dynamic_shared_bytes = 0;
};

/// How to run; nothing here changes the results of a kernel without a race.
struct LaunchOptions {
    /// One order of warps and CTAs for each seed, on one host thread. Without it: several threads, no fixed order.
    std::optional<std::uint64_t> seed;
    machine::CopyPolicy copies = machine::CopyPolicy::eager;
    unsigned threads = 0;                              ///< host threads; 0: one per processor
    std::optional<std::chrono::milliseconds> timeout;  ///< wall clock
    std::uint64_t first_cta = 0;                       ///< linear index
    std::optional<std::uint64_t> cta_count;            ///< a part of the grid; whole clusters
    machine::Observer* observer = nullptr;             ///< runs on one host thread
    Breakpoint* breakpoint = nullptr;                  ///< runs on one host thread
    std::function<void(std::string_view)> print;       ///< text of vprintf, whole calls; null: standard output
    std::function<void(std::uint64_t done, std::uint64_t all)> progress;  ///< CTAs that have finished, now and then
};

struct LaunchReport {
    std::optional<Fault> fault;
    std::optional<Deadlock> deadlock;
    std::uint64_t ctas = 0;        ///< that have finished
    std::uint64_t cancelled = 0;   ///< CTAs that clusterlaunchcontrol.try_cancel kept from being launched
    std::uint64_t operations = 0;  ///< micro-operations, each by one warp
    bool stopped = false;          ///< a breakpoint ended it

    bool ok() const { return !fault && !deadlock; }
};

/// The variables of a Program in device memory: its addresses, by index of Program::variables. Made once per module
/// load.
struct ModuleImage {
    std::vector<machine::Address> variables;
};
Result<ModuleImage> load_variables(const program::Program& program, machine::DeviceMemory& memory);
void unload_variables(const ModuleImage& image, machine::DeviceMemory& memory);

/// What a launch of that shape breaks: grid or block out of range, shared memory, the entry's own bounds, parameter
/// bytes.
Diagnostics check_launch(const program::Program& program, const machine::Device& device, const LaunchShape& shape,
                         std::size_t parameter_bytes);

/// Runs the Program's entry. `parameters`: the bytes of all parameters, at the offsets of functions[0].parameters.
/// A fault or deadlock of the kernel is part of the report; Diagnostics tell of a launch that cannot begin.
Result<LaunchReport> launch(const program::Program& program, const machine::Device& device,
                            machine::DeviceMemory& memory, const ModuleImage& image, const LaunchShape& shape,
                            std::span<const std::uint8_t> parameters, const LaunchOptions& options = {});
/// The same for a Program without variables, or whose variables live for this launch alone.
Result<LaunchReport> launch(const program::Program& program, const machine::Device& device,
                            machine::DeviceMemory& memory, const LaunchShape& shape,
                            std::span<const std::uint8_t> parameters, const LaunchOptions& options = {});

}  // namespace tilepath::exec
