#include "layout/table.h"

#include <fmt/format.h>

namespace tilepath::layout {
namespace {

/// The sums of one axis over all combinations of digits, last fastest.
void grow(std::vector<std::int64_t>& column, const Iter& iter, Axis axis) {
    std::int64_t stride = iter.axis == axis ? iter.stride : 0;
    std::vector<std::int64_t> grown;
    grown.reserve(column.size() * static_cast<std::size_t>(iter.extent));
    for (std::int64_t value : column)
        for (std::int64_t digit = 0; digit < iter.extent; ++digit) grown.push_back(value + digit * stride);
    column = std::move(grown);
}

}  // namespace

Result<Table> Table::of(const Layout& layout) {
    Table table;
    table.elements_ = layout.size();
    table.replicas_ = layout.replicas();
    if (table.elements_ * table.replicas_ > largest) {
        return fail(
            fmt::format("expected a layout of at most {} locations to enumerate, found {} elements x {} replicas",
                        largest, table.elements_, table.replicas_));
    }
    table.columns_.resize(axis_count);
    std::vector<Iter> digits = layout.digits();
    digits.insert(digits.end(), layout.replica().begin(), layout.replica().end());
    for (Axis axis : layout.axes()) {
        std::vector<std::int64_t>& column = table.columns_[static_cast<std::size_t>(axis)];
        column = {layout.offset(axis)};
        for (const Iter& iter : digits) grow(column, iter, axis);
    }
    return table;
}

std::int64_t Table::at(Axis axis, std::int64_t element, std::int64_t replica) const {
    std::span<const std::int64_t> values = column(axis);
    return values.empty() ? 0 : values[static_cast<std::size_t>(element * replicas_ + replica)];
}

Location Table::location(std::int64_t element, std::int64_t replica) const {
    Location location;
    for (const AxisTraits& row : all_axes()) location[row.axis] = at(row.axis, element, replica);
    return location;
}

}  // namespace tilepath::layout
