#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "layout/axis.h"
#include "layout/location.h"

namespace tilepath::layout {

/// `extent : stride@axis`: a digit that runs over 0 … extent−1 and moves `stride` along `axis` each time.
struct Iter {
    std::int64_t extent = 1;
    std::int64_t stride = 0;
    Axis axis = Axis::m;

    friend bool operator==(const Iter&, const Iter&) = default;
};

/// One logical dimension: its digits, slowest first. Its extent is their product.
using Mode = std::vector<Iter>;

/// `stride@axis` of the offset part.
struct AxisOffset {
    std::int64_t value = 0;
    Axis axis = Axis::m;

    friend bool operator==(const AxisOffset&, const AxisOffset&) = default;
};

/// `S[extents : strides@axis] + R[extent : stride@axis] + O[offsets]`: a set-valued map from elements to locations.
///
/// An element is numbered row-major (last dimension fastest) in whatever shape the caller uses; its number is split by
/// the shard's extents, last fastest; per axis, digit × stride is summed and the offset added; the replicas are every
/// sum of the replica digits on top of that. Only the product of the extents must agree with the caller's shape.
///
/// A value: cheap to copy, compared by form with `==` (by evaluation with `equal`, analysis.h).
class Layout {
  public:
    /// One element at the origin: `S[1:0]`.
    Layout();

    /// Checks what makes a layout evaluable: extents ≥ 1, sizes and reaches that fit 62 bits, at most 64 digits.
    static Result<Layout> make(std::vector<Mode> shard, std::vector<Iter> replica = {},
                               std::vector<AxisOffset> offset = {});
    /// The same for layouts written in code: a fault in them is ours.
    static Layout of(std::initializer_list<Mode> shard, std::initializer_list<Iter> replica = {},
                     std::initializer_list<AxisOffset> offset = {});

    const std::vector<Mode>& shard() const { return shard_; }
    const std::vector<Iter>& replica() const { return replica_; }
    /// The offset, axes in order, zeros left out.
    std::vector<AxisOffset> offset() const;
    std::int64_t offset(Axis axis) const { return offset_[axis]; }

    /// The shard's digits of all modes, slowest first.
    std::vector<Iter> digits() const;
    std::vector<std::int64_t> shape() const;
    std::size_t rank() const { return shard_.size(); }
    /// Elements of the domain.
    std::int64_t size() const { return size_; }
    /// How many locations the replica part names per element, repeated ones counted.
    std::int64_t replicas() const { return replicas_; }
    /// Axes that occur in any part with a stride or offset that is not 0, in order.
    std::vector<Axis> axes() const;

    /// Every location of the element at `coordinate`, sorted, each once. An error if it is out of the domain, or if
    /// `shape` has another size than the layout.
    Result<std::vector<Location>> evaluate(std::span<const std::int64_t> coordinate,
                                           std::span<const std::int64_t> shape) const;
    /// The same in the layout's own shape.
    Result<std::vector<Location>> evaluate(std::span<const std::int64_t> coordinate) const;
    Result<std::vector<Location>> evaluate(std::initializer_list<std::int64_t> coordinate) const;

    /// Every location of element number `element`, which must be in the domain.
    std::vector<Location> at(std::int64_t element) const;
    /// Shard and offset alone: the location with all replica digits 0.
    Location base(std::int64_t element) const;
    /// What the replica part adds, one per combination of its digits, last fastest.
    std::vector<Location> replica_steps() const;

    friend bool operator==(const Layout&, const Layout&) = default;

  private:
    std::vector<Mode> shard_;
    std::vector<Iter> replica_;
    Location offset_;
    std::int64_t size_ = 1;
    std::int64_t replicas_ = 1;
};

/// Row-major number of `coordinate` in `shape`; an error if it lies outside.
Result<std::int64_t> flatten(std::span<const std::int64_t> coordinate, std::span<const std::int64_t> shape);
/// The coordinate of a row-major number.
std::vector<std::int64_t> unflatten(std::int64_t element, std::span<const std::int64_t> shape);

}  // namespace tilepath::layout
