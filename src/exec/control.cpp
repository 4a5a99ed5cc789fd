// Which lanes of a warp run: they split at branches and meet again where they stand at the same operation.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "exec/executor.h"

namespace tilepath::exec {

/// The ready group that has had the fewest turns; then the one in the deepest call frame; then the one that stands
/// earliest in reverse post-order. Ready groups at the same place become one. Null: all of them wait.
Group* Executor::choose(Warp& warp) {
    for (;;) {
        Group* best = nullptr;
        if (is_alone(warp) && !warp.groups[0].ready() && warp.groups[0].state != GroupState::gathering) return nullptr;
        for (Group& group : warp.groups) {
            if (!group.ready()) continue;
            if (best == nullptr || group.turns < best->turns) {
                best = &group;
            } else if (group.turns == best->turns) {
                const bool deeper = group.frame->depth > best->frame->depth;
                const bool earlier = group.frame->depth == best->frame->depth && group.pc < best->pc;
                if (deeper || earlier) best = &group;
            }
        }
        if (best != nullptr) {
            if (warp.groups.size() == 1) {
                best->turns = 0;
                return best;
            }
            for (std::size_t i = warp.groups.size(); i-- > 0;) {
                Group& group = warp.groups[i];
                if (&group == best || !group.ready() || group.frame != best->frame || group.pc != best->pc) continue;
                best->lanes |= group.lanes;
                best->turns = std::min(best->turns, group.turns);
                if (best == &warp.groups.back()) best = &group;
                std::swap(group, warp.groups.back());
                warp.groups.pop_back();
            }
            return best;
        }
        const std::size_t waiting = warp.groups.size();
        resolve_gathering(warp);
        const bool changed = std::ranges::any_of(warp.groups, &Group::ready) || warp.groups.size() != waiting;
        if (!changed) return nullptr;
    }
}

/// Takes `lanes` out of the group, into a new one at `pc`. The group keeps at least one lane.
Group& Executor::split(Warp& warp, Group& group, LaneMask lanes, std::uint32_t pc) {
    TILEPATH_ASSERT((group.lanes & ~lanes) != 0 && warp.groups.size() < warp_lanes, "a split that leaves no lane");
    Group fresh = group;
    fresh.lanes = lanes;
    fresh.pc = pc;
    fresh.state = GroupState::ready;
    group.lanes &= ~lanes;
    warp.groups.push_back(fresh);
    return warp.groups.back();
}

void Executor::remove(Warp& warp, Group& group) {
    if (&group != &warp.groups.back()) group = warp.groups.back();
    warp.groups.pop_back();
}

/// Lanes leave the kernel; those of the group that stay go on behind the operation.
void Executor::exit_lanes(Context& c, LaneMask lanes) {
    Warp& warp = c.warp;
    warp.live &= ~lanes;
    warp.cta->state.live_threads -= static_cast<std::uint32_t>(std::popcount(lanes));
    for (Frame* frame = &c.frame; frame != nullptr;) {
        Frame* const caller = frame->caller;
        frame->lanes &= ~lanes;
        if (frame->lanes == 0) frames_.give_back(frame);
        frame = caller;
    }
    c.group.lanes &= ~lanes;
    c.group.pc = c.pc() + 1;
    const bool warpgroup_goes_on = warp_left_warpgroup(c);
    if (c.group.lanes == 0) remove(warp, c.group);
    if (warpgroup_goes_on) lanes_left(warp);
    if (warp.cta->state.live_threads != 0) return;
    bulks_at_exit(*warp.cta);
    tcgen05_.cta_exits(c);
    if (observer_ != nullptr) observer_->cta_ends(event_of(*warp.cta));
}

Step Executor::branch_indexed(Context& c) {
    const std::vector<std::uint32_t>& table = c.frame.function->branch_tables[c.op().detail];
    const Row& index = c.row(c.code.a);
    LaneMask beyond = 0;
    for (int lane = 0; lane < warp_lanes; ++lane)
        if ((c.active >> lane & 1) && index.lane[lane] >= table.size()) beyond |= 1u << lane;
    if (beyond != 0)
        return fail(c, FaultKind::bad_call, beyond,
                    "brx.idx: the index is not below the number of targets, " + std::to_string(table.size()));
    Group& group = c.group;
    const std::uint32_t here = c.pc();
    group.pc = here + 1;  // lanes whose guard is false
    for (LaneMask left = c.active; left != 0;) {
        const std::uint32_t chosen = index.lane[std::countr_zero(left)];
        LaneMask together = 0;
        for (int lane = 0; lane < warp_lanes; ++lane)
            if ((left >> lane & 1) && index.lane[lane] == chosen) together |= 1u << lane;
        left &= ~together;
        const std::uint32_t target = table[chosen];
        if (together == group.lanes) {
            group.pc = target;
            if (target <= here && --c.warp.until_burst < 0) check_polling(c.warp, group);
        } else {
            split(c.warp, group, together, target);
        }
    }
    return Step::stop;
}

namespace {

void take_snapshot(PollWatch& watch, const Frame& frame, const LoadedFunction::LoopHead& head) {
    watch.rows.clear();
    watch.predicates.clear();
    for (std::uint32_t row : head.rows) watch.rows.push_back(frame.rows[row]);
    for (std::uint32_t predicate : head.predicates) watch.predicates.push_back(frame.predicates[predicate]);
}

/// Rows that belong together hold 64-bit registers, whose halves do not lie in the lane of the same number: rows are
/// compared whole. Other lanes' registers only change when those lanes run, so that this errs towards "changed".
bool unchanged(const PollWatch& watch, const Frame& frame, const LoadedFunction::LoopHead& head) {
    for (std::size_t i = 0; i < head.predicates.size(); ++i)
        if ((frame.predicates[head.predicates[i]] ^ watch.predicates[i]) & watch.lanes) return false;
    for (std::size_t i = 0; i < head.rows.size(); ++i)
        if (std::memcmp(&frame.rows[head.rows[i]], &watch.rows[i], sizeof(Row)) != 0) return false;
    return true;
}

}  // namespace

/// At a loop's head: if neither the loop's registers nor memory have changed since an earlier visit, going on would
/// repeat it for ever, and the group waits until memory changes.
void Executor::check_polling(Warp& warp, Group& group) {
    if (--warp.burst_left < 0) {
        warp.burst = std::min(2 * warp.burst, Warp::longest_burst);
        warp.burst_left = warp.burst;
        warp.until_burst = Warp::gap_per_burst * warp.burst;
        warp.watches.clear();
        return;
    }
    if (group.given_up != 0) return;  // it waits at an mbarrier, which tells more
    const auto& heads = group.frame->function->loop_heads;
    const auto head = std::ranges::lower_bound(heads, group.pc, {}, &LoadedFunction::LoopHead::code);
    if (head == heads.end() || head->code != group.pc) return;
    auto watch = std::ranges::find_if(warp.watches, [&](const PollWatch& each) {
        return each.entry == group.frame->entry && each.pc == group.pc && each.lanes == group.lanes;
    });
    const std::uint64_t epoch = launch_.epoch();
    if (watch == warp.watches.end()) {
        constexpr std::size_t most = 16;
        if (warp.watches.size() == most) warp.watches.erase(warp.watches.begin());
        watch = warp.watches.insert(warp.watches.end(), PollWatch{});
        watch->entry = group.frame->entry;
        watch->pc = group.pc;
        watch->lanes = group.lanes;
    } else if (watch->epoch == epoch && watch->local_changes == warp.local_changes &&
               unchanged(*watch, *group.frame, *head)) {
        group.state = GroupState::polling;
        group.epoch = epoch;
        group.timed = warp.clock_reads != watch->clock_reads;
        return;
    } else if (++watch->visits < watch->next_look) {
        return;  // what repeats may take several visits: compare over longer and longer stretches
    }
    watch->next_look *= 2;
    watch->visits = 0;
    watch->epoch = epoch;
    watch->clock_reads = warp.clock_reads;
    watch->local_changes = warp.local_changes;
    take_snapshot(*watch, *group.frame, *head);
}

}  // namespace tilepath::exec
