#include "check/provenance/product.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilepath::check {

Product::Found Product::find(machine::Address address) const {
    for (const ProductMatrix& matrix : matrices) {
        const std::uint64_t offset = address - matrix.base;
        if (address < matrix.base || offset >= matrix.units.size() * matrix.unit_bytes) continue;
        if (offset % matrix.unit_bytes != 0) return {};
        const ProductMatrix::Place place = matrix.units[offset / matrix.unit_bytes];
        if (place.row == ProductMatrix::Place::nowhere) return {};
        return {&matrix, place};
    }
    return {};
}

void ProductMatrix::find_rows() {
    pitch_ = 0;
    row_begins_.clear();
    const auto holds = [](const Place& place) { return place.row != Place::nowhere; };
    const auto next_row =
        std::ranges::find_if(units, [&](const Place& place) { return holds(place) && place.row != units.front().row; });
    const auto pitch = static_cast<std::size_t>(next_row - units.begin());
    if (units.empty() || !holds(units.front())) return;
    const auto length = static_cast<std::size_t>(std::ranges::find_if_not(units, holds) - units.begin());
    length_ = static_cast<std::uint32_t>(std::min(pitch, length));
    for (std::size_t first = 0; first < units.size(); first += pitch) {
        const Place begin = units[first];
        if (!holds(begin)) return row_begins_.clear();
        row_begins_.push_back(begin);
        Place expected = begin;
        for (std::size_t i = 0, end = std::min(pitch, units.size() - first); i < end; ++i) {
            if (units[first + i] != (i < length_ ? expected : Place{})) return row_begins_.clear();
            expected.column += elements_per_unit;
        }
    }
    pitch_ = static_cast<std::uint32_t>(pitch);
}

ProductMatrix::Place ProductMatrix::stretch(std::uint64_t first, std::uint64_t count) const {
    if (first + count > units.size()) return {};
    if (pitch_ != 0) {
        const auto row = static_cast<std::uint32_t>(first) / pitch_, along = static_cast<std::uint32_t>(first) % pitch_;
        if (along + count > length_) return {};
        const Place begin = row_begins_[row];
        return {begin.row, begin.column + along * elements_per_unit};
    }
    const Place begin = units[first];
    for (std::uint64_t i = 1; i < count; ++i)
        if (units[first + i] != Place{begin.row, begin.column + static_cast<std::uint32_t>(i) * elements_per_unit})
            return {};
    return begin;
}

const ProductMatrix* Product::with(ProductMatrix::Role role) const {
    const auto found = std::ranges::find(matrices, role, &ProductMatrix::role);
    return found == matrices.end() ? nullptr : &*found;
}

std::string describe(const ProductMatrix& matrix, ProductMatrix::Place place) {
    return fmt::format("{}[{}, {}]", matrix.name, place.row, place.column);
}

std::uint32_t KSets::number(std::vector<Range> ranges) {
    const auto found = std::ranges::find(sets_, ranges);
    if (found != sets_.end()) return static_cast<std::uint32_t>(found - sets_.begin());
    if (sets_.size() == Origin::most_sets) return 0;
    sets_.push_back(std::move(ranges));
    return static_cast<std::uint32_t>(sets_.size() - 1);
}

KSets::Added KSets::add(std::uint32_t set, Range range) {
    if (range.begin == range.end) return {set, false};
    constexpr std::size_t most_steps = 8;
    for (const Step& step : recent_)
        if (step.set == set && step.range == range) return step.result;
    std::vector<Range> ranges = sets_[set];
    const bool twice =
        std::ranges::any_of(ranges, [&](const Range& r) { return r.begin < range.end && range.begin < r.end; });
    ranges.push_back(range);
    std::ranges::sort(ranges, {}, &Range::begin);
    std::vector<Range> merged;
    for (const Range& each : ranges) {
        if (!merged.empty() && each.begin <= merged.back().end)
            merged.back().end = std::max(merged.back().end, each.end);
        else
            merged.push_back(each);
    }
    const Added result{number(std::move(merged)), twice};
    if (recent_.size() == most_steps) recent_.erase(recent_.begin());
    recent_.push_back({set, range, result});
    return result;
}

KSets::Added KSets::unite(std::uint32_t first, std::uint32_t second) {
    Added out{first, false};
    const std::vector<Range> others = sets_[second];
    for (const Range& range : others) {
        const Added step = add(out.set, range);
        out = {step.set, out.twice || step.twice};
    }
    return out;
}

bool KSets::whole(std::uint32_t set, std::uint32_t k) const {
    const std::vector<Range>& ranges = sets_[set];
    return ranges.size() == 1 && ranges[0].begin == 0 && ranges[0].end >= k;
}

std::string KSets::describe(std::uint32_t set) const {
    std::string out;
    for (const Range& range : sets_[set])
        out += fmt::format("{}{} to {}", out.empty() ? "" : ", ", range.begin, range.end - 1);
    return out.empty() ? "none" : out;
}

}  // namespace tilepath::check
