#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "layout/linear.h"
#include "layout/scanner.h"

namespace tilepath::layout {
namespace {

/// `(0,2)`.
Result<std::vector<std::int64_t>> read_coordinate(Scanner& in, std::string_view what) {
    if (auto open = in.expect('('); !open) return std::unexpected(open.error());
    std::vector<std::int64_t> numbers;
    do {
        Result<std::int64_t> number = in.number(what);
        if (!number) return std::unexpected(number.error());
        numbers.push_back(*number);
    } while (in.accept(','));
    if (auto closed = in.expect(')'); !closed) return std::unexpected(closed.error());
    return numbers;
}

/// `laneid: (0,2) (0,4)`.
Result<LinearLayout::Input> read_input(Scanner& in) {
    LinearLayout::Input input;
    std::uint32_t begin = in.offset();
    std::string_view name = in.name();
    std::optional<Axis> axis = axis_named(name);
    if (name.empty()) return in.error_here(fmt::format("expected an axis, found {}", in.found()));
    if (!axis) return in.error_from(begin, fmt::format("unknown axis '{}'", name));
    input.axis = *axis;
    if (auto colon = in.expect(':', "after the axis"); !colon) return std::unexpected(colon.error());
    while (in.peek() == '(') {
        Result<std::vector<std::int64_t>> basis = read_coordinate(in, "a coordinate");
        if (!basis) return std::unexpected(basis.error());
        input.bases.push_back(*std::move(basis));
    }
    return input;
}

}  // namespace

Result<LinearLayout> parse_linear(std::string_view text, std::string name) {
    Scanner in(text, std::move(name));
    std::uint32_t begin = in.offset();
    if (!in.accept("bits["))
        return in.error_here(fmt::format("expected bits[axis: bases; …] -> (shape), found {}", in.found()));
    std::vector<LinearLayout::Input> inputs;
    do {
        Result<LinearLayout::Input> input = read_input(in);
        if (!input) return std::unexpected(input.error());
        inputs.push_back(*std::move(input));
    } while (in.accept(';'));
    if (auto closed = in.expect(']'); !closed) return std::unexpected(closed.error());
    if (!in.accept("->")) return in.error_here(fmt::format("expected '->' and the shape, found {}", in.found()));
    Result<std::vector<std::int64_t>> shape = read_coordinate(in, "an extent");
    if (!shape) return std::unexpected(shape.error());
    if (auto end = in.end(); !end) return std::unexpected(end.error());
    Result<LinearLayout> made = LinearLayout::make(std::move(inputs), *std::move(shape));
    if (!made) return in.error_from(begin, made.error().front().message);
    return made;
}

std::string to_string(const LinearLayout& layout) {
    std::vector<std::string> inputs;
    for (const LinearLayout::Input& input : layout.inputs()) {
        std::string text = fmt::format("{}:", traits(input.axis).name);
        for (const auto& basis : input.bases) text += fmt::format(" ({})", fmt::join(basis, ","));
        inputs.push_back(std::move(text));
    }
    return fmt::format("bits[{}] -> ({})", fmt::join(inputs, "; "), fmt::join(layout.shape(), ","));
}

Result<ComposedLayout> parse_any(std::string_view text, std::string name) {
    const std::size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos || !text.substr(begin).starts_with("bits"))
        return parse_composed(text, std::move(name));
    Result<LinearLayout> linear = parse_linear(text, std::move(name));
    if (!linear) return std::unexpected(linear.error());
    return linear->to_layout();
}

}  // namespace tilepath::layout
