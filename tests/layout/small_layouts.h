#pragma once
#include <gtest/gtest.h>

#include <ostream>
#include <string_view>
#include <vector>

#include "layout/layout.h"
#include "layout/notation.h"

namespace tilepath::layout {

inline void PrintTo(const Location& location, std::ostream* out) { *out << to_string(location); }

inline Layout parse(std::string_view text) {
    Result<Layout> layout = parse_layout(text);
    EXPECT_TRUE(layout) << text << "\n" << (layout ? "" : to_string(layout.error()));
    return layout ? *layout : Layout();
}

/// Every layout of up to three digits over these extents, strides and axes, as one mode and as one mode per digit,
/// plain and with a replica part and an offset: some thousands, most of them not injective, none beyond 64 elements.
inline std::vector<Layout> small_layouts(bool with_replicas = true) {
    std::vector<Iter> digits;
    for (std::int64_t extent : {2, 3, 4})
        for (std::int64_t stride : {1, 2, 4, 6, 0, -1})
            for (Axis axis : {Axis::m, Axis::laneid}) digits.push_back({extent, stride, axis});
    std::vector<Layout> all;
    auto add = [&](std::vector<Mode> modes, std::vector<Iter> replica, std::vector<AxisOffset> offset) {
        all.push_back(*Layout::make(std::move(modes), std::move(replica), std::move(offset)));
    };
    std::size_t count = 0;
    for (const Iter& a : digits) {
        add({{a}}, {}, {});
        add({{a}}, {{2, 32, Axis::laneid}}, {{1, Axis::m}});
        for (const Iter& b : digits) {
            add({{a, b}}, {}, {});
            add({{a}, {b}}, {}, {{3, Axis::laneid}});
            const Iter& c = digits[count++ * 7 % digits.size()];
            add({{a}, {b, c}}, {}, {});
            add({{a, {1, 5, Axis::m}, b}, {c}}, {}, {{-2, Axis::m}});
            if (!with_replicas) continue;
            add({{a, b}}, {{2, -16, Axis::laneid}, {2, 8, Axis::laneid}}, {});
            add({{a}, {b}}, {{3, 1, Axis::m}, {1, 7, Axis::m}, {2, 0, Axis::laneid}}, {});
        }
    }
    return all;
}

/// Every way to write `size` as an ordered product of up to three extents.
inline std::vector<std::vector<std::int64_t>> shapes_of(std::int64_t size) {
    std::vector<std::vector<std::int64_t>> all;
    for (std::int64_t a = 1; a <= size; ++a) {
        if (size % a != 0) continue;
        for (std::int64_t b = 1; b <= size / a; ++b)
            if (size / a % b == 0) all.push_back({a, b, size / a / b});
    }
    return all;
}

}  // namespace tilepath::layout
