#include "layout/digits.h"

#include <fmt/format.h>

namespace tilepath::layout {

std::vector<Iter> merged(const std::vector<Iter>& digits) {
    std::vector<Iter> all;
    for (Iter iter : digits) {
        if (iter.extent == 1) continue;
        if (iter.stride == 0) iter.axis = Axis::m;
        bool no_move = iter.stride == 0 && !all.empty() && all.back().stride == 0;
        bool continues = !all.empty() && all.back().axis == iter.axis && all.back().stride == iter.extent * iter.stride;
        if (no_move || continues) {
            all.back().extent *= iter.extent;
            all.back().stride = iter.stride;
        } else {
            all.push_back(iter);
        }
    }
    return all;
}

std::optional<Mode> take_fastest(std::vector<Iter>& digits, std::int64_t extent) {
    Mode taken;
    while (extent > 1) {
        if (digits.empty()) return std::nullopt;
        Iter& fastest = digits.back();
        if (extent % fastest.extent == 0) {
            extent /= fastest.extent;
            taken.insert(taken.begin(), fastest);
            digits.pop_back();
        } else if (fastest.extent % extent == 0) {
            taken.insert(taken.begin(), {extent, fastest.stride, fastest.axis});
            fastest.extent /= extent;
            fastest.stride *= extent;
            extent = 1;
        } else {
            return std::nullopt;
        }
    }
    if (extent < 1) return std::nullopt;
    if (taken.empty()) taken.push_back({});
    return taken;
}

Result<Layout> scale(const Layout& layout, const std::function<std::int64_t(Axis)>& factor) {
    bool fits = true;
    auto multiply = [&](std::int64_t& value, Axis axis) {
        fits = fits && !__builtin_mul_overflow(value, factor(axis), &value);
    };
    std::vector<Mode> modes = layout.shard();
    for (Mode& mode : modes)
        for (Iter& iter : mode) multiply(iter.stride, iter.axis);
    std::vector<Iter> replica = layout.replica();
    for (Iter& iter : replica) multiply(iter.stride, iter.axis);
    std::vector<AxisOffset> offset = layout.offset();
    for (AxisOffset& add : offset) multiply(add.value, add.axis);
    if (!fits) return fail("a scaled stride leaves 62 bits", "use smaller strides");
    return Layout::make(std::move(modes), std::move(replica), std::move(offset));
}

}  // namespace tilepath::layout
