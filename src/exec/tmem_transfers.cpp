// tcgen05.ld, st and wait (PTX ISA 9.7.16.8): a warp's transfers between Tensor Memory and its registers. They land
// when the policy says, loads at the latest when their registers are used: that dependency is respected without a wait
// (9.7.16.6.4.5). Stores take their registers when they are issued, for compilers give these to others at once.
#include <fmt/format.h>

#include <algorithm>

#include "atom/tmem_transfer.h"
#include "exec/executor.h"
#include "exec/tcgen05.h"

namespace tilepath::exec {

using machine::CopyPolicy;
using machine::TensorCells;
using machine::TensorMemoryAddress;
using program::Op;

namespace {

bool is_store(const Code& code) { return code.op->op == Op::tcgen05_st; }

/// What a load reads: without a fence before it, the threads' image, in which products that have landed are not; else
/// what is there when it lands.
const std::uint32_t* source_of(const PendingTransfer& transfer, const machine::TensorMemory& memory) {
    const auto at = TensorMemoryAddress::of(transfer.address);
    return (transfer.fenced ? memory.column(at.column) : memory.seen(at.column)) + at.lane;
}

}  // namespace

/// A warp reaches the 32 lanes from 32 · (warp mod 4) on (PTX ISA 9.7.16.8.1). Addresses without the warp's lanes are
/// taken within them, and those from 128 on as if they began again at 0: kernels that run on B200 rely on it (DeepGEMM,
/// FlashMLA; learn-cuda's CTA pairs count the second CTA's lanes from 128 on). `at` becomes where the cells are.
bool Tcgen05::check_window(Context& c, const TransferPlan& plan, TensorMemoryAddress& at) {
    const auto first = static_cast<std::uint32_t>(atom::first_tmem_lane(static_cast<int>(c.warp.index)));
    const std::uint32_t within = at.lane % 32, named = at.lane % machine::TensorMemory::lanes;
    if ((named < 32 || named - within == first) && (within == 0 || (plan.lanes == 16 && within == 16))) {
        at.lane = first + within;
        return true;
    }
    TensorCells cells;
    cells.column = at.column;
    cells.columns = static_cast<std::uint32_t>(plan.columns);
    if (at.lane < machine::TensorMemory::lanes) cells.lanes[at.lane / 32] = ~0u << within;
    fail_cells(
        user(c, c.active), FaultKind::tensor_memory_access, cells, nullptr,
        fmt::format("warp {} reaches lanes {} to {} of Tensor Memory, and the address names lane {}; add {} << 16 "
                    "to the address of the columns{}",
                    c.warp.index, first, first + 31, at.lane, first,
                    plan.lanes == 16 ? fmt::format(", or {} << 16 for the upper 16 lanes", first + 16) : ""));
    return false;
}

Step Tcgen05::transfer(Context& c) {
    const bool store = is_store(c.code);
    const program::TmemTransfer& what = c.function().tmem_transfers[c.op().detail];
    const TransferPlan& plan = transfer_plans_.find(what, store);
    if (!uniform(c, 0, "the address")) return Step::fault;
    PendingTransfer transfer;
    transfer.id = executor_.launch_.next_copy_id++;
    transfer.plan = &plan;
    transfer.by = user(c, c.active);
    transfer.frame = &c.frame;
    transfer.entry = c.frame.entry;
    transfer.address = c.row(c.source(0)).lane[0] + static_cast<std::uint32_t>(c.op().immediate);
    auto at = TensorMemoryAddress::of(transfer.address);
    CtaRun& cta = *c.warp.cta;
    TensorState& state = state_of(cta);
    if (!check_window(c, plan, at)) return Step::fault;
    if (!store) publish(cta, &c.warp);  // its own stores a warp sees
    transfer.address = at.bits();
    const std::vector<TensorCells> cells = plan.touched(at, store);
    for (const TensorCells& each : cells)
        if (!check_cells(transfer.by, state, each, "the address", "")) return Step::fault;
    for (const TensorCells& each : cells)
        transfer.fenced = transfer.fenced && !state.memory.unseen(each.column, each.columns);
    if (executor_.observer_ != nullptr) tell(transfer, cells, false, false);
    if (store)
        for (int r = 0; r < plan.registers; ++r) transfer.values.push_back(c.row(c.source(1 + r)));
    if (executor_.launch_.options.copies == CopyPolicy::eager)
        land(cta, transfer, true);
    else
        state.transfers.push_back(std::move(transfer));
    return executor_.launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

/// `waited`: by its own warp.
void Tcgen05::land(CtaRun& cta, PendingTransfer& transfer, bool waited) {
    TensorState& state = *cta.tensor;
    const TransferPlan& plan = *transfer.plan;
    const Code& code = *transfer.by.code;
    const bool store = is_store(code);
    const std::vector<TensorCells> cells = plan.touched(TensorMemoryAddress::of(transfer.address), store);
    for (const TensorCells& each : cells)
        if (!check_cells(transfer.by, state, each, "the address",
                         " any more when this lands: no tcgen05.wait came before"))
            return;
    bool unwritten = false;
    if (store) {
        const auto at = TensorMemoryAddress::of(transfer.address);
        const bool hidden = waited && state.memory.apart();
        if (!hidden) plan.store(state.memory.column(at.column) + at.lane, transfer.values.data());
        if (state.memory.apart()) plan.store(state.memory.own_image(at.column) + at.lane, transfer.values.data());
        for (const TensorCells& each : cells) mark_written(state.memory, each);
        executor_.wrote();
        if (executor_.observer_ != nullptr) tell(transfer, cells, true, false);
        if (hidden) state.unpublished.push_back(std::move(transfer));
        return;
    }
    publish(cta, transfer.by.warp);  // what the same warp has stored since
    if (transfer.frame->entry == transfer.entry) {  // else the lanes have left, and nobody will look
        Row* const rows = transfer.frame->rows.data();
        plan.load(source_of(transfer, state.memory), rows, code.places);
        if (plan.what->reduces) plan.reduce(code.op->type, rows, code.places, rows[code.places[plan.registers]]);
        if (executor_.observer_ != nullptr)
            unwritten =
                std::ranges::any_of(cells, [&](const TensorCells& each) { return any_unwritten(state.memory, each); });
    }
    if (executor_.observer_ != nullptr) tell(transfer, cells, true, unwritten);
}

/// Those that `choose` picks, in order of issue.
template <class Choose>
void Tcgen05::land_transfers(CtaRun& cta, Choose choose, bool waited) {
    std::erase_if(cta.tensor->transfers, [&](PendingTransfer& each) {
        if (executor_.launch_.stop.load(std::memory_order_relaxed) || !choose(each)) return false;
        land(cta, each, waited);
        return true;
    });
}

Step Tcgen05::wait_transfers(Context& c) {
    const bool stores = c.op().variant != 0;
    if (executor_.observer_ != nullptr) executor_.observer_->fence({executor_.site(c)});
    if (c.warp.cta->tensor == nullptr) return Step::next;
    land_transfers(
        *c.warp.cta,
        [&](const PendingTransfer& each) { return each.by.warp == &c.warp && is_store(*each.by.code) == stores; },
        true);
    return executor_.launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

/// Before registers that a load has yet to fill are used, or given to something else.
Step Tcgen05::settle_registers(Context& c) {
    const bool leaves = c.op().variant != 0;
    if (!leaves && executor_.observer_ != nullptr) executor_.observer_->fence({executor_.site(c)});
    if (leaves || c.warp.cta->tensor == nullptr || c.warp.cta->tensor->transfers.empty()) return Step::next;
    const auto concerned = [&](std::uint32_t place) {
        for (int i = 0; i < c.op().sources; ++i)
            if (c.source(i) == place) return true;
        return false;
    };
    land_transfers(*c.warp.cta, [&](const PendingTransfer& each) {
        const Code& code = *each.by.code;
        return each.frame == &c.frame && !is_store(code) &&
               std::any_of(code.places, code.places + code.op->destinations, concerned);
    });
    return executor_.launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

void Tcgen05::land_transfers_randomly(CtaRun& cta) {
    if (cta.tensor == nullptr) return;
    if (executor_.random_() % 64 == 0) cta.tensor->memory.show();
    if (executor_.random_() % 64 == 0) publish(cta, nullptr);
    land_transfers(cta, [&](const PendingTransfer&) { return executor_.random_() % 4 == 0; });
}

void Tcgen05::land_all_transfers(CtaRun& cta) {
    if (cta.tensor != nullptr) land_transfers(cta, [](const PendingTransfer&) { return true; });
}

}  // namespace tilepath::exec
