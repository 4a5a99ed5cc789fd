// wgmma.mma_async and the operations that order it: what a warp does. What the warpgroup's operations do when they
// complete is in wgmma_land.cpp.
#include <fmt/format.h>

#include <bit>

#include "exec/executor.h"
#include "exec/matrix_plan.h"

namespace tilepath::exec {

using machine::CopyPolicy;
using machine::GroupEvent;
using program::Settle;

namespace {

std::size_t part_of(const Warp& warp) { return warp.index % warpgroup_warps; }

Warpgroup& warpgroup_of(const Warp& warp) { return warp.cta->warpgroups[warp.index / warpgroup_warps]; }

/// A 64-bit operand that all lanes must have alike.
bool uniform(const std::uint64_t* lanes) {
    for (int lane = 1; lane < warp_lanes; ++lane)
        if (lanes[lane] != lanes[0]) return false;
    return true;
}

/// Warps that waited for this one look again.
void wake_warpgroup(CtaRun& cta, const Warp& warp) {
    const std::size_t first = warp.index / warpgroup_warps * warpgroup_warps;
    for (std::size_t w = first; w < first + warpgroup_warps; ++w)
        for (Group& group : cta.warps[w].groups)
            if (group.state == GroupState::warpgroup) group.state = GroupState::ready;
}

}  // namespace

/// The four warps of the warpgroup with all their lanes, less those that executed this operation before they left.
bool Executor::warpgroup_is_there(Context& c, const Warpgroup& group) {
    const std::uint32_t first = c.warp.index / warpgroup_warps * warpgroup_warps;
    const std::vector<Warp>& warps = c.warp.cta->warps;
    if (first + warpgroup_warps > warps.size()) {
        fail(c, FaultKind::diverged, c.active,
             fmt::format("a warpgroup is four whole warps, 128 threads; warps {} to {} are the CTA's last", first,
                         warps.size() - 1));
        return false;
    }
    for (std::uint32_t w = first; w < first + warpgroup_warps; ++w) {
        const bool before = group.issued[w - first] > group.issued[part_of(c.warp)];
        if (warps[w].live == all_lanes || before) continue;
        fail(c, FaultKind::diverged, c.active,
             fmt::format("all 128 threads of the warpgroup must execute this, but {} of warp {} {}",
                         describe_lanes(~warps[w].live), w, "are not there: they have exited, or never were"));
        return false;
    }
    return true;
}

/// Reads and checks them. Their bytes are read later.
bool Executor::wgmma_descriptors(Context& c, PendingWgmma& out) {
    const MatrixPlan& plan = *c.code.matrix;
    const program::Mma& mma = plan.wgmma;
    const int b = mma.a_in_registers ? plan.a.registers : 1;
    const auto read = [&](int source, char name, const OperandShape& shape, std::uint64_t& descriptor) {
        const std::uint64_t* const lanes = c.wide(c.source(source));
        descriptor = lanes[0];
        if (!uniform(lanes)) {
            fail(c, FaultKind::diverged, all_lanes,
                 fmt::format("{}'s matrix descriptor must be the same in all lanes; lane 0 has {:#x}", name, lanes[0]));
            return false;
        }
        const OperandTable& table = operand_tables_.find(descriptor, shape);
        if (!table.error.empty()) {
            fail(c, FaultKind::unsupported, all_lanes,
                 fmt::format("{}'s matrix descriptor {:#x}: {}", name, descriptor, table.error));
            return false;
        }
        const std::int64_t base = table_base(descriptor);
        const bool inside = base + table.least >= launch_.shared_begin && base + table.most + 16 <= launch_.shared_end;
        if (inside) return true;
        const bool below = base + table.least < launch_.shared_begin;
        fail_access(c, FaultKind::out_of_bounds, machine::Access::Kind::read, 0,
                    {program::Space::shared, static_cast<std::uint64_t>(base + (below ? table.least : table.most))}, 16,
                    fmt::format("{}'s matrix descriptor {:#x} leads to bytes {:#x} to {:#x} of shared memory; the CTA "
                                "has {:#x} to {:#x}",
                                name, descriptor, base + table.least, base + table.most + 15, launch_.shared_begin,
                                launch_.shared_end - 1));
        return false;
    };
    if (!mma.a_in_registers && !read(0, 'A', plan.shared_a, out.a)) return false;
    return read(b, 'B', plan.shared_b, out.b);
}

/// Whether the warp executes what others of its warpgroup have executed as their operation of the same number.
bool Executor::joins(Context& c, const PendingWgmma& others, const PendingWgmma& mine) {
    std::size_t other = 0;
    while (others.parts[other].frame == nullptr) ++other;
    const std::uint32_t warp = c.warp.index / warpgroup_warps * warpgroup_warps + static_cast<std::uint32_t>(other);
    if (others.code != mine.code) {
        const program::CodePlace place =
            program::code_place(*launch_.loaded.program, *others.function->function, others.code->op);
        fail(c, FaultKind::diverged, all_lanes,
             fmt::format("all warps of the warpgroup must execute the same wgmma; warp {} executed the one at {}:{}",
                         warp, place.ptx.file, place.ptx.line));
        return false;
    }
    if (others.a == mine.a && others.b == mine.b) return true;
    const bool is_a = others.a != mine.a;
    fail(
        c, FaultKind::diverged, all_lanes,
        fmt::format("{}'s matrix descriptor must be the same in all warps of the warpgroup; it is {:#x} here and {:#x} "
                    "in warp {}",
                    is_a ? 'A' : 'B', is_a ? mine.a : mine.b, is_a ? others.a : others.b, warp));
    return false;
}

void Executor::observe_wgmma(const Context& c, const PendingWgmma& operation) {
    const MatrixPlan& plan = *c.code.matrix;
    const auto base = [&](std::uint64_t descriptor) {
        return machine::shared_address(c.warp.cta->state.rank, table_base(descriptor));
    };
    machine::WgmmaEvent event{site(c), &plan.wgmma, operation.whole(), 0, base(operation.b), {}, {}};
    event.b_runs = operand_tables_.find(operation.b, plan.shared_b).runs;
    if (!plan.wgmma.a_in_registers) {
        event.a_base = base(operation.a);
        event.a_runs = operand_tables_.find(operation.a, plan.shared_a).runs;
    }
    observer_->wgmma(event);
}

Step Executor::wgmma(Context& c) {
    if (!gather(c)) return Step::stop;
    Warpgroup& group = warpgroup_of(c.warp);
    if (!warpgroup_is_there(c, group)) return Step::fault;
    const std::size_t w = part_of(c.warp);
    const MatrixPlan& plan = *c.code.matrix;
    PendingWgmma mine;
    mine.code = &c.code;
    mine.function = c.frame.function;
    if (!wgmma_descriptors(c, mine)) return Step::fault;
    const LaneMask accumulates = c.source_predicate((plan.wgmma.a_in_registers ? plan.a.registers : 1) + 1);
    if (accumulates != 0 && accumulates != all_lanes)
        return fail(c, FaultKind::diverged, accumulates, "scale-d must be the same in all lanes");
    const std::size_t at = group.issued[w] - group.landed;
    if (at == group.pending.size())
        group.pending.push_back(mine);
    else if (!joins(c, group.pending[at], mine))
        return Step::fault;
    group.pending[at].parts[w] = {&c.frame, c.frame.entry, group.committed[w], accumulates != 0};
    ++group.issued[w];
    if (observer_ != nullptr) observe_wgmma(c, group.pending[at]);
    if (group.pending[at].whole()) wake_warpgroup(*c.warp.cta, c.warp);
    return Step::next;
}

/// Nothing to do: operations complete in order, and read what registers hold when they complete. (Where a kernel
/// forgets it, ptxas puts it in: advisory C7519.)
Step Executor::wgmma_fence(Context& c) { return gather(c) ? Step::next : Step::stop; }

Step Executor::wgmma_commit(Context& c) {
    if (!gather(c)) return Step::stop;
    Warpgroup& group = warpgroup_of(c.warp);
    ++group.committed[part_of(c.warp)];
    observe_group(c, GroupEvent::Engine::wgmma, GroupEvent::Kind::commit);
    if (launch_.options.copies == CopyPolicy::eager) land(*c.warp.cta, group, group.whole_and_closed());
    return launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

/// The first `count` operations complete now, or the lanes wait until all warps have executed them.
Step Executor::complete(Context& c, Warpgroup& group, std::size_t count) {
    if (count == 0) return Step::next;
    if (group.whole() < count) {
        if (c.active == c.group.lanes) {
            c.group.state = GroupState::warpgroup;
        } else {
            split(c.warp, c.group, c.active, c.pc()).state = GroupState::warpgroup;
            c.group.pc = c.pc() + 1;
        }
        return Step::stop;
    }
    land(*c.warp.cta, group, count);
    return launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

Step Executor::wgmma_wait(Context& c) {
    if (!gather(c)) return Step::stop;
    Warpgroup& group = warpgroup_of(c.warp);
    const Step step = complete(c, group, group.covered(part_of(c.warp), static_cast<std::uint64_t>(c.op().immediate)));
    if (step == Step::next) observe_group(c, GroupEvent::Engine::wgmma, GroupEvent::Kind::wait);
    return step;
}

Step Executor::wgmma_settle(Context& c) {
    const auto how = static_cast<Settle>(c.op().variant);
    const bool eager = launch_.options.copies == CopyPolicy::eager;
    if (how == Settle::early) observe_group(c, GroupEvent::Engine::wgmma, GroupEvent::Kind::settle);
    if (how == Settle::mark || (how == Settle::early && !eager)) return Step::next;
    Warpgroup& group = warpgroup_of(c.warp);
    return complete(c, group, group.issued[part_of(c.warp)] - group.landed);
}

/// After lanes of the warp have left: whether its warpgroup can still do what its other warps have begun.
bool Executor::warp_left_warpgroup(Context& c) {
    const Warpgroup& group = warpgroup_of(c.warp);
    if (group.landed + group.pending.size() <= group.issued[part_of(c.warp)]) return true;
    const PendingWgmma& begun = group.pending[group.issued[part_of(c.warp)] - group.landed];
    const program::CodePlace place =
        program::code_place(*launch_.loaded.program, *begun.function->function, begun.code->op);
    fail(c, FaultKind::diverged, c.active,
         fmt::format("lanes exit before they execute the wgmma at {}:{}, which other warps of the warpgroup have "
                     "executed",
                     place.ptx.file, place.ptx.line));
    return false;
}

std::string Executor::describe_warpgroup(const Warp& warp) const {
    const Warpgroup& group = warpgroup_of(warp);
    std::string missing;
    for (std::size_t w = 0; w < warpgroup_warps; ++w) {
        if (group.issued[w] >= group.issued[part_of(warp)]) continue;
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", warp.index / warpgroup_warps * warpgroup_warps + w);
    }
    return fmt::format("waits for wgmma operations that warps {} of the warpgroup have not executed", missing);
}

}  // namespace tilepath::exec
