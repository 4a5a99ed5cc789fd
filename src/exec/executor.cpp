#include "exec/executor.h"

#include <bit>
#include <utility>

#include "base/assert.h"

namespace tilepath::exec {

using program::Op;

void Executor::run_warp(Warp& warp, std::int64_t quantum) {
    quantum_ = turn_quantum_ = quantum;
    while (quantum_ > 0 && !launch_.stop.load(std::memory_order_relaxed)) {
        Group* group = choose(warp);
        if (group == nullptr) break;
        if (observe_operations_)
            run_group<true>(warp, *group);
        else
            run_group<false>(warp, *group);
    }
    // Lanes that the turn's last operation brought together are ready now; the scheduler calls no warp that has none.
    if (quantum_ <= 0) choose(warp);
    const std::int64_t executed = turn_quantum_ - quantum_;
    unshared_time_ += static_cast<std::uint64_t>(executed);
    operations_ += static_cast<std::uint64_t>(executed);
    cluster_quantum_ -= executed;
    turn_quantum_ = quantum_ = since_branch_ = 0;
}

/// The warp gives way at its next branch, and what it has executed stays counted.
void Executor::end_turn() { turn_quantum_ -= std::exchange(quantum_, 0); }

/// Virtual time in the middle of a warp's turn.
std::uint64_t Executor::now() const {
    return launch_.time.load(std::memory_order_relaxed) + unshared_time_ +
           static_cast<std::uint64_t>(turn_quantum_ - quantum_ + since_branch_);
}

/// Runs one group until it must give way: a branch while other groups exist, a wait, an exit, or the end of its
/// quantum.
template <bool observed>
void Executor::run_group(Warp& warp, Group& group) {
    // While other lanes of the warp are ready they get their turn after fewer operations.
    constexpr std::int64_t group_quantum = 4096;
    const std::int64_t end = warp.groups.size() == 1 ? 0 : quantum_ - group_quantum;
    Frame* frame = group.frame;
    const Code* code = frame->function->code.data();
    Row* rows = frame->rows.data();
    LaneMask* predicates = frame->predicates.data();
    const LaneMask lanes = group.lanes;
    const Code* pc = code + group.pc;
    const Code* start = pc;
    auto leave = [&](const Code* at) {
        quantum_ -= pc - start + 1;
        group.pc = static_cast<std::uint32_t>(at - code);
    };
    for (;;) {
        const Code& op = *pc;
        const LaneMask active = lanes & (predicates[op.guard] ^ op.guard_invert);
        if constexpr (observed) {
            if (stops_before(warp, *frame, op, lanes)) return leave(pc);
            if (observer_ != nullptr && active != 0 && op.op != nullptr)
                observer_->operation(event_site(warp, *frame->function, op, active));
        }
        if (op.kind == Kind::lanes) {
            if (active != 0) op.lanes(op, rows, predicates, active);
            if constexpr (observed) observe_executed(warp, *frame, op, active);
            ++pc;
            continue;
        }
        if (op.kind == Kind::bra) {
            const Code* const target = code + op.target;
            if (active != lanes) {
                if (active == 0 && warp.groups.size() == 1) {
                    ++pc;
                    continue;
                }
                if (active != 0) split(warp, group, active, op.target);
                return leave(pc + 1);  // where others may wait that did not take the branch either
            }
            quantum_ -= pc - start + 1;
            const bool look = target <= pc && --warp.until_burst < 0;
            pc = start = target;
            if (quantum_ <= end || warp.groups.size() != 1 || look) {
                group.pc = op.target;
                if (quantum_ <= end) ++group.turns;
                if (look) check_polling(warp, group);
                return;
            }
            continue;
        }
        if (op.kind == Kind::boundary) {
            ++pc;
            if (warp.groups.size() == 1) continue;
            --pc;
            return leave(pc + 1);
        }
        if (active == 0) {
            if (op.kind == Kind::brx) return leave(pc + 1);
            ++pc;
            continue;
        }
        group.pc = static_cast<std::uint32_t>(pc - code);
        since_branch_ = pc - start;
        Context context{warp, group, *frame, rows, predicates, op, active};
        Step step = Step::next;
        switch (op.kind) {
            case Kind::load: step = load(context); break;
            case Kind::store: step = store(context); break;
            case Kind::atomic: step = atomic(context); break;
            case Kind::other: step = (this->*op.body)(context); break;
            case Kind::brx: step = branch_indexed(context); break;
            case Kind::call: step = call(context); break;
            case Kind::ret: step = ret(context); break;
            case Kind::exit_: exit_lanes(context, active), step = Step::stop; break;
            case Kind::trap: step = fail(context, FaultKind::trap, active, "the kernel trapped"); break;
            case Kind::lanes:
            case Kind::bra:
            case Kind::boundary: TILEPATH_ASSERT(false, "handled above");
        }
        if (step != Step::next) {
            quantum_ -= pc - start + 1;
            return;
        }
        if constexpr (observed) observe_executed(warp, *frame, op, active);
        ++pc;
    }
}

template void Executor::run_group<false>(Warp&, Group&);
template void Executor::run_group<true>(Warp&, Group&);

Executor::Body Executor::body_of(Op op) {
    static constexpr std::pair<Op, Body> bodies[] = {
        {Op::special, &Executor::special},
        {Op::cvta, &Executor::address_space},
        {Op::cvta_to, &Executor::address_space},
        {Op::isspacep, &Executor::address_space},
        {Op::mapa, &Executor::cluster_address},
        {Op::getctarank, &Executor::cluster_address},
        {Op::prefetch, &Executor::nothing},
        {Op::alloca_, &Executor::stack},
        {Op::stacksave, &Executor::stack},
        {Op::stackrestore, &Executor::stack},
        {Op::cp_async, &Executor::copy_async},
        {Op::cp_async_mbarrier_arrive, &Executor::copy_async},
        {Op::cp_async_commit, &Executor::copy_wait},
        {Op::cp_async_wait, &Executor::copy_wait},
        {Op::bulk_copy, &Executor::bulk_copy},
        {Op::bulk_commit, &Executor::bulk_commit},
        {Op::bulk_wait, &Executor::bulk_wait},
        {Op::tensormap_replace, &Executor::replace_tensor_map},
        {Op::tensormap_copy, &Executor::copy_tensor_map},
        {Op::fence, &Executor::fence},
        {Op::st_bulk, &Executor::store_bulk},
        {Op::st_async, &Executor::store_async},
        {Op::red_async, &Executor::store_async},
        {Op::mbarrier_init, &Executor::mbarrier},
        {Op::mbarrier_inval, &Executor::mbarrier},
        {Op::mbarrier_arrive, &Executor::mbarrier},
        {Op::mbarrier_transact, &Executor::mbarrier},
        {Op::mbarrier_test_wait, &Executor::mbarrier},
        {Op::mbarrier_pending_count, &Executor::mbarrier},
        {Op::shfl, &Executor::collective},
        {Op::vote, &Executor::collective},
        {Op::match, &Executor::collective},
        {Op::redux, &Executor::collective},
        {Op::activemask, &Executor::collective},
        {Op::elect, &Executor::collective},
        {Op::bar_warp_sync, &Executor::collective},
        {Op::ldmatrix, &Executor::load_matrix},
        {Op::stmatrix, &Executor::store_matrix},
        {Op::movmatrix, &Executor::move_matrix},
        {Op::mma, &Executor::multiply},
        {Op::wgmma, &Executor::wgmma},
        {Op::wgmma_fence, &Executor::wgmma_fence},
        {Op::wgmma_commit, &Executor::wgmma_commit},
        {Op::wgmma_wait, &Executor::wgmma_wait},
        {Op::wgmma_settle, &Executor::wgmma_settle},
        {Op::tcgen05_alloc, &Executor::tcgen05},
        {Op::tcgen05_dealloc, &Executor::tcgen05},
        {Op::tcgen05_relinquish, &Executor::tcgen05},
        {Op::tcgen05_ld, &Executor::tcgen05},
        {Op::tcgen05_st, &Executor::tcgen05},
        {Op::tcgen05_wait, &Executor::tcgen05},
        {Op::tcgen05_settle, &Executor::tcgen05},
        {Op::tcgen05_cp, &Executor::tcgen05},
        {Op::tcgen05_shift, &Executor::tcgen05},
        {Op::tcgen05_mma, &Executor::tcgen05},
        {Op::tcgen05_commit, &Executor::tcgen05},
        {Op::tcgen05_fence, &Executor::tcgen05},
        {Op::wmma_load, &Executor::wmma_transfer},
        {Op::wmma_store, &Executor::wmma_transfer},
        {Op::barrier, &Executor::barrier},
        {Op::cluster_barrier, &Executor::cluster_barrier},
        {Op::setmaxnreg, &Executor::set_registers},
        {Op::try_cancel, &Executor::try_cancel},
        {Op::query_cancel, &Executor::query_cancel},
        {Op::nanosleep, &Executor::sleep},
    };
    for (const auto& [each, body] : bodies)
        if (each == op) return body;
    return nullptr;
}

Step Executor::nothing(Context&) { return Step::next; }

}  // namespace tilepath::exec
