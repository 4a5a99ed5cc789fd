#include "layout/gf2.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace tilepath::layout {

ColumnSpace::ColumnSpace(std::span<const std::uint64_t> columns) {
    TILEPATH_ASSERT(columns.size() <= 64, "more than 64 columns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
        Pivot next{columns[i], std::uint64_t{1} << i};
        for (const Pivot& pivot : pivots_) {
            if ((next.vector ^ pivot.vector) >= next.vector) continue;
            next.vector ^= pivot.vector;
            next.columns ^= pivot.columns;
        }
        if (next.vector == 0) {
            kernel_.push_back(next.columns);
            continue;
        }
        auto lower = std::ranges::find_if(pivots_, [&](const Pivot& pivot) { return pivot.vector < next.vector; });
        pivots_.insert(lower, next);
    }
}

std::optional<std::uint64_t> ColumnSpace::solve(std::uint64_t target) const {
    std::uint64_t columns = 0;
    for (const Pivot& pivot : pivots_) {
        if ((target ^ pivot.vector) >= target) continue;
        target ^= pivot.vector;
        columns ^= pivot.columns;
    }
    return target == 0 ? std::optional(columns) : std::nullopt;
}

}  // namespace tilepath::layout
