#include "layout/location.h"

#include <fmt/format.h>

namespace tilepath::layout {

std::string to_string(const Location& location) {
    std::string text;
    for (const AxisTraits& row : all_axes())
        if (std::int64_t value = location[row.axis])
            text += fmt::format("{}{}={}", text.empty() ? "" : " ", row.name, value);
    return text.empty() ? "m=0" : text;
}

std::size_t LocationHash::operator()(const Location& location) const noexcept {
    std::uint64_t hash = 0x9e3779b97f4a7c15;
    for (const AxisTraits& row : all_axes()) {
        hash ^= static_cast<std::uint64_t>(location[row.axis]);
        hash *= 0xff51afd7ed558ccd;
        hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
}

}  // namespace tilepath::layout
