// Kernels' own locks and flags: release and acquire through places in memory, by their own `.sem` or by fences beside
// relaxed, volatile and atomic accesses (PTX ISA 8.8, release and acquire patterns).
#include <algorithm>
#include <bit>

#include "check/lanes.h"
#include "check/ordering.h"

namespace tilepath::check {

using machine::Access;
using program::MemoryOrder;
using program::Space;

namespace {

constexpr std::size_t most_releases = 8;  // that a place keeps apart

bool acquires(MemoryOrder order) {
    return order == MemoryOrder::acquire || order == MemoryOrder::acq_rel || order == MemoryOrder::sc;
}
bool releases(MemoryOrder order) {
    return order == MemoryOrder::release || order == MemoryOrder::acq_rel || order == MemoryOrder::sc;
}

void merge(Published::Known& into, const Published::Known& from) {
    std::vector<Clock::Entry>& agents = into.agents;
    agents.insert(agents.end(), from.agents.begin(), from.agents.end());
    std::ranges::sort(agents, [](const Clock::Entry& a, const Clock::Entry& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    const auto rest = std::ranges::unique(agents, {}, &Clock::Entry::first);
    agents.erase(rest.begin(), rest.end());
    Clock lanes;
    for (const std::vector<LaneEpoch>* each : {&std::as_const(into.lanes), &from.lanes})
        for (const LaneEpoch& one : *each) lanes.raise_lanes(one);
    into.lanes = lanes.lanes();
}

void add(std::vector<PublishedPtr>& to, const PublishedPtr& fresh) {
    if (std::ranges::find(to, fresh) != to.end()) return;
    if (to.size() == most_releases) {
        auto all = std::make_shared<Published>();
        for (const PublishedPtr& each : to) {
            merge(all->seen, each->seen);
            merge(all->fenced_shared, each->fenced_shared);
            merge(all->fenced_global, each->fenced_global);
        }
        to.assign(1, std::move(all));
    }
    to.push_back(fresh);
}

template <class Visit>
void each_address(const Access& event, Visit visit) {
    machine::Address before = ~0ull;
    for (std::uint32_t left = event.site.lanes; left != 0; left &= left - 1) {
        const machine::Address address = event.addresses[static_cast<std::size_t>(std::countr_zero(left))];
        if (address != before) visit(address);
        before = address;
    }
}

}  // namespace

PublishedPtr Ordering::publish(const Who& who, std::uint32_t lanes) const {
    auto out = std::make_shared<Published>();
    const auto copy = [&](const Clock& from, Published::Known& to) {
        Published::Known more;
        for (std::size_t i = 0; i < from.local().size(); ++i)
            if (from.local()[i] != 0) more.agents.emplace_back(who.cluster->agents[i], from.local()[i]);
        more.agents.insert(more.agents.end(), from.foreign().begin(), from.foreign().end());
        for (LaneEpoch each : from.lanes()) {
            each.index = LaneEpoch::foreign;
            more.lanes.push_back(each);
        }
        merge(to, more);
    };
    each_knowledge(*who.warp, lanes, [&](const Knowledge& knows, std::uint32_t) {
        copy(knows.seen, out->seen);
        copy(knows.fenced_shared, out->fenced_shared);
        copy(knows.fenced_global, out->fenced_global);
    });
    Clock own;
    add_own(*who.warp, lanes, own);
    copy(own, out->seen);
    return out;
}

void Ordering::learn(const Who& who, const machine::EventSite& site, const Published& published) {
    const auto raise = [&](const Published::Known& from, Clock& to) {
        for (const auto& [agent, epoch] : from.agents) {
            if (agents_[agent].cluster == who.cluster->serial)
                to.raise(agents_[agent].index, epoch);
            else
                to.raise_foreign(agent, epoch);
        }
        for (LaneEpoch each : from.lanes) {
            if (agents_[each.agent].cluster == who.cluster->serial) each.index = agents_[each.agent].index;
            to.raise_lanes(each);
        }
    };
    each_learner(*who.warp, site.lanes, site.live, [&](Knowledge& knows) {
        raise(published.seen, knows.seen);
        raise(published.fenced_shared, knows.fenced_shared);
        raise(published.fenced_global, knows.fenced_global);
    });
    ++who.warp->activity;
}

/// What relaxed reads have met, behind a fence.
void Ordering::learn_read(const Who& who, const machine::EventSite& site) {
    for (const PublishedPtr& each : who.warp->read) learn(who, site, *each);
    who.warp->read.clear();
}

void Ordering::order_before(const Who& who, const Access& event) {
    if (event.kind == Access::Kind::write) return;
    const auto& places = event.space == Space::global ? places_ : who.cluster->places;
    if (places.empty()) return;
    each_address(event, [&](machine::Address address) {
        const auto place = places.find(address);
        if (place == places.end()) return;
        for (const PublishedPtr& each : place->second) {
            if (acquires(event.site.op->order))
                learn(who, event.site, *each);
            else
                add(who.warp->read, each);
        }
    });
}

/// What a relaxed write of these lanes publishes: of what the warp had done at the fence their own, and that of the
/// others only if all have met since.
PublishedPtr Ordering::publish_fenced(WarpState& warp, std::uint32_t lanes) {
    auto& fenced = warp.fenced;
    const Epoch met = warp.knows.seen.of(warp.index);
    if (!fenced.all || (fenced.accessed & ~lanes) == 0 || met >= fenced.epoch) return fenced.all;
    if (fenced.some && fenced.some_lanes == lanes) return fenced.some;
    auto some = std::make_shared<Published>(*fenced.all);
    for (Clock::Entry& each : some->seen.agents)
        if (each.first == warp.agent) each.second = met;
    std::erase_if(some->seen.lanes, [&](const LaneEpoch& each) { return each.agent == warp.agent; });
    some->seen.lanes.push_back(
        {warp.agent, LaneEpoch::foreign, (fenced.lanes & lanes) | ~fenced.accessed, fenced.epoch});
    fenced.some_lanes = lanes;
    return fenced.some = std::move(some);
}

void Ordering::order_after(const Who& who, const Access& event) {
    if (event.kind == Access::Kind::read) return;
    WarpState& warp = *who.warp;
    PublishedPtr fresh;
    if (releases(event.site.op->order)) {
        fresh = publish(who, event.site.lanes);
        ++warp.epoch;
    } else {
        fresh = publish_fenced(warp, event.site.lanes);
    }
    if (!fresh) return;
    auto& places = event.space == Space::global ? places_ : who.cluster->places;
    each_address(event, [&](machine::Address address) { add(places[address], fresh); });
}

}  // namespace tilepath::check
