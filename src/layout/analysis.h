#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace tilepath::layout {

/// The least and greatest coordinate that a layout reaches on an axis, replicas and offset included.
struct Bounds {
    std::int64_t least = 0;
    std::int64_t greatest = 0;

    friend bool operator==(const Bounds&, const Bounds&) = default;
};
Bounds bounds(const Layout& layout, Axis axis);
/// greatest − least + 1: how far the layout extends on the axis, wherever it starts.
std::int64_t span(const Layout& layout, Axis axis);
/// greatest + 1: the extent of an axis that starts at 0 and holds the layout.
std::int64_t cosize(const Layout& layout, Axis axis);

/// Two elements that share a location.
struct Alias {
    std::int64_t first = 0;
    std::int64_t second = 0;
    Location location;
};
/// The first two elements (by the second's number) of which a location is shared; nothing if the layout is injective,
/// that is, if every location holds one element. An error if there are too many locations to enumerate (table.h).
Result<std::optional<Alias>> find_alias(const Layout& layout);

/// A box of locations: an extent per axis, from 0; the axes not named have extent 1.
using Box = std::vector<std::pair<Axis, std::int64_t>>;
/// The first location of the box, in order of its axes (last fastest), that holds no element; nothing if all are
/// covered.
Result<std::optional<Location>> find_uncovered(const Layout& layout, const Box& box);
/// The first location outside the box, by element, and its element.
struct Outside {
    std::int64_t element = 0;
    Location location;
};
Result<std::optional<Outside>> find_outside(const Layout& layout, const Box& box);
/// True if the layout maps its elements one to one onto the box: injective, inside, covering, one place each.
Result<bool> is_bijection(const Layout& layout, const Box& box);

/// A location that both layouts use, with an element of each; nothing if they are disjoint.
struct Overlap {
    std::int64_t first = 0;
    std::int64_t second = 0;
    Location location;
};
Result<std::optional<Overlap>> find_overlap(const Layout& a, const Layout& b);

/// The first element that two layouts of one size send to different sets of places.
struct Difference {
    std::int64_t element = 0;
    std::vector<Location> first, second;
};
/// Equality by evaluation: nothing if every element has the same places in both. An error if the sizes differ.
Result<std::optional<Difference>> find_difference(const Layout& a, const Layout& b);
/// The same as a yes or no; layouts of different sizes are not equal.
Result<bool> equal(const Layout& a, const Layout& b);

}  // namespace tilepath::layout
