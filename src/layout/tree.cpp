#include "layout/tree.h"

#include <fmt/format.h>

namespace tilepath::layout {
namespace {

constexpr int deepest = 16;

Result<Axis> read_axis(Scanner& in) {
    std::uint32_t begin = in.offset();
    std::string_view name = in.name();
    if (name.empty()) return in.error_here(fmt::format("expected an axis after '@', found {}", in.found()));
    if (std::optional<Axis> axis = axis_named(name)) return *axis;
    std::string known;
    for (const AxisTraits& row : all_axes()) known += fmt::format("{}{}", known.empty() ? "" : " ", row.name);
    return in.error_from(begin, fmt::format("unknown axis '{}'", name), "axes: " + known);
}

Result<Tree> read_leaf(Scanner& in, Leaf leaf) {
    Tree tree;
    tree.span.begin = in.offset();
    in.accept('_');  // CuTe prints a static 8 as _8
    Result<std::int64_t> value = in.number(leaf == Leaf::extent ? "an extent" : "a stride");
    if (!value) return std::unexpected(value.error());
    tree.value = *value;
    if (leaf == Leaf::stride && in.accept('@')) {
        Result<Axis> axis = read_axis(in);
        if (!axis) return std::unexpected(axis.error());
        tree.axis = *axis;
    }
    tree.span.end = in.offset_after_last();
    return tree;
}

Result<Tree> read(Scanner& in, Leaf leaf, int depth) {
    if (in.peek() != '(') return read_leaf(in, leaf);
    Tree tree;
    tree.leaf = false;
    tree.span.begin = in.offset();
    if (depth == deepest) return in.error_here(fmt::format("groups nest more than {} deep", deepest));
    in.accept('(');
    do {
        Result<Tree> child = read(in, leaf, depth + 1);
        if (!child) return child;
        tree.children.push_back(*std::move(child));
    } while (in.accept(','));
    if (auto closed = in.expect(')'); !closed) return std::unexpected(closed.error());
    tree.span.end = in.offset_after_last();
    return tree;
}

}  // namespace

Result<Tree> read_tree(Scanner& in, Leaf leaf) { return read(in, leaf, 0); }

}  // namespace tilepath::layout
