// What the lanes of a warp know of one another.
//
// Lanes are threads of their own: one knows what another has done, or learned, when both have met since. So a warp has
// one clock for what all of its lanes know; lanes that have waited for something alone have a copy with more in it; and
// when some lanes tell others of what has been done, of the accesses since the warp last met they tell their own.
#include <bit>

#include "check/lanes.h"
#include "check/ordering.h"

namespace tilepath::check {

/// What the lanes have done since all have met. Lanes that have done nothing are known whole.
void Ordering::add_own(const WarpState& warp, std::uint32_t lanes, Clock& to) {
    to.raise_lanes({warp.agent, warp.index, lanes | ~warp.accessed, warp.epoch});
    add_copies(warp, lanes, to);
}

/// Their copies by cp.async that they have waited for.
void Ordering::add_copies(const WarpState& warp, std::uint32_t lanes, Clock& to) {
    const CopyGroups& copies = warp.copies;
    if (!copies.untold) return;
    for (std::uint32_t left = copies.lanes & lanes; left != 0;) {
        const auto first = static_cast<std::size_t>(std::countr_zero(left));
        const Epoch epoch = copies.waited[first];
        std::uint32_t together = 0;
        for (std::uint32_t rest = left; rest != 0; rest &= rest - 1)
            if (copies.waited[static_cast<std::size_t>(std::countr_zero(rest))] == epoch) together |= rest & -rest;
        left &= ~together;
        if (epoch > copies.told[first]) to.raise_lanes({copies.agent, copies.index, together | ~copies.lanes, epoch});
    }
}

const Knowledge& Ordering::knowledge(const WarpState& warp, std::uint32_t lane) {
    for (const WarpState::Apart& each : warp.apart)
        if ((each.lanes >> lane & 1) != 0) return each.knows;
    return warp.knows;
}

/// What the warp does from now on is later than what others learn of it here.
void Ordering::release(WarpState& warp, std::uint32_t lanes, Knowledge& to) {
    each_knowledge(warp, lanes, [&](const Knowledge& knows, std::uint32_t) { to.join(knows); });
    add_own(warp, lanes, to.seen);
    ++warp.epoch;
}

void Ordering::acquire(WarpState& warp, const machine::EventSite& site, const Knowledge& from) {
    each_learner(warp, site.lanes, site.live, [&](Knowledge& knows) { knows.join(from); });
    ++warp.activity;
}

/// Lanes wait for one another: what each knows and has done they all know.
void Ordering::meet(WarpState& warp, const machine::EventSite& site) {
    const bool all = (site.live & ~site.lanes) == 0;
    if (warp.accessed == 0 && warp.apart.empty() && !warp.copies.untold) return;
    if (all) {
        for (const WarpState::Apart& each : warp.apart) warp.knows.join(each.knows);
        warp.apart.clear();
        warp.knows.seen.raise(warp.index, warp.epoch);
        add_copies(warp, ~0u, warp.knows.seen);
        warp.copies.told = warp.copies.waited;
        warp.copies.untold = false;
        warp.accessed = 0;
    } else {
        WarpState::Apart together{site.lanes, {}};
        release(warp, site.lanes, together.knows);
        set_apart(warp, site.lanes);
        std::erase_if(warp.apart, [&](const WarpState::Apart& each) { return (each.lanes & site.lanes) != 0; });
        warp.apart.push_back(std::move(together));
    }
    ++warp.epoch;
    ++warp.activity;
}

}  // namespace tilepath::check
