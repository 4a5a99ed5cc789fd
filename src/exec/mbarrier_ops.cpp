// mbarrier.init, inval, arrive, expect_tx, complete_tx, test_wait, try_wait, pending_count (PTX ISA 9.7.13.15).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::BarrierEvent;
using machine::Mbarrier;
using machine::MbarrierError;
using program::Op;

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
    const bool own_only = waits || op.op == Op::mbarrier_init || op.op == Op::mbarrier_inval;
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const program::Space space = lanes.mixed ? lanes.spaces[lane] : lanes.space;
        if (space != program::Space::shared && space != program::Space::shared_cluster)
            return fail_access(c, FaultKind::mbarrier, kind, lane, {space, lanes.address[lane]}, 8,
                               "an mbarrier lies in shared memory");
        if (own_only && space == program::Space::shared_cluster)
            return fail_access(c, FaultKind::mbarrier, kind, lane, {space, lanes.address[lane]}, 8,
                               "this is done to mbarriers of the own CTA only");
        if (op.op == Op::mbarrier_arrive && op.destinations > 0 && space == program::Space::shared_cluster)
            return fail_access(c, FaultKind::mbarrier, kind, lane, {space, lanes.address[lane]}, 8,
                               "an arrival on another CTA's mbarrier returns no state; write _ for it");
    }
    if (waits) return mbarrier_wait(c, lanes);
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const auto address = static_cast<std::uint32_t>(lanes.address[lane]);
        const bool done =
            op.op == Op::mbarrier_init ? init_mbarrier(c, lane, address) : mbarrier_update(c, lane, address);
        if (!done) return Step::fault;
    }
    return Step::next;
}

/// A live mbarrier has to be invalidated before its bytes become another one, unless other data has overwritten it.
bool Executor::init_mbarrier(Context& c, int lane, std::uint32_t address) {
    const Issuer by{c.warp, *c.frame.function, c.code, 1u << lane};
    const std::uint32_t count = c.row(c.source(1)).lane[lane];
    Mbarrier barrier;
    if (machine::init(barrier, count) != MbarrierError::none) {
        fail_mbarrier(by, address, FaultKind::mbarrier,
                      fmt::format("an mbarrier expects 1 to {} arrivals; found {}", Mbarrier::count_limit, count));
        return false;
    }
    std::uint8_t* const bytes = cluster_bytes(*c.warp.cta, address, 8);
    auto& records = c.warp.cta->mbarriers;
    const std::uint32_t offset = machine::shared_offset(address);
    auto record = std::ranges::find(records, offset, &MbarrierRecord::offset);
    if (record == records.end()) {
        record = records.insert(records.end(), MbarrierRecord{});
    } else if (std::memcmp(bytes, &record->word, 8) == 0) {
        const CodePlace before = program::code_place(*launch_.loaded.program, *record->initialised.function->function,
                                                     record->initialised.code->op);
        fail_mbarrier(by, address, FaultKind::mbarrier,
                      fmt::format("a live mbarrier is initialised again; the first time was in line {}, and no "
                                  "mbarrier.inval came between",
                                  before.ptx.line));
        return false;
    }
    *record = {};
    record->offset = offset;
    record->word = machine::encode(barrier);
    record->initialised = {&by.function, &by.code, c.warp.cta->state.rank, c.warp.index, by.lanes};
    std::memcpy(bytes, &record->word, sizeof record->word);
    wrote();
    if (observer_ != nullptr) observer_->barrier({site_of(by), BarrierEvent::Kind::init, true, address});
    return true;
}

/// inval, arrive, expect_tx and complete_tx by one lane.
bool Executor::mbarrier_update(Context& c, int lane, std::uint32_t address) {
    const program::MicroOp& op = c.op();
    const Issuer by{c.warp, *c.frame.function, c.code, 1u << lane};
    FoundMbarrier mbarrier;
    if (!find_mbarrier(by, address, mbarrier)) return false;
    if (op.op == Op::mbarrier_inval) {
        if (observer_ != nullptr)
            observer_->barrier({site_of(by), BarrierEvent::Kind::inval, true, address, mbarrier.record->phase});
        std::memset(mbarrier.bytes, 0, 8);
        auto& records = mbarrier.cta->mbarriers;
        records.erase(records.begin() + (mbarrier.record - records.data()));
        wrote();
        return true;
    }
    const std::uint64_t before = mbarrier.record->word;
    const std::uint32_t value = c.has_source(1) ? c.row(c.source(1)).lane[lane] : 1;
    bool completed = false;
    if (op.op == Op::mbarrier_transact) {
        const bool expects = op.variant == 0;
        const std::int64_t bytes = expects ? std::int64_t{value} : -std::int64_t{value};
        const MbarrierError error = machine::transact(mbarrier.state, bytes, completed);
        return change_mbarrier(by, mbarrier, error, completed,
                               expects ? BarrierEvent::Kind::expect : BarrierEvent::Kind::transfer, value);
    }
    const bool drop = op.variant & 1, no_complete = op.variant & 2, expects = op.variant & 4;
    if (expects) {
        const MbarrierError error = machine::transact(mbarrier.state, std::int64_t{value}, completed);
        if (!change_mbarrier(by, mbarrier, error, completed, BarrierEvent::Kind::expect, value)) return false;
        completed = false;
    }
    const std::uint32_t count = expects ? 1 : value;
    const MbarrierError error = no_complete ? machine::arrive_no_complete(mbarrier.state, count, drop)
                                : drop      ? machine::arrive_drop(mbarrier.state, count, completed)
                                            : machine::arrive(mbarrier.state, count, completed);
    if (!change_mbarrier(by, mbarrier, error, completed, BarrierEvent::Kind::arrive)) return false;
    if (op.destinations > 0) c.wide(c.code.d)[lane] = before;
    return true;
}

