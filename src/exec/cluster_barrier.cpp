// The barrier of a cluster: PTX ISA 9.7.13.3.
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
    const bool waits = (c.op().variant & 1) != 0, relaxed = (c.op().variant & 2) != 0;
    if (observer_ != nullptr)
        observer_->barrier({site(c), waits ? BarrierEvent::Kind::wait : BarrierEvent::Kind::arrive, false, 0,
                            cluster.barrier_phase, 0, true});
    if (!waits) {
        if (const LaneMask again = c.active & warp.cluster_arrived; again != 0)
            return fail(c, FaultKind::barrier, again,
                        fmt::format("barrier.cluster: a thread arrives twice before phase {} completes",
                                    cluster.barrier_phase));
        // The arrival releases what its CTA has written, mbarriers too, unless it is relaxed.
        if (!relaxed)
            for (MbarrierRecord& each : warp.cta->mbarriers) each.cluster_visible = true;
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

}  // namespace tilepath::exec
