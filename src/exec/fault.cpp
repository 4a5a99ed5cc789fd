#include "exec/fault.h"

#include <fmt/format.h>

#include <bit>

#include "exec/executor.h"

namespace tilepath::exec {

std::string_view name(FaultKind kind) {
    switch (kind) {
        case FaultKind::out_of_bounds: return "out of bounds";
        case FaultKind::misaligned: return "misaligned";
        case FaultKind::read_only: return "write to read-only memory";
        case FaultKind::diverged: return "diverged warp";
        case FaultKind::membermask: return "membermask";
        case FaultKind::barrier: return "barrier";
        case FaultKind::mbarrier: return "mbarrier";
        case FaultKind::cluster_launch: return "cluster launch control";
        case FaultKind::registers: return "registers";
        case FaultKind::exited_cta: return "exited CTA";
        case FaultKind::bulk_copy: return "bulk copy";
        case FaultKind::tensor_memory_allocation: return "Tensor Memory allocation";
        case FaultKind::tensor_memory_access: return "Tensor Memory access";
        case FaultKind::tensor_memory_leak: return "Tensor Memory leak";
        case FaultKind::cta_group: return "cta_group";
        case FaultKind::tcgen05: return "tcgen05 operands";
        case FaultKind::stack_overflow: return "stack overflow";
        case FaultKind::bad_call: return "bad call";
        case FaultKind::device_heap: return "device heap";
        case FaultKind::assertion: return "assertion";
        case FaultKind::trap: return "trap";
        case FaultKind::unsupported: return "unsupported";
    }
    return "";
}

namespace {

std::string describe(const machine::Dim3& value) { return fmt::format("({}, {}, {})", value.x, value.y, value.z); }

std::string describe_rank(std::uint32_t rank, std::uint32_t ctas) {
    return ctas == 1 ? "" : fmt::format(" (rank {} of {} in its cluster)", rank, ctas);
}

std::string describe_nearest(const machine::DeviceMemory::Allocation& nearest, std::uint64_t address) {
    const auto& [begin, end, read_only] = nearest.range;
    if (address >= end)
        return fmt::format("{} bytes behind {} ({} bytes at {:#x})", address - end, nearest.name, end - begin, begin);
    if (address < begin)
        return fmt::format("{} bytes before {} ({} bytes at {:#x})", begin - address, nearest.name, end - begin, begin);
    return fmt::format("byte {} of {} ({} bytes at {:#x})", address - begin, nearest.name, end - begin, begin);
}

}  // namespace

std::string to_string(const Fault& fault) {
    std::string out = fmt::format("fault ({}): {}\n  {}\n", name(fault.kind), fault.message, describe(fault.place));
    out += fmt::format("  CTA {}{}, warp {}, {}; thread {} is the first\n", describe(fault.cta),
                       describe_rank(fault.cluster_rank, fault.cluster_ctas), fault.warp, describe_lanes(fault.lanes),
                       describe(fault.thread));
    if (fault.address) {
        out += fmt::format("  {} bytes at {} address {:#x}", fault.bytes, program::name(*fault.space), *fault.address);
        if (fault.nearest) out += ", " + describe_nearest(*fault.nearest, *fault.address);
        out += "\n";
    }
    if (!fault.tensor_memory.empty()) out += "  Tensor Memory " + fault.tensor_memory + "\n";
    return out;
}

std::string to_string(const Deadlock& deadlock) {
    std::string out =
        deadlock.timed_out ? "time limit: the launch was stopped\n" : "deadlock: everything that is resident waits\n";
    out += fmt::format("  {} CTAs are resident", deadlock.resident_ctas);
    if (deadlock.waiting_ctas != 0) out += fmt::format(", {} have not been entered", deadlock.waiting_ctas);
    out += "\n";
    for (const WaitingGroup& group : deadlock.groups)
        out += fmt::format("  CTA {}{}, warp {}, {}: {}\n    {}\n", describe(group.cta),
                           describe_rank(group.cluster_rank, group.cluster_ctas), group.warp,
                           describe_lanes(group.lanes), group.waits_for, describe(group.place));
    if (deadlock.more_groups != 0) out += fmt::format("  and {} more\n", deadlock.more_groups);
    return out;
}

machine::EventSite event_site(const Warp& warp, const LoadedFunction& function, const Code& code, LaneMask lanes) {
    const machine::Cta& cta = warp.cta->state;
    return {function.function,        code.op,  static_cast<std::uint32_t>(cta.linear), warp.index, lanes, cta.rank,
            warp.cta->cluster->index, warp.live};
}

machine::EventSite Executor::site(const Context& c) const {
    return event_site(c.warp, *c.frame.function, c.code, c.active);
}

machine::Registers registers_of(const Frame& frame, const Code& code) {
    return {reinterpret_cast<const std::uint32_t(*)[warp_lanes]>(frame.rows.data()), frame.predicates.data(),
            code.places, frame.entry};
}

void Executor::observe_executed(const Warp& warp, const Frame& frame, const Code& code, LaneMask lanes) const {
    if (observer_ == nullptr || lanes == 0 || code.op == nullptr) return;
    observer_->executed({event_site(warp, *frame.function, code, lanes), registers_of(frame, code)});
}

Context Executor::context_of(Warp& warp, Group& group) {
    Frame& frame = *group.frame;
    return {warp,       group, frame, frame.rows.data(), frame.predicates.data(), frame.function->code[group.pc],
            group.lanes};
}

/// The first fault of a launch is the one that it reports.
void Executor::record(Fault fault) {
    {
        const std::lock_guard lock(launch_.mutex);
        if (!launch_.fault) launch_.fault = std::move(fault);
    }
    launch_.stop.store(true);
}

Fault Executor::fault_of(const Warp& warp, const LoadedFunction& function, const Code& code, FaultKind kind,
                         LaneMask lanes, std::string message) const {
    Fault fault;
    fault.kind = kind;
    fault.message = std::move(message);
    fault.place = program::code_place(*launch_.loaded.program, *function.function, code.op);
    fault.cta = warp.cta->state.id;
    fault.cluster_rank = warp.cta->state.rank;
    fault.cluster_ctas = launch_.ctas_per_cluster;
    fault.warp = warp.index;
    fault.lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    fault.lanes = lanes;
    fault.thread = {warp.tid[0].lane[fault.lane], warp.tid[1].lane[fault.lane], warp.tid[2].lane[fault.lane]};
    return fault;
}

void Executor::fail_at(Warp& warp, const LoadedFunction& function, const Code& code, FaultKind kind, LaneMask lanes,
                       std::string message) {
    record(fault_of(warp, function, code, kind, lanes, std::move(message)));
}

Step Executor::fail(Context& c, FaultKind kind, LaneMask lanes, std::string message) {
    fail_at(c.warp, *c.frame.function, c.code, kind, lanes, std::move(message));
    return Step::fault;
}

Step Executor::fail_access(Context& c, FaultKind kind, machine::Access::Kind access, int lane, machine::Place at,
                           std::uint32_t bytes, std::string message) {
    const std::string_view verb = access == machine::Access::Kind::read    ? "read"
                                  : access == machine::Access::Kind::write ? "write"
                                                                           : "atomic operation";
    Fault fault = fault_of(c.warp, *c.frame.function, c.code, kind, 1u << lane,
                           fmt::format("{} of {} bytes: {}", verb, bytes, message));
    fault.address = at.address;
    fault.space = at.space;
    fault.bytes = bytes;
    if (at.space == program::Space::global || at.space == program::Space::constant)
        fault.nearest = launch_.memory.nearest(at.address);
    record(std::move(fault));
    return Step::fault;
}

}  // namespace tilepath::exec
