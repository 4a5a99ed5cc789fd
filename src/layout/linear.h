#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layout/composed.h"

namespace tilepath::layout {

/// A layout as a linear map over bits, from places to coordinates (the direction of Triton's linear layouts): the
/// coordinate of a place is the XOR of the bases of its coordinates' set bits. A basis of zeros means a copy. Swizzles
/// are part of it. Everything is a power of two.
class LinearLayout {
  public:
    /// The bits of one axis, lowest first; each basis is a coordinate.
    struct Input {
        Axis axis = Axis::m;
        std::vector<std::vector<std::int64_t>> bases;

        friend bool operator==(const Input&, const Input&) = default;
    };

    /// An error unless the shape's extents are powers of two and the bases are coordinates in it.
    static Result<LinearLayout> make(std::vector<Input> inputs, std::vector<std::int64_t> shape);
    /// The same map as a layout that is linear: powers of two, no offset, sums without carries, every place of its box
    /// held.
    static Result<LinearLayout> from(const ComposedLayout& layout);

    const std::vector<Input>& inputs() const { return inputs_; }
    const std::vector<std::int64_t>& shape() const { return shape_; }
    /// The coordinate of the element at a place; an error if the place lies outside.
    Result<std::vector<std::int64_t>> evaluate(const Location& place) const;
    /// The same map as S + R, with a swizzle where it needs one; an error if no such form expresses it.
    Result<ComposedLayout> to_layout() const;

    friend bool operator==(const LinearLayout&, const LinearLayout&) = default;

  private:
    std::vector<Input> inputs_;
    std::vector<std::int64_t> shape_;
};

/// Reads `bits[laneid: (0,2) (0,4) (1,0) (2,0) (4,0); reg: (0,1) (8,0)] -> (16,8)`.
Result<LinearLayout> parse_linear(std::string_view text, std::string name = "layout");
std::string to_string(const LinearLayout& layout);

/// Reads every notation that there is: those of `parse_composed`, and `bits[…]`.
Result<ComposedLayout> parse_any(std::string_view text, std::string name = "layout");

}  // namespace tilepath::layout
