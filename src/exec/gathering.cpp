// Operations that several lanes of a warp execute together wait here for those that have not come yet.
#include <algorithm>
#include <bit>

#include "exec/collectives.h"
#include "exec/executor.h"

namespace tilepath::exec {
namespace {

using program::Op;

bool is_collective(Op op) {
    static constexpr Op those[] = {Op::shfl, Op::vote, Op::match, Op::redux, Op::elect, Op::bar_warp_sync};
    return std::ranges::find(those, op) != std::end(those);
}

/// Lanes in one group that execute a collective with one membermask.
struct Participant {
    Group* group;
    LaneMask lanes;
};

const Code& code_of(const Group& group) { return group.frame->function->code[group.pc]; }

/// The membermask of each lane: the last source.
const Row& membermasks(const Group& group) {
    const Code& code = code_of(group);
    return group.frame->rows[code.places[code.op->destinations + code.op->sources - 1]];
}

LaneMask lanes_with_mask(const Group& group, LaneMask among, LaneMask mask) {
    const Row& masks = membermasks(group);
    LaneMask same = 0;
    for (int lane = 0; lane < warp_lanes; ++lane) same |= LaneMask(masks.lane[lane] == mask) << lane;
    return same & among;
}

bool same_operation(const program::MicroOp& a, const program::MicroOp& b) {
    return a.op == b.op && a.variant == b.variant && a.type == b.type;
}

void read_inputs(const Participant& from, Exchange& x) {
    const Code& code = code_of(*from.group);
    const program::MicroOp& op = *code.op;
    const Frame& frame = *from.group->frame;
    const std::uint32_t* source = code.places + op.destinations;
    if (op.op == Op::vote) {
        x.predicate |= (frame.predicates[source[0]] ^ code.inverts[op.destinations]) & from.lanes;
        return;
    }
    if (op.op == Op::elect || op.op == Op::bar_warp_sync) return;
    const bool wide = op.op == Op::match && program::bits(op.type) == 64;
    const auto* values = reinterpret_cast<const std::uint64_t*>(&frame.rows[source[0]]);
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if ((from.lanes >> lane & 1) == 0) continue;
        if (wide)
            x.wide[lane] = values[lane];
        else
            x.a[lane] = frame.rows[source[0]].lane[lane];
        if (op.op != Op::shfl) continue;
        x.b[lane] = frame.rows[source[1]].lane[lane];
        x.c[lane] = frame.rows[source[2]].lane[lane];
    }
}

void write_results(const Participant& to, const Exchange& x) {
    const Code& code = code_of(*to.group);
    const program::MicroOp& op = *code.op;
    Frame& frame = *to.group->frame;
    auto set_predicate = [&](std::uint32_t place) {
        frame.predicates[place] = (frame.predicates[place] & ~to.lanes) | (x.p & to.lanes);
    };
    if (op.destinations == 0) return;
    if (op.op == Op::vote && op.variant != static_cast<std::uint8_t>(program::VoteMode::ballot)) {
        set_predicate(code.places[0]);
        return;
    }
    Row& row = frame.rows[code.places[0]];
    for (int lane = 0; lane < warp_lanes; ++lane)
        if (to.lanes >> lane & 1) row.lane[lane] = x.d[lane];
    if (op.destinations > 1) set_predicate(code.places[1]);
}

void execute_together(std::span<const Participant> participants) {
    Exchange x;
    for (const Participant& each : participants) {
        x.members |= each.lanes;
        read_inputs(each, x);
    }
    exchange(*code_of(*participants[0].group).op, x);
    for (const Participant& each : participants) write_results(each, x);
}

}  // namespace

/// Whether every live lane of the warp executes the operation now. If not, those that do wait.
bool Executor::gather(Context& c) {
    if ((c.warp.live & ~c.active) == 0) {
        observe_converged(c);
        return true;
    }
    wait_for_others(c);
    return false;
}

void Executor::observe_converged(const Context& c) {
    if (observer_ != nullptr) observer_->converged(site(c));
}

/// The active lanes wait at this operation; the others of the group, whose guard is false, go on.
void Executor::wait_for_others(Context& c) {
    Group* waiting = &c.group;
    if (c.active != c.group.lanes) {
        waiting = &split(c.warp, c.group, c.active, c.pc());
        c.group.pc = c.pc() + 1;
    }
    waiting->state = GroupState::gathering;
}

