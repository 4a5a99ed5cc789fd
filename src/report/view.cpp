#include "report/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "layout/cute.h"
#include "layout/linear.h"

namespace tilepath::report {
namespace {

using layout::Axis;
using layout::Location;

struct AxisWords {
    Axis axis;
    std::string_view words, letters;
};
constexpr AxisWords axis_words[] = {
    {Axis::cluster_ctarank, "CTA ", "C"}, {Axis::wid_in_wg, "warp ", "W"},  {Axis::warpid, "warp ", "W"},
    {Axis::laneid, "lane ", "T"},         {Axis::tlane, "TMEM lane ", "L"}, {Axis::tcol, "column ", "C"},
    {Axis::reg, "register ", "r"},
};

bool uses(const layout::ComposedLayout& layout, Axis axis) {
    const std::vector<Axis> axes = layout.layout().axes();
    return std::ranges::find(axes, axis) != axes.end();
}

bool spoken(Axis axis) {
    return axis == Axis::m || axis == Axis::bit || axis == Axis::byte ||
           std::ranges::any_of(axis_words, [&](const AxisWords& row) { return row.axis == axis; });
}

std::string bits_words(const View& view, std::int64_t bit) {
    if (view.element_bits <= 1) return fmt::format("bit {}", bit);
    return fmt::format("bits {}-{}", bit, bit + view.element_bits - 1);
}

/// The same layout with bits counted in fields, where every step along them is whole fields: bases over bits exist only
/// where every place is held.
struct InFields {
    layout::ComposedLayout layout;
    std::int64_t bits = 1;
};
InFields in_fields(const View& view) {
    const layout::Layout& layout = view.layout.layout();
    std::int64_t field = layout.offset(Axis::bit);
    for (const layout::Iter& iter : layout.digits())
        if (iter.axis == Axis::bit && iter.extent > 1) field = std::gcd(field, iter.stride);
    if (field <= 1) return {view.layout, 1};
    std::vector<layout::Mode> shard = layout.shard();
    for (layout::Mode& mode : shard)
        for (layout::Iter& iter : mode)
            if (iter.axis == Axis::bit) iter.stride /= field;
    std::vector<layout::AxisOffset> offset = layout.offset();
    for (layout::AxisOffset& each : offset)
        if (each.axis == Axis::bit) each.value /= field;
    auto made = layout::Layout::make(std::move(shard), layout.replica(), std::move(offset));
    if (!made) return {view.layout, 1};
    auto composed = layout::ComposedLayout::make(view.layout.swizzle(), view.layout.offset(), *std::move(made));
    return composed ? InFields{*std::move(composed), field} : InFields{view.layout, 1};
}

}  // namespace

std::string View::coordinate_text(std::int64_t element) const {
    return fmt::format("({})", fmt::join(layout::unflatten(element, shape), ","));
}

std::int64_t View::size() const {
    std::int64_t all = 1;
    for (const std::int64_t extent : shape) all *= extent;
    return all;
}

bool View::uses(Axis axis) const {
    return report::uses(layout, axis) ||
           std::ranges::any_of(more, [&](const ViewPart& part) { return report::uses(part.layout, axis); });
}

std::vector<Location> View::at(std::int64_t element) const {
    const std::int64_t row = element / shape.back(), column = element % shape.back();
    const layout::ComposedLayout* found = &layout;
    std::int64_t begin = 0, end = more.empty() ? shape.back() : more.front().begin;
    for (std::size_t i = 0; i < more.size() && column >= more[i].begin; ++i) {
        found = &more[i].layout;
        begin = more[i].begin;
        end = i + 1 < more.size() ? more[i + 1].begin : shape.back();
    }
    std::vector<Location> places = found->at(row * (end - begin) + column - begin);
    for (Location& place : places) place[Axis::m] += after;
    return places;
}

Result<std::vector<Location>> View::evaluate(std::span<const std::int64_t> coordinate) const {
    const auto element = layout::flatten(coordinate, shape);
    if (!element) return std::unexpected(element.error());
    return at(*element);
}

std::vector<View> View::parts() const {
    std::vector<View> all;
    for (std::size_t i = 0; i <= more.size(); ++i) {
        View part = *this;
        const std::int64_t begin = i == 0 ? 0 : more[i - 1].begin;
        part.shape.back() = (i < more.size() ? more[i].begin : shape.back()) - begin;
        if (i > 0) {
            part.layout = more[i - 1].layout;
            part.dimensions.back() = fmt::format("({} - {})", dimensions.back(), begin);
        }
        part.more.clear();
        all.push_back(std::move(part));
    }
    return all;
}

std::string place_words(const View& view, const Location& place) {
    std::vector<std::string> words;
    for (const AxisWords& row : axis_words)
        if (view.uses(row.axis)) words.push_back(fmt::format("{}{}", row.words, place[row.axis]));
    if (view.uses(Axis::m) || words.empty()) {
        const std::int64_t at = place[Axis::m];
        words.push_back(view.bytes ? fmt::format("byte {} = 0x{:x}, bank {}", at, at, at / 4 % 32)
                                   : fmt::format("m {}", at));
    }
    if (view.uses(Axis::byte)) words.push_back(fmt::format("byte {}", place[Axis::byte]));
    if (view.uses(Axis::bit)) words.push_back(bits_words(view, place[Axis::bit]));
    for (const layout::AxisTraits& row : layout::all_axes())
        if (view.uses(row.axis) && !spoken(row.axis)) words.push_back(fmt::format("{} {}", row.name, place[row.axis]));
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string place_short(const View& view, const Location& place) {
    std::vector<std::string> words;
    for (const AxisWords& row : axis_words)
        if (view.uses(row.axis)) words.push_back(fmt::format("{}{}", row.letters, place[row.axis]));
    if (view.uses(Axis::m) || words.empty()) words.push_back(std::to_string(place[Axis::m]));
    if (view.uses(Axis::byte)) words.push_back(fmt::format("B{}", place[Axis::byte]));
    if (view.uses(Axis::bit)) words.push_back(fmt::format(".{}", place[Axis::bit]));
    for (const layout::AxisTraits& row : layout::all_axes())
        if (view.uses(row.axis) && !spoken(row.axis)) words.push_back(fmt::format("{}{}", row.name, place[row.axis]));
    return fmt::format("{}", fmt::join(words, " "));
}

Result<void> add_element(Sheet& sheet, const View& view, std::span<const std::int64_t> coordinate) {
    Result<std::vector<Location>> places = view.evaluate(coordinate);
    if (!places) {
        Diagnostics errors = places.error();
        errors.front().notes.push_back(
            fmt::format("{} is {} of {}", view.name, fmt::join(view.dimensions, " × "), fmt::join(view.shape, " × ")));
        return std::unexpected(std::move(errors));
    }
    if (sheet.sections.empty() || sheet.sections.back().key != "places") {
        Listing fresh{{"element", "place"}, {}};
        for (const layout::AxisTraits& row : layout::all_axes())
            if (view.uses(row.axis)) fresh.columns.emplace_back(row.name);
        sheet.add("places", "", std::move(fresh));
    }
    Listing& listing = std::get<Listing>(sheet.sections.back().body);
    for (const Location& place : *places) {
        std::vector<Value> row{fmt::format("{}[{}]", view.name, fmt::join(coordinate, ",")), place_words(view, place)};
        for (const layout::AxisTraits& axis : layout::all_axes())
            if (view.uses(axis.axis)) row.emplace_back(place[axis.axis]);
        listing.rows.push_back(std::move(row));
    }
    return {};
}

void add_notations(Sheet& sheet, const View& view) {
    const auto reason = [](const Diagnostics& errors) { return "none: " + errors.front().message; };
    std::string key = "notations";
    for (const View& part : view.parts()) {
        Facts facts;
        facts.add("S + R + O", layout::to_string(part.layout));
        const Result<std::string> cute = layout::to_cute(part.layout);
        facts.add("CuTe", cute ? *cute : reason(cute.error()));
        const InFields fields = in_fields(part);
        const auto linear = layout::LinearLayout::from(fields.layout);
        facts.add(fields.bits == 1 ? "bits" : fmt::format("bits (the axis bit in units of {})", fields.bits),
                  linear ? layout::to_string(*linear) : reason(linear.error()));
        if (view.after != 0) facts.add("after the swizzle", fmt::format("m {:+}", view.after));
        sheet.add(key, fmt::format("{} ({}) as a layout", part.name, fmt::join(part.dimensions, ", ")),
                  std::move(facts));
        key += "_further";
    }
}

}  // namespace tilepath::report
