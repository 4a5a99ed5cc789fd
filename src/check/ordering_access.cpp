// Accesses of warps, cp.async and wgmma, against what shadow memory remembers.
#include <bit>

#include "check/lanes.h"
#include "check/ordering.h"

namespace tilepath::check {

using machine::Access;
using program::MemoryOrder;
using program::Op;
using program::Space;

Actor Ordering::actor(const Who& who, const Knowledge& knows, std::uint32_t lanes, std::uint32_t site, bool writes) {
    Actor out;
    out.seen = &knows.seen;
    out.cluster = who.cluster->serial;
    out.warp = who.warp->agent;
    out.copies = who.warp->copies.agent;
    out.waited = &who.warp->copies.waited;
    out.stamp.lanes = lanes;
    out.stamp.agent = who.warp->agent;
    out.stamp.epoch = who.warp->epoch;
    out.stamp.site = site;
    out.stamp.issuer = static_cast<std::uint16_t>(who.warp->number);
    out.writes = writes;
    return out;
}

/// Shared memory anywhere in the cluster.
void Ordering::touch_shared(const Who& who, const Actor& actor, machine::Address address, std::uint32_t bytes,
                            std::uint8_t lane) {
    const auto shared = static_cast<std::uint32_t>(address);
    CtaState& cta = *who.cluster->ctas[machine::shared_rank(shared)];
    if (&cta != who.cta) visit(who, cta, actor.stamp);
    const std::uint32_t offset = machine::shared_offset(shared);
    if (offset + bytes > cta.cells.size() * 4) return;  // a fault, which execution tells
    who.cluster->shadow.touch(cta.cells.data(), shared - offset, offset, bytes, lane);
}

void Ordering::touch_global(machine::Address address, std::uint32_t bytes, std::uint8_t lane) {
    while (bytes != 0) {
        const auto offset = static_cast<std::uint32_t>(address % ShadowPages::page_bytes);
        const std::uint32_t here = std::min<std::uint32_t>(bytes, ShadowPages::page_bytes - offset);
        global_.touch(pages_.page(address), address - offset, offset, here, lane);
        address += here, bytes -= here;
    }
}

void Ordering::visit(const Who&, CtaState& other, const Stamp& stamp) {
    Visit& last = other.visits[stamp.agent];
    if (stamp.epoch >= last.epoch) last = {stamp.epoch, stamp.site};
}

void Ordering::note(const Who& who, const Actor& actor, Space space, const Shadow& shadow) {
    for (const Conflict& conflict : shadow.conflicts()) {
        Race& race = races_[RaceKey{actor.stamp.site, conflict.earlier.site, conflict.disorder, conflict.earlier_wrote,
                                    actor.writes, space}];
        if (race.times++ != 0) continue;
        race.conflict = conflict;
        race.space = space;
        race.address = conflict.address;
        race.earlier = agents_[conflict.earlier.agent];
        race.earlier_warp = conflict.earlier.issuer;
        race.cta = who.cta->linear, race.warp = who.warp->number;
        race.later = agents_[actor.stamp.agent];
        race.stamp = actor.stamp;
        race.writes = actor.writes;
        race.waited = actor.seen->of(race.earlier.index);
        each_knowledge(*who.warp, ~0u, [&](const Knowledge& knows, std::uint32_t) {
            race.other_lane_waited =
                race.other_lane_waited || (race.earlier.cluster == who.cluster->serial &&
                                           knows.seen.of(race.earlier.index) >= conflict.earlier.epoch);
        });
    }
}

/// Of the lanes of the actor's stamp.
void Ordering::touch_lanes(const Who& w, const Actor& act, const Access& event) {
    const bool global = event.space == Space::global;
    Shadow& shadow = global ? global_ : w.cluster->shadow;
    shadow.begin(act);
    for (std::uint32_t left = act.stamp.lanes; left != 0;) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const machine::Address address = event.addresses[lane];
        left &= left - 1;
        std::uint32_t bytes = event.bytes;
        auto by = static_cast<std::uint8_t>(lane);
        // Neighbouring lanes that share a word touch it together; one address that all read is touched once.
        for (std::uint32_t next = lane; left != 0; left &= left - 1) {
            next = static_cast<std::uint32_t>(std::countr_zero(left));
            const bool same = bytes == event.bytes && event.addresses[next] == address;
            if (!same && (event.bytes >= 4 || event.addresses[next] != address + bytes)) break;
            if (!same) bytes += event.bytes;
            by = Cell::any_lane;
        }
        if (global)
            touch_global(address, bytes, by);
        else
            touch_shared(w, act, address, bytes, by);
    }
    note(w, act, global ? Space::global : Space::shared, shadow);
}

