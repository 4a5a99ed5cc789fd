#include "report/layout_sheet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "layout/analysis.h"
#include "layout/cute.h"
#include "layout/linear.h"
#include "layout/operations.h"
#include "layout/scanner.h"
#include "layout/table.h"

namespace tilepath::report {
namespace {

using layout::Axis;
using layout::ComposedLayout;
using layout::Layout;
using layout::Location;

/// `laneid=4,reg=1`; blanks may stand for commas, as `layout` prints places.
Result<Location> read_place(std::string_view text) {
    layout::Scanner in(text, "place");
    Location place;
    while (in.peek() != 0) {
        const std::uint32_t begin = in.offset();
        const std::string_view name = in.name();
        const std::optional<Axis> axis = layout::axis_named(name);
        if (!axis) {
            std::vector<std::string_view> known;
            for (const layout::AxisTraits& row : layout::all_axes()) known.push_back(row.name);
            return in.error_from(
                begin, fmt::format("expected an axis, found '{}'", name.empty() ? in.found() : std::string(name)),
                fmt::format("axes: {}", fmt::join(known, " ")));
        }
        if (auto ok = in.expect('=', "after the axis"); !ok) return std::unexpected(ok.error());
        const auto value = in.number("a coordinate");
        if (!value) return std::unexpected(value.error());
        place[*axis] = *value;
        in.accept(',');
    }
    return place;
}

Result<View> view_of(const LayoutQuestion& question, const ComposedLayout& layout) {
    View view{"layout", {}, layout.shape(), layout, 0, false, {}, 0};
    if (question.shape) {
        auto shape = read_numbers(*question.shape, "--shape");
        if (!shape) return std::unexpected(shape.error());
        std::int64_t size = 1;
        for (const std::int64_t extent : *shape) size = extent >= 1 && size <= layout.size() ? size * extent : -1;
        if (size != layout.size())
            return fail(
                fmt::format("expected a shape of {} elements, found ({})", layout.size(), fmt::join(*shape, ",")));
        view.shape = *shape;
    }
    static constexpr const char* names[] = {"i", "j", "k", "l"};
    for (std::size_t i = 0; i < view.shape.size(); ++i)
        view.dimensions.push_back(view.shape.size() <= 4 ? names[i] : fmt::format("i{}", i));
    return view;
}

/// Every place of a layout under its swizzle, for questions that the swizzle changes.
Facts facts_of(const View& view) {
    const Layout& layout = view.layout.layout();
    Facts facts;
    facts.add("layout", layout::to_string(view.layout));
    if (!view.layout.swizzles() && view.layout.offset() == 0)
        facts.add("canonical", layout::to_string(canonical(layout)));
    facts.add("shape", fmt::format("({})", fmt::join(view.shape, ",")));
    facts.add("elements", layout.size());
    facts.add("places of each", layout.replicas());
    layout::Box box;
    for (const Axis axis : layout.axes()) {
        const layout::Bounds reach = layout::bounds(layout, axis);
        const std::int64_t offset = axis == Axis::m ? view.layout.offset() : 0;
        facts.add(std::string(layout::traits(axis).name),
                  fmt::format("{} to {}, span {}{}", reach.least + offset, reach.greatest + offset,
                              layout::span(layout, axis),
                              axis == Axis::m && view.layout.swizzles() ? ", before the swizzle" : ""));
        box.emplace_back(axis, reach.least < 0 ? 0 : reach.greatest + 1);
    }
    // The swizzle is one to one, so aliases are those of the layout below it.
    const auto alias = layout::find_alias(layout);
    if (!alias)
        facts.add("injective", "unknown: " + alias.error().front().message);
    else if (*alias)
        facts.add("injective",
                  fmt::format("no: {} and {} share {}", view.coordinate_text((*alias)->first),
                              view.coordinate_text((*alias)->second), layout::to_string((*alias)->location)));
    else
        facts.add("injective", "yes: every place holds one element");
    const bool positive = std::ranges::all_of(box, [](const auto& side) { return side.second > 0; });
    if (positive && !view.layout.swizzles() && alias) {
        const auto hole = layout::find_uncovered(layout, box);
        if (!hole)
            facts.add("covers its box", "unknown: " + hole.error().front().message);
        else
            facts.add("covers its box", *hole ? fmt::format("no: nothing at {}", layout::to_string(**hole)) : "yes");
    }
    return facts;
}

Result<void> add_inverse(Sheet& sheet, const View& view, const std::string& text) {
    if (text.empty()) {
        if (view.layout.swizzles() || view.layout.offset() != 0)
            return fail("a swizzled layout's inverse is no S + R + O", "give --inverse a place, or use --bits");
        const auto inverted = layout::inverse(view.layout.layout());
        if (!inverted) return std::unexpected(inverted.error());
        std::vector<std::string_view> axes;
        for (const Axis axis : inverted->axes) axes.push_back(layout::traits(axis).name);
        Facts facts;
        facts.add("inverse", layout::to_string(inverted->layout));
        facts.add("of", fmt::format("({}) to the element's number", fmt::join(axes, ", ")));
        sheet.add("inverse", "", std::move(facts));
        return {};
    }
    const auto place = read_place(text);
    if (!place) return std::unexpected(place.error());
    if (view.layout.size() > layout::Table::largest ||
        view.layout.layout().replicas() > layout::Table::largest / view.layout.size())
        return fail(fmt::format("expected a layout of at most {} places to search", layout::Table::largest));
    Location below = *place;  // undo the swizzle, which is its own inverse, and the offset
    if (view.layout.swizzles() && below[Axis::m] >= 0)
        below[Axis::m] = static_cast<std::int64_t>(view.layout.swizzle()(static_cast<std::uint64_t>(below[Axis::m])));
    below[Axis::m] -= view.layout.offset();
    const auto elements = layout::elements_at(view.layout.layout(), below);
    if (!elements) return std::unexpected(elements.error());
    Listing listing{{"place", "element", "number"}, {}};
    for (const std::int64_t element : *elements)
        listing.rows.push_back({layout::to_string(*place), view.coordinate_text(element), element});
    if (listing.rows.empty())
        sheet.add("inverse", "", Lines{{fmt::format("nothing lies at {}", layout::to_string(*place))}});
    else
        sheet.add("inverse", "", std::move(listing));
    return {};
}

std::string joined(const std::vector<Location>& places) {
    std::vector<std::string> words;
    for (const Location& place : places) words.push_back(layout::to_string(place));
    return fmt::format("{}", fmt::join(words, " | "));
}

Result<void> add_equal(Sheet& sheet, const View& view, const std::string& text) {
    const auto other = layout::parse_any(text, "--equal");
    if (!other) return std::unexpected(other.error());
    Facts facts;
    facts.add("other", layout::to_string(*other));
    if (other->size() != view.layout.size()) {
        facts.add("equal", fmt::format("no: {} elements and {}", view.layout.size(), other->size()));
        sheet.disagrees = true;
    } else {
        const auto same = layout::equal(view.layout, *other);
        if (!same) return std::unexpected(same.error());
        sheet.disagrees = !*same;
        for (std::int64_t element = 0; !*same && element < other->size(); ++element) {
            const auto ours = view.layout.at(element), theirs = other->at(element);
            if (ours == theirs) continue;
            facts.add("equal", fmt::format("no: {} lies at {} and at {}", view.coordinate_text(element), joined(ours),
                                           joined(theirs)));
            break;
        }
        if (*same) facts.add("equal", fmt::format("yes: the same places for each of {} elements", other->size()));
    }
    sheet.add("equality", "", std::move(facts));
    return {};
}

Result<void> add_notation(Sheet& sheet, const LayoutQuestion& question, const View& view) {
    Lines lines;
    if (question.cute) {
        const auto cute = layout::to_cute(view.layout);
        if (!cute) return std::unexpected(cute.error());
        lines.lines.push_back(*cute);
    }
    if (question.bits) {
        const auto linear = layout::LinearLayout::from(view.layout);
        if (!linear) return std::unexpected(linear.error());
        lines.lines.push_back(layout::to_string(*linear));
    }
    sheet.add("notation", "", std::move(lines));
    return {};
}

}  // namespace

Result<std::vector<std::int64_t>> read_numbers(std::string_view text, std::string_view what) {
    layout::Scanner in(text, std::string(what));
    const bool bracketed = in.accept('(');
    std::vector<std::int64_t> numbers;
    do {
        const auto number = in.number("a number");
        if (!number) return std::unexpected(number.error());
        numbers.push_back(*number);
    } while (in.accept(','));
    if (bracketed) {
        if (auto closed = in.expect(')'); !closed) return std::unexpected(closed.error());
    }
    if (auto end = in.end(); !end) return std::unexpected(end.error());
    return numbers;
}

Result<Sheet> layout_sheet(const LayoutQuestion& question) {
    const auto layout = layout::parse_any(question.expression);
    if (!layout) return std::unexpected(layout.error());
    const auto view = view_of(question, *layout);
    if (!view) return std::unexpected(view.error());
    Sheet sheet;
    const bool asked = !question.at.empty() || question.inverse || question.equal || question.cute || question.bits ||
                       question.formula || question.table;
    if (!asked) sheet.add("layout", "", facts_of(*view));
    for (const std::string& text : question.at) {
        const auto coordinate = read_numbers(text, "--at");
        if (!coordinate) return std::unexpected(coordinate.error());
        const auto places = layout->evaluate(*coordinate, view->shape);
        if (!places) return std::unexpected(places.error());
        if (sheet.sections.empty()) sheet.add("at", "", Listing{{"element", "places"}, {}});
        std::get<Listing>(sheet.sections.back().body)
            .rows.push_back({fmt::format("({})", fmt::join(*coordinate, ",")), joined(*places)});
    }
    if (question.inverse) {
        if (auto ok = add_inverse(sheet, *view, *question.inverse); !ok) return std::unexpected(ok.error());
    }
    if (question.equal) {
        if (auto ok = add_equal(sheet, *view, *question.equal); !ok) return std::unexpected(ok.error());
    }
    if (question.cute || question.bits) {
        if (auto ok = add_notation(sheet, question, *view); !ok) return std::unexpected(ok.error());
    }
    if (question.formula) add_formulae(sheet, *view);
    if (question.table) {
        if (auto ok = add_tables(sheet, *view, question.colour); !ok) return std::unexpected(ok.error());
    }
    return sheet;
}

}  // namespace tilepath::report
