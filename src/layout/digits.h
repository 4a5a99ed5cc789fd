#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "layout/layout.h"

namespace tilepath::layout {

/// Digits without extents of 1, neighbours joined where the slower one continues the faster: `e·s` of the faster is the
/// slower's stride. Never empty of meaning: no digits stand for one element.
std::vector<Iter> merged(const std::vector<Iter>& digits);

/// Takes digits for `extent` elements off the fast end of `digits`, splitting one if needed; nothing, and `digits` in
/// any state, if a digit does not divide.
std::optional<Mode> take_fastest(std::vector<Iter>& digits, std::int64_t extent);

/// The layout with every stride and offset multiplied by a factor of its axis.
Result<Layout> scale(const Layout& layout, const std::function<std::int64_t(Axis)>& factor);

}  // namespace tilepath::layout
