#pragma once
#include "check/ordering_state.h"

namespace tilepath::check {

/// What each of these lanes knows: `visit(knowledge, lanes that have it)`.
template <class Warp, class Visit>
void each_knowledge(Warp& warp, std::uint32_t lanes, Visit visit) {
    for (auto& each : warp.apart) {
        if (const std::uint32_t common = each.lanes & lanes; common != 0) visit(each.knows, common);
        lanes &= ~each.lanes;
    }
    if (lanes != 0) visit(warp.knows, lanes);
}

/// Brings about that what exactly these lanes know lies apart from what others do.
inline void set_apart(WarpState& warp, std::uint32_t lanes) {
    const std::size_t before = warp.apart.size();
    for (std::size_t i = 0; i < before; ++i) {
        const std::uint32_t common = warp.apart[i].lanes & lanes;
        lanes &= ~common;
        if (common == 0 || common == warp.apart[i].lanes) continue;
        warp.apart[i].lanes &= ~common;
        warp.apart.push_back({common, warp.apart[i].knows});
    }
    if (lanes != 0) warp.apart.push_back({lanes, warp.knows});
}

/// The lanes that execute something learn: `visit(knowledge)` for each knowledge that is theirs.
template <class Visit>
void each_learner(WarpState& warp, std::uint32_t lanes, std::uint32_t live, Visit visit) {
    if ((live & ~lanes) == 0) {
        visit(warp.knows);
        for (WarpState::Apart& each : warp.apart) visit(each.knows);
        return;
    }
    set_apart(warp, lanes);
    for (WarpState::Apart& each : warp.apart)
        if ((each.lanes & lanes) != 0) visit(each.knows);
}

}  // namespace tilepath::check
