// Which cells of Tensor Memory tcgen05.ld and st move to and from registers, and moving them.
#include "exec/tmem_transfer_plan.h"

#include <algorithm>
#include <cstring>

#include "atom/tmem_transfer.h"
#include "base/assert.h"
#include "number/arithmetic.h"

namespace tilepath::exec {
namespace {

constexpr std::int32_t pitch = machine::TensorMemory::lanes;

std::unique_ptr<TransferPlan> make_plan(const program::TmemTransfer& what, bool store) {
    const auto made = atom::tmem_transfer(store, what.shape, what.repeats, what.packed);
    TILEPATH_ASSERT(made, "a transfer that its form does not have");
    const atom::Fragment& fragment = made->fragment;
    auto plan = std::make_unique<TransferPlan>();
    plan->registers = fragment.registers;
    plan->packed = what.packed;
    plan->lanes = made->lanes;
    plan->columns = made->columns;
    plan->blocks = fragment.blocks;
    plan->what = &what;
    plan->cells.assign(static_cast<std::size_t>(fragment.registers) * warp_lanes, 0);
    const std::vector<atom::ElementPlace> places = atom::places(fragment);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto column = static_cast<std::int64_t>(i) % fragment.columns;
        const auto row = static_cast<std::int64_t>(i) / fragment.columns % fragment.rows;
        const auto block = static_cast<std::int64_t>(i) / fragment.columns / fragment.rows;
        const std::int64_t cell = (column + block * what.half_split) * pitch + row;
        if (places[i].bit == 0)
            plan->cells[std::size_t{places[i].reg} * warp_lanes + places[i].lane] = static_cast<std::int32_t>(cell);
    }
    for (int r = 0; r < plan->registers; ++r) {
        const std::int32_t* const cells = plan->cells.data() + r * warp_lanes;
        bool run = !plan->packed;
        for (int lane = 1; lane < warp_lanes; ++lane) run = run && cells[lane] == cells[0] + lane;
        plan->runs.push_back(run);
    }
    return plan;
}

}  // namespace

const TransferPlan& TransferPlans::find(const program::TmemTransfer& what, bool store) {
    std::unique_ptr<TransferPlan>& plan = plans_[&what];
    if (plan == nullptr) plan = make_plan(what, store);
    return *plan;
}

std::vector<machine::TensorCells> TransferPlan::touched(machine::TensorMemoryAddress at, bool store) const {
    std::vector<machine::TensorCells> all;
    for (int block = 0; block < blocks; ++block) {
        machine::TensorCells part;
        part.read = !store;
        part.write = store;
        part.column = at.column + static_cast<std::uint32_t>(block * what->half_split);
        part.columns = static_cast<std::uint32_t>(columns);
        const std::uint32_t window = lanes == 32 ? ~0u : 0xFFFFu << at.lane % 32;
        if (at.lane < machine::TensorMemory::lanes) part.lanes[at.lane / 32] = window;
        all.push_back(part);
    }
    return all;
}

void TransferPlan::load(const std::uint32_t* first, Row* rows, const std::uint32_t* places) const {
    const std::int32_t* from = cells.data();
    for (int r = 0; r < registers; ++r, from += warp_lanes) {
        Row& row = rows[places[r]];
        if (runs[static_cast<std::size_t>(r)]) {
            std::memcpy(row.lane, first + from[0], sizeof row.lane);
        } else if (packed) {
            for (int lane = 0; lane < warp_lanes; ++lane)
                row.lane[lane] = (first[from[lane]] & 0xFFFF) | first[from[lane] + pitch] << 16;
        } else {
            for (int lane = 0; lane < warp_lanes; ++lane) row.lane[lane] = first[from[lane]];
        }
    }
}

/// Unpacked, the upper half of a cell becomes zero: inferred, the manual draws the lower halves only.
void TransferPlan::store(std::uint32_t* first, const Row* values) const {
    const std::int32_t* to = cells.data();
    for (int r = 0; r < registers; ++r, to += warp_lanes) {
        const Row& row = values[r];
        if (runs[static_cast<std::size_t>(r)]) {
            std::memcpy(first + to[0], row.lane, sizeof row.lane);
        } else if (packed) {
            for (int lane = 0; lane < warp_lanes; ++lane) {
                first[to[lane]] = row.lane[lane] & 0xFFFF;
                first[to[lane] + pitch] = row.lane[lane] >> 16;
            }
        } else {
            for (int lane = 0; lane < warp_lanes; ++lane) first[to[lane]] = row.lane[lane];
        }
    }
}

void TransferPlan::reduce(program::DataType type, const Row* rows, const std::uint32_t* places, Row& out) const {
    using number::Format;
    const number::Comparison how{.nan = what->nan};
    const auto value = [&](int r, int lane) {
        const std::uint32_t bits = rows[places[r]].lane[lane];
        return what->absolute ? bits & 0x7FFFFFFF : bits;
    };
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
        switch (type) {
            case program::DataType::u32: return what->maximum ? std::max(a, b) : std::min(a, b);
            case program::DataType::s32: {
                const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(b);
                return static_cast<std::uint32_t>(what->maximum ? std::max(x, y) : std::min(x, y));
            }
            case program::DataType::f32: break;
            default: TILEPATH_ASSERT(false, "a reduction of another type");
        }
        return static_cast<std::uint32_t>(what->maximum ? number::maximum(Format::f32, a, b, how)
                                                        : number::minimum(Format::f32, a, b, how));
    };
    for (int lane = 0; lane < warp_lanes; ++lane) {
        std::uint32_t best = value(0, lane);
        for (int r = 1; r < registers; ++r) best = better(best, value(r, lane));
        out.lane[lane] = best;
    }
}

}  // namespace tilepath::exec
