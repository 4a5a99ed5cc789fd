// What is written to D, and what D holds in the end.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "check/provenance/provenance.h"

namespace tilepath::check {

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
        if (found.matrix != d || origin.kind() != Origin::Kind::sum || !origin.somewhere() ||
            in_place(origin, found.place))
            continue;
        tell(site, "writes elements of D to places of others",
             {fmt::format("{} gets the product of row {} of A and column {} of B", describe(*d, found.place),
                          origin.m(), origin.n())},
             "compare the addresses of the epilogue, in shared memory too, with who holds which element of D: "
             "`tilepath show`");
        tallies_.of(site).of_result = true;
        return;
    }
}

namespace {

constexpr std::uint32_t most_parts = 32, least_part = 8;  // of D's picture

/// Of all that D says it has, which may be more than M rows and N columns.
Provenance::ResultMap map_of(const ProductMatrix& d) {
    Provenance::ResultMap out;
    std::uint32_t rows = 1, columns = 1;
    for (const ProductMatrix::Place& place : d.units)
        if (place.row != ProductMatrix::Place::nowhere)
            rows = std::max(rows, place.row + 1), columns = std::max(columns, place.column + 1);
    const auto split = [](std::uint32_t all, std::uint32_t& parts, std::uint32_t& part) {
        part = std::max(least_part, std::bit_ceil((all + most_parts - 1) / most_parts));
        parts = (all + part - 1) / part;
    };
    split(rows, out.rows, out.part_rows);
    split(columns, out.columns, out.part_columns);
    out.parts.resize(std::size_t{out.rows} * out.columns);
    return out;
}

}  // namespace

/// What D's elements came to, against each k exactly once.
void Provenance::check_result(const program::Programs& programs, bool misplaced, std::vector<Finding>& out) {
    if (!product_) return;
    const ProductMatrix* const d = product_->with(ProductMatrix::Role::d);
    if (d == nullptr) return;
    results_ = {};
    result_map_ = map_of(*d);
    auto& [proven, wrong, unknown] = results_;
    std::vector<std::string> facts;
    constexpr std::size_t most_facts = 4;
    std::vector<std::uint8_t> covered(d->units.size());
    std::uint64_t told = 0;
    for (std::size_t i = 0; i < d->units.size(); ++i) {
        const ProductMatrix::Place place = d->units[i];
        if (place.row == ProductMatrix::Place::nowhere) continue;
        Counts& part = result_map_.parts[std::size_t{place.row / result_map_.part_rows} * result_map_.columns +
                                         place.column / result_map_.part_columns];
        std::array<Origin, 8> bytes{};
        memory_.read_global(d->base + i * d->unit_bytes, d->unit_bytes, bytes.data());
        const Origin origin = d->unit_bytes > 1 ? whole(bytes.data(), d->unit_bytes) : bytes[0];
        const Origin untouched = Origin::memory(d->base + i * d->unit_bytes);
        covered[i] = origin.kind() != Origin::Kind::zero && origin != untouched;
        if (origin.kind() != Origin::Kind::sum || !origin.somewhere()) {
            ++unknown, ++part.unknown;
            continue;
        }
        const bool right_place = in_place(origin, place);
        const bool whole_k = sets_.whole(origin.ks(), product_->k);
        if (right_place && whole_k) {
            ++proven, ++part.proven;
            continue;
        }
        ++wrong, ++part.disproven;
        if (!right_place && misplaced) continue;  // told where it was written
        ++told;
        if (facts.size() == most_facts) continue;
        facts.push_back(right_place ? fmt::format("{} lacks some k: it holds those from {}", describe(*d, place),
                                                  sets_.describe(origin.ks()))
                                    : fmt::format("{} holds the product of row {} of A and column {} of B",
                                                  describe(*d, place), origin.m(), origin.n()));
    }
    tell_uncovered(programs, covered, out);
    if (told == 0) return;
    Finding finding;
    const auto last = std::ranges::max_element(multiplies_, {}, [](const auto& each) { return each.second.times; });
    if (last != multiplies_.end()) finding = finding_at("provenance", programs, last->first, last->second);
    finding.check = "provenance";
    finding.message = fmt::format("{} of {} elements of D do not hold row m of A times column n of B over each k once",
                                  told, wrong + unknown + proven);
    finding.facts = std::move(facts);
    finding.advice = "follow the first of them back: which accumulator is it, which k-steps does the loop take";
    finding.weight = 1e12 + static_cast<double>(told);
    out.push_back(std::move(finding));
}

