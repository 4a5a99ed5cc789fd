#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace tilepath::layout {

/// A layout evaluated once for all elements: one column of numbers per axis, for gather tables and for whole-layout
/// questions.
class Table {
  public:
    /// An error beyond `largest` locations.
    static Result<Table> of(const Layout& layout);
    static constexpr std::int64_t largest = std::int64_t{1} << 24;

    std::int64_t elements() const { return elements_; }
    std::int64_t replicas() const { return replicas_; }
    /// The axis' coordinate of every location, element by element, an element's replicas side by side (not sorted,
    /// repeated ones kept). Empty for an axis the layout does not use, whose coordinate is 0.
    std::span<const std::int64_t> column(Axis axis) const { return columns_[static_cast<std::size_t>(axis)]; }
    std::int64_t at(Axis axis, std::int64_t element, std::int64_t replica = 0) const;
    Location location(std::int64_t element, std::int64_t replica = 0) const;

  private:
    std::int64_t elements_ = 0;
    std::int64_t replicas_ = 0;
    std::vector<std::vector<std::int64_t>> columns_;
};

}  // namespace tilepath::layout
