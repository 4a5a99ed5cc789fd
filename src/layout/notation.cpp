#include "layout/notation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "layout/scanner.h"
#include "layout/tree.h"

namespace tilepath::layout {
namespace {

std::string tuple(const std::vector<std::string>& parts) {
    return parts.size() == 1 ? parts[0] : fmt::format("({})", fmt::join(parts, ","));
}

std::string stride_text(std::int64_t stride, Axis axis) {
    return axis == Axis::m ? std::to_string(stride) : fmt::format("{}@{}", stride, traits(axis).name);
}

std::string iters_text(const std::vector<Iter>& iters) {
    std::vector<std::string> extents, strides;
    for (const Iter& iter : iters) {
        extents.push_back(std::to_string(iter.extent));
        strides.push_back(stride_text(iter.stride, iter.axis));
    }
    return tuple(extents) + ":" + tuple(strides);
}

/// Pairs the leaves of congruent trees.
Result<Mode> pair(const Scanner& in, const Tree& extents, const Tree& strides) {
    if (extents.leaf != strides.leaf || extents.children.size() != strides.children.size()) {
        auto count = [](const Tree& tree) {
            return tree.leaf ? std::string("one number") : fmt::format("a group of {}", tree.children.size());
        };
        return in.error_at(strides.span,
                           fmt::format("the strides must be grouped as the extents: expected {}, found {}",
                                       count(extents), count(strides)));
    }
    if (extents.leaf) {
        if (extents.value < 1) {
            return in.error_at(extents.span, fmt::format("expected an extent of at least 1, found {}", extents.value));
        }
        return Mode{{extents.value, strides.value, strides.axis}};
    }
    Mode all;
    for (std::size_t i = 0; i < extents.children.size(); ++i) {
        Result<Mode> part = pair(in, extents.children[i], strides.children[i]);
        if (!part) return part;
        all.insert(all.end(), part->begin(), part->end());
    }
    return all;
}

Result<std::vector<AxisOffset>> read_offsets(Scanner& in) {
    std::vector<AxisOffset> offsets;
    do {
        Result<Tree> stride = read_tree(in, Leaf::stride);
        if (!stride) return std::unexpected(stride.error());
        if (!stride->leaf) return in.error_at(stride->span, "expected an offset such as 1@laneid, found a group");
        offsets.push_back({stride->value, stride->axis});
    } while (in.accept(','));
    return offsets;
}

struct Parts {
    std::vector<Mode> shard;
    std::vector<Iter> replica;
    std::vector<AxisOffset> offset;
    bool has_replica = false;
    bool has_offset = false;
};

Result<void> read_replica(Scanner& in, Parts& parts) {
    parts.has_replica = true;
    Result<std::vector<Mode>> modes = read_modes(in);
    if (!modes) return std::unexpected(modes.error());
    for (const Mode& mode : *modes) parts.replica.insert(parts.replica.end(), mode.begin(), mode.end());
    return in.expect(']');
}

Result<void> read_offset(Scanner& in, Parts& parts) {
    parts.has_offset = true;
    Result<std::vector<AxisOffset>> offsets = read_offsets(in);
    if (!offsets) return std::unexpected(offsets.error());
    parts.offset = *std::move(offsets);
    return in.expect(']');
}

}  // namespace

Result<std::vector<Mode>> read_modes(Scanner& in) {
    Result<Tree> extents = read_tree(in, Leaf::extent);
    if (!extents) return std::unexpected(extents.error());
    if (auto colon = in.expect(':', "between extents and strides"); !colon) return std::unexpected(colon.error());
    Result<Tree> strides = read_tree(in, Leaf::stride);
    if (!strides) return std::unexpected(strides.error());
    Result<Mode> all = pair(in, *extents, *strides);
    if (!all) return std::unexpected(all.error());
    if (extents->leaf) return std::vector<Mode>{*all};
    std::vector<Mode> modes;
    for (std::size_t i = 0; i < extents->children.size(); ++i)
        modes.push_back(*pair(in, extents->children[i], strides->children[i]));
    return modes;
}

std::string modes_text(const std::vector<Mode>& modes) {
    if (modes.size() == 1 && modes[0].size() == 1) return iters_text(modes[0]);
    std::vector<std::string> extents, strides;
    for (const Mode& mode : modes) {
        std::string text = iters_text(mode);
        std::size_t colon = text.find(':');
        extents.push_back(text.substr(0, colon));
        strides.push_back(text.substr(colon + 1));
    }
    return fmt::format("({}):({})", fmt::join(extents, ","), fmt::join(strides, ","));
}

Result<Layout> read_layout(Scanner& in) {
    std::uint32_t begin = in.offset();
    Parts parts;
    if (!in.accept("S["))
        return in.error_here(fmt::format("expected a layout S[extents:strides], found {}", in.found()));
    Result<std::vector<Mode>> shard = read_modes(in);
    if (!shard) return std::unexpected(shard.error());
    parts.shard = *std::move(shard);
    if (auto closed = in.expect(']'); !closed) return std::unexpected(closed.error());
    while (in.accept('+')) {
        Result<void> read;
        if (!parts.has_replica && in.accept("R[")) {
            read = read_replica(in, parts);
        } else if (!parts.has_offset && in.accept("O[")) {
            read = read_offset(in, parts);
        } else {
            return in.error_here(fmt::format("expected R[…] or O[…], each at most once, found {}", in.found()));
        }
        if (!read) return std::unexpected(read.error());
    }
    Result<Layout> made = Layout::make(std::move(parts.shard), std::move(parts.replica), std::move(parts.offset));
    if (!made) return in.error_from(begin, made.error().front().message);
    return made;
}

Result<Layout> parse_layout(std::string_view text, std::string name) {
    Scanner in(text, std::move(name));
    Result<Layout> layout = read_layout(in);
    if (!layout) return layout;
    if (auto end = in.end(); !end) return std::unexpected(end.error());
    return layout;
}

std::string to_string(const Layout& layout) {
    std::string text = fmt::format("S[{}]", modes_text(layout.shard()));
    if (!layout.replica().empty()) text += fmt::format(" + R[{}]", iters_text(layout.replica()));
    std::vector<std::string> offsets;
    for (auto [value, axis] : layout.offset()) offsets.push_back(stride_text(value, axis));
    if (!offsets.empty()) text += fmt::format(" + O[{}]", fmt::join(offsets, ","));
    return text;
}

}  // namespace tilepath::layout