namespace {

/// The rows of D, or its columns: which there are, and which of them something was multiplied for.
class Lines {
  public:
    void add(std::uint32_t line, bool covered) {
        if (line >= all_.size()) all_.resize(line + 1, absent);
        if (covered)
            all_[line] = is_covered;
        else if (all_[line] == absent)
            all_[line] = is_not;
    }
    std::vector<std::uint32_t> uncovered() const {
        std::vector<std::uint32_t> out;
        for (std::uint32_t line = 0; line < all_.size(); ++line)
            if (all_[line] == is_not) out.push_back(line);
        return out;
    }

  private:
    enum State : std::uint8_t { absent, is_not, is_covered };
    std::vector<State> all_;
};

/// `3, 16 to 23`.
std::string describe_ranges(const std::vector<std::uint32_t>& numbers) {
    std::string out;
    for (auto at = numbers.begin(); at != numbers.end();) {
        const std::uint32_t first = *at;
        std::uint32_t last = first;
        for (++at; at != numbers.end() && *at == last + 1; ++at) last = *at;
        out += fmt::format("{}{}", out.empty() ? "" : ", ", first);
        if (last != first) out += fmt::format(" to {}", last);
    }
    return out;
}

}  // namespace

/// Whole rows or columns of D that nothing was multiplied for, though others hold products: what the instructions'
/// shapes leave out. Single elements may be zero because the kernel wants them so.
void Provenance::tell_uncovered(const program::Programs& programs, const std::vector<std::uint8_t>& covered,
                                std::vector<Finding>& out) const {
    const ProductMatrix& d = *product_->with(ProductMatrix::Role::d);
    if (multiplies_.begin() == multiplies_.end() || std::ranges::find(covered, 1) == covered.end()) return;
    std::uint32_t count = 0;
    std::size_t example = covered.size();
    Lines of_rows, of_columns;
    for (std::size_t i = 0; i < covered.size(); ++i) {
        if (d.units[i].row == ProductMatrix::Place::nowhere) continue;
        of_rows.add(d.units[i].row, covered[i] != 0), of_columns.add(d.units[i].column, covered[i] != 0);
        if (covered[i] == 0) ++count, example = std::min(example, i);
    }
    const std::vector<std::uint32_t> rows = of_rows.uncovered(), columns = of_columns.uncovered();
    if (rows.empty() && columns.empty()) return;
    const auto last = std::ranges::max_element(multiplies_, {}, [](const auto& each) { return each.second.times; });
    Finding finding = finding_at("provenance", programs, last->first, last->second);
    finding.message =
        fmt::format("{} {} of D hold no product: no matrix instruction covers them",
                    columns.empty() ? "rows" : "columns", describe_ranges(columns.empty() ? rows : columns));
    finding.facts = {fmt::format("{} is zero, or nobody has written it; so are {} elements in all",
                                 describe(d, d.units[example]), count)};
    finding.advice = columns.empty()
                         ? fmt::format("instructions whose rows come to the {} of D", product_->m)
                         : fmt::format(
                               "instructions whose n comes to the {} columns of D: n need not be a multiple of "
                               "16 where the instruction takes multiples of 8",
                               product_->n);
    finding.weight = 1e12 + count;
    out.push_back(std::move(finding));
}

}  // namespace tilepath::check
