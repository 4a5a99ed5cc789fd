#include "layout/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "layout/table.h"

namespace tilepath::layout {
namespace {

using Holders = std::unordered_map<Location, std::int64_t, LocationHash>;

/// The first element at each location.
Result<Holders> holders(const Layout& layout) {
    Result<Table> table = Table::of(layout);
    if (!table) return std::unexpected(table.error());
    Holders all;
    for (std::int64_t element = 0; element < table->elements(); ++element)
        for (std::int64_t replica = 0; replica < table->replicas(); ++replica)
            all.try_emplace(table->location(element, replica), element);
    return all;
}

bool inside(const Location& location, const Box& box) {
    for (const AxisTraits& row : all_axes()) {
        auto named = std::ranges::find(box, row.axis, &Box::value_type::first);
        std::int64_t extent = named == box.end() ? 1 : named->second;
        if (location[row.axis] < 0 || location[row.axis] >= extent) return false;
    }
    return true;
}

std::vector<Location> places(const Table& table, std::int64_t element) {
    std::vector<Location> all;
    for (std::int64_t replica = 0; replica < table.replicas(); ++replica)
        all.push_back(table.location(element, replica));
    std::ranges::sort(all);
    auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
}

}  // namespace

Bounds bounds(const Layout& layout, Axis axis) {
    Bounds found{layout.offset(axis), layout.offset(axis)};
    auto widen = [&](const Iter& iter) {
        if (iter.axis != axis) return;
        (iter.stride < 0 ? found.least : found.greatest) += (iter.extent - 1) * iter.stride;
    };
    for (const Iter& iter : layout.digits()) widen(iter);
    for (const Iter& iter : layout.replica()) widen(iter);
    return found;
}

std::int64_t span(const Layout& layout, Axis axis) {
    Bounds found = bounds(layout, axis);
    return found.greatest - found.least + 1;
}

std::int64_t cosize(const Layout& layout, Axis axis) { return bounds(layout, axis).greatest + 1; }

Result<std::optional<Alias>> find_alias(const Layout& layout) {
    Result<Table> table = Table::of(layout);
    if (!table) return std::unexpected(table.error());
    Holders held;
    for (std::int64_t element = 0; element < table->elements(); ++element) {
        for (std::int64_t replica = 0; replica < table->replicas(); ++replica) {
            Location location = table->location(element, replica);
            auto [at, added] = held.try_emplace(location, element);
            if (!added && at->second != element) return Alias{at->second, element, location};
        }
    }
    return std::nullopt;
}

Result<std::optional<Location>> find_uncovered(const Layout& layout, const Box& box) {
    std::vector<std::int64_t> extents;
    std::int64_t total = 1;
    for (auto [axis, extent] : box) {
        if (extent < 1 || extent > Table::largest / total) {
            return fail(fmt::format("expected a box of 1 to {} locations", Table::largest));
        }
        extents.push_back(extent);
        total *= extent;
    }
    Result<Holders> held = holders(layout);
    if (!held) return std::unexpected(held.error());
    for (std::int64_t number = 0; number < total; ++number) {
        std::vector<std::int64_t> coordinate = unflatten(number, extents);
        Location location;
        for (std::size_t i = 0; i < box.size(); ++i) location[box[i].first] = coordinate[i];
        if (!held->contains(location)) return location;
    }
    return std::nullopt;
}

Result<std::optional<Outside>> find_outside(const Layout& layout, const Box& box) {
    Result<Table> table = Table::of(layout);
    if (!table) return std::unexpected(table.error());
    for (std::int64_t element = 0; element < table->elements(); ++element) {
        for (std::int64_t replica = 0; replica < table->replicas(); ++replica) {
            Location location = table->location(element, replica);
            if (!inside(location, box)) return Outside{element, location};
        }
    }
    return std::nullopt;
}

Result<bool> is_bijection(const Layout& layout, const Box& box) {
    auto alias = find_alias(layout);
    if (!alias) return std::unexpected(alias.error());
    auto outside = find_outside(layout, box);
    if (!outside) return std::unexpected(outside.error());
    auto uncovered = find_uncovered(layout, box);
    if (!uncovered) return std::unexpected(uncovered.error());
    return !*alias && !*outside && !*uncovered && layout.at(0).size() == 1;
}

Result<std::optional<Overlap>> find_overlap(const Layout& a, const Layout& b) {
    Result<Holders> held = holders(a);
    if (!held) return std::unexpected(held.error());
    Result<Table> table = Table::of(b);
    if (!table) return std::unexpected(table.error());
    for (std::int64_t element = 0; element < table->elements(); ++element) {
        for (std::int64_t replica = 0; replica < table->replicas(); ++replica) {
            auto at = held->find(table->location(element, replica));
            if (at != held->end()) return Overlap{at->second, element, at->first};
        }
    }
    return std::nullopt;
}

Result<std::optional<Difference>> find_difference(const Layout& a, const Layout& b) {
    if (a.size() != b.size()) {
        return fail(fmt::format("layouts of one size compare; found {} and {} elements", a.size(), b.size()));
    }
    Result<Table> first = Table::of(a), second = Table::of(b);
    if (!first) return std::unexpected(first.error());
    if (!second) return std::unexpected(second.error());
    for (std::int64_t element = 0; element < a.size(); ++element) {
        std::vector<Location> in_first = places(*first, element), in_second = places(*second, element);
        if (in_first != in_second) return Difference{element, std::move(in_first), std::move(in_second)};
    }
    return std::nullopt;
}

Result<bool> equal(const Layout& a, const Layout& b) {
    if (a.size() != b.size()) return false;
    auto difference = find_difference(a, b);
    if (!difference) return std::unexpected(difference.error());
    return !*difference;
}

}  // namespace tilepath::layout
