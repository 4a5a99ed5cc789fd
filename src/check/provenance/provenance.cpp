#include "check/provenance/provenance.h"

#include <fmt/format.h>

#include "check/provenance/matrix_maps.h"

namespace tilepath::check {

using program::Op;

Provenance::Provenance() : maps_(std::make_unique<MatrixMaps>()) {}
Provenance::~Provenance() = default;

void Provenance::executed(const machine::Executed& event) {
    const WarpRegisters r(event.site, event.registers, registers_.rows(event.registers));
    switch (event.site.op->op) {
        case Op::ld: return load(r, event.site);
        case Op::st: return store(r, event.site);
        case Op::atom: return reduce(r, event.site);
        case Op::ldmatrix: return load_matrix(r, event.site);
        case Op::stmatrix: return store_matrix(r, event.site);
        case Op::movmatrix: return move_matrix(r);
        case Op::mma:
        case Op::wgmma: return;       // told by multiply()
        case Op::tcgen05_ld: return;  // told when it has landed
        default: break;               // what moves or computes, or does neither
    }
    if (!move_origins(r)) compute_origins(r, product_ ? &*product_ : nullptr, sets_);
}

/// Whether D[m, n] is row m and column n.
bool Provenance::in_place(const Origin& origin, ProductMatrix::Place place) const {
    return origin.m() == place.row && origin.n() == place.column + place.row / product_->m * product_->n;
}

/// A sum that is written to another element of D than its own.
void Provenance::check_written(const machine::EventSite& site, machine::Address address, std::uint32_t bytes,
                               const Origin* from) {
    if (!product_) return;
    const ProductMatrix* const d = product_->with(ProductMatrix::Role::d);
    if (d == nullptr || address < d->base || address - d->base >= d->units.size() * d->unit_bytes) return;
    for (std::uint32_t at = 0; at + d->unit_bytes <= bytes; at += d->unit_bytes) {
        const Product::Found found = product_->find(address + at);
        const Origin origin = d->unit_bytes > 1 ? whole(from + at, d->unit_bytes) : from[at];
        if (found.matrix != d || origin.kind() != Origin::Kind::sum || in_place(origin, found.place)) continue;
        tell(site, "writes elements of D to places of others",
             {fmt::format("{} gets the product of row {} of A and column {} of B", describe(*d, found.place),
                          origin.m(), origin.n())},
             "compare the addresses of the epilogue, in shared memory too, with who holds which element of D: "
             "`tilepath show`");
        tallies_.of(site).of_result = true;
        return;
    }
}

/// What D's elements came to, against each k exactly once.
void Provenance::check_result(std::vector<Finding>& out) {
    if (!product_) return;
    const ProductMatrix* const d = product_->with(ProductMatrix::Role::d);
    if (d == nullptr) return;
    results_ = {};
    auto& [proven, wrong, unknown] = results_;
    std::vector<std::string> facts;
    constexpr std::size_t most_facts = 4;
    for (std::size_t i = 0; i < d->units.size(); ++i) {
        const ProductMatrix::Place place = d->units[i];
        if (place.row == ProductMatrix::Place::nowhere) continue;
        std::array<Origin, 8> bytes{};
        memory_.read_global(d->base + i * d->unit_bytes, d->unit_bytes, bytes.data());
        const Origin origin = d->unit_bytes > 1 ? whole(bytes.data(), d->unit_bytes) : bytes[0];
        if (origin.kind() != Origin::Kind::sum) {
            ++unknown;
            continue;
        }
        const bool right_place = in_place(origin, place);
        const bool whole_k = sets_.whole(origin.ks(), product_->k);
        if (right_place && whole_k) {
            ++proven;
            continue;
        }
        ++wrong;
        if (facts.size() == most_facts) continue;
        facts.push_back(right_place ? fmt::format("{} lacks some k: it holds those from {}", describe(*d, place),
                                                  sets_.describe(origin.ks()))
                                    : fmt::format("{} holds the product of row {} of A and column {} of B",
                                                  describe(*d, place), origin.m(), origin.n()));
    }
    if (wrong == 0) return;
    Finding finding;
    finding.check = "provenance";
    finding.message = fmt::format("{} of {} elements of D do not hold row m of A times column n of B over each k once",
                                  wrong, wrong + unknown + proven);
    finding.facts = std::move(facts);
    finding.advice = "follow the first of them back: which accumulator is it, which k-steps does the loop take";
    finding.times = wrong;
    finding.weight = 1e12 + static_cast<double>(wrong);
    out.push_back(std::move(finding));
}

std::vector<Finding> Provenance::findings(const program::Programs& programs) {
    std::vector<Finding> out;
    // What is wrong with D follows from operands that are wrong.
    const bool wrong_operands = counts_.disproven != 0;
    for (const auto& [op, tally] : tallies_) {
        if (tally.times == 0 || (wrong_operands && tally.of_result)) continue;
        Finding finding = finding_at("provenance", programs, op, tally);
        finding.message = tally.message;
        finding.facts = tally.facts;
        finding.advice = tally.advice;
        finding.weight = 2e12 + static_cast<double>(tally.times);  // a wrong result comes before a slow one
        out.push_back(std::move(finding));
    }
    if (!wrong_operands) check_result(out);
    return out;
}

}  // namespace tilepath::check
