// base/: what every folder speaks: source text and places in it, diagnostics, results, assertions.
#pragma once
#include <cstdint>

namespace tilepath {

/// A half-open range of byte offsets in one Source.
struct Span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    friend bool operator==(Span, Span) = default;
};

/// The smallest span that covers both.
constexpr Span cover(Span a, Span b) { return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end}; }

}  // namespace tilepath
