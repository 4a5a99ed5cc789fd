// tcgen05.alloc, dealloc, relinquish_alloc_permit (PTX ISA 9.7.16.7): a warp's, or one warp's of each CTA of a pair.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "exec/executor.h"
#include "exec/tcgen05.h"

namespace tilepath::exec {

using machine::TensorMemory;
using machine::TensorMemoryAddress;
using machine::TensorMemoryError;
using program::Op;

namespace {

std::string wrong_columns(std::uint32_t columns) {
    return fmt::format("the number of columns is 32, 64, 128, 256 or 512; found {}", columns);
}

}  // namespace

Step Tcgen05::wait(Context& c) {
    c.group.state = GroupState::tensor_memory;
    return Step::stop;
}

/// Warps that wait for columns look again.
void Tcgen05::wake(CtaRun& cta) {
    for (Warp& warp : cta.warps)
        for (Group& group : warp.groups)
            if (group.state == GroupState::tensor_memory) group.state = GroupState::ready;
}

/// The warp of the peer that waited for this one goes on behind its operation.
void Tcgen05::release_peer(CtaRun& peer) {
    const TensorUse by = std::exchange(peer.tensor->meeting, {}).by;
    for (Group& group : by.warp->groups) {
        if (&group.frame->function->code[group.pc] != by.code) continue;
        group.state = GroupState::ready;
        ++group.pc;
    }
    executor_.wrote();
}

bool Tcgen05::may_allocate(Context& c, TensorState& state, std::uint32_t columns) {
    const auto wrong = [&](std::string message) {
        executor_.fail(c, FaultKind::tensor_memory_allocation, c.active, std::move(message));
        return false;
    };
    switch (state.memory.check_allocation(columns)) {
        case TensorMemoryError::columns: return wrong(wrong_columns(columns));
        case TensorMemoryError::no_permit:
            return wrong(
                fmt::format("the CTA has given up the right to allocate: tcgen05.relinquish_alloc_permit in {}",
                            where(state.relinquished)));
        case TensorMemoryError::none:
        case TensorMemoryError::not_allocated: break;
    }
    if (state.last_columns == 0 || columns <= state.last_columns) return true;
    return wrong(
        fmt::format("{} columns after the {} that the CTA allocated before, in {}: the number may not increase "
                    "from one allocation to the next; allocate the largest first",
                    columns, state.last_columns, where(state.last_allocation)));
}

/// Of a pair: true for the second of the two warps, after it has found that both do the same. The first waits; both
/// wait where `own.meeting` is set and the columns are not there yet.
bool Tcgen05::meet(Context& c, TensorState& own, TensorState& peer) {
    const TensorUse& other = peer.meeting.by;
    if (other.code == nullptr) return false;
    const bool same_op = other.code->op->op == c.op().op;
    if (same_op && peer.meeting.columns == own.meeting.columns && peer.meeting.column == own.meeting.column)
        return true;
    executor_.fail(c, FaultKind::tensor_memory_allocation, c.active,
                   same_op
                       ? fmt::format("both CTAs of the pair must do the same, but the peer's, in {}, has {} columns "
                                     "from column {} where this one has {} from column {}",
                                     where(other), peer.meeting.columns, peer.meeting.column, own.meeting.columns,
                                     own.meeting.column)
                       : fmt::format("both CTAs of the pair must do the same, but the peer executes {} in {}",
                                     program::traits(other.code->op->op).name, where(other)));
    return false;
}

void Tcgen05::finish_allocation(TensorState& state, const TensorUse& by, std::uint32_t column, std::uint32_t columns,
                                std::uint8_t* result) {
    const std::uint32_t address = TensorMemoryAddress{0, column}.bits();
    std::memcpy(result, &address, sizeof address);
    state.allocations.push_back({column, columns, by});
    state.last_columns = columns;
    state.last_allocation = by;
    executor_.wrote();
    tell(by, true, column, columns);
}

Step Tcgen05::allocate(Context& c) {
    const int cta_group = c.op().variant;
    if (!use_group(c, cta_group) || !uniform(c, 1, "the number of columns")) return Step::fault;
    Lanes to;
    if (!executor_.resolve(c, machine::Access::Kind::write, 4, to)) return Step::fault;
    to.fill_host(4);
    const program::Space space = to.mixed ? to.spaces[0] : to.space;
    if (space != program::Space::shared)
        return executor_.fail_access(c, FaultKind::tensor_memory_allocation, machine::Access::Kind::write, 0,
                                     {space, to.address[0]}, 4,
                                     "the address of the columns is written to the CTA's own shared memory");
    CtaRun& cta = *c.warp.cta;
    TensorState& state = state_of(cta);
    const std::uint32_t columns = c.row(c.source(1)).lane[0];
    if (!may_allocate(c, state, columns)) return Step::fault;
    const TensorUse by = user(c, c.active);
    if (cta_group == 1) {
        const auto column = state.memory.allocate(columns);
        if (!column) return wait(c);
        finish_allocation(state, by, *column, columns, to.host[0]);
        return Step::next;
    }
    CtaRun& peer = *peer_of(cta);
    TensorState& other = state_of(peer);
    state.meeting = {by, columns, 0, to.host[0]};
    if (!meet(c, state, other)) return executor_.launch_.stop.load(std::memory_order_relaxed) ? Step::fault : wait(c);
    // Both CTAs allocate and free together, so that the same columns are free in both.
    const auto column = state.memory.allocate(columns);
    if (!column) return wait(c);
    other.memory.allocate(columns);
    finish_allocation(state, by, *column, columns, to.host[0]);
    finish_allocation(other, other.meeting.by, *column, columns, other.meeting.result);
    state.meeting = {};
    release_peer(peer);
    return Step::next;
}

bool Tcgen05::free_columns(Context& c, TensorState& state, std::uint32_t column, std::uint32_t columns) {
    switch (state.memory.deallocate(column, columns)) {
        case TensorMemoryError::none: break;
        case TensorMemoryError::columns:
            executor_.fail(c, FaultKind::tensor_memory_allocation, c.active, wrong_columns(columns));
            return false;
        case TensorMemoryError::not_allocated:
        case TensorMemoryError::no_permit:
            executor_.fail(c, FaultKind::tensor_memory_allocation, c.active,
                           fmt::format("no allocation of {} columns begins at column {}; {}. Give tcgen05.dealloc the "
                                       "address and the number of columns of a tcgen05.alloc, once",
                                       columns, column, describe_allocations(state)));
            return false;
    }
    std::erase_if(state.allocations, [&](const TensorState::Allocation& each) { return each.column == column; });
    tell(user(c, c.active), false, column, columns);
    return true;
}

Step Tcgen05::deallocate(Context& c) {
    const int cta_group = c.op().variant;
    if (!use_group(c, cta_group) || !uniform(c, 0, "the address") || !uniform(c, 1, "the number of columns"))
        return Step::fault;
    CtaRun& cta = *c.warp.cta;
    TensorState& state = state_of(cta);
    const auto at = TensorMemoryAddress::of(c.row(c.source(0)).lane[0]);
    const std::uint32_t columns = c.row(c.source(1)).lane[0];
    if (at.lane != 0)
        return executor_.fail(c, FaultKind::tensor_memory_allocation, c.active,
                              fmt::format("the address names lane {}; an allocation begins at lane 0", at.lane));
    publish(cta, nullptr);
    CtaRun* const peer = cta_group == 2 ? peer_of(cta) : nullptr;
    if (peer != nullptr) {
        state.meeting = {user(c, c.active), columns, at.column, nullptr};
        if (!meet(c, state, state_of(*peer)))
            return executor_.launch_.stop.load(std::memory_order_relaxed) ? Step::fault : wait(c);
        if (!free_columns(c, state_of(*peer), at.column, columns)) return Step::fault;
        state.meeting = {};
        release_peer(*peer);
    }
    if (!free_columns(c, state, at.column, columns)) return Step::fault;
    executor_.wrote();
    wake(cta);
    if (peer != nullptr) wake(*peer);
    return Step::next;
}

Step Tcgen05::relinquish(Context& c) {
    TensorState& state = state_of(*c.warp.cta);
    state.memory.relinquish_permit();
    if (state.relinquished.code == nullptr) state.relinquished = user(c, c.active);
    return Step::next;
}

}  // namespace tilepath::exec
