#include "check/provenance/provenance.h"

#include <algorithm>

#include "check/provenance/matrix_maps.h"

namespace tilepath::check {

using program::Op;

Provenance::Provenance() : maps_(std::make_unique<MatrixMaps>()) {}
Provenance::~Provenance() = default;

void Provenance::executed(const machine::Executed& event) {
    const WarpRegisters r(event.site, event.registers, registers_.rows(event.registers));
    switch (event.site.op->op) {
        case Op::ld: return load(r, event.site);
        case Op::st:
        case Op::st_async: return store(r, event.site);
        case Op::atom: return reduce(r, event.site);
        case Op::ldmatrix: return load_matrix(r, event.site);
        case Op::stmatrix: return store_matrix(r, event.site);
        case Op::movmatrix: return move_matrix(r);
        case Op::wmma_load: return load_tile(r, event.site);
        case Op::wmma_store: return store_tile(r, event.site);
        case Op::mma:
        case Op::wgmma: return;                                 // told by multiply()
        case Op::tcgen05_ld: return note_lanes(r, event.site);  // the rest is told when it has landed
        case Op::tcgen05_st: return note_lanes(r, event.site);
        default: break;  // what moves or computes, or does neither
    }
    // Most operations compute addresses and conditions, which come from nowhere that is followed.
    if (!r.any_held(footprints_.of(event.site, event.registers))) return;
    if (!move_origins(r)) compute_origins(r, product_ ? &*product_ : nullptr, sets_);
}

std::vector<Finding> Provenance::findings(const program::Programs& programs) {
    std::vector<Finding> out;
    // What is wrong with D follows from operands that are wrong, or lie so that rows are exchanged.
    const bool wrong_operands = counts_.disproven != 0;
    const auto misplaced = std::ranges::find_if(
        tallies_, [](const auto& each) { return each.second.of_result && each.second.times != 0; });
    const bool strayed = misplaced != tallies_.end() && strays_.begin() != strays_.end();
    const auto add = [&](const program::MicroOp* op, const Tally& tally) {
        Finding finding = finding_at("provenance", programs, op, tally);
        finding.severity = tally.severity;
        finding.message = tally.message;
        finding.facts = tally.facts;
        finding.advice = tally.advice;
        finding.weight = 2e12 + static_cast<double>(tally.times);  // a wrong result comes before a slow one
        out.push_back(std::move(finding));
    };
    for (const auto& [op, tally] : tallies_)
        if (tally.times != 0 && !(tally.of_result && (wrong_operands || strayed))) add(op, tally);
    for (const auto& [op, tally] : lanes_) {
        Finding note = finding_at("tensor-lanes", programs, op, tally);
        note.severity = Severity::note;
        note.message = tally.message, note.facts = tally.facts, note.advice = tally.advice;
        out.push_back(std::move(note));
    }
    if (wrong_operands) return out;
    for (const auto& [op, tally] : strays_) {
        if (!strayed) break;
        Tally told = tally;
        told.facts.insert(told.facts.end(), misplaced->second.facts.begin(), misplaced->second.facts.end());
        add(op, told);
    }
    check_result(programs, misplaced != tallies_.end(), out);
    return out;
}

}  // namespace tilepath::check
