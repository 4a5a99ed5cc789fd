#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "layout/layout.h"
#include "layout/swizzle.h"

namespace tilepath::layout {

/// Swizzle ∘ offset ∘ layout, as CuTe's ComposedLayout: the offset is added before the swizzle, on the axis m. With no
/// swizzle (B = 0) and no offset, the layout itself.
class ComposedLayout {
  public:
    ComposedLayout() = default;
    ComposedLayout(Layout layout) : layout_(std::move(layout)) {}  // NOLINT: a layout is one
    /// An error if the swizzle is not valid, or meets negative addresses or other axes.
    static Result<ComposedLayout> make(Swizzle swizzle, std::int64_t offset, Layout layout);

    const Swizzle& swizzle() const { return swizzle_; }
    std::int64_t offset() const { return offset_; }
    const Layout& layout() const { return layout_; }
    bool swizzles() const { return swizzle_.bits != 0; }

    std::int64_t size() const { return layout_.size(); }
    std::vector<std::int64_t> shape() const { return layout_.shape(); }
    /// All places of an element, sorted.
    std::vector<Location> at(std::int64_t element) const;
    Result<std::vector<Location>> evaluate(std::span<const std::int64_t> coordinate,
                                           std::span<const std::int64_t> shape) const;

    friend bool operator==(const ComposedLayout&, const ComposedLayout&) = default;

  private:
    Location moved(Location location) const;

    Swizzle swizzle_;
    std::int64_t offset_ = 0;
    Layout layout_;
};

/// Equality by evaluation.
Result<bool> equal(const ComposedLayout& a, const ComposedLayout& b);

/// Reads any notation: `S[…] + R[…] + O[…]`, CuTe's `(8,(4,2)):(1,(8,32))`, both with `Sw<B,M,S> o offset o ` or
/// `Sw<B,M,S> o ` in front. (`bits[…]` is linear.h's.)
Result<ComposedLayout> parse_composed(std::string_view text, std::string name = "layout");
/// `Sw<3,4,3> o 0 o S[…]`.
std::string to_string(const ComposedLayout& layout);

}  // namespace tilepath::layout
