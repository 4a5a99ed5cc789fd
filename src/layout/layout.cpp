#include "layout/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace tilepath::layout {
namespace {

constexpr std::int64_t limit = std::int64_t{1} << 62;
constexpr std::size_t most_digits = 64;

void add(Location& to, const Location& what) {
    for (const AxisTraits& row : all_axes()) to[row.axis] += what[row.axis];
}

/// `a × b + c` in `sum`, for numbers that are not negative; false when it leaves 62 bits.
bool multiply_add(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t& sum) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(product, c, &sum) && sum < limit;
}

/// Grows the reach of a digit's axis; false when it leaves 62 bits.
bool reach(Location& reaches, const Iter& iter) {
    if (iter.stride <= -limit || iter.stride >= limit) return false;
    std::int64_t stride = iter.stride < 0 ? -iter.stride : iter.stride;
    return multiply_add(iter.extent - 1, stride, reaches[iter.axis], reaches[iter.axis]);
}

}  // namespace

Layout::Layout() : shard_{{Iter{}}} {}

Result<Layout> Layout::make(std::vector<Mode> shard, std::vector<Iter> replica, std::vector<AxisOffset> offset) {
    Layout made;
    std::erase_if(shard, [](const Mode& mode) { return mode.empty(); });
    if (!shard.empty()) made.shard_ = std::move(shard);
    made.replica_ = std::move(replica);
    Location reaches;
    std::size_t digits = 0;
    for (auto [value, axis] : offset) {
        if (value <= -limit || value >= limit)
            return fail("expected an offset within 62 bits, found " + std::to_string(value));
        if (!reach(reaches, {2, value, axis})) return fail("the offsets leave 62 bits", "use smaller offsets");
        made.offset_[axis] += value;
    }
    auto take = [&](const Iter& iter, std::int64_t& product) -> Result<void> {
        if (iter.extent < 1) return fail(fmt::format("expected an extent of at least 1, found {}", iter.extent));
        if (iter.extent > limit / product) return fail("the extents' product leaves 62 bits", "use smaller extents");
        product *= iter.extent;
        if (!reach(reaches, iter)) {
            return fail(
                fmt::format("{}:{}@{} reaches beyond 62 bits", iter.extent, iter.stride, traits(iter.axis).name));
        }
        if (++digits > most_digits) return fail(fmt::format("more than {} extents in one layout", most_digits));
        return {};
    };
    for (const Mode& mode : made.shard_)
        for (const Iter& iter : mode)
            if (auto taken = take(iter, made.size_); !taken) return std::unexpected(taken.error());
    made.replicas_ = 1;
    for (const Iter& iter : made.replica_)
        if (auto taken = take(iter, made.replicas_); !taken) return std::unexpected(taken.error());
    if (made.replicas_ > limit / made.size_) return fail("the extents' product leaves 62 bits", "use smaller extents");
    return made;
}

Layout Layout::of(std::initializer_list<Mode> shard, std::initializer_list<Iter> replica,
                  std::initializer_list<AxisOffset> offset) {
    Result<Layout> made = make(shard, replica, offset);
    TILEPATH_ASSERT(made, "a layout written in code is malformed");
    return *std::move(made);
}

std::vector<AxisOffset> Layout::offset() const {
    std::vector<AxisOffset> all;
    for (const AxisTraits& row : all_axes())
        if (offset_[row.axis] != 0) all.push_back({offset_[row.axis], row.axis});
    return all;
}

std::vector<Iter> Layout::digits() const {
    std::vector<Iter> all;
    for (const Mode& mode : shard_) all.insert(all.end(), mode.begin(), mode.end());
    return all;
}

std::vector<std::int64_t> Layout::shape() const {
    std::vector<std::int64_t> extents;
    for (const Mode& mode : shard_) {
        std::int64_t extent = 1;
        for (const Iter& iter : mode) extent *= iter.extent;
        extents.push_back(extent);
    }
    return extents;
}

