#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace tilepath::layout {

/// The same map in fewer digits: drops extents of 1, merges neighbouring digits that continue each other, makes replica
/// strides positive and sorts and merges them. One mode per digit. Idempotent. Equal layouts need not have equal
/// canonical forms (replicas can be written in many ways): compare with `equal`.
Layout canonical(const Layout& layout);

/// The same map with one mode per extent of `shape`; digits are split where a mode boundary cuts them. An error if a
/// boundary does not divide a digit.
Result<Layout> group(const Layout& layout, std::span<const std::int64_t> shape);

/// The modes in another order: mode i of the result is mode `order[i]`.
Result<Layout> permute(const Layout& layout, std::span<const std::size_t> order);

/// (A ∘ B)(x) = A(B(x)): B gives, on the axis m alone, the number of an element of A. The result has B's modes and both
/// replica parts. An error where B leaves A's domain or its digits do not divide A's.
Result<Layout> compose(const Layout& a, const Layout& b);

/// `outer` copies of `inner`: both of one rank, mode i of the result is (outer's mode i, inner's mode i) and
/// T(xo·n + xi) = outer(xo) + inner(xi), n the inner extent of each mode. Outer strides are taken as they are.
Result<Layout> direct_sum(const Layout& outer, const Layout& inner);
/// The same with outer strides and offsets counted in tiles: multiplied, per axis, by the inner layout's span.
Result<Layout> tile(const Layout& outer, const Layout& inner);

/// The part [begin, begin + extent) of each mode, as a layout of its own whose element 0 is the region's first. An
/// error if a region leaves its mode or wraps around a digit in a way that no layout expresses.
Result<Layout> slice(const Layout& layout, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent);

/// Splits every element into `count` smaller ones, consecutive on `axis`: all strides there grow by `count`.
Result<Layout> unpack(const Layout& layout, std::int64_t count, Axis axis = Axis::m);
/// The reverse: joins `count` elements that the last mode keeps consecutive on `axis`.
Result<Layout> pack(const Layout& layout, std::int64_t count, Axis axis = Axis::m);

/// Only the thread axes, or only the storage axes: the other digits' strides become 0, so that sizes stay.
Layout only(const Layout& layout, AxisKind kind);
/// Replaces `from` by `scale` steps of `to`: warpid by 32 tx, laneid by 1 tx.
Result<Layout> substitute(const Layout& layout, Axis from, std::int64_t scale, Axis to);

/// Places to elements: `layout` takes one mode per axis, in their order, and gives the element's number on m. Where a
/// place has several copies (replicas), each leads to the element.
struct Inverse {
    std::vector<Axis> axes;
    Layout layout;
};
/// An error unless the places form a box that starts at 0, every place holding one element; analysis.h says more then.
Result<Inverse> inverse(const Layout& layout);

/// All elements at a location, by enumeration: works for every layout that can be enumerated.
Result<std::vector<std::int64_t>> elements_at(const Layout& layout, const Location& location);

}  // namespace tilepath::layout