/// The group's lanes wait until their phase has completed, or until the time limit that the try gives.
void Executor::suspend(Context& c, Group& waiter, const Lanes& lanes) {
    const int first = std::countr_zero(waiter.lanes);
    waiter.state = GroupState::mbarrier;
    waiter.barrier = machine::shared_offset(static_cast<std::uint32_t>(lanes.address[first]));
    std::uint64_t longest = 0;
    for (LaneMask left = waiter.lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (lanes.address[lane] != lanes.address[first]) waiter.barrier = Group::any_mbarrier;
        if (c.has_source(2)) longest = std::max<std::uint64_t>(longest, c.row(c.source(2)).lane[lane]);
    }
    waiter.until = c.has_source(2) ? now() + longest : Group::no_limit;
    const std::uint64_t epoch = launch_.epoch();
    if (waiter.epoch != epoch) waiter.given_up = 0;
    waiter.epoch = epoch;
    waiter.timed = waiter.given_up > 0 && waiter.clock_reads != c.warp.clock_reads;
    waiter.clock_reads = c.warp.clock_reads;
}

/// test_wait answers at once; lanes of try_wait whose phase has not completed wait.
Step Executor::mbarrier_wait(Context& c, const Lanes& lanes) {
    const bool parity = c.op().variant & 1, tries = c.op().variant & 2;
    LaneMask done = 0;
    BarrierEvent seen{{}, BarrierEvent::Kind::wait, true};  // by lanes one behind the other that test one mbarrier
    const auto observe = [&] {
        if (observer_ != nullptr && seen.site.lanes != 0) observer_->barrier(seen);
        seen.site.lanes = 0;
    };
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        FoundMbarrier mbarrier;
        if (!find_mbarrier({c.warp, *c.frame.function, c.code, 1u << lane},
                           static_cast<std::uint32_t>(lanes.address[lane]), mbarrier))
            return Step::fault;
        const bool complete = parity ? machine::parity_completed(mbarrier.state, c.row(c.source(1)).lane[lane] & 1)
                                     : machine::phase_completed(mbarrier.state, c.wide(c.source(1))[lane]);
        done |= LaneMask(complete) << lane;
        if (observer_ == nullptr || !complete) continue;
        if (seen.site.lanes == 0 || seen.barrier != lanes.address[lane]) {
            observe();
            seen.site = site(c);
            seen.site.lanes = 0;
            seen.barrier = lanes.address[lane];
            seen.generation = mbarrier.record->phase;
        }
        seen.site.lanes |= 1u << lane;
    }
    observe();
    if (!tries || done == c.active || c.group.gives_up) {
        c.group.gives_up = false;
        c.group.tested = done == c.active ? nullptr : &c.code;
        if (done == c.active) c.group.given_up = 0;
        if (done != c.active)
            c.group.barrier =
                machine::shared_offset(static_cast<std::uint32_t>(lanes.address[std::countr_zero(c.active & ~done)]));
        c.set_predicate(c.code.d, done);
        // Where copies and products land at once a warp could run through several phases in one turn, and who waits for
        // the first by its parity would never see it. On hardware a phase lasts longer than a warp takes to look.
        if (tries && done == c.active) end_turn();
        return Step::next;
    }
    const LaneMask waiting = c.active & ~done;
    Group* waiter = &c.group;
    if (waiting != c.group.lanes) {
        waiter = &split(c.warp, c.group, waiting, c.pc());
        c.group.pc = c.pc() + 1;
        c.predicates[c.code.d] |= done;
    }
    suspend(c, *waiter, lanes);
    return Step::stop;
}

}  // namespace tilepath::exec
