// Where the operands of a tcgen05.mma lie in Tensor Memory: rows, scale factors, metadata, and the cells of all of it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/assert.h"
#include "exec/tcgen05_plan.h"

namespace tilepath::exec {
namespace {

using layout::Axis;
using layout::Location;
using machine::TensorCells;
using Lanes = std::array<std::uint32_t, 4>;

constexpr int window = 32;

/// Cells by operand and CTA, column by column; then merged where neighbours have the same lanes.
class Cells {
  public:
    void add(TensorCells::Role role, int cta, int column, int lane) {
        columns_[{role, cta, column}][static_cast<std::size_t>(lane / 32)] |= 1u << lane % 32;
    }
    void add(TensorCells::Role role, int cta, int columns, const Lanes& lanes) {
        for (int column = 0; column < columns; ++column) columns_[{role, cta, column}] = lanes;
    }
    std::vector<TensorCells> merged(bool accumulates) const {
        std::vector<TensorCells> all;
        for (const auto& [key, lanes] : columns_) {
            if (lanes == Lanes{}) continue;  // all disabled
            const auto& [role, cta, column] = key;
            const auto first = static_cast<std::uint32_t>(column);
            if (!all.empty()) {
                TensorCells& last = all.back();
                if (last.role == role && last.cta == static_cast<std::uint32_t>(cta) && last.lanes == lanes &&
                    last.column + last.columns == first) {
                    ++last.columns;
                    continue;
                }
            }
            const bool is_d = role == TensorCells::Role::d;
            all.push_back({role, !is_d || accumulates, is_d, static_cast<std::uint32_t>(cta), first, 1, lanes});
        }
        return all;
    }

