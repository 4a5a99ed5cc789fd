// The sixteen barriers of a CTA: barrier and bar, sync, arrive and red.
#include <fmt/format.h>

#include <bit>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::BarrierEvent;
using machine::NamedBarrier;
using program::BarrierMode;

/// Lanes with the same barrier and thread count arrive together; those of sync and red wait.
Step Executor::barrier(Context& c) {
    if (c.op().flags.aligned && !gather(c)) return Step::stop;
    const auto mode = static_cast<BarrierMode>(c.op().variant);
    const bool counted = c.has_source(1) && c.function().sources(c.op())[1].kind != program::Operand::Kind::none;
    const auto is_constant = [&](int i) {
        return c.function().sources(c.op())[static_cast<std::size_t>(i)].kind == program::Operand::Kind::constant;
    };
    // `.aligned`: the same for all lanes, as the manual demands.
    const bool uniform = c.op().flags.aligned || (is_constant(0) && (!counted || is_constant(1)));
    const Row& numbers = c.row(c.source(0));
    const Row& counts = c.row(c.source(counted ? 1 : 0));
    CtaRun& cta = *c.warp.cta;
    Group* waiting = &c.group;
    if (mode != BarrierMode::arrive) {
        if (c.active != c.group.lanes) {
            waiting = &split(c.warp, c.group, c.active, c.pc());
            c.group.pc = c.pc() + 1;
        }
        waiting->state = GroupState::barrier;
    }
    for (LaneMask left = c.active; left != 0;) {
        const int first = std::countr_zero(left);
        const std::uint32_t number = numbers.lane[first], count = counted ? counts.lane[first] : 0;
        LaneMask together = uniform ? left : 0;
        for (int lane = first; lane < warp_lanes && !uniform; ++lane)
            together |= LaneMask(numbers.lane[lane] == number && (!counted || counts.lane[lane] == count)) << lane;
        together &= left;
        left &= ~together;
        if (number >= NamedBarrier::count)
            return fail(c, FaultKind::barrier, together, fmt::format("barrier {}: a CTA has barriers 0 to 15", number));
        // No threads are all threads, as without a count (recorded on an H200).
        if (count % warp_lanes != 0 || (count == 0 && mode == BarrierMode::arrive))
            return fail(c, FaultKind::barrier, together,
                        fmt::format("barrier {}: the thread count {} is no {}multiple of 32", number, count,
                                    mode == BarrierMode::arrive ? "positive " : ""));
        NamedBarrier& state = cta.state.barriers[number];
        if (state.in_use() && state.expected != count)
            return fail(c, FaultKind::barrier, together,
                        fmt::format("barrier {}: {} threads are expected here, but {} by those that have arrived",
                                    number, count == 0 ? "all" : std::to_string(count),
                                    state.expected == 0 ? "all" : std::to_string(state.expected)));
        if (mode != BarrierMode::arrive && together != waiting->lanes) {
            // Several barriers at once: each set of lanes becomes a group of its own.
            Group& part = split(c.warp, *waiting, together, c.pc());
            part.state = GroupState::barrier;
            part.barrier = number;
        } else {
            waiting->barrier = number;
        }
        state.expected = count;
        cta.state.used_barriers |= 1u << number;
        state.arrive(c.warp.index, together, c.warp.live);
        if (mode != BarrierMode::arrive && mode != BarrierMode::sync) state.vote(together, c.source_predicate(2));
        if (observer_ != nullptr) {
            const auto kind = mode == BarrierMode::arrive ? BarrierEvent::Kind::arrive : BarrierEvent::Kind::wait;
            observer_->barrier({site(c), kind, false, number, state.generation});
        }
        complete_barrier_if_due(cta, number);
    }
    return mode == BarrierMode::arrive ? Step::next : Step::stop;
}

/// What red returns to a group of lanes whose phase has ended.
void Executor::give_barrier_result(Warp& warp, Group& group, const NamedBarrier& phase) {
    const Context c = context_of(warp, group);
    const auto mode = static_cast<BarrierMode>(c.op().variant);
    if (mode == BarrierMode::red_popc) {
        for (LaneMask left = group.lanes; left != 0; left &= left - 1)
            c.row(c.code.d).lane[std::countr_zero(left)] = phase.votes;
    } else if (mode == BarrierMode::red_and) {
        c.set_predicate(c.code.d, phase.votes == phase.voters ? all_lanes : 0);
    } else if (mode == BarrierMode::red_or) {
        c.set_predicate(c.code.d, phase.votes > 0 ? all_lanes : 0);
    }
    if (observer_ != nullptr)
        observer_->barrier({site(c), BarrierEvent::Kind::complete, false, group.barrier, phase.generation});
}

void Executor::complete_barrier_if_due(CtaRun& cta, std::uint32_t number) {
    NamedBarrier& state = cta.state.barriers[number];
    if (!state.in_use()) return;
    bool due = state.arrived >= (state.expected == 0 ? cta.state.live_threads : state.expected);
    for (std::size_t w = 0; state.expected == 0 && due && w < cta.warps.size(); ++w)
        due = (cta.warps[w].live & ~state.lanes[w]) == 0;
    if (!due) return;
    const NamedBarrier phase = state;
    state.complete();
    cta.state.used_barriers &= ~(1u << number);
    wrote();  // a loop that meets others at a barrier does not only poll
    for (Warp& warp : cta.warps) {
        for (Group& group : warp.groups) {
            if (group.state != GroupState::barrier || group.barrier != number) continue;
            if (phase.voters != 0 || observer_ != nullptr) give_barrier_result(warp, group, phase);
            group.state = GroupState::ready;
            ++group.pc;
        }
    }
}

/// Lanes have exited: barriers that wait for every thread wait for fewer now.
void Executor::lanes_left(Warp& warp) {
    machine::Cta& cta = warp.cta->state;
    for (std::uint32_t left = cta.used_barriers; left != 0; left &= left - 1) {
        const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
        if (cta.barriers[number].expected == 0) complete_barrier_if_due(*warp.cta, number);
    }
    if (cta.live_threads == 0 && !warp.cta->register_requests.empty()) check_register_requests(*warp.cta);
    ClusterRun& cluster = *warp.cta->cluster;
    cluster.barrier_arrived -= static_cast<std::uint32_t>(std::popcount(warp.cluster_arrived & ~warp.live));
    warp.cluster_arrived &= warp.live;
    complete_cluster_barrier_if_due(cluster);
}

}  // namespace tilepath::exec
