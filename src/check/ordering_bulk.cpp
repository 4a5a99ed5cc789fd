// Bulk copies and TMA, st.async, and the tensor maps that they use.
#include <bit>

#include "check/ordering.h"
#include "machine/bulk_signal.h"
#include "machine/tma.h"

namespace tilepath::check {

using machine::BulkCopy;
using program::Space;

/// The rows of a tensor's box, or bytes in a row, in global memory.
void Ordering::touch_tensor(const BulkCopy& event) {
    const bool stores = event.bulk->destination == Space::global;
    if (event.box == nullptr) {
        touch_global(stores ? event.destination : event.source, event.bytes, Cell::any_lane);
        return;
    }
    machine::BoxWalk walk = *event.box;
    machine::BoxRow row;
    while (walk.next(row))
        if (row.end > row.begin) touch_global(row.global + row.begin, row.end - row.begin, Cell::any_lane);
}

/// Into shared memory: complete with a phase of the mbarrier, in each CTA that it goes to.
void Ordering::load_bulk(const Who& who, const BulkCopy& event, std::uint32_t site) {
    const Knowledge& knows = knowledge(*who.warp, event.lane);
    Actor act = actor(who, knows, 0, site, true);
    act.fenced = &knows.fenced_shared;
    act.stamp.async_proxy = true;
    const std::uint32_t bytes = event.box != nullptr ? event.box->shared_bytes() : event.bytes;
    const auto destination = static_cast<std::uint32_t>(event.destination);
    const auto lane = static_cast<std::uint8_t>(event.lane);
    bool first = true;
    for (std::uint32_t left = event.ctas; left != 0; left &= left - 1) {
        const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
        const machine::Address barrier =
            machine::signalled_mbarrier(*event.bulk, rank, static_cast<std::uint32_t>(event.mbarrier));
        MbarrierState* const state = find_mbarrier(*who.cluster, barrier);
        if (state == nullptr) return;  // a fault, which execution tells
        check_initialised(who, *state, event.site);
        if (!state->shown)
            misuse(
                site, state->by_site, "mbarrier-init",
                "a copy counts on an mbarrier whose initialisation no fence has shown to the async proxy", {},
                "fence.mbarrier_init.release.cluster (or fence.proxy.async) behind mbarrier.init, by the same thread");
        state->transferred += event.bytes;
        state->transfer_site = site;
        act.stamp.agent = state->agent;
        act.stamp.epoch = static_cast<Epoch>(state->generation + 1);
        act.writes = true;
        act.stamp.strong = event.bulk->reduces;
        who.cluster->shadow.begin(act);
        touch_shared(who, act, machine::shared_address(rank, machine::shared_offset(destination)), bytes, lane);
        note(who, act, Space::shared, who.cluster->shadow);
        if (!std::exchange(first, false)) continue;
        act.writes = false;
        act.stamp.strong = false;
        Shadow& from = event.bulk->source == Space::global ? global_ : who.cluster->shadow;
        act.fenced = event.bulk->source == Space::global ? &knows.fenced_global : act.fenced;
        from.begin(act);
        if (event.bulk->source == Space::global)
            touch_tensor(event);
        else
            touch_shared(who, act, event.source, event.bytes, lane);
        note(who, act, event.bulk->source == Space::global ? Space::global : Space::shared, from);
        act.fenced = &knows.fenced_shared;
    }
}

BulkGroups& Ordering::bulk_groups(const Who& who, std::uint32_t lane) {
    BulkGroups& groups = who.warp->bulks[lane];
    if (groups.reads != 0) return groups;
    Agent agent;
    agent.cta = who.cta->linear, agent.number = who.warp->number, agent.lane = static_cast<std::uint8_t>(lane);
    agent.kind = Agent::Kind::bulk_reads;
    groups.reads = new_agent(*who.cluster, agent, groups.reads_index);
    agent.kind = Agent::Kind::bulk_writes;
    groups.writes = new_agent(*who.cluster, agent, groups.writes_index);
    return groups;
}

/// Into global memory: its sources are read, and it is written, by the time the lane waits for its group.
void Ordering::store_bulk(const Who& who, const BulkCopy& event, std::uint32_t site) {
    BulkGroups& groups = bulk_groups(who, event.lane);
    const Knowledge& knows = knowledge(*who.warp, event.lane);
    Actor act = actor(who, knows, 0, site, false);
    act.stamp.async_proxy = true;
    act.stamp.epoch = groups.committed + 1;
    const auto lane = static_cast<std::uint8_t>(event.lane);
    if (event.bulk->source != Space::global) {
        act.fenced = &knows.fenced_shared;
        act.stamp.agent = groups.reads;
        groups.last_read = groups.committed + 1, groups.last_site = site;
        who.cluster->shadow.begin(act);
        touch_shared(who, act, event.source, event.box != nullptr ? event.box->shared_bytes() : event.bytes, lane);
        note(who, act, Space::shared, who.cluster->shadow);
    }
    // The same bytes once more: the first stands for all.
    if (repeated_.repeats(event) && !event.bulk->reduces) return;
    act.fenced = &knows.fenced_global;
    act.stamp.agent = groups.writes;
    act.stamp.strong = event.bulk->reduces;
    act.writes = true;
    global_.begin(act);
    touch_tensor(event);
    note(who, act, Space::global, global_);
}

/// The manual does not say what becomes of shared memory that a copy still reads when its CTA ends. Public kernels
/// leave it so and are right on hardware.
void Ordering::note_bulks_at_exit(const CtaState& cta) {
    for (const WarpState& warp : cta.warps)
        for (const auto& [lane, groups] : warp.bulks) {
            if (groups.last_read == 0) continue;
            const Knowledge& knows = knowledge(warp, lane);
            if (knows.seen.of(groups.reads_index) >= groups.last_read) continue;
            misuse(groups.last_site, 0, "bulk-exit",
                   "the CTA may end while this still reads its shared memory: nothing waits for it", {},
                   "cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0 by the thread that has issued it, "
                   "before it exits",
                   Severity::note);
        }
}

void Ordering::bulk_issued(const BulkCopy& event) {
    const Who w = who(event.site);
    const std::uint32_t site = site_of(event.site);
    ++w.warp->activity;
    if (event.box != nullptr) check_map(w, event, site);
    if (event.bulk->destination == Space::global)
        store_bulk(w, event, site);
    else
        load_bulk(w, event, site);
}

/// The lanes' values land later, each counted on its mbarrier.
void Ordering::store_async(const Who& who, const machine::Access& event) {
    Actor act = actor(who, who.warp->knows, 0, site_of(event.site), true);
    act.stamp.strong = event.kind == machine::Access::Kind::atomic;
    if (event.site.op->op == program::Op::try_cancel) {  // by the async proxy
        act.fenced = &who.warp->knows.fenced_shared;
        act.stamp.async_proxy = true;
    }
    for (std::uint32_t left = event.site.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        MbarrierState* const state = find_mbarrier(*who.cluster, event.mbarriers[lane]);
        if (state == nullptr) return;  // a fault, which execution tells
        if (act.stamp.async_proxy) check_initialised(who, *state, event.site);
        state->transferred += event.bytes;
        state->transfer_site = act.stamp.site;
        act.seen = &knowledge(*who.warp, lane).seen;
        act.stamp.agent = state->agent;
        act.stamp.epoch = static_cast<Epoch>(state->generation + 1);
        who.cluster->shadow.begin(act);
        touch_shared(who, act, event.addresses[lane], event.bytes, static_cast<std::uint8_t>(lane));
        note(who, act, Space::shared, who.cluster->shadow);
    }
    ++who.warp->activity;
}

void Ordering::tensor_map(const machine::TensorMapEvent& event) {
    const Who w = who(event.site);
    ++w.warp->activity;
    if (event.at.space != Space::global) return;  // copies read no map there: it is published by a copy of it
    EditedMap& map = maps_[event.at.address];
    map = {w.warp->agent, w.warp->epoch, site_of(event.site), ++edits_, event.copies};
}

/// A map that lies in global memory and was written by plain stores, which the copies' proxy need not see.
void Ordering::check_written_map(const Who& who, machine::Address map, std::uint32_t site) {
    constexpr std::uint32_t map_bytes = 128;
    if (map % map_bytes != 0) return;  // within a page
    const Cell* const cells = pages_.find(map);
    for (std::uint32_t i = 0; cells != nullptr && i < map_bytes / sizeof(std::uint32_t); ++i) {
        const Stamp* const writer = global_.writer(cells[i]);
        if (writer == nullptr || writer->async_proxy) continue;
        const Agent& agent = agents_[writer->agent];
        if (agent.kind != Agent::Kind::warp || agent.cluster != who.cluster->serial ||
            who.cluster->map_released.of(agent.index) >= writer->epoch ||
            who.cluster->map_released.lanes_of(writer->agent, writer->epoch) != 0)
            continue;
        return misuse(
            site, writer->site, "tensormap-fence",
            "this uses a tensor map that stores have written, and nothing has released it to the copies", {},
            "fence.proxy.tensormap::generic.release behind the stores and acquire before the copy, or publish "
            "the map by tensormap.cp_fenceproxy");
    }
}

/// An edited map is released by who has edited it and acquired in the CTA that uses it (PTX ISA 9.7.13.4, fence.proxy).
void Ordering::check_map(const Who& who, const BulkCopy& event, std::uint32_t site) {
    const auto found = maps_.find(event.map);
    if (found == maps_.end()) return check_written_map(who, event.map, site);
    const EditedMap& map = found->second;
    const auto acquired = who.cta->acquired_maps.find(event.map);
    const bool acquires = acquired != who.cta->acquired_maps.end() && acquired->second == map.edit;
    if (acquires && map.released) return;
    misuse(site, map.site, "tensormap-fence",
           map.released ? "this uses a tensor map that has been edited, without acquiring it"
                        : "this uses a tensor map that has been edited, but not released",
           {},
           map.released
               ? "fence.proxy.tensormap::generic.acquire of the map's 128 bytes before the copy, in the CTA that "
                 "issues it"
               : "fence.proxy.tensormap::generic.release behind tensormap.replace, or publish the map by "
                 "tensormap.cp_fenceproxy");
}

}  // namespace tilepath::check
