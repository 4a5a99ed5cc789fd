// How a tile was written and how a descriptor reads it: both layouts, and what lies where something else is expected.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "check/provenance/descriptor_view.h"
#include "check/provenance/provenance.h"
#include "layout/notation.h"

namespace tilepath::check {
namespace {

constexpr std::uint32_t chunk_bytes = 16;  // what swizzles move, and rows of core matrices
constexpr std::uint32_t nowhere = ProductMatrix::Place::nowhere;

std::string in_bytes(layout::SwizzleMode mode, const std::string& layout) {
    const layout::Swizzle& swizzle = layout::traits(mode).bytes;
    return mode == layout::SwizzleMode::none ? layout : fmt::format("{} o 0 o {}", to_string(swizzle), layout);
}

/// Elements of one row from some k on.
struct Run {
    std::uint32_t row = nowhere, first = nowhere, last = nowhere;

    bool add(std::uint32_t r, std::uint32_t k) {
        if (row == nowhere) row = r, first = last = k;
        const bool fits = r == row && (k == last || k == last + 1);
        if (fits) last = k;
        return fits;
    }
};

std::string text_of(const char* name, const Run& run) {
    if (run.row == nowhere || run.first == nowhere) return "nothing of " + std::string(name);
    return run.first == run.last ? fmt::format("{}[{}, {}]", name, run.row, run.first)
                                 : fmt::format("{}[{}, {} to {}]", name, run.row, run.first, run.last);
}

}  // namespace

void Provenance::show_side_by_side(const SharedView& view, const Box* box, Tally& tally) {
    if (box != nullptr && box->row_bytes != 0)
        tally.facts.push_back(fmt::format(
            "written (row, element) to byte: {}",
            in_bytes(box->swizzle,
                     fmt::format("S[({},{}):({},{})]", (box->end - box->begin) / box->row_bytes,
                                 box->row_bytes / box->element_bytes, box->row_bytes, box->element_bytes))));
    if (const auto layout = atom::operand_layout(view.shape))
        tally.facts.push_back(fmt::format("read    (row, element) to byte: {}",
                                          in_bytes(view.shape.swizzle, layout::to_string(*layout))));
    const std::vector<std::int32_t>* const places = maps_->shared_places(view.kind, view.descriptor, view.shape);
    if (places == nullptr) return;
    struct Chunk {
        Run holds, taken;
        bool wrong = false;
        const OperandCell* first = nullptr;
    };
    std::map<std::uint32_t, Chunk> chunks;
    const OperandCells& cells = view.cells;
    for (int row = 0; row < std::min(cells.rows, view.shape.mn - view.first_row); ++row) {
        const std::uint32_t m = expected_row(cells, view.rows, row);
        for (int k = 0; k < cells.columns; ++k) {
            const std::int64_t bit = (*places)[static_cast<std::size_t>((view.first_row + row) * cells.columns + k)];
            const OperandCell& cell = cells.at(row, k);
            const std::uint32_t at = view.each_k[static_cast<std::size_t>(k)];
            Chunk& chunk = chunks[(MatrixMaps::base(view.descriptor) + static_cast<std::uint32_t>(bit / 8)) /
                                  chunk_bytes * chunk_bytes];
            if (chunk.first == nullptr) chunk.first = &cell;
            if (m != nowhere && at != nowhere) chunk.taken.add(m, at);
            const bool element = cell.kind == OperandCell::Kind::element;
            if (element) chunk.holds.add(cell.place.row, cell.place.column);
            chunk.wrong = chunk.wrong || !element || cell.place.row != m || cell.place.column != at;
        }
    }
    const auto wrong = std::ranges::find_if(chunks, [](const auto& each) { return each.second.wrong; });
    if (wrong == chunks.end()) return;
    constexpr int most_lines = 6;
    tally.facts.push_back(fmt::format("{:<14} {:<22} {}", "shared memory", "holds", "is taken for"));
    int lines = 0;
    for (auto at = wrong; at != chunks.end() && lines < most_lines; ++at, ++lines)
        tally.facts.push_back(
            fmt::format("{:<14} {:<22} {}", fmt::format("{:#x}", at->first),
                        at->second.holds.row == nowhere && at->second.first->kind == OperandCell::Kind::unwritten
                            ? "what nobody has written"
                            : text_of(view.name, at->second.holds),
                        text_of(view.name, at->second.taken)));
}

}  // namespace tilepath::check
