// An operand in registers that is wrong: registers that are exchanged or passed twice, tiles that were written in
// another order than the lanes' addresses take them for.
#include <fmt/format.h>

#include "check/provenance/provenance.h"

namespace tilepath::check {
namespace {

constexpr const char* fragment_advice =
    "compare the addresses that the lanes give (ldmatrix, or loads) with what `tilepath show` says of this instruction";

}  // namespace

void Provenance::explain_fragment(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                                  const CheckedProduct& checked, Tally& tally) {
    const program::Mma& mma = *event.mma;
    const MatrixMaps::Multiply& map = *maps_->multiply(mma);
    const WarpRegisters r(event.site, event.registers, registers_.rows(event.registers));
    const auto advise = [&](std::string text) { tally.advice += (tally.advice.empty() ? "" : "; ") + text; };
    for (const bool of_a : {true, false}) {
        if (!(of_a ? checked.wrong_a : checked.wrong_b)) continue;
        const char* const name = of_a ? "A" : "B";
        const int first = of_a ? 0 : map.a_registers, count = of_a ? map.a_registers : map.b_registers;
        for (int i = 0; i < count; ++i) {
            for (int j = i + 1; j < count; ++j) {
                const program::Operand x = r.source(first + i), y = r.source(first + j);
                if (x.kind == program::Operand::Kind::reg && x == y) {
                    advise(fmt::format("{}'s registers {} and {} are the same: it is passed twice, another never", name,
                                       i, j));
                    continue;
                }
                std::vector<atom::ElementPlace> places = of_a ? map.a : map.b;
                for (atom::ElementPlace& each : places)
                    if (each.reg == i || each.reg == j)
                        each.reg = static_cast<decltype(each.reg)>(each.reg == i ? j : i);
                const OperandCells exchanged =
                    of_a ? fragment_cells(r, places, mma.m, mma.k, false, map.bits_a, first, 0)
                         : fragment_cells(r, places, mma.n, mma.k, true, map.bits_b, first, 0);
                if (becomes_right(of_a, exchanged, of_a ? b : a, checked))
                    advise(fmt::format("{}: one change makes it right, registers {} and {} exchanged", name, i, j));
            }
        }
    }
    const MemoryShadow::Cta cta{event.site.cluster, event.site.rank};
    for (auto box = boxes_.rbegin(); box != boxes_.rend() && tally.advice.empty(); ++box) {
        const layout::SwizzleTraits& mode = layout::traits(box->swizzle);
        if (box->cta != cta || mode.mode == layout::SwizzleMode::none ||
            box->begin % static_cast<std::uint32_t>(mode.pattern_bytes) == 0)
            continue;
        tally.facts.push_back(
            fmt::format("TMA wrote a tile with swizzle {} at {:#x}, which is no multiple of {}: the "
                        "pattern goes by the address, and does not begin with the tile",
                        mode.name, box->begin, mode.pattern_bytes));
        advise(fmt::format("align it to {} bytes, or XOR with the address' bits in place of the row's number",
                           mode.pattern_bytes));
    }
    if (tally.advice.empty()) tally.advice = fragment_advice;
}

/// Told if D turns out to be written as if the rows followed one another.
void Provenance::note_strays(const machine::EventSite& site, const OperandCells& a, const OperandCells& b,
                             const CheckedProduct& checked) {
    if (checked.verdict != CheckedProduct::Verdict::proven) return;
    for (const bool of_a : {true, false}) {
        std::vector<std::string> strays =
            strays_of(of_a ? a : b, of_a ? checked.m : checked.n, of_a ? "A" : "B", checked.ks);
        if (strays.empty()) continue;
        Tally& tally = strays_.of(site);
        if (tally.times++ != 0) return;
        tally.message =
            fmt::format("rows of {} lie where others belong, and D is written as if they did not", of_a ? "A" : "B");
        tally.facts = std::move(strays);
        tally.advice = fragment_advice;
    }
}

}  // namespace tilepath::check
