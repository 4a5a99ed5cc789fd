#include "exec/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "exec/executor.h"
#include "exec/register_budget.h"

namespace tilepath::exec {
namespace {

using machine::Device;
using machine::Dim3;
using program::Program;

std::string describe(const Dim3& value) { return fmt::format("({}, {}, {})", value.x, value.y, value.z); }

/// Where the bytes of a CTA's shared memory end.
std::uint64_t shared_end(const Program& program, const LaunchShape& shape) {
    const std::uint64_t behind_static = std::uint64_t{program::reserved_shared_bytes} + program.shared_bytes;
    return std::max<std::uint64_t>(behind_static, program.dynamic_shared_offset) + shape.dynamic_shared_bytes;
}

class Check {
  public:
    void expect(bool holds, std::string message, std::string note = {}) {
        if (holds) return;
        Diagnostic diagnostic{Severity::error, std::move(message), {}, {}};
        if (!note.empty()) diagnostic.notes.push_back(std::move(note));
        diagnostics.push_back(std::move(diagnostic));
    }
    Diagnostics diagnostics;
};

void check_extents(Check& check, const LaunchShape& shape) {
    const std::uint32_t block[] = {shape.block.x, shape.block.y, shape.block.z};
    const std::uint32_t grid[] = {shape.grid.x, shape.grid.y, shape.grid.z};
    const std::uint32_t cluster[] = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
    for (int i = 0; i < 3; ++i) {
        const char axis = "xyz"[i];
        check.expect(block[i] >= 1 && block[i] <= Device::block_limit[i],
                     fmt::format("block.{}: expected 1 to {}, found {}", axis, Device::block_limit[i], block[i]));
        check.expect(grid[i] >= 1 && grid[i] <= Device::grid_limit[i],
                     fmt::format("grid.{}: expected 1 to {}, found {}", axis, Device::grid_limit[i], grid[i]));
        check.expect(cluster[i] >= 1, fmt::format("cluster.{}: expected at least 1, found 0", axis));
        check.expect(
            cluster[i] == 0 || grid[i] % cluster[i] == 0,
            fmt::format("grid.{}: expected a multiple of the cluster's {}, found {}", axis, cluster[i], grid[i]));
    }
    check.expect(shape.block.count() <= Device::threads_per_block,
                 fmt::format("block: expected at most {} threads, found {} = {}", Device::threads_per_block,
                             describe(shape.block), shape.block.count()));
}

/// 8 CTAs are portable, 16 are what a kernel may opt in to (CUDA C++ Programming Guide, thread block clusters).
void check_cluster(Check& check, const Device& device, const Dim3& cluster) {
    constexpr std::uint64_t most = 16;
    check.expect(
        cluster.count() <= most,
        fmt::format("cluster: expected at most {} CTAs, found {} = {}", most, describe(cluster), cluster.count()),
        "8 CTAs are portable, 16 need the kernel's opt-in on a GPU, and no device has more");
    check.expect(cluster.count() <= 1 || device.architecture >= 90,
                 fmt::format("cluster: {} has no clusters, found {}", device.name, describe(cluster)),
                 "clusters came with sm_90");
}

/// The entry's own .maxntid, .reqntid, .reqnctapercluster and .maxclusterrank.
void check_bounds(Check& check, const program::LaunchBounds& bounds, const LaunchShape& shape) {
    const auto given = [](const std::uint32_t(&value)[3]) { return value[0] != 0; };
    const auto as_dim = [](const std::uint32_t(&value)[3]) { return Dim3{value[0], value[1], value[2]}; };
    if (given(bounds.required_threads))
        check.expect(as_dim(bounds.required_threads) == shape.block,
                     fmt::format("block: the kernel demands {} (.reqntid), found {}",
                                 describe(as_dim(bounds.required_threads)), describe(shape.block)));
    if (given(bounds.max_threads))
        check.expect(shape.block.count() <= as_dim(bounds.max_threads).count(),
                     fmt::format("block: the kernel allows {} threads (.maxntid), found {}",
                                 as_dim(bounds.max_threads).count(), shape.block.count()));
    if (given(bounds.required_cluster))
        check.expect(as_dim(bounds.required_cluster) == shape.cluster,
                     fmt::format("cluster: the kernel demands {} (.reqnctapercluster), found {}",
                                 describe(as_dim(bounds.required_cluster)), describe(shape.cluster)));
    check.expect(!bounds.explicit_cluster || given(bounds.required_cluster) || shape.cluster.count() > 1,
                 "cluster: the kernel demands that its launch names a cluster (.explicitcluster), found none",
                 "give the launch a cluster of more than one CTA");
    if (bounds.max_cluster_ctas != 0)
        check.expect(shape.cluster.count() <= bounds.max_cluster_ctas,
                     fmt::format("cluster: the kernel allows {} CTAs (.maxclusterrank), found {}",
                                 bounds.max_cluster_ctas, shape.cluster.count()));
}

/// What the entry's directives make of a launch's shape: clusters of .reqnctapercluster where it names none, and with
/// .blocksareclusters a grid of clusters.
LaunchShape effective(const Program& program, LaunchShape shape) {
    const auto& [x, y, z] = program.bounds.required_cluster;
    if (x != 0 && shape.cluster == Dim3{1, 1, 1}) shape.cluster = {x, y, z};
    if (program.bounds.blocks_are_clusters)
        shape.grid = {shape.grid.x * shape.cluster.x, shape.grid.y * shape.cluster.y, shape.grid.z * shape.cluster.z};
    return shape;
}

std::uint64_t parameter_bytes(const Program& program) {
    std::uint64_t bytes = 0;
    for (const program::FrameVariable& each : program.functions[0].parameters)
        bytes = std::max<std::uint64_t>(bytes, std::uint64_t{each.offset} + each.bytes);
    return bytes;
}

Result<void> check_range(const LaunchShape& shape, const LaunchOptions& options) {
    const std::uint64_t all = shape.grid.count(), cluster = shape.cluster.count();
    const std::uint64_t count = options.cta_count.value_or(all - std::min(all, options.first_cta));
    if (count == 0 || options.first_cta >= all || count > all - options.first_cta)
        return fail(fmt::format("part of the grid: expected CTAs within 0 to {}, found {} from {} on", all - 1, count,
                                options.first_cta));
    if (options.first_cta % cluster != 0 || count % cluster != 0)
        return fail(fmt::format("part of the grid: expected whole clusters of {} CTAs, found {} from {} on", cluster,
                                count, options.first_cta));
    return {};
}

bool reads_global_asynchronously(const Program& program) {
    return std::ranges::any_of(program.functions, [](const program::Function& function) {
        return std::ranges::any_of(function.bulks, [](const program::Bulk& bulk) {
            return bulk.source == program::Space::global || bulk.dimensions != 0;
        });
    });
}

void run_threads(LaunchState& state, std::uint32_t threads, LaunchReport& report) {
    std::vector<std::unique_ptr<Executor>> executors;
    for (std::uint32_t i = 0; i < threads; ++i) executors.push_back(std::make_unique<Executor>(state, i));
    std::vector<std::thread> others;
    for (std::uint32_t i = 1; i < threads; ++i) others.emplace_back([&, i] { executors[i]->run(); });
    executors[0]->run();
    for (std::thread& each : others) each.join();
    report.fault = std::move(state.fault);
    report.ctas = state.finished_ctas;
    report.cancelled = state.cancelled_ctas;
    report.operations = state.operations;
    report.stopped = state.stopped;
    if (report.fault || (!state.deadlocked && !state.timed_out)) return;
    report.deadlock.emplace();
    report.deadlock->timed_out = !state.deadlocked;
    for (auto& executor : executors) executor->describe_waiting(*report.deadlock);
    report.deadlock->waiting_ctas =
        (state.end_cluster - std::min(state.end_cluster, state.next_cluster.load())) * state.ctas_per_cluster;
}

}  // namespace

Result<ModuleImage> load_variables(const Program& program, machine::DeviceMemory& memory) {
    ModuleImage image;
    for (const program::Variable& variable : program.variables) {
        auto address = memory.allocate(variable.bytes, variable.name, variable.space == program::Space::constant);
        if (!address) {
            unload_variables(image, memory);
            return std::unexpected(address.error());
        }
        image.variables.push_back(*address);
        if (!variable.initial.empty())
            std::memcpy(reinterpret_cast<void*>(*address), variable.initial.data(),
                        std::min<std::size_t>(variable.initial.size(), variable.bytes));
    }
    for (std::size_t i = 0; i < program.variables.size(); ++i) {
        for (const program::Variable::Relocation& relocation : program.variables[i].relocations) {
            const bool function = relocation.target == program::Variable::Relocation::Target::function;
            const std::uint64_t value =
                (function ? machine::function_address(relocation.symbol) : image.variables[relocation.symbol]) +
                static_cast<std::uint64_t>(relocation.addend);
            std::memcpy(reinterpret_cast<void*>(image.variables[i] + relocation.offset), &value,
                        std::min<std::size_t>(relocation.width, 8));
        }
    }
    return image;
}

void unload_variables(const ModuleImage& image, machine::DeviceMemory& memory) {
    for (const machine::Address address : image.variables) (void)memory.release(address);
}

Diagnostics check_launch(const Program& program, const Device& device, const LaunchShape& given,
                         std::size_t given_parameter_bytes) {
    Check check;
    const LaunchShape shape = effective(program, given);
    check_extents(check, shape);
    check_cluster(check, device, shape.cluster);
    check_bounds(check, program.bounds, shape);
    const std::uint64_t shared = shared_end(program, shape) - program::reserved_shared_bytes;
    check.expect(shared <= device.shared_per_block,
                 fmt::format("shared memory: {} has at most {} bytes per block, found {} static and {} dynamic",
                             device.name, device.shared_per_block, program.shared_bytes, shape.dynamic_shared_bytes));
    check.expect(
        given_parameter_bytes == parameter_bytes(program),
        fmt::format("parameters: expected {} bytes, found {}", parameter_bytes(program), given_parameter_bytes));
    check.expect(program.functions[0].frame_bytes <= machine::LocalMemory::limit,
                 fmt::format("local memory: expected at most {} bytes per thread, found {}",
                             machine::LocalMemory::limit, program.functions[0].frame_bytes));
    return check.diagnostics;
}

Result<LaunchReport> launch(const Program& program, const Device& device, machine::DeviceMemory& memory,
                            const ModuleImage& image, const LaunchShape& given,
                            std::span<const std::uint8_t> parameters, const LaunchOptions& options) {
    if (Diagnostics wrong = check_launch(program, device, given, parameters.size()); has_error(wrong))
        return std::unexpected(std::move(wrong));
    const LaunchShape shape = effective(program, given);
    if (auto range = check_range(shape, options); !range) return std::unexpected(range.error());
    const LaunchConstants constants{parameters, shape};
    auto loaded = load(program, device, image,
                       options.observer == nullptr && options.breakpoint == nullptr ? &constants : nullptr);
    if (!loaded) return std::unexpected(loaded.error());

    LaunchState state(*loaded, device, memory, shape, parameters, options);
    state.shared_begin = loaded->reads_reserved_shared ? 0 : program::reserved_shared_bytes;
    state.shared_end = static_cast<std::uint32_t>(shared_end(program, shape));
    state.static_shared_bytes = program.shared_bytes;
    state.threads_per_cta = static_cast<std::uint32_t>(shape.block.count());
    state.warps_per_cta = (state.threads_per_cta + warp_lanes - 1) / warp_lanes;
    state.ctas_per_cluster = static_cast<std::uint32_t>(shape.cluster.count());
    state.first_cluster = options.first_cta / state.ctas_per_cluster;
    state.end_cluster = state.first_cluster +
                        options.cta_count.value_or(shape.grid.count() - options.first_cta) / state.ctas_per_cluster;
    state.next_cluster = state.first_cluster;
    state.entry_registers = registers_at_entry(program);
    if (options.copies != machine::CopyPolicy::eager && reads_global_asynchronously(program))
        state.stale = std::make_unique<LaunchState::StaleImages>();
    const std::uint64_t resident_ctas =
        std::uint64_t{device.multiprocessors} *
        machine::resident_blocks(device, state.threads_per_cta, state.shared_end - program::reserved_shared_bytes);
    state.resident_limit = std::max<std::uint64_t>(1, resident_ctas / state.ctas_per_cluster);

    std::uint64_t threads = options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    threads = std::min(threads, state.end_cluster - state.first_cluster);
    if (options.seed || options.observer != nullptr || options.breakpoint != nullptr) threads = 1;
    if (options.observer != nullptr) options.observer->launch_begins(program.functions[0]);
    state.epochs = std::vector<LaunchState::Epoch>(threads);
    state.idle_epochs.assign(threads, LaunchState::busy);
    state.idle_timed.assign(threads, false);
    constexpr std::uint64_t workspace_bytes = 4096;  // a size word, then the count
    if (loaded->synchronises_grid) {
        auto workspace = memory.allocate(workspace_bytes, "workspace of grid-wide barriers");
        if (!workspace) return std::unexpected(workspace.error());
        state.grid_workspace = *workspace;
    }
    LaunchReport report;
    run_threads(state, static_cast<std::uint32_t>(threads), report);
    if (state.grid_workspace != 0) (void)memory.release(state.grid_workspace);
    return report;
}

Result<LaunchReport> launch(const Program& program, const Device& device, machine::DeviceMemory& memory,
                            const LaunchShape& shape, std::span<const std::uint8_t> parameters,
                            const LaunchOptions& options) {
    auto image = load_variables(program, memory);
    if (!image) return std::unexpected(image.error());
    auto report = launch(program, device, memory, *image, shape, parameters, options);
    unload_variables(*image, memory);
    return report;
}

}  // namespace tilepath::exec
