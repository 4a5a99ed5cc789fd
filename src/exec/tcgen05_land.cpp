// tcgen05 operations land: shared memory and Tensor Memory are read now, and Tensor Memory is written.
#include <algorithm>
#include <bit>

#include "atom/tmem_shift.h"
#include "exec/executor.h"
#include "exec/tcgen05.h"

namespace tilepath::exec {

using machine::TensorCells;
using machine::TensorMemory;
using machine::TensorMemoryAddress;
using What = PendingTcgen05::Kind;

/// What an mma's operands, a copy or a shift touch in Tensor Memory.
std::vector<TensorCells> Tcgen05::cells_of(const PendingTcgen05& operation) {
    std::vector<TensorCells> all;
    if (operation.kind == What::mma) {
        const Tcgen05Operands& operands = operation.operands;
        using enum TensorCells::Role;
        for (TensorCells cells : operation.plan->cells) {
            const std::uint32_t address = cells.role == d          ? operands.d
                                          : cells.role == a        ? static_cast<std::uint32_t>(operands.a)
                                          : cells.role == metadata ? operands.metadata
                                          : cells.role == scale_a  ? operands.scale_a
                                                                   : operands.scale_b;
            cells.column += TensorMemoryAddress::of(address).column;
            cells.read = cells.role != d || operands.accumulates;
            cells.write = cells.role == d || (cells.role == a && operation.plan->shifts_a);
            for (std::size_t slab = 0; cells.role == d && slab < cells.lanes.size(); ++slab)
                cells.lanes[slab] &= ~operands.disabled_lanes[4 * cells.cta + slab];
            all.push_back(cells);
        }
        return all;
    }
    const auto at = TensorMemoryAddress::of(operation.address);
    if (operation.kind == What::copy) {
        const program::Function& function = *operation.by.function->function;
        all = copy_plans_.find(function.tmem_copies[operation.by.code->op->detail], operation.descriptor).touched(at);
    } else if (operation.kind == What::shift) {
        TensorCells cells;
        cells.read = cells.write = true;
        cells.column = at.column;
        cells.columns = shifted_columns;
        for (std::uint32_t window = at.lane / 32; window < cells.lanes.size(); ++window) cells.lanes[window] = ~0u;
        all.push_back(cells);
    }
    for (std::size_t i = 0, own = all.size(); operation.cta_group == 2 && i < own; ++i) {
        all.push_back(all[i]);
        all.back().cta = 1;
    }
    return all;
}

/// By rank in the pair, or the operation's own CTA.
CtaRun& Tcgen05::cta_at(const PendingTcgen05& operation, std::uint32_t rank) {
    CtaRun& own = *operation.by.warp->cta;
    if (operation.cta_group == 1 || (own.state.rank & 1) == rank) return own;
    return *peer_of(own);
}

Tcgen05Ctas Tcgen05::ctas_of(const PendingTcgen05& operation) {
    Tcgen05Ctas ctas;
    ctas.count = operation.cta_group;
    for (std::uint32_t i = 0; i < operation.cta_group; ++i) {
        CtaRun& cta = cta_at(operation, i);
        ctas.tensor[i] = &state_of(cta).memory;
        ctas.shared[i] = cta.state.async_view();
    }
    return ctas;
}

bool Tcgen05::check_all(const PendingTcgen05& operation, std::span<const TensorCells> cells, std::string_view when) {
    static constexpr std::string_view names[] = {"D's address",
                                                 "A's address",
                                                 "the metadata's address",
                                                 "the address of A's scale factors",
                                                 "the address of B's scale factors",
                                                 "the address"};
    for (const TensorCells& each : cells)
        if (!check_cells(operation.by, state_of(cta_at(operation, each.cta)), each,
                         names[static_cast<std::size_t>(each.role)], when))
            return false;
    return true;
}

/// Operations that are one piece of work.
void Tcgen05::land(std::span<const PendingTcgen05> run) {
    const PendingTcgen05& first = run.front();
    if (first.kind == What::commit) return commit(first);
    std::vector<std::vector<TensorCells>> cells;
    std::vector<bool> unwritten;
    for (const PendingTcgen05& each : run) {
        cells.push_back(cells_of(each));
        if (!check_all(each, cells.back(), " any more when this lands: nothing has waited for it")) return;
        // What later products of the run read in D the first has written.
        const auto nobody_wrote = [&](const TensorCells& part) {
            return part.read && (&each == &first || part.role != TensorCells::Role::d) &&
                   any_unwritten(state_of(cta_at(each, part.cta)).memory, part);
        };
        unwritten.push_back(executor_.observer_ != nullptr && std::ranges::any_of(cells.back(), nobody_wrote));
    }
    const Tcgen05Ctas ctas = ctas_of(first);
    if (first.kind == What::mma) {
        std::vector<Tcgen05Operands> operands;
        for (const PendingTcgen05& each : run) operands.push_back(each.operands);
        const std::string wrong = multiplier_.multiply(*first.plan, operands, ctas);
        if (!wrong.empty())
            return executor_.fail_at(*first.by.warp, *first.by.function, *first.by.code, FaultKind::tcgen05,
                                     first.by.lanes, wrong);
    }
    for (int i = 0; i < ctas.count; ++i) {
        const auto cta = static_cast<std::size_t>(i);
        if (first.kind == What::copy) copy(first, *ctas.tensor[cta], ctas.shared[cta]);
        if (first.kind == What::shift) shift(first.address, *ctas.tensor[cta]);
        if (first.kind == What::mma && first.plan->shifts_a)
            shift(static_cast<std::uint32_t>(first.operands.a), *ctas.tensor[cta]);
    }
    for (const TensorCells& each : cells.front()) {
        if (!each.write) continue;
        TensorMemory& memory = state_of(cta_at(first, each.cta)).memory;
        memory.set_unseen(each.column, each.columns);
        if (first.kind != What::shift && each.role != TensorCells::Role::a) mark_written(memory, each);
    }
    executor_.wrote();
    for (std::size_t i = 0; executor_.observer_ != nullptr && i < run.size(); ++i)
        tell(run[i], cells[i], true, unwritten[i]);
}

void Tcgen05::copy(const PendingTcgen05& operation, TensorMemory& memory, const std::uint8_t* shared) {
    const program::TmemCopy& what = operation.by.function->function->tmem_copies[operation.by.code->op->detail];
    const auto at = TensorMemoryAddress::of(operation.address);
    copy_plans_.find(what, operation.descriptor).copy(shared, operation.descriptor, memory.column(at.column) + at.lane);
}

/// Every window of 32 lanes from the address' on, by rows, so that what is read has not been written yet.
void Tcgen05::shift(std::uint32_t address, TensorMemory& memory) {
    static const atom::TmemShift atom = *atom::tmem_shift(1);
    const auto at = TensorMemoryAddress::of(address);
    for (std::int64_t i = 0; i < atom.source.size(); ++i) {
        const layout::Location from = atom.source.base(i), to = atom.destination.base(i);
        const auto source = at.lane + static_cast<std::uint32_t>(from[layout::Axis::tlane]);
        const auto target = at.lane + static_cast<std::uint32_t>(to[layout::Axis::tlane]);
        if (source >= TensorMemory::lanes) continue;
        const std::uint32_t column = at.column + static_cast<std::uint32_t>(to[layout::Axis::tcol]);
        std::uint32_t* const cells = memory.column(column);
        cells[target] = cells[source];
        const std::uint32_t written = memory.written(column, target / 32), bit = 1u << target % 32;
        memory.assign_written(column, target / 32, (written >> source % 32 & 1) != 0 ? written | bit : written & ~bit);
    }
}

/// One arrival on the mbarrier of each CTA that the commit names.
void Tcgen05::commit(const PendingTcgen05& operation) {
    const Issuer by{*operation.by.warp, *operation.by.function, *operation.by.code, operation.by.lanes};
    const auto arrive = [&](std::uint32_t address) {
        FoundMbarrier mbarrier;
        if (!executor_.find_mbarrier(by, address, mbarrier)) return;
        bool completed = false;
        const machine::MbarrierError error = machine::arrive(mbarrier.state, 1, completed);
        (void)executor_.change_mbarrier(by, mbarrier, error, completed, machine::BarrierEvent::Kind::arrive);
    };
    if (operation.ctas == 0) arrive(operation.mbarrier);
    for (std::uint32_t left = operation.ctas; left != 0; left &= left - 1)
        arrive(machine::shared_address(static_cast<std::uint32_t>(std::countr_zero(left)),
                                       machine::shared_offset(operation.mbarrier)));
    executor_.wrote();
    if (executor_.observer_ != nullptr) tell(operation, {}, true, false);
}

}  // namespace tilepath::exec
