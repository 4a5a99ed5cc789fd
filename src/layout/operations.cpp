#include "layout/operations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "layout/analysis.h"
#include "layout/digits.h"
#include "layout/table.h"

namespace tilepath::layout {
namespace {

Layout must(Result<Layout> made) {
    TILEPATH_ASSERT(made, "an operation made a malformed layout");
    return *std::move(made);
}

/// Replicas with positive strides, sorted, merged; what turning them round adds goes into `offset`.
std::vector<Iter> canonical_replica(std::vector<Iter> replica, std::vector<AxisOffset>& offset) {
    std::erase_if(replica, [](const Iter& iter) { return iter.extent == 1 || iter.stride == 0; });
    for (Iter& iter : replica) {
        if (iter.stride > 0) continue;
        offset.push_back({iter.stride * (iter.extent - 1), iter.axis});
        iter.stride = -iter.stride;
    }
    std::ranges::sort(replica, [](const Iter& a, const Iter& b) {
        return a.axis != b.axis ? a.axis < b.axis : a.stride != b.stride ? a.stride > b.stride : a.extent > b.extent;
    });
    return merged(replica);
}

}  // namespace

Layout canonical(const Layout& layout) {
    std::vector<Mode> modes;
    for (const Iter& iter : merged(layout.digits())) modes.push_back({iter});
    std::vector<AxisOffset> offset = layout.offset();
    std::vector<Iter> replica = canonical_replica(layout.replica(), offset);
    return must(Layout::make(std::move(modes), std::move(replica), std::move(offset)));
}

Result<Layout> group(const Layout& layout, std::span<const std::int64_t> shape) {
    std::vector<Mode> modes(shape.size());
    std::vector<Iter> rest = merged(layout.digits());
    for (std::size_t i = shape.size(); i-- > 0;) {
        std::optional<Mode> taken = take_fastest(rest, shape[i]);
        if (!taken) {
            return fail(fmt::format("the layout's digits do not split into ({})", fmt::join(shape, ",")),
                        fmt::format("extent {} (number {}) cuts a digit that it does not divide", shape[i], i));
        }
        modes[i] = *std::move(taken);
    }
    for (const Iter& iter : rest) {
        if (iter.extent != 1) {
            return fail(
                fmt::format("expected a shape of {} elements, found ({})", layout.size(), fmt::join(shape, ",")));
        }
    }
    return Layout::make(std::move(modes), layout.replica(), layout.offset());
}

Result<Layout> permute(const Layout& layout, std::span<const std::size_t> order) {
    std::vector<bool> used(layout.rank());
    std::vector<Mode> modes;
    for (std::size_t mode : order) {
        if (mode >= used.size() || used[mode]) break;
        used[mode] = true;
        modes.push_back(layout.shard()[mode]);
    }
    if (modes.size() != layout.rank() || order.size() != layout.rank()) {
        return fail(fmt::format("expected each of the modes 0 to {} once, found ({})", layout.rank() - 1,
                                fmt::join(order, ",")));
    }
    return Layout::make(std::move(modes), layout.replica(), layout.offset());
}

Result<Layout> direct_sum(const Layout& outer, const Layout& inner) {
    if (outer.rank() != inner.rank()) {
        return fail(fmt::format("expected two layouts of one rank, found {} and {} modes", outer.rank(), inner.rank()),
                    "group them first");
    }
    std::vector<Mode> modes = outer.shard();
    for (std::size_t i = 0; i < modes.size(); ++i)
        modes[i].insert(modes[i].end(), inner.shard()[i].begin(), inner.shard()[i].end());
    std::vector<Iter> replica = outer.replica();
    replica.insert(replica.end(), inner.replica().begin(), inner.replica().end());
    std::vector<AxisOffset> offset = outer.offset();
    for (const AxisOffset& add : inner.offset()) offset.push_back(add);
    return Layout::make(std::move(modes), std::move(replica), std::move(offset));
}

Result<Layout> tile(const Layout& outer, const Layout& inner) {
    Result<Layout> scaled = scale(outer, [&](Axis axis) { return span(inner, axis); });
    if (!scaled) return scaled;
    return direct_sum(*scaled, inner);
}

Result<Layout> unpack(const Layout& layout, std::int64_t count, Axis axis) {
    if (count < 1) return fail(fmt::format("expected at least 1 element to unpack, found {}", count));
    Result<Layout> scaled = scale(layout, [&](Axis which) { return which == axis ? count : 1; });
    if (!scaled) return scaled;
    std::vector<Mode> modes = scaled->shard();
    modes.back().push_back({count, 1, axis});
    return Layout::make(std::move(modes), scaled->replica(), scaled->offset());
}

Result<Layout> pack(const Layout& layout, std::int64_t count, Axis axis) {
    if (count < 1) return fail(fmt::format("expected at least 1 element to pack, found {}", count));
    std::vector<Mode> modes = layout.shard();
    std::vector<Iter> last = merged(modes.back());
    std::optional<Mode> packed = take_fastest(last, count);
    bool consecutive = packed.has_value();
    if (packed) {
        std::vector<Iter> joined = merged(*packed);
        consecutive = count == 1 || joined == std::vector<Iter>{{count, 1, axis}};
    }
    if (!consecutive) {
        return fail(fmt::format("the last mode does not keep {} elements consecutive on {}", count, traits(axis).name));
    }
    modes.back() = last;
    if (modes.back().empty()) modes.back().push_back({});
    auto divide = [&](std::int64_t& value, Axis which) {
        if (which != axis) return true;
        if (value % count != 0) return false;
        value /= count;
        return true;
    };
    bool divides = true;
    for (Mode& mode : modes)
        for (Iter& iter : mode) divides = divides && (iter.extent == 1 || divide(iter.stride, iter.axis));
    std::vector<Iter> replica = layout.replica();
    for (Iter& iter : replica) divides = divides && (iter.extent == 1 || divide(iter.stride, iter.axis));
    std::vector<AxisOffset> offset = layout.offset();
    for (AxisOffset& add : offset) divides = divides && divide(add.value, add.axis);
    if (!divides) {
        return fail(fmt::format("a stride or offset on {} is no multiple of the {} elements to pack", traits(axis).name,
                                count));
    }
    return Layout::make(std::move(modes), std::move(replica), std::move(offset));
}

Layout only(const Layout& layout, AxisKind kind) {
    return must(scale(layout, [&](Axis axis) { return traits(axis).kind == kind ? 1 : 0; }));
}

Result<Layout> substitute(const Layout& layout, Axis from, std::int64_t by, Axis to) {
    Result<Layout> scaled = scale(layout, [&](Axis axis) { return axis == from ? by : 1; });
    if (!scaled) return scaled;
    auto rename = [&](Axis& axis) {
        if (axis == from) axis = to;
    };
    std::vector<Mode> modes = scaled->shard();
    for (Mode& mode : modes)
        for (Iter& iter : mode) rename(iter.axis);
    std::vector<Iter> replica = scaled->replica();
    for (Iter& iter : replica) rename(iter.axis);
    std::vector<AxisOffset> offset = scaled->offset();
    for (AxisOffset& add : offset) rename(add.axis);
    return Layout::make(std::move(modes), std::move(replica), std::move(offset));
}

Result<std::vector<std::int64_t>> elements_at(const Layout& layout, const Location& location) {
    Result<Table> table = Table::of(layout);
    if (!table) return std::unexpected(table.error());
    std::vector<std::int64_t> all;
    for (std::int64_t element = 0; element < table->elements(); ++element) {
        for (std::int64_t replica = 0; replica < table->replicas(); ++replica) {
            if (table->location(element, replica) != location) continue;
            all.push_back(element);
            break;
        }
    }
    return all;
}

}  // namespace tilepath::layout
