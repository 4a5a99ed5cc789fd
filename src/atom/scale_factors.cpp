#include "atom/scale_factors.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Iter;
using layout::Layout;
using layout::Mode;

struct VectorRow {
    ScaleVector vector;
    std::string_view name;
    int factors;
    int id_step;  ///< the byte of the first factor is a multiple of it
};
constexpr VectorRow table[] = {
    {ScaleVector::x1, "1X", 1, 1}, {ScaleVector::x2, "2X", 2, 2}, {ScaleVector::x4, "4X", 4, 4}};

Layout made(bool split, int rows, Mode blocks, int id) {
    const int per_lane = split ? rows / 64 : rows / 32;
    Mode mode;
    if (split) mode.push_back({2, 64, Axis::tlane});
    if (per_lane > 1) mode.push_back({per_lane, 1, Axis::tcol});
    mode.push_back({32, 1, Axis::tlane});
    std::vector<layout::AxisOffset> offset;
    if (id != 0) offset.push_back({8 * id, Axis::bit});
    Result<Layout> layout =
        Layout::make({std::move(mode), std::move(blocks)}, {{split ? 2 : 4, 32, Axis::tlane}}, std::move(offset));
    TILEPATH_ASSERT(layout, "a layout of scale factors is malformed");
    return *std::move(layout);
}

}  // namespace

int factors_of(ScaleVector vector) { return table[static_cast<std::size_t>(vector)].factors; }
std::string_view name(ScaleVector vector) { return table[static_cast<std::size_t>(vector)].name; }
std::optional<ScaleVector> scale_vector_named(std::string_view text) {
    for (const VectorRow& row : table)
        if (row.name == text || (text.size() == 2 && text[0] == row.name[0] && text[1] == 'x')) return row.vector;
    return std::nullopt;
}

Result<ScaleFactors> scale_factors(ScaleVector vector, int rows, int id, bool split) {
    const VectorRow& row = table[static_cast<std::size_t>(vector)];
    const int step = split ? 64 : 32;
    if (rows < step || rows > 256 || rows % step != 0)
        return fail(fmt::format("expected rows of scale factors of {0} to 256 in steps of {0}, found {1}", step, rows),
                    "B's columns are filled up to that");
    if (id < 0 || id > 3 || id % row.id_step != 0)
        return fail(fmt::format("scale_vec::{} has a factor id of {}, found {}", row.name,
                                row.id_step == 1   ? "0 to 3"
                                : row.id_step == 2 ? "0 or 2"
                                                   : "0",
                                id));
    ScaleFactors all;
    all.rows = rows;
    all.factors = row.factors;
    all.id = id;
    all.split = split;
    all.whole = made(split, rows, {{4, 8, Axis::bit}}, 0);
    all.layout = made(split, rows, {{row.factors, 8, Axis::bit}}, id);
    return all;
}

Layout scale_factor_source() { return Layout::of({{{4, 4}, {32, 16}}, {{4, 1}}}); }

}  // namespace tilepath::atom
