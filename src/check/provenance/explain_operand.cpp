// An operand in shared memory that is wrong: how its descriptor reads what was written, and which single field would
// put it right.
#include <fmt/format.h>

#include "check/provenance/descriptor_view.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {

bool becomes_right(bool of_a, const OperandCells& read, const OperandCells& other, const CheckedProduct& before) {
    // An operand that is compared with itself, because the other is wrong too, has rows of one kind in both places:
    // only its own matter.
    const OperandCells& beside = (of_a ? before.wrong_b : before.wrong_a) ? read : other;
    const CheckedProduct again =
        of_a ? check_operands(read, beside, nullptr, nullptr) : check_operands(beside, read, nullptr, nullptr);
    return !(of_a ? again.wrong_a : again.wrong_b) && again.verdict != CheckedProduct::Verdict::unknown &&
           again.ks.end - again.ks.begin == static_cast<std::uint32_t>(read.columns);
}

void Provenance::explain_operand(const SharedView& view, const std::function<bool(const Reading&)>& right,
                                 Tally& tally) {
    const auto& [name, kind, cta, descriptor, shape, cells, rows, each_k, first_row] = view;
    const DescriptorView is = view_of(kind, descriptor);
    tally.facts.push_back(fmt::format("{}'s descriptor reads: {}", name, describe(is)));
    const Box* const box = box_at(cta, is.start_bytes);
    if (box != nullptr) {
        tally.facts.push_back(
            fmt::format("TMA wrote that tile at {:#x} with swizzle {}", box->begin, layout::traits(box->swizzle).name));
        if (box->swizzle != is.swizzle)
            tally.message = fmt::format("TMA wrote {}'s tile with swizzle {}, the descriptor reads it with {}", name,
                                        layout::traits(box->swizzle).name, layout::traits(is.swizzle).name);
    }
    show_side_by_side(view, box, tally);
    std::string found;
    for (const DescriptorChange& change : single_changes(kind, descriptor))
        if (found.empty() && right({change.bits, change.transposed, nullptr, {}}))
            found = "its descriptor: " + change.text;
    for (const layout::SwizzleTraits& mode : layout::all_swizzle_modes())
        if (found.empty() && box != nullptr && mode.mode != box->swizzle && mode.tensor_map &&
            right({descriptor, false, box, mode.mode}))
            found =
                fmt::format("its tensor map: swizzle {} in place of {}", mode.name, layout::traits(box->swizzle).name);
    tally.advice +=
        fmt::format("{}{}: {}", tally.advice.empty() ? "" : "; ", name,
                    found.empty() ? "no single field makes it right" : "one field makes it right, " + found);
}

void Provenance::explain_shared(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                                const CheckedProduct& checked, Tally& tally) {
    const program::Mma& mma = *event.mma;
    if (!mma.warpgroup) {
        return explain_fragment(event, a, b, checked, tally);
    }
    const MatrixMaps::Multiply& map = *maps_->multiply(mma);
    const MemoryShadow::Cta cta{event.site.cluster, event.site.rank};
    const int rows = mma.m / 4, warp = static_cast<int>(event.site.warp % 4);
    for (const bool of_a : {true, false}) {
        if (!(of_a ? checked.wrong_a && !mma.a_in_registers && !mma.sparse : checked.wrong_b)) continue;
        const auto right = [&](const Reading& reading) {
            program::Mma as = mma;
            if (reading.transposed) (of_a ? as.a_column_major : as.b_row_major) ^= true;
            OperandCells cells =
                shared_cells(cta, DescriptorKind::wgmma, reading, map.shape(as, of_a, reading.descriptor));
            if (of_a) cells = cells.part(warp * rows, rows);
            return becomes_right(of_a, cells, of_a ? b : a, checked);
        };
        const std::uint64_t descriptor = of_a ? event.a : event.b;
        explain_operand({of_a ? "A" : "B", DescriptorKind::wgmma, cta, descriptor, map.shape(mma, of_a, descriptor),
                         of_a ? a : b, of_a ? checked.m : checked.n, checked.each_k, of_a ? warp * rows : 0},
                        right, tally);
    }
}

const Provenance::Box* Provenance::box_at(MemoryShadow::Cta cta, std::uint32_t shared) const {
    for (auto box = boxes_.rbegin(); box != boxes_.rend(); ++box) {
        if (box->cta != cta || shared < box->begin || shared >= box->end) continue;
        Origin first;
        memory_.read_shared(cta, box->begin, 1, &first);
        return first == box->first ? &*box : nullptr;  // something else may have been written there since
    }
    return nullptr;
}

}  // namespace tilepath::check
