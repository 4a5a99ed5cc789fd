// The barrier of a cluster (PTX ISA 9.7.13.3), and what the warps of a warpgroup ask for together.
#include <fmt/format.h>

#include <bit>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::BarrierEvent;

/// Lanes arrive once in a phase; those that wait go on when every live thread of the cluster has arrived.
Step Executor::cluster_barrier(Context& c) {
    if (c.op().flags.aligned && !gather(c)) return Step::stop;
    Warp& warp = c.warp;
    ClusterRun& cluster = *warp.cta->cluster;
    const bool waits = c.op().variant == 1;
    if (observer_ != nullptr)
        observer_->barrier({site(c), waits ? BarrierEvent::Kind::wait : BarrierEvent::Kind::arrive, false, 0,
                            cluster.barrier_phase, 0, true});
    if (!waits) {
        if (const LaneMask again = c.active & warp.cluster_arrived; again != 0)
            return fail(c, FaultKind::barrier, again,
                        fmt::format("barrier.cluster: a thread arrives twice before phase {} completes",
                                    cluster.barrier_phase));
        warp.cluster_arrived |= c.active;
        warp.cluster_unwaited |= c.active;
        cluster.barrier_arrived += static_cast<std::uint32_t>(std::popcount(c.active));
        complete_cluster_barrier_if_due(cluster);
        return Step::next;
    }
    if (const LaneMask without = c.active & ~warp.cluster_unwaited; without != 0)
        return fail(c, FaultKind::barrier, without, "barrier.cluster.wait: the thread has not arrived before");
    warp.cluster_unwaited &= ~c.active;
    const LaneMask early = c.active & warp.cluster_arrived;
    if (early == 0) return Step::next;
    Group* waiting = &c.group;
    if (early != c.group.lanes) {
        waiting = &split(warp, c.group, early, c.pc());
        c.group.pc = c.pc() + 1;
    }
    waiting->state = GroupState::cluster;
    return Step::stop;
}

void Executor::complete_cluster_barrier_if_due(ClusterRun& cluster) {
    if (cluster.barrier_arrived == 0 || cluster.barrier_arrived != cluster.live_threads()) return;
    ++cluster.barrier_phase;
    cluster.barrier_arrived = 0;
    wrote();  // a loop that meets others at a barrier does not only poll
    for (auto& cta : cluster.ctas) {
        for (Warp& warp : cta->warps) {
            warp.cluster_arrived = 0;
            for (Group& group : warp.groups) {
                if (group.state != GroupState::cluster) continue;
                if (observer_ != nullptr)
                    observer_->barrier({site(context_of(warp, group)), BarrierEvent::Kind::complete, false, 0,
                                        cluster.barrier_phase - 1, 0, true});
                group.state = GroupState::ready;
                ++group.pc;
            }
        }
    }
}

namespace {

constexpr std::uint32_t warps_of_group = 4;

}  // namespace

/// setmaxnreg: the warps of a warpgroup execute the same ones (PTX ISA 9.7.19.5). Registers are not counted: only ptxas
/// knows how many a kernel has.
Step Executor::set_registers(Context& c) {
    if (!gather(c)) return Step::stop;
    auto& groups = c.warp.cta->register_requests;
    groups.resize((c.warp.cta->warps.size() + warps_of_group - 1) / warps_of_group);
    auto& requests = groups[c.warp.index / warps_of_group];
    const std::int64_t count = c.op().variant == 1 ? c.op().immediate : -c.op().immediate;
    const std::uint32_t number = c.warp.register_changes++;
    if (number == requests.size()) requests.push_back({c.frame.function, &c.code, count});
    const std::int64_t first = requests[number].count;
    if (first == count) return Step::next;
    return fail(c, FaultKind::diverged, c.active,
                fmt::format("the warps of a warpgroup execute the same setmaxnreg; another warp has executed "
                            "setmaxnreg.{} {} here",
                            first > 0 ? "inc" : "dec", first > 0 ? first : -first));
}

/// A CTA has ended: every warp of a warpgroup must have executed as many setmaxnreg as the others.
void Executor::check_register_requests(CtaRun& cta) {
    for (Warp& warp : cta.warps) {
        const std::size_t group = warp.index / warps_of_group;
        if (group >= cta.register_requests.size()) return;
        const auto& requests = cta.register_requests[group];
        if (warp.register_changes == requests.size()) continue;
        const RegisterRequest& missing = requests[warp.register_changes];
        fail_at(warp, *missing.function, *missing.code, FaultKind::diverged, all_lanes,
                fmt::format("every warp of a warpgroup executes this, but warp {} has ended without", warp.index));
        return;
    }
}

}  // namespace tilepath::exec
