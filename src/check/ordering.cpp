// Who is there, and what moves clocks without touching memory: fences, groups of asynchronous operations, lanes that
// meet.
#include "check/ordering.h"

#include <bit>

#include "base/assert.h"
#include "check/lanes.h"

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
    for (const WarpState& warp : cta->warps)
        each_knowledge(warp, ~0u, [&](const Knowledge& knows, std::uint32_t) { known.join(knows.seen); });
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
    note_bulks_at_exit(*cta);
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

void Ordering::converged(const machine::EventSite& site) { meet(*who(site).warp, site); }

void Ordering::fence(const machine::Fence& event) {
    const Who w = who(event.site);
    WarpState& warp = *w.warp;
    ++warp.activity;
    if (event.site.op->op != Op::fence) return tensor_fence(w, event.site);
    const auto kind = static_cast<FenceKind>(event.site.op->variant);
    const bool shows = kind == FenceKind::mbarrier_init || kind == FenceKind::proxy_async ||
                       kind == FenceKind::proxy_async_shared_cta || kind == FenceKind::proxy_async_shared_cluster;
    if (shows)
        for (auto& [offset, state] : w.cta->mbarriers) state.shown = state.shown || state.by == warp.agent;
    const auto publish_to = [&](Clock Knowledge::*clock) {
        each_knowledge(warp, event.site.lanes, [&](Knowledge& knows, std::uint32_t lanes) {
            (knows.*clock).join(knows.seen);
            add_own(warp, lanes, knows.*clock);
        });
    };
    switch (kind) {
        case FenceKind::thread:
            learn_read(w, event.site);
            warp.fenced = {publish(w, event.site.lanes), {}, warp.epoch, event.site.lanes, warp.accessed, 0};
            break;
        case FenceKind::proxy_async:
            publish_to(&Knowledge::fenced_shared);
            publish_to(&Knowledge::fenced_global);
            break;
        case FenceKind::proxy_async_global: publish_to(&Knowledge::fenced_global); break;
        case FenceKind::proxy_async_shared_cta:
        case FenceKind::proxy_async_shared_cluster:
        case FenceKind::async_after_generic_acquire:
        case FenceKind::async_after_generic_release: publish_to(&Knowledge::fenced_shared); break;
        case FenceKind::tensormap_release:
            each_knowledge(warp, event.site.lanes, [&](const Knowledge& knows, std::uint32_t lanes) {
                w.cluster->map_released.join(knows.seen);
                add_own(warp, lanes, w.cluster->map_released);
            });
            for (auto& [address, map] : maps_) map.released = map.released || map.agent == warp.agent;
            break;
        case FenceKind::tensormap_acquire:
            if (const auto map = maps_.find(event.map); map != maps_.end())
                w.cta->acquired_maps[event.map] = map->second.edit;
            break;
        case FenceKind::mbarrier_init: warp.init_fenced = true; break;
        case FenceKind::proxy_alias: break;
    }
    ++warp.epoch;
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
            for (std::uint32_t left = event.site.lanes; left != 0; left &= left - 1) {
                const auto lane = static_cast<std::size_t>(std::countr_zero(left));
                std::uint32_t& groups = copies.committed[lane];
                if (commits) {
                    if (copies.last_batch.size() <= groups) copies.last_batch.resize(groups + 1);
                    copies.last_batch[groups++] = copies.batch;
                } else if (event.keep < 0) {
                    copies.waited[lane] = copies.batch;
                } else if (done(groups) != 0) {
                    copies.waited[lane] = std::max(copies.waited[lane], copies.last_batch[done(groups) - 1]);
                }
            }
            copies.batch += commits || event.keep < 0 ? 1 : 0;
            copies.untold = copies.untold || !commits;
            return;
        }
        case GroupEvent::Engine::bulk:
            for (std::uint32_t left = event.site.lanes; left != 0; left &= left - 1) {
                BulkGroups& lane = warp.bulks[static_cast<std::uint32_t>(std::countr_zero(left))];
                lane.committed += commits ? 1 : 0;
                if (commits || lane.reads == 0) continue;
                each_learner(warp, left & -left, event.site.live, [&](Knowledge& knows) {
                    knows.seen.raise(lane.reads_index, done(lane.committed));
                    if (!event.only_read) knows.seen.raise(lane.writes_index, done(lane.committed));
                });
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
