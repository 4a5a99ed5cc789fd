#include <fmt/format.h>

#include "layout/digits.h"
#include "layout/operations.h"

namespace tilepath::layout {
namespace {

struct Part {
    Mode mode;
    std::vector<AxisOffset> offset;
};

/// Where element `number` of the digits lies.
std::vector<AxisOffset> place(const std::vector<Iter>& digits, std::int64_t number) {
    std::vector<AxisOffset> at;
    for (auto iter = digits.rbegin(); iter != digits.rend(); ++iter) {
        at.push_back({number % iter->extent * iter->stride, iter->axis});
        number /= iter->extent;
    }
    return at;
}

/// Elements [begin, begin + extent) when no digit wraps: whole fast digits, then a part of one, then fixed ones.
std::optional<Mode> straight(std::vector<Iter> digits, std::int64_t begin, std::int64_t extent) {
    Mode mode;
    while (extent > 1) {
        Iter fastest = digits.back();
        digits.pop_back();
        std::int64_t digit = begin % fastest.extent;
        if (digit == 0 && extent % fastest.extent == 0) {
            mode.insert(mode.begin(), fastest);
            begin /= fastest.extent;
            extent /= fastest.extent;
        } else if (digit + extent <= fastest.extent) {
            mode.insert(mode.begin(), {extent, fastest.stride, fastest.axis});
            extent = 1;
        } else {
            return std::nullopt;
        }
    }
    if (mode.empty()) mode.push_back({});
    return mode;
}

/// Two straight halves whose distance lies on one axis.
std::optional<Mode> halves(const std::vector<Iter>& digits, std::int64_t begin, std::int64_t extent) {
    if (extent % 2 != 0) return std::nullopt;
    std::optional<Mode> first = straight(digits, begin, extent / 2),
                        second = straight(digits, begin + extent / 2, extent / 2);
    if (!first || !second || *first != *second) return std::nullopt;
    Location distance;
    for (auto [value, axis] : place(digits, begin + extent / 2)) distance[axis] += value;
    for (auto [value, axis] : place(digits, begin)) distance[axis] -= value;
    Iter jump{2, 0, Axis::m};
    for (const AxisTraits& row : all_axes()) {
        if (distance[row.axis] == 0) continue;
        if (jump.stride != 0) return std::nullopt;
        jump = {2, distance[row.axis], row.axis};
    }
    first->insert(first->begin(), jump);
    return first;
}

std::optional<Part> part(const Mode& mode, std::int64_t begin, std::int64_t extent) {
    std::vector<Iter> digits = merged(mode);
    std::optional<Mode> sliced = straight(digits, begin, extent);
    if (!sliced) sliced = halves(digits, begin, extent);
    if (!sliced) return std::nullopt;
    return Part{*std::move(sliced), place(digits, begin)};
}

}  // namespace

Result<Layout> slice(const Layout& layout, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent) {
    std::vector<std::int64_t> shape = layout.shape();
    if (begin.size() != shape.size() || extent.size() != shape.size()) {
        return fail(fmt::format("expected a begin and an extent for each of the {} modes, found {} and {}",
                                shape.size(), begin.size(), extent.size()));
    }
    std::vector<Mode> modes;
    std::vector<AxisOffset> offset = layout.offset();
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (begin[i] < 0 || extent[i] < 1 || begin[i] >= shape[i] || extent[i] > shape[i] - begin[i]) {
            return fail(fmt::format("[{}, {}+{}) leaves mode {}, which has {} elements", begin[i], begin[i], extent[i],
                                    i, shape[i]));
        }
        std::optional<Part> taken = part(layout.shard()[i], begin[i], extent[i]);
        if (!taken) {
            return fail(
                fmt::format("elements {} to {} of mode {} wrap around a digit", begin[i], begin[i] + extent[i] - 1, i),
                "slice at multiples of the digits' extents");
        }
        modes.push_back(std::move(taken->mode));
        offset.insert(offset.end(), taken->offset.begin(), taken->offset.end());
    }
    return Layout::make(std::move(modes), layout.replica(), std::move(offset));
}

}  // namespace tilepath::layout
