#include "atom/block_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Layout;
using number::Format;

struct ScaleRule {
    MmaKind kind;
    std::string_view name;
    ScaleVector vector;
    Format scale;
    int byte_step;  ///< byte-id must be a multiple of it
};
// As ptxas 13.0 accepts them on sm_120a. PTX ISA 9.1 adds ue8m0 with 4X.
constexpr ScaleRule rules[] = {
    {MmaKind::mxf8f6f4, "kind::mxf8f6f4", ScaleVector::x1, Format::ue8m0, 1},
    {MmaKind::mxf4, "kind::mxf4", ScaleVector::x2, Format::ue8m0, 2},
    {MmaKind::mxf4nvf4, "kind::mxf4nvf4", ScaleVector::x2, Format::ue8m0, 2},
    {MmaKind::mxf4nvf4, "kind::mxf4nvf4", ScaleVector::x4, Format::ue4m3, 4},
    {MmaKind::mxf4nvf4, "kind::mxf4nvf4", ScaleVector::x4, Format::ue8m0, 4},
};

struct VectorRow {
    ScaleVector vector;
    std::string_view name;
    int factors;
};
constexpr VectorRow vectors[] = {
    {ScaleVector::x1, "1X", 1}, {ScaleVector::x2, "2X", 2}, {ScaleVector::x4, "4X", 4},
    {ScaleVector::x3, "3X", 3}, {ScaleVector::x6, "6X", 6},
};
const VectorRow& row_of(ScaleVector vector) { return vectors[static_cast<std::size_t>(vector)]; }

Result<void> check(const char* operand, const ScaleRule& rule, ScaleSelector selector, int threads) {
    if (selector.byte_id < 0 || selector.byte_id > 3 || selector.byte_id % rule.byte_step != 0) {
        return fail(fmt::format("{} with {} factors wants byte-id of {} in steps of {} from 0, below 4, found {}",
                                rule.name, factors_of(rule.vector), operand, rule.byte_step, selector.byte_id));
    }
    if (selector.thread_id < 0 || selector.thread_id >= threads) {
        return fail(fmt::format("thread-id of {} must be 0 to {}, found {}", operand, threads - 1, selector.thread_id));
    }
    return {};
}

Fragment scale_fragment(std::string operand, int rows, int columns, Format format, Layout layout) {
    Fragment made;
    made.operand = std::move(operand);
    made.rows = rows;
    made.columns = columns;
    made.format = format;
    made.element_bits = 8;
    made.registers = 1;
    made.layout = std::move(layout);
    return made;
}

}  // namespace

int factors_of(ScaleVector vector) { return row_of(vector).factors; }
std::string_view name(ScaleVector vector) { return row_of(vector).name; }
std::optional<ScaleVector> scale_vector_named(std::string_view text) {
    for (const VectorRow& row : vectors)
        if (row.name == text || (text.size() == 2 && text[0] == row.name[0] && text[1] == 'x')) return row.vector;
    return std::nullopt;
}

Result<ScaleFragments> mma_scales(MmaKind kind, ScaleVector vector, Format scale, ScaleSelector a, ScaleSelector b) {
    auto rule = std::ranges::find_if(
        rules, [&](const ScaleRule& row) { return row.kind == kind && row.vector == vector && row.scale == scale; });
    if (rule == std::end(rules)) {
        return fail(fmt::format("no block-scaled mma.sync of this kind takes {} factors in {}", factors_of(vector),
                                number::traits(scale).name),
                    "mxf8f6f4: 1X ue8m0; mxf4: 2X ue8m0; mxf4nvf4: 2X ue8m0, 4X ue4m3, 4X ue8m0");
    }
    if (auto ok = check("A", *rule, a, 2); !ok) return std::unexpected(ok.error());
    if (auto ok = check("B", *rule, b, 4); !ok) return std::unexpected(ok.error());
    int count = factors_of(vector);
    // A: lanes with t/2 = thread-id supply rows g + 8(t%2). B: the lane with t = thread-id supplies column g.
    Layout rows = Layout::of({{{1, 0}}, {{2, 1, Axis::laneid}, {8, 4, Axis::laneid}}, {{count, 8, Axis::bit}}}, {},
                             {{2 * a.thread_id, Axis::laneid}, {8 * a.byte_id, Axis::bit}});
    Layout columns = Layout::of({{{1, 0}}, {{count, 8, Axis::bit}}, {{8, 4, Axis::laneid}}}, {},
                                {{b.thread_id, Axis::laneid}, {8 * b.byte_id, Axis::bit}});
    return ScaleFragments{scale_fragment("scale A", 16, count, scale, rows),
                          scale_fragment("scale B", count, 8, scale, columns)};
}

}  // namespace tilepath::atom