Step Executor::collective(Context& c) {
    if (c.op().op == Op::activemask) {
        Row& d = c.row(c.code.d);
        for (int lane = 0; lane < warp_lanes; ++lane)
            if (c.active >> lane & 1) d.lane[lane] = c.active;
        return Step::next;
    }
    const Row& masks = membermasks(c.group);
    LaneMask outside = 0;
    bool complete = true;
    for (LaneMask left = c.active; left != 0;) {
        const LaneMask mask = masks.lane[std::countr_zero(left)];
        const LaneMask members = lanes_with_mask(c.group, c.active, mask);
        outside |= members & ~mask;
        complete = complete && (mask & c.warp.live & ~members) == 0;
        left &= ~members;
    }
    if (outside != 0)
        return fail(c, FaultKind::membermask, outside, "a lane executes this although its membermask leaves it out");
    if (!complete) {
        wait_for_others(c);
        return Step::stop;
    }
    observe_converged(c);
    for (LaneMask left = c.active; left != 0;) {
        const Participant members{&c.group, lanes_with_mask(c.group, left, masks.lane[std::countr_zero(left)])};
        execute_together({&members, 1});
        left &= ~members.lanes;
    }
    return Step::next;
}

/// Called when no group of the warp is ready: brings together lanes that wait for one another.
void Executor::resolve_gathering(Warp& warp) {
    for (std::size_t i = 0; i < warp.groups.size(); ++i) {
        Group& group = warp.groups[i];
        if (group.state != GroupState::gathering) continue;
        if (is_collective(code_of(group).op->op)) {
            if (resolve_collective(warp, group)) return;
        } else if (resolve_aligned(warp, group)) {
            return;
        }
    }
}

/// An `.aligned` operation: lanes that have come to it one by one execute it together. If all others wait elsewhere for
/// lanes of this warp too, they never will.
bool Executor::resolve_aligned(Warp& warp, Group& group) {
    LaneMask here = 0, stuck = 0;
    for (const Group& other : warp.groups) {
        if (other.state == GroupState::gathering) stuck |= other.lanes;
        if (other.state == GroupState::gathering && other.frame == group.frame && other.pc == group.pc)
            here |= other.lanes;
    }
    if (here == warp.live) {
        for (Group& other : warp.groups) other.state = GroupState::ready;
        return true;
    }
    if (stuck != warp.live) return false;  // some wait for another warp, for time or for memory, and may yet come
    Context c = context_of(warp, group);
    fail(c, FaultKind::diverged, here,
         "every live lane of the warp must execute this together, but " + describe_lanes(warp.live & ~here) +
             " wait elsewhere, in code that the warp has diverged into");
    return false;
}

/// A `.sync` operation: complete for one membermask once all its live lanes execute the same operation, wherever it
/// stands.
bool Executor::resolve_collective(Warp& warp, Group& group) {
    const program::MicroOp& op = *code_of(group).op;
    for (LaneMask left = group.lanes; left != 0;) {
        const LaneMask mask = membermasks(group).lane[std::countr_zero(left)];
        std::vector<Participant> participants;
        LaneMask present = 0;
        for (Group& other : warp.groups) {
            if (other.state != GroupState::gathering || !same_operation(op, *code_of(other).op)) continue;
            const LaneMask lanes = lanes_with_mask(other, other.lanes, mask);
            if (lanes == 0) continue;
            participants.push_back({&other, lanes});
            present |= lanes;
        }
        left &= ~lanes_with_mask(group, left, mask);
        if ((mask & warp.live & ~present) != 0) continue;
        execute_together(participants);
        if (observer_ != nullptr) {
            machine::EventSite together = site(context_of(warp, group));
            together.lanes = present;
            observer_->converged(together);
        }
        if (observe_operations_)
            for (const Participant& each : participants)
                observe_executed(warp, *each.group->frame, code_of(*each.group), each.lanes);
        wrote();  // values of other lanes have arrived: a loop that waits for them does not only poll
        // Splitting appends groups, which never moves them (Warp::groups).
        for (const Participant& each : participants) {
            Group* done = each.group;
            if (each.lanes != done->lanes) done = &split(warp, *done, each.lanes, done->pc);
            done->state = GroupState::ready;
            ++done->pc;
        }
        return true;
    }
    return false;
}

}  // namespace tilepath::exec