std::vector<Axis> Layout::axes() const {
    std::vector<bool> used(axis_count);
    auto use = [&](const Iter& iter) {
        if (iter.stride != 0 && iter.extent > 1) used[static_cast<std::size_t>(iter.axis)] = true;
    };
    for (const Iter& iter : digits()) use(iter);
    for (const Iter& iter : replica_) use(iter);
    std::vector<Axis> all;
    for (const AxisTraits& row : all_axes())
        if (used[static_cast<std::size_t>(row.axis)] || offset_[row.axis] != 0) all.push_back(row.axis);
    return all;
}

Location Layout::base(std::int64_t element) const {
    TILEPATH_ASSERT(element >= 0 && element < size_, "element outside the layout's domain");
    Location location = offset_;
    for (auto mode = shard_.rbegin(); mode != shard_.rend(); ++mode) {
        for (auto iter = mode->rbegin(); iter != mode->rend(); ++iter) {
            location[iter->axis] += element % iter->extent * iter->stride;
            element /= iter->extent;
        }
    }
    return location;
}

std::vector<Location> Layout::replica_steps() const {
    std::vector<Location> steps{Location{}};
    for (const Iter& iter : replica_) {
        std::vector<Location> grown;
        grown.reserve(steps.size() * static_cast<std::size_t>(iter.extent));
        for (const Location& step : steps) {
            for (std::int64_t digit = 0; digit < iter.extent; ++digit) {
                grown.push_back(step);
                grown.back()[iter.axis] += digit * iter.stride;
            }
        }
        steps = std::move(grown);
    }
    return steps;
}

std::vector<Location> Layout::at(std::int64_t element) const {
    Location first = base(element);
    std::vector<Location> all = replica_steps();
    for (Location& location : all) add(location, first);
    std::ranges::sort(all);
    auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
}

Result<std::vector<Location>> Layout::evaluate(std::span<const std::int64_t> coordinate,
                                               std::span<const std::int64_t> shape) const {
    Result<std::int64_t> element = flatten(coordinate, shape);
    if (!element) return std::unexpected(element.error());
    std::int64_t total = 1;
    bool fits = true;
    for (std::int64_t extent : shape) fits = fits && multiply_add(total, extent, 0, total);
    if (!fits || total != size_) {
        return fail(fmt::format("expected a shape of {} elements, found ({})", size_, fmt::join(shape, ",")),
                    "give a shape whose extents multiply to the layout's size");
    }
    return at(*element);
}

Result<std::vector<Location>> Layout::evaluate(std::span<const std::int64_t> coordinate) const {
    return evaluate(coordinate, shape());
}

Result<std::vector<Location>> Layout::evaluate(std::initializer_list<std::int64_t> coordinate) const {
    return evaluate(std::span(coordinate.begin(), coordinate.size()));
}

Result<std::int64_t> flatten(std::span<const std::int64_t> coordinate, std::span<const std::int64_t> shape) {
    if (coordinate.size() != shape.size()) {
        return fail(fmt::format("expected a coordinate of {} numbers for the shape ({}), found {}", shape.size(),
                                fmt::join(shape, ","), coordinate.size()));
    }
    std::int64_t element = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (coordinate[i] < 0 || coordinate[i] >= shape[i]) {
            return fail(fmt::format("coordinate ({}) lies outside the shape ({})", fmt::join(coordinate, ","),
                                    fmt::join(shape, ",")),
                        fmt::format("number {} must be 0 to {}", i, shape[i] - 1));
        }
        if (!multiply_add(element, shape[i], coordinate[i], element)) return fail("the shape's product leaves 62 bits");
    }
    return element;
}

std::vector<std::int64_t> unflatten(std::int64_t element, std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> coordinate(shape.size());
    for (std::size_t i = shape.size(); i-- > 0;) {
        coordinate[i] = element % shape[i];
        element /= shape[i];
    }
    return coordinate;
}

}  // namespace tilepath::layout
