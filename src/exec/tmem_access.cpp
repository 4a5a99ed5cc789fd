// Whether cells of Tensor Memory may be touched, and what faults and deadlocks say of them.
#include <fmt/format.h>

#include <bit>

#include "exec/executor.h"
#include "exec/tcgen05.h"

namespace tilepath::exec {
namespace {

using machine::TensorCells;
using machine::TensorMemory;

/// `lanes 0-15, 32-47`.
std::string describe_cell_lanes(const TensorCells& cells) {
    std::string out;
    const auto in = [&](std::uint32_t lane) {
        return lane < TensorMemory::lanes && (cells.lanes[lane / 32] >> lane % 32 & 1) != 0;
    };
    for (std::uint32_t lane = 0; lane < TensorMemory::lanes; ++lane) {
        if (!in(lane)) continue;
        std::uint32_t last = lane;
        while (in(last + 1)) ++last;
        out += fmt::format("{}{}", out.empty() ? "" : ", ", lane);
        if (last != lane) out += fmt::format("-{}", last);
        lane = last;
    }
    return out;
}

std::string describe_columns(std::uint32_t first, std::uint32_t count) {
    return count == 1 ? fmt::format("column {}", first) : fmt::format("columns {}-{}", first, first + count - 1);
}

}  // namespace

std::string Tcgen05::describe_allocations(const TensorState& state) const {
    if (state.allocations.empty()) return "nothing is allocated";
    std::string out = "allocated: ";
    for (const TensorState::Allocation& each : state.allocations)
        out += fmt::format("{}{} ({})", &each == state.allocations.data() ? "" : ", ",
                           describe_columns(each.column, each.columns), where(each.by));
    return out;
}

/// The allocation closest to these columns, and how far off it is.
std::string Tcgen05::describe_nearest(const TensorState& state, const TensorCells& cells) const {
    const TensorState::Allocation* nearest = nullptr;
    std::uint32_t least = ~0u;
    for (const TensorState::Allocation& each : state.allocations) {
        const std::uint32_t end = each.column + each.columns, last = cells.column + cells.columns;
        const std::uint32_t gap = cells.column >= end   ? cells.column - end + 1
                                  : last <= each.column ? each.column - last + 1
                                                        : 0;
        if (gap < least) least = gap, nearest = &each;
    }
    if (nearest == nullptr) return "nothing is allocated";
    const std::uint32_t end = nearest->column + nearest->columns;
    const std::string how = cells.column >= end ? fmt::format("{} columns behind", cells.column - end)
                            : least != 0        ? fmt::format("{} columns before", nearest->column - cells.column)
                            : cells.column < nearest->column     ? "it begins before"
                            : cells.column + cells.columns > end ? "it reaches past the end of"
                                                                 : "within";
    return fmt::format("{} the allocation nearest to it, {} of {}", how,
                       describe_columns(nearest->column, nearest->columns), where(nearest->by));
}

void Tcgen05::fail_cells(const TensorUse& by, FaultKind kind, const TensorCells& cells, const TensorState* state,
                         std::string message) {
    Fault fault = executor_.fault_of(*by.warp, *by.function, *by.code, kind, by.lanes, std::move(message));
    fault.tensor_memory =
        fmt::format("{}, lanes {}", describe_columns(cells.column, cells.columns), describe_cell_lanes(cells));
    if (state != nullptr) fault.tensor_memory += "; " + describe_nearest(*state, cells);
    executor_.record(std::move(fault));
}

/// `when`: nothing at issue.
bool Tcgen05::check_cells(const TensorUse& by, const TensorState& state, const TensorCells& cells,
                          std::string_view what, std::string_view when) {
    if (cells.columns == 0) return true;
    const bool inside = cells.column < TensorMemory::columns && cells.columns <= TensorMemory::columns - cells.column;
    if (inside && state.memory.allocated(cells.column, cells.columns)) return true;
    fail_cells(by, FaultKind::tensor_memory_access, cells, &state,
               !inside ? fmt::format("{} leads beyond the {} columns of Tensor Memory", what, TensorMemory::columns)
                       : fmt::format("{} leads to columns that are not allocated{}; use what tcgen05.alloc wrote to "
                                     "shared memory, and free it after its last use",
                                     what, when));
    return false;
}

bool Tcgen05::any_unwritten(const TensorMemory& memory, const TensorCells& cells) {
    for (std::uint32_t column = cells.column; column < cells.column + cells.columns; ++column)
        for (std::uint32_t slab = 0; slab < cells.lanes.size(); ++slab)
            if ((cells.lanes[slab] & ~memory.written(column, slab)) != 0) return true;
    return false;
}

void Tcgen05::mark_written(TensorMemory& memory, const TensorCells& cells) {
    for (std::uint32_t column = cells.column; column < cells.column + cells.columns; ++column)
        for (std::uint32_t slab = 0; slab < cells.lanes.size(); ++slab)
            memory.set_written(column, slab, cells.lanes[slab]);
}

/// Everything that was allocated must be freed before the kernel exits (PTX ISA 9.7.16.7).
void Tcgen05::cta_exits(Context& c) {
    CtaRun& cta = *c.warp.cta;
    land_at_exit(cta);
    if (cta.tensor == nullptr || !cta.tensor->memory.any_allocated()) return;
    executor_.fail(
        c, FaultKind::tensor_memory_leak, c.active,
        fmt::format("the CTA exits with Tensor Memory that it has not freed; {}. Every tcgen05.alloc needs a "
                    "tcgen05.dealloc of the same columns before the last thread exits",
                    describe_allocations(*cta.tensor)));
}

std::string Tcgen05::describe_wait(const Warp& warp) const {
    const TensorState& state = *warp.cta->tensor;
    const CtaRun* const peer = state.cta_group == 2 ? peer_of(*warp.cta) : nullptr;
    const bool met = peer != nullptr && peer->tensor != nullptr && peer->tensor->meeting.by.code != nullptr;
    if (peer != nullptr && !met)
        return fmt::format("waits for a warp of the peer CTA, rank {} of the cluster, to execute it too",
                           peer->state.rank);
    return fmt::format("waits for columns of Tensor Memory; {}", describe_allocations(state));
}

}  // namespace tilepath::exec