void Ordering::access(const Access& event) {
    const bool global = event.space == Space::global;
    if (!global && event.space != Space::shared && event.space != Space::shared_cluster) return;
    const Who w = who(event.site);
    if (event.mbarriers != nullptr) return store_async(w, event);
    const program::MicroOp& op = *event.site.op;
    const bool strong = event.kind == Access::Kind::atomic || op.flags.is_volatile || op.order != MemoryOrder::weak;
    if (strong) order_before(w, event);
    const std::uint32_t site = site_of(event.site);
    each_knowledge(*w.warp, event.site.lanes, [&](const Knowledge& knows, std::uint32_t lanes) {
        Actor act = actor(w, knows, lanes, site, event.kind != Access::Kind::read);
        act.stamp.strong = strong;
        touch_lanes(w, act, event);
    });
    w.warp->accessed |= event.site.lanes;
    ++w.warp->activity;
    if (strong) order_after(w, event);
}

void Ordering::copy_issued(const machine::Copy& event) {
    const Who w = who(event.site);
    CopyGroups& copies = w.warp->copies;
    if (copies.agent == 0) {
        Agent agent;
        agent.kind = Agent::Kind::cp_async;
        agent.cta = w.cta->linear, agent.number = w.warp->number;
        copies.agent = new_agent(*w.cluster, agent, copies.index);
    }
    copies.lanes |= 1u << event.lane;
    // Not the lane alone, so that a warp's copies share a stamp: cells know theirs.
    Actor act = actor(w, knowledge(*w.warp, event.lane), Clock::all_lanes, site_of(event.site), true);
    act.stamp.agent = copies.agent;
    act.stamp.epoch = copies.batch;
    const auto lane = static_cast<std::uint8_t>(event.lane);
    w.cluster->shadow.begin(act);
    touch_shared(w, act, event.destination, event.bytes, lane);
    note(w, act, Space::shared, w.cluster->shadow);
    ++w.warp->activity;
    if (event.source_bytes == 0) return;
    act.writes = false;
    global_.begin(act);
    touch_global(event.source, event.source_bytes, lane);
    note(w, act, Space::global, global_);
}

void Ordering::wgmma(const machine::WgmmaEvent& event) {
    const Who w = who(event.site);
    WarpState& warp = *w.warp;
    ++warp.activity;
    warp.wgmma_pending = true;
    ++wgmma_functions_[event.site.function];
    if (!event.whole) return;
    const std::size_t group = warp.number / 4;
    if (w.cta->wgmma.size() <= group) w.cta->wgmma.resize(group + 1);
    auto& [agent, index] = w.cta->wgmma[group];
    if (agent == 0) {
        Agent fresh;
        fresh.kind = Agent::Kind::wgmma;
        fresh.cta = w.cta->linear, fresh.number = static_cast<std::uint32_t>(group * 4);
        agent = new_agent(*w.cluster, fresh, index);
    }
    Shadow& shadow = w.cluster->shadow;
    // All four warps have come; the last one's access stands for all, and the others must know as much.
    const std::uint32_t site = site_of(event.site);
    for (std::size_t i = 0; i < 4; ++i) {
        Who each = w;
        each.warp = &w.cta->warps[group * 4 + i];
        Actor act = actor(each, each.warp->knows, 0, site, false);
        act.fenced = &each.warp->knows.fenced_shared;
        act.stamp.agent = agent;
        act.stamp.epoch = warp.wgmma_groups + 1;  // the others may have closed the group already
        act.stamp.async_proxy = true;
        if (i == 0) {
            shadow.begin(act);
            for (const auto& [base, runs] :
                 {std::pair{event.a_base, event.a_runs}, std::pair{event.b_base, event.b_runs}})
                for (const machine::Run& run : runs)
                    touch_shared(w, act, base + static_cast<machine::Address>(std::int64_t{run.offset}), run.bytes,
                                 Cell::any_lane);
        } else {
            shadow.again(act);
        }
        note(each, act, Space::shared, shadow);
    }
}

}  // namespace tilepath::check
