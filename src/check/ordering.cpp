// Who is there, and what moves clocks without touching memory: fences, groups of asynchronous operations, lanes that
// meet.
#include "check/ordering.h"

#include <bit>

#include "base/assert.h"

namespace tilepath::check {

using machine::GroupEvent;
using program::FenceKind;
using program::Op;

Ordering::Who Ordering::who(const machine::EventSite& site) {
    if (site.cta != last_cta_) {
        const auto found = ctas_.find(site.cta);
        TILEPATH_ASSERT(found != ctas_.end(), "an event of a CTA that has not begun");
        last_ = found->second;
        last_cta_ = site.cta;
    }
    Who out = last_;
    out.warp = &out.cta->warps[site.warp];
    return out;
}

std::uint32_t Ordering::site_of(const machine::EventSite& site) {
    if (site.op == last_op_) return last_site_;
    std::uint32_t& number = site_numbers_[site.op];
    if (number == 0) {
        number = static_cast<std::uint32_t>(sites_.size());
        sites_.push_back(site);
    }
    last_op_ = site.op;
    return last_site_ = number;
}

AgentId Ordering::new_agent(ClusterState& cluster, const Agent& agent, std::uint32_t& index) {
    const auto id = static_cast<AgentId>(agents_.size());
    index = static_cast<std::uint32_t>(cluster.agents.size());
    cluster.agents.push_back(id);
    agents_.push_back(agent);
    agents_.back().cluster = cluster.serial;
    agents_.back().index = index;
    return id;
}

/// What the warp does from now on is later than what others have learned of it.
void Ordering::tick(WarpState& warp) {
    ++warp.epoch;
    warp.knows.seen.raise(warp.index, warp.epoch);
}

void Ordering::release(WarpState& warp, BarrierState& to) {
    to.pending.join(warp.knows);
    tick(warp);
}

void Ordering::acquire(WarpState& warp, const BarrierState& from) {
    warp.knows.join(from.done);
    ++warp.activity;
}

void Ordering::forget_launch() {
    for (auto& [index, cluster] : clusters_) spare_.push_back(std::move(cluster));
    clusters_.clear();
    ctas_.clear();
    last_cta_ = ~0u;
    last_arrival_ = {};
    pages_.clear();
    global_.clear();
    places_.clear();
    maps_.clear();
}

void Ordering::launch_begins(const program::Function&) {
    most_shadow_bytes_ = shadow_bytes();
    forget_launch();
    agents_.resize(1);
}

void Ordering::cta_begins(const machine::CtaEvent& event) {
    std::unique_ptr<ClusterState>& cluster = clusters_[event.cluster];
    if (!cluster) {
        if (spare_.empty()) {
            cluster = std::make_unique<ClusterState>(agents_);
        } else {
            cluster = std::move(spare_.back());
            spare_.pop_back();
        }
        cluster->serial = ++serial_;
        cluster->agents.clear();
        cluster->ended = 0;
        cluster->barrier = {};
        cluster->shadow.clear();
        cluster->tensor_shadow.clear();
        cluster->last_product.agent = 0;
        cluster->places.clear();
        cluster->ctas.resize(event.ctas);
    }
    std::unique_ptr<CtaState>& slot = cluster->ctas[event.rank];
    std::vector<Cell> cells = slot ? std::move(slot->cells) : std::vector<Cell>();
    if (!slot) slot = std::make_unique<CtaState>();
    *slot = {};
    slot->cells = std::move(cells);
    slot->cells.assign((event.shared_end + 3) / 4, Cell{});
    slot->linear = event.cta;
    slot->rank = event.rank;
    slot->warps.resize(event.warps);
    for (std::uint32_t w = 0; w < event.warps; ++w) {
        WarpState& warp = slot->warps[w];
        warp.number = w;
        Agent agent;
        agent.cta = event.cta, agent.number = w;
        warp.agent = new_agent(*cluster, agent, warp.index);
        warp.knows.seen.raise(warp.index, warp.epoch);
    }
    ctas_[event.cta] = {cluster.get(), slot.get(), nullptr};
    last_cta_ = ~0u;
}

/// A CTA that others still visit must not have ended.
void Ordering::cta_ends(const machine::CtaEvent& event) {
    const auto found = ctas_.find(event.cta);
    if (found == ctas_.end()) return;
    auto [cluster, cta, none] = found->second;
    Clock known;
    for (const WarpState& warp : cta->warps) known.join(warp.knows.seen);
    for (const auto& [agent, visit] : cta->visits) {
        if (known.of(agents_[agent].index) >= visit.epoch) continue;
        misuse(visit.site, 0, "cluster-exit",
               "the CTA whose shared memory this touches may have ended before: nothing that it waits for comes after "
               "this",
               {},
               "let every CTA of the cluster stay until the others are through with its shared memory: barrier.cluster "
               "before the end, or a wait for what this instruction completes");
    }
    for (const auto& [offset, state] : cta->mbarriers) check_bytes(state);
    most_shadow_bytes_ = std::max(most_shadow_bytes_, shadow_bytes());
    most_followed_bytes_ = std::max(most_followed_bytes_, cells() * 4);
    // What an ended CTA has issued may still complete phases of the others.
    if (++cluster->ended < cluster->ctas.size()) return;
    for (const auto& each : cluster->ctas) ctas_.erase(each->linear);
    last_cta_ = ~0u;
    const auto whole = clusters_.find(event.cluster);
    spare_.push_back(std::move(whole->second));
    clusters_.erase(whole);
}

std::size_t Ordering::cells() const {
    std::size_t out = pages_.size() * ShadowPages::page_bytes / 4;
    for (const auto& [index, cluster] : clusters_)
        for (const auto& cta : cluster->ctas)
            if (cta) out += cta->cells.size() + cta->tensor.size();
    return out;
}

std::size_t Ordering::shadow_bytes() const {
    std::size_t now = cells() * sizeof(Cell) + global_.bytes();
    for (const auto& [index, cluster] : clusters_) now += cluster->shadow.bytes() + cluster->tensor_shadow.bytes();
    return std::max(most_shadow_bytes_, now);
}

void Ordering::converged(const machine::EventSite& site) {
    if (std::popcount(site.lanes) < 2) return;
    WarpState& warp = *who(site).warp;
    if (!warp.unsynced) return;
    warp.unsynced = false;
    warp.synced = warp.epoch;
    ++warp.activity;
    tick(warp);
}

void Ordering::fence(const machine::Fence& event) {
    const Who w = who(event.site);
    WarpState& warp = *w.warp;
    Knowledge& knows = warp.knows;
    ++warp.activity;
    if (event.site.op->op != Op::fence) return tensor_fence(w, event.site);
    const auto kind = static_cast<FenceKind>(event.site.op->variant);
    const bool shows = kind == FenceKind::mbarrier_init || kind == FenceKind::proxy_async ||
                       kind == FenceKind::proxy_async_shared_cta || kind == FenceKind::proxy_async_shared_cluster;
    if (shows)
        for (auto& [offset, state] : w.cta->mbarriers) state.shown = state.shown || state.by == warp.agent;
    switch (kind) {
        case FenceKind::thread:
            for (const PublishedPtr& each : warp.read) learn(w, *each);
            warp.read.clear();
            warp.fenced = publish(w);
            break;
        case FenceKind::proxy_async:
            knows.fenced_shared.join(knows.seen);
            knows.fenced_global.join(knows.seen);
            break;
        case FenceKind::proxy_async_global: knows.fenced_global.join(knows.seen); break;
        case FenceKind::proxy_async_shared_cta:
        case FenceKind::proxy_async_shared_cluster:
        case FenceKind::async_after_generic_acquire:
        case FenceKind::async_after_generic_release: knows.fenced_shared.join(knows.seen); break;
        case FenceKind::tensormap_release:
            w.cluster->map_released.join(knows.seen);
            for (auto& [address, map] : maps_) map.released = map.released || map.agent == warp.agent;
            break;
        case FenceKind::tensormap_acquire:
            if (const auto map = maps_.find(event.map); map != maps_.end())
                w.cta->acquired_maps[event.map] = map->second.edit;
            break;
        case FenceKind::mbarrier_init: warp.init_fenced = true; break;
        case FenceKind::proxy_alias: break;
    }
    tick(warp);
}

void Ordering::group(const GroupEvent& event) {
    const Who w = who(event.site);
    WarpState& warp = *w.warp;
    ++warp.activity;
    const bool commits = event.kind == GroupEvent::Kind::commit;
    const auto keep = static_cast<std::uint32_t>(std::max<std::int64_t>(event.keep, 0));
    const auto done = [&](std::uint32_t committed) { return committed - std::min(committed, keep); };
    switch (event.engine) {
        case GroupEvent::Engine::cp_async: {
            CopyGroups& copies = warp.copies;
            std::uint32_t most = 0;
            for (std::uint32_t left = event.site.lanes; left != 0; left &= left - 1) {
                std::uint32_t& lane = copies.committed[static_cast<std::size_t>(std::countr_zero(left))];
                lane += commits ? 1 : 0;
                most = std::max(most, lane);
            }
            if (commits) {
                if (copies.last_batch.size() < most) copies.last_batch.resize(most);
                copies.last_batch[most - 1] = copies.batch++;
            } else if (copies.agent != 0 && event.keep < 0) {
                warp.knows.seen.raise(copies.index, copies.batch++);
            } else if (copies.agent != 0 && done(most) != 0) {
                warp.knows.seen.raise(copies.index, copies.last_batch[done(most) - 1]);
            }
            return;
        }
        case GroupEvent::Engine::bulk:
            for (std::uint32_t left = event.site.lanes; left != 0; left &= left - 1) {
                BulkGroups& lane = warp.bulks[static_cast<std::uint32_t>(std::countr_zero(left))];
                lane.committed += commits ? 1 : 0;
                if (commits || lane.reads == 0) continue;
                warp.knows.seen.raise(lane.reads_index, done(lane.committed));
                if (!event.only_read) warp.knows.seen.raise(lane.writes_index, done(lane.committed));
            }
            return;
        case GroupEvent::Engine::wgmma:
            if (event.kind == GroupEvent::Kind::settle) {
                if (!warp.wgmma_pending) return;
                misuse(site_of(event.site), 0, "wgmma-registers",
                       "this touches a register that a wgmma reads or writes, before the wgmma has been waited for", {},
                       "wgmma.commit_group and wgmma.wait_group before it");
                return;
            }
            if (commits) {
                ++warp.wgmma_groups;
                return;
            }
            if (const std::size_t group = warp.number / 4;
                group < w.cta->wgmma.size() && w.cta->wgmma[group].first != 0)
                warp.knows.seen.raise(w.cta->wgmma[group].second, done(warp.wgmma_groups));
            if (keep == 0) warp.wgmma_pending = false;
            return;
    }
}

}  // namespace tilepath::check
