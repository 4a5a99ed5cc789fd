#include "atom/scale_factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Layout;
using layout::Mode;

constexpr int blocks_per_cell = 4;

/// Of which number the byte of the first factor is a multiple (PTX ISA 9.7.16.10.7.2), and how messages say it.
struct IdRule {
    int step;
    std::string_view values;
};
IdRule id_rule(ScaleVector vector) {
    switch (vector) {
        case ScaleVector::x1:
        case ScaleVector::x3: return {1, "0 to 3"};
        case ScaleVector::x2:
        case ScaleVector::x6: return {2, "0 or 2"};
        case ScaleVector::x4: return {4, "0"};
    }
    TILEPATH_ASSERT(false, "a scale vector that is none");
    std::unreachable();
}

/// Columns that the cells of all rows take: G.
int columns_of(const ScaleFactors& all) { return all.rows / (all.split ? 64 : 32); }

/// Blocks q of [first, first + count) in one cell.
Layout in_cell(const ScaleFactors& all, Mode blocks, int first) {
    const int columns = columns_of(all);
    Mode rows;
    if (all.split) rows.push_back({2, 64, Axis::tlane});
    if (columns > 1) rows.push_back({columns, 1, Axis::tcol});
    rows.push_back({32, 1, Axis::tlane});
    std::vector<layout::AxisOffset> offset;
    if (const int cell = first / blocks_per_cell; cell != 0) offset.push_back({cell * columns, Axis::tcol});
    if (const int byte = first % blocks_per_cell; byte != 0) offset.push_back({8 * byte, Axis::bit});
    Result<Layout> layout =
        Layout::make({std::move(rows), std::move(blocks)}, {{all.split ? 2 : 4, 32, Axis::tlane}}, std::move(offset));
    TILEPATH_ASSERT(layout, "a layout of scale factors is malformed");
    return *std::move(layout);
}

}  // namespace

Result<ScaleFactors> scale_factors(ScaleVector vector, int rows, int id, bool split) {
    const int step = split ? 64 : 32;
    if (rows < step || rows > 256 || rows % step != 0)
        return fail(fmt::format("expected rows of scale factors of {0} to 256 in steps of {0}, found {1}", step, rows),
                    "B's columns are filled up to that");
    const IdRule rule = id_rule(vector);
    if (id < 0 || id > 3 || id % rule.step != 0)
        return fail(fmt::format("scale_vec::{} has a factor id of {}, found {}", name(vector), rule.values, id));
    ScaleFactors all;
    all.rows = rows;
    all.factors = factors_of(vector);
    all.id = id;
    all.split = split;
    Mode blocks{{blocks_per_cell, 8, Axis::bit}};
    if (vector == ScaleVector::x3 || vector == ScaleVector::x6) {
        blocks.insert(blocks.begin(), {2, columns_of(all), Axis::tcol});
        all.evidence = wrapping_factors;
    }
    all.whole = in_cell(all, std::move(blocks), 0);
    for (int first = 0; first < all.factors;) {
        const int q = id + first, count = std::min(all.factors - first, blocks_per_cell - q % blocks_per_cell);
        all.runs.push_back({first, in_cell(all, {{count, 8, Axis::bit}}, q)});
        first += count;
    }
    return all;
}

std::vector<layout::Location> ScaleFactors::at(int row, int factor) const {
    TILEPATH_ASSERT(row >= 0 && row < rows && factor >= 0 && factor < factors, "a factor out of range");
    const auto places = whole.evaluate({row, id + factor});
    TILEPATH_ASSERT(places, "a factor outside of its layout");
    return *places;
}

Layout scale_factor_source() { return Layout::of({{{4, 4}, {32, 16}}, {{4, 1}}}); }

}  // namespace tilepath::atom
