#include "api/layout.h"

#include "layout/linear.h"

namespace tilepath {
namespace {

Location location(const layout::Location& from) {
    Location out;
    for (const layout::AxisTraits& axis : layout::all_axes())
        if (const std::int64_t value = from[axis.axis]; value != 0) out.axes.emplace_back(axis.name, value);
    return out;
}

}  // namespace

std::int64_t Location::operator[](std::string_view axis) const {
    for (const auto& [name, value] : axes)
        if (name == axis) return value;
    return 0;
}

Layout public_layout(layout::ComposedLayout layout) { return Layout(std::make_shared<Layout::State>(std::move(layout))); }

Result<Layout> Layout::parse(std::string_view notation) {
    auto composed = layout::parse_any(notation);
    if (!composed) return std::unexpected(composed.error());
    return public_layout(std::move(*composed));
}

std::int64_t Layout::size() const { return state_->layout.size(); }

std::vector<std::int64_t> Layout::shape() const { return state_->layout.shape(); }

Result<std::vector<Location>> Layout::at(const std::vector<std::int64_t>& coordinate) const { return at(coordinate, shape()); }

Result<std::vector<Location>> Layout::at(const std::vector<std::int64_t>& coordinate,
                                         const std::vector<std::int64_t>& shape) const {
    auto places = state_->layout.evaluate(coordinate, shape);
    if (!places) return std::unexpected(places.error());
    std::vector<Location> out;
    for (const layout::Location& place : *places) out.push_back(location(place));
    return out;
}

std::string to_string(const Layout& layout) { return layout::to_string(layout.state_->layout); }

Result<bool> equal(const Layout& a, const Layout& b) { return layout::equal(a.state_->layout, b.state_->layout); }

}  // namespace tilepath
