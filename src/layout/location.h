#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "layout/axis.h"

namespace tilepath::layout {

/// One place: a coordinate on every axis; an axis that nobody speaks of is 0. Ordered by the axes' order.
class Location {
  public:
    Location() = default;
    std::int64_t operator[](Axis axis) const { return at_[static_cast<std::size_t>(axis)]; }
    std::int64_t& operator[](Axis axis) { return at_[static_cast<std::size_t>(axis)]; }

    friend bool operator==(const Location&, const Location&) = default;
    friend auto operator<=>(const Location&, const Location&) = default;

  private:
    std::array<std::int64_t, axis_count> at_{};
};

/// `laneid=4 reg=1`: the axes that are not 0; `m=0` if all are.
std::string to_string(const Location& location);

struct LocationHash {
    std::size_t operator()(const Location& location) const noexcept;
};

}  // namespace tilepath::layout
