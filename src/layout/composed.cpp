#include "layout/composed.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "layout/analysis.h"
#include "layout/cute.h"
#include "layout/notation.h"
#include "layout/scanner.h"
#include "layout/table.h"

namespace tilepath::layout {
namespace {

struct Prefix {
    Swizzle swizzle;
    std::int64_t offset = 0;
};

Result<int> small_number(Scanner& in, std::string_view what) {
    std::uint32_t begin = in.offset();
    Result<std::int64_t> value = in.number(what);
    if (!value) return std::unexpected(value.error());
    if (*value < -62 || *value > 62)
        return in.error_from(begin, fmt::format("expected {} of at most 62, found {}", what, *value));
    return static_cast<int>(*value);
}

Result<Swizzle> read_swizzle(Scanner& in, std::uint32_t begin) {
    int numbers[3] = {};
    const char* names[] = {"B, the number of bits", "M, the lowest bit", "S, the shift"};
    for (int i = 0; i < 3; ++i) {
        if (i > 0) {
            if (auto comma = in.expect(','); !comma) return std::unexpected(comma.error());
        }
        Result<int> number = small_number(in, names[i]);
        if (!number) return std::unexpected(number.error());
        numbers[i] = *number;
    }
    if (auto closed = in.expect('>'); !closed) return std::unexpected(closed.error());
    Swizzle swizzle{numbers[0], numbers[1], numbers[2]};
    if (!swizzle.valid()) {
        return in.error_from(begin, fmt::format("{} is no swizzle", to_string(swizzle)),
                             "B and M are not negative, |S| is at least B, and B + M + |S| at most 62");
    }
    return swizzle;
}

/// `Sw<B,M,S> o offset o `, `Sw<B,M,S> o ` or nothing.
Result<Prefix> read_prefix(Scanner& in) {
    Prefix prefix;
    std::uint32_t begin = in.offset();
    if (!in.accept("Swizzle<") && !in.accept("Sw<")) return prefix;
    Result<Swizzle> swizzle = read_swizzle(in, begin);
    if (!swizzle) return std::unexpected(swizzle.error());
    prefix.swizzle = *swizzle;
    if (auto o = in.expect('o', "after the swizzle"); !o) return std::unexpected(o.error());
    char next = in.peek();
    // A number before the next 'o' is the offset; CuTe's layouts of one mode, `8:1`, start with a number too.
    if (next == '-' || (next >= '0' && next <= '9')) {
        Scanner before = in;
        Result<std::int64_t> offset = in.number("an offset");
        if (!offset) return std::unexpected(offset.error());
        if (!in.accept('o')) {
            in = before;
            return prefix;
        }
        prefix.offset = *offset;
    }
    return prefix;
}

}  // namespace

Result<ComposedLayout> ComposedLayout::make(Swizzle swizzle, std::int64_t offset, Layout layout) {
    if (!swizzle.valid()) return fail(fmt::format("{} is no swizzle", layout::to_string(swizzle)));
    std::vector<AxisOffset> moved = layout.offset();
    moved.push_back({offset, Axis::m});
    Result<Layout> reached = Layout::make(layout.shard(), layout.replica(), std::move(moved));
    if (!reached) return std::unexpected(reached.error());
    std::int64_t least = bounds(*reached, Axis::m).least;
    if (swizzle.bits != 0 && least < 0) {
        return fail(fmt::format("a swizzle needs addresses that are not negative; the layout reaches m={}", least));
    }
    ComposedLayout made(std::move(layout));
    if (swizzle.bits != 0) made.swizzle_ = swizzle;  // with no bits it is the identity, whatever else it says
    made.offset_ = offset;
    return made;
}

Location ComposedLayout::moved(Location location) const {
    std::int64_t& m = location[Axis::m];
    m += offset_;
    if (swizzles()) m = static_cast<std::int64_t>(swizzle_(static_cast<std::uint64_t>(m)));
    return location;
}

std::vector<Location> ComposedLayout::at(std::int64_t element) const {
    std::vector<Location> places = layout_.at(element);
    for (Location& place : places) place = moved(place);
    std::ranges::sort(places);
    return places;
}

Result<std::vector<Location>> ComposedLayout::evaluate(std::span<const std::int64_t> coordinate,
                                                       std::span<const std::int64_t> shape) const {
    Result<std::vector<Location>> places = layout_.evaluate(coordinate, shape);
    if (!places) return places;
    for (Location& place : *places) place = moved(place);
    std::ranges::sort(*places);
    return places;
}

Result<bool> equal(const ComposedLayout& a, const ComposedLayout& b) {
    if (a.size() != b.size()) return false;
    if (a.size() > Table::largest || a.layout().replicas() > Table::largest / a.size() ||
        b.layout().replicas() > Table::largest / b.size()) {
        return fail(fmt::format("expected layouts of at most {} locations to compare", Table::largest));
    }
    for (std::int64_t element = 0; element < a.size(); ++element)
        if (a.at(element) != b.at(element)) return false;
    return true;
}

Result<ComposedLayout> parse_composed(std::string_view text, std::string name) {
    Scanner in(text, std::move(name));
    std::uint32_t begin = in.offset();
    Result<Prefix> prefix = read_prefix(in);
    if (!prefix) return std::unexpected(prefix.error());
    Result<Layout> layout = in.peek() == 'S' ? read_layout(in) : read_cute(in);
    if (!layout) return std::unexpected(layout.error());
    if (auto end = in.end(); !end) return std::unexpected(end.error());
    Result<ComposedLayout> made = ComposedLayout::make(prefix->swizzle, prefix->offset, *std::move(layout));
    if (!made) return in.error_from(begin, made.error().front().message);
    return made;
}

std::string to_string(const ComposedLayout& layout) {
    std::string text = to_string(layout.layout());
    if (layout.swizzles()) return fmt::format("{} o {} o {}", to_string(layout.swizzle()), layout.offset(), text);
    if (layout.offset() == 0) return text;
    return fmt::format("Sw<0,0,0> o {} o {}", layout.offset(), text);
}

}  // namespace tilepath::layout