  private:
    std::map<std::tuple<TensorCells::Role, int, int>, Lanes> columns_;
};

Location place_of(const layout::Layout& layout, int i, int j) {
    const auto places = layout.evaluate({i, j});
    TILEPATH_ASSERT(places && !places->empty(), "an element outside of its layout");
    return places->front();
}

/// Runs of rows in consecutive lanes; all CTAs of a pair alike.
void place_rows(Tcgen05FullPlan& plan) {
    for (int row = 0; row < plan.atom.rows_per_cta(); ++row) {
        const int lane = static_cast<int>(place_of(plan.atom.d, row, 0)[Axis::tlane]) + plan.first_lane;
        if (!plan.rows.empty() && plan.rows.back().lane + plan.rows.back().rows == lane)
            ++plan.rows.back().rows;
        else
            plan.rows.push_back({row, 1, lane});
    }
    plan.parts = plan.atom.shape.n / plan.atom.d_columns;
}

template <class Body>
void for_each_lane(const Tcgen05FullPlan& plan, Body body) {
    for (int cta = 0; cta < plan.what.cta_group; ++cta)
        for (int part = 0; part < plan.parts; ++part)
            for (const Tcgen05Rows& run : plan.rows)
                for (int i = 0; i < run.rows; ++i)
                    body(cta, part, run.first + i, run.lane + i + part * plan.part_lanes());
}

void add_d_and_a(const Tcgen05FullPlan& plan, Cells& cells) {
    std::array<Lanes, 2> d{}, a{};
    const auto set = [](Lanes& lanes, int lane) { lanes[static_cast<std::size_t>(lane / 32)] |= 1u << lane % 32; };
    for_each_lane(plan, [&](int cta, int, int, int lane) {
        if (!plan.disables(cta, lane)) set(d[static_cast<std::size_t>(cta)], lane);
        set(a[static_cast<std::size_t>(cta)], lane);
    });
    const int a_columns = plan.atom.stored_k() * atom::traits(plan.what.kind).container_bits / 32;
    for (int cta = 0; cta < plan.what.cta_group; ++cta) {
        cells.add(TensorCells::Role::d, cta, plan.part_columns(), d[static_cast<std::size_t>(cta)]);
        if (plan.what.a_in_tensor_memory)
            cells.add(TensorCells::Role::a, cta, a_columns, a[static_cast<std::size_t>(cta)]);
    }
}

Result<void> place_scales(const Tcgen05FullPlan& plan, bool of_b, std::vector<TensorPlace>& out, Cells& cells) {
    const auto vector = plan.factors == 1   ? atom::ScaleVector::x1
                        : plan.factors == 2 ? atom::ScaleVector::x2
                        : plan.factors == 3 ? atom::ScaleVector::x3
                        : plan.factors == 4 ? atom::ScaleVector::x4
                                            : atom::ScaleVector::x6;
    const auto scales = plan.atom.scales(of_b, vector, of_b ? plan.descriptor.sfb_id : plan.descriptor.sfa_id);
    if (!scales) return std::unexpected(scales.error());
    const int n = plan.atom.shape.n, rows = of_b ? n : plan.atom.rows_per_cta();
    for (int row = 0; row < rows; ++row) {
        // Halves of columns over halves of lanes: the columns of the upper half come after a full half of factors.
        const int index = of_b && scales->split && row >= n / 2 ? scales->rows / 2 + row - n / 2 : row;
        for (int factor = 0; factor < plan.factors; ++factor) {
            const std::vector<Location> places = scales->at(index, factor);
            for (const Location& place : places)
                for (int cta = 0; cta < plan.what.cta_group; ++cta)
                    cells.add(of_b ? TensorCells::Role::scale_b : TensorCells::Role::scale_a, cta,
                              static_cast<int>(place[Axis::tcol]), static_cast<int>(place[Axis::tlane]));
            const Location& any = places.front();
            out.push_back({static_cast<std::uint8_t>(any[Axis::tlane] % window),
                           static_cast<std::uint8_t>(any[Axis::bit]), static_cast<std::uint16_t>(any[Axis::tcol])});
        }
    }
    return {};
}

Result<void> place_metadata(Tcgen05FullPlan& plan, Cells& cells) {
    const auto metadata = plan.atom.metadata(plan.descriptor.sparsity_selector);
    if (!metadata) return std::unexpected(metadata.error());
    const int chunks = plan.atom.shape.k / plan.atom.chunk;
    for (int row = 0; row < plan.atom.rows_per_cta(); ++row)
        for (int chunk = 0; chunk < chunks; ++chunk) {
            const Location place = place_of(metadata->layout, row, chunk);
            const int lane = static_cast<int>(place[Axis::tlane]) + plan.first_lane;
            const int column = static_cast<int>(place[Axis::tcol]);
            plan.metadata.push_back({static_cast<std::uint8_t>(lane), static_cast<std::uint8_t>(place[Axis::bit]),
                                     static_cast<std::uint16_t>(column)});
            for (int cta = 0; cta < plan.what.cta_group; ++cta)
                for (int part = 0; part < plan.parts; ++part)
                    cells.add(TensorCells::Role::metadata, cta, column, lane + part * plan.part_lanes());
        }
    return {};
}

/// D begins at lane 0, or at lane 16 where it has half of each window's lanes; A and the metadata alike.
Result<int> first_lane_of(const Tcgen05Operands& operands, const Tcgen05FullPlan& plan) {
    const bool half = plan.atom.data_path == atom::DataPath::c || plan.atom.data_path == atom::DataPath::f;
    const int lane = static_cast<int>(tensor_address(operands.d).lane);
    if (lane != 0 && !(half && lane == 16))
        return fail(fmt::format("D of {} begins at lane {}, found {}", plan.atom.name, half ? "0 or 16" : "0", lane));
    const auto same = [&](const char* name, std::uint64_t address) -> Result<void> {
        const auto found = static_cast<int>(tensor_address(address).lane);
        if (found == lane) return {};
        return fail(fmt::format("{} begins at the lane of D, {}, found {}", name, lane, found));
    };
    if (plan.what.a_in_tensor_memory)
        if (auto ok = same("A in Tensor Memory", operands.a); !ok) return std::unexpected(ok.error());
    if (plan.what.sparse)
        if (auto ok = same("the sparsity metadata", operands.metadata); !ok) return std::unexpected(ok.error());
    if (plan.factors > 0)
        for (const std::uint32_t address : {operands.scale_a, operands.scale_b})
            if (const std::uint32_t found = tensor_address(address).lane; found != 0)
                return fail(fmt::format("scale factors begin at lane 0, found {}", found));
    return lane;
}

}  // namespace

Result<void> place_tcgen05_operands(const Tcgen05Operands& operands, Tcgen05FullPlan& plan) {
    const auto lane = first_lane_of(operands, plan);
    if (!lane) return std::unexpected(lane.error());
    plan.first_lane = *lane;
    place_rows(plan);
    Cells cells;
    add_d_and_a(plan, cells);
    if (plan.factors > 0) {
        if (auto ok = place_scales(plan, false, plan.scales_a, cells); !ok) return ok;
        if (auto ok = place_scales(plan, true, plan.scales_b, cells); !ok) return ok;
    }
    if (plan.what.sparse)
        if (auto ok = place_metadata(plan, cells); !ok) return ok;
    plan.cells = cells.merged(operands.accumulates);
    return {};
}

}  // namespace tilepath::exec
