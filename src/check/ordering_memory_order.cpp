// Kernels' own locks and flags: release and acquire through places in memory, by their own `.sem` or by fences beside
// relaxed, volatile and atomic accesses (PTX ISA 8.8, release and acquire patterns).
#include <algorithm>
#include <bit>

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

void merge(std::vector<Clock::Entry>& into, const std::vector<Clock::Entry>& from) {
    into.insert(into.end(), from.begin(), from.end());
    std::ranges::sort(into, [](const Clock::Entry& a, const Clock::Entry& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    const auto rest = std::ranges::unique(into, {}, &Clock::Entry::first);
    into.erase(rest.begin(), rest.end());
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

PublishedPtr Ordering::publish(const Who& who) const {
    auto out = std::make_shared<Published>();
    const auto copy = [&](const Clock& from, std::vector<Clock::Entry>& to) {
        for (std::size_t i = 0; i < from.local().size(); ++i)
            if (from.local()[i] != 0) to.emplace_back(who.cluster->agents[i], from.local()[i]);
        to.insert(to.end(), from.foreign().begin(), from.foreign().end());
    };
    copy(who.warp->knows.seen, out->seen);
    copy(who.warp->knows.fenced_shared, out->fenced_shared);
    copy(who.warp->knows.fenced_global, out->fenced_global);
    return out;
}

void Ordering::learn(const Who& who, const Published& published) {
    const auto raise = [&](const std::vector<Clock::Entry>& from, Clock& to) {
        for (const auto& [agent, epoch] : from) {
            if (agents_[agent].cluster == who.cluster->serial)
                to.raise(agents_[agent].index, epoch);
            else
                to.raise_foreign(agent, epoch);
        }
    };
    Knowledge& knows = who.warp->knows;
    raise(published.seen, knows.seen);
    raise(published.fenced_shared, knows.fenced_shared);
    raise(published.fenced_global, knows.fenced_global);
    ++who.warp->activity;
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
                learn(who, *each);
            else
                add(who.warp->read, each);
        }
    });
}

void Ordering::order_after(const Who& who, const Access& event) {
    if (event.kind == Access::Kind::read) return;
    PublishedPtr fresh = who.warp->fenced;
    if (releases(event.site.op->order)) {
        fresh = publish(who);
        tick(*who.warp);
    }
    if (!fresh) return;
    auto& places = event.space == Space::global ? places_ : who.cluster->places;
    each_address(event, [&](machine::Address address) { add(places[address], fresh); });
}

}  // namespace tilepath::check
