// mbarrier.init, inval, arrive, test_wait, try_wait, pending_count.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::BarrierEvent;
using machine::Mbarrier;
using machine::MbarrierError;
using program::Op;

namespace {

std::string_view describe(MbarrierError error) {
    switch (error) {
        case MbarrierError::none: return "";
        case MbarrierError::not_initialised: return "no mbarrier was initialised there";
        case MbarrierError::count: return "the count is not in 1 … 2^20 - 1, or more threads arrive than are expected";
        case MbarrierError::transactions: return "the transaction count leaves its range of 2^20 - 1";
        case MbarrierError::completes: return "an arrival with .noComplete would complete the phase";
    }
    return "";
}

std::uint64_t word_at(const std::uint8_t* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

}  // namespace

Step Executor::mbarrier(Context& c) {
    const program::MicroOp& op = c.op();
    if (op.op == Op::mbarrier_pending_count) {
        for (LaneMask left = c.active; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            c.row(c.code.d).lane[lane] = machine::state_pending(c.wide(c.code.a)[lane]);
        }
        return Step::next;
    }
    const bool waits = op.op == Op::mbarrier_test_wait;
    const auto kind = waits ? machine::Access::Kind::read : machine::Access::Kind::atomic;
    Lanes lanes;
    if (!resolve(c, kind, 8, lanes)) return Step::fault;
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const program::Space space = lanes.mixed ? lanes.spaces[lane] : lanes.space;
        if (space != program::Space::shared && space != program::Space::shared_cluster)
            return fail_access(c, FaultKind::mbarrier, kind, lane, {space, lanes.address[lane]}, 8,
                               "an mbarrier lies in shared memory");
    }
    lanes.fill_host(8);
    return waits ? mbarrier_wait(c, lanes) : mbarrier_update(c, lanes);
}

Step Executor::mbarrier_update(Context& c, const Lanes& lanes) {
    const program::MicroOp& op = c.op();
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint64_t before = word_at(lanes.host[lane]);
        const std::uint32_t count = c.has_source(1) ? c.row(c.source(1)).lane[lane] : 1;
        Mbarrier barrier;
        MbarrierError error = MbarrierError::none;
        bool completed = false;
        std::uint64_t after = 0;
        if (op.op == Op::mbarrier_init) {
            error = machine::init(barrier, count);
        } else if (!machine::decode(before, barrier)) {
            error = MbarrierError::not_initialised;
        } else if (op.op == Op::mbarrier_arrive) {
            const bool drop = op.variant & 1, no_complete = op.variant & 2;
            if (no_complete) {
                if (drop && count < barrier.expected) barrier.expected -= count;
                error = machine::arrive_no_complete(barrier, count);
            } else {
                error =
                    drop ? machine::arrive_drop(barrier, count, completed) : machine::arrive(barrier, count, completed);
            }
        }
        if (error != MbarrierError::none)
            return fail_access(c, FaultKind::mbarrier, machine::Access::Kind::atomic, lane,
                               {program::Space::shared, lanes.address[lane]}, 8, std::string(describe(error)));
        if (op.op != Op::mbarrier_inval) after = machine::encode(barrier);
        std::memcpy(lanes.host[lane], &after, sizeof after);
        if (op.op == Op::mbarrier_arrive && op.destinations > 0) c.wide(c.code.d)[lane] = before;
        if (observer_ != nullptr && op.op == Op::mbarrier_arrive) {
            const auto kind = completed ? BarrierEvent::Kind::complete : BarrierEvent::Kind::arrive;
            machine::EventSite where = site(c);
            where.lanes = 1u << lane;
            observer_->barrier({where, kind, true, lanes.address[lane], machine::state_phase(before)});
        }
    }
    wrote();
    return Step::next;
}

/// test_wait answers at once; lanes of try_wait whose phase has not completed wait until memory changes.
Step Executor::mbarrier_wait(Context& c, const Lanes& lanes) {
    const bool parity = c.op().variant & 1, tries = c.op().variant & 2;
    LaneMask done = 0;
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        Mbarrier barrier;
        if (!machine::decode(word_at(lanes.host[lane]), barrier))
            return fail_access(c, FaultKind::mbarrier, machine::Access::Kind::read, lane,
                               {program::Space::shared, lanes.address[lane]}, 8,
                               std::string(describe(MbarrierError::not_initialised)));
        const bool complete = parity ? machine::parity_completed(barrier, c.row(c.source(1)).lane[lane] & 1)
                                     : machine::phase_completed(barrier, c.wide(c.source(1))[lane]);
        done |= LaneMask(complete) << lane;
    }
    if (observer_ != nullptr && done != 0) {
        machine::EventSite where = site(c);
        where.lanes = done;
        const int lane = std::countr_zero(done);
        observer_->barrier({where, BarrierEvent::Kind::wait, true, lanes.address[lane],
                            machine::state_phase(word_at(lanes.host[lane]))});
    }
    if (!tries || done == c.active || c.group.gives_up) {
        c.group.gives_up = false;
        c.set_predicate(c.code.d, done);
        return Step::next;
    }
    const LaneMask waiting = c.active & ~done;
    Group* waiter = &c.group;
    if (waiting != c.group.lanes) {
        waiter = &split(c.warp, c.group, waiting, c.pc());
        c.group.pc = c.pc() + 1;
        c.predicates[c.code.d] |= done;
    }
    waiter->state = GroupState::mbarrier;
    waiter->epoch = launch_.epoch();
    return Step::stop;
}

}  // namespace tilepath::exec
