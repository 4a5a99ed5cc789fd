// When bulk copies land: at once, late, or at random. What they do then is in bulk_move.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::CopyPolicy;
using program::Space;

machine::BulkCopy Executor::event_of(const PendingBulk& bulk) const {
    return {event_site(*bulk.warp, *bulk.function, *bulk.code, 1u << bulk.lane),
            bulk.id,
            bulk.lane,
            bulk.what,
            bulk.writes_global() ? bulk.global : bulk.shared_destination,
            bulk.what->source == Space::global ? bulk.global : bulk.shared_source,
            bulk.bytes,
            bulk.ctas,
            bulk.box ? &*bulk.box : nullptr,
            bulk.mbarrier,
            bulk.group,
            bulk.map};
}

void Executor::issue_bulk(ClusterRun& cluster, PendingBulk bulk) {
    bulk.id = launch_.next_copy_id++;
    if (observer_ != nullptr) observer_->bulk_issued(event_of(bulk));
    if (launch_.options.copies == CopyPolicy::eager) {
        finish(cluster, bulk);
        return;
    }
    cluster.bulks.push_back(std::move(bulk));
    if (launch_.options.copies == CopyPolicy::random) land_bulks_randomly(cluster);
}

/// Lands pieces of a load, or takes a store one step further; true when nothing of it is left.
bool Executor::advance(ClusterRun& cluster, PendingBulk& bulk, std::uint32_t pieces) {
    bool over = false;
    if (!bulk.writes_global()) {
        over = load_pieces(cluster, bulk, pieces);
    } else if (!bulk.read) {
        read_source(cluster, bulk);
    } else {
        write_global(bulk);
        over = true;
    }
    if (over && observer_ != nullptr) observer_->bulk_landed(event_of(bulk));
    return over;
}

bool Executor::finish(ClusterRun& cluster, PendingBulk& bulk) {
    while (!launch_.stop.load(std::memory_order_relaxed))
        if (advance(cluster, bulk, ~0u)) return true;
    return false;
}

Step Executor::bulk_commit(Context& c) {
    for (LaneMask left = c.active; left != 0; left &= left - 1)
        ++c.warp.bulk_groups[static_cast<std::size_t>(std::countr_zero(left))];
    observe_group(c, machine::GroupEvent::Engine::bulk, machine::GroupEvent::Kind::commit);
    return Step::next;
}

/// Hands each pending copy that `choose` picks to `land`, which says whether nothing of it is left.
template <class Choose, class Land>
void Executor::land_bulks(ClusterRun& cluster, Choose choose, Land land) {
    std::erase_if(cluster.bulks, [&](PendingBulk& bulk) {
        return !launch_.stop.load(std::memory_order_relaxed) && choose(bulk) && land(bulk);
    });
}

Step Executor::bulk_wait(Context& c) {
    ClusterRun& cluster = *c.warp.cta->cluster;
    const auto keep = static_cast<std::uint64_t>(c.op().immediate);
    const bool only_read = c.op().variant != 0;
    land_bulks(
        cluster,
        [&](const PendingBulk& bulk) {
            return bulk.warp == &c.warp && bulk.writes_global() && (c.active >> bulk.lane & 1) != 0 &&
                   bulk.group + keep < c.warp.bulk_groups[bulk.lane];
        },
        [&](PendingBulk& bulk) {
            if (!only_read) return finish(cluster, bulk);
            if (!bulk.read) read_source(cluster, bulk);
            return false;
        });
    observe_group(c, machine::GroupEvent::Engine::bulk, machine::GroupEvent::Kind::wait, only_read);
    return launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

/// The copy that was issued first lands, whole: one at a time, so that copies are as late as they may be.
bool Executor::land_oldest_bulk(ClusterRun& cluster) {
    if (cluster.bulks.empty() || launch_.stop.load(std::memory_order_relaxed)) return false;
    PendingBulk bulk = std::move(cluster.bulks.front());
    cluster.bulks.erase(cluster.bulks.begin());
    finish(cluster, bulk);
    return true;
}

/// Some copies go on, some of them by a part, by the seed; and what was written may show itself to the
/// async proxy without a fence.
void Executor::land_bulks_randomly(ClusterRun& cluster) {
    for (const auto& cta : cluster.ctas)
        if (random_() % 64 == 0) cta->state.fence_async_proxy();
    if (launch_.stale && random_() % 64 == 0) launch_.stale->async.publish();
    land_bulks(
        cluster, [&](const PendingBulk&) { return random_() % 8 == 0; },
        [&](PendingBulk& bulk) { return advance(cluster, bulk, 1 + static_cast<std::uint32_t>(random_() % 32)); });
}

/// The last thread of a CTA exits: its shared memory is gone. What would still be written to it is a fault of the
/// kernel; what it has yet to give is taken now.
void Executor::bulks_at_exit(CtaRun& cta) {
    ClusterRun& cluster = *cta.cluster;
    for (const PendingBulk& bulk : cluster.bulks) {
        if ((bulk.ctas >> cta.state.rank & 1) == 0) continue;
        return fail_at(
            *bulk.warp, *bulk.function, *bulk.code, FaultKind::exited_cta, 1u << bulk.lane,
            fmt::format(
                "the CTA of rank {} exits while {} bytes of this copy are still on their way into its shared memory",
                cta.state.rank, bulk.bytes - bulk.done));
    }
    land_bulks(
        cluster, [&](const PendingBulk& bulk) { return bulk.what->source != Space::global && bulk.warp->cta == &cta; },
        [&](PendingBulk& bulk) { return finish(cluster, bulk); });
}

}  // namespace tilepath::exec
