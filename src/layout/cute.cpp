#include "layout/cute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "layout/notation.h"
#include "layout/scanner.h"
#include "layout/tree.h"

namespace tilepath::layout {
namespace {

/// CuTe's digits, first fastest, from our mode, last fastest; and back.
Mode turned(Mode mode) {
    std::ranges::reverse(mode);
    return mode;
}

}  // namespace

Result<Layout> read_cute(Scanner& in) {
    std::uint32_t begin = in.offset();
    Result<std::vector<Mode>> modes = read_modes(in);
    if (!modes) return std::unexpected(modes.error());
    for (Mode& mode : *modes) mode = turned(std::move(mode));
    Result<Layout> made = Layout::make(*std::move(modes));
    if (!made) return in.error_from(begin, made.error().front().message);
    return made;
}

Result<Layout> parse_cute(std::string_view text, std::string name) {
    Scanner in(text, std::move(name));
    Result<Layout> layout = read_cute(in);
    if (!layout) return layout;
    if (auto end = in.end(); !end) return std::unexpected(end.error());
    return layout;
}

Result<std::string> to_cute(const ComposedLayout& composed) {
    const Layout& layout = composed.layout();
    if (!layout.replica().empty() && layout.replicas() > 1) {
        return fail("CuTe's notation has no replicas", "print the layout as S[…] + R[…], or invert it");
    }
    std::int64_t offset = composed.offset() + layout.offset(Axis::m);
    for (auto [value, axis] : layout.offset()) {
        if (axis != Axis::m) return fail(fmt::format("CuTe's notation has no offset on {}", traits(axis).name));
    }
    std::vector<Mode> modes = layout.shard();
    for (Mode& mode : modes) mode = turned(std::move(mode));
    std::string text = modes_text(modes);
    if (offset == 0 && !composed.swizzles()) return text;
    return fmt::format("{} o {} o {}", to_string(composed.swizzle()), offset, text);
}

std::int64_t cute_number(std::span<const std::int64_t> coordinate, std::span<const std::int64_t> shape) {
    std::int64_t number = 0;
    for (std::size_t i = shape.size(); i-- > 0;) number = number * shape[i] + coordinate[i];
    return number;
}

}  // namespace tilepath::layout
