#pragma once
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/span.h"
#include "layout/axis.h"
#include "layout/scanner.h"

namespace tilepath::layout {

/// A nested tuple of numbers, as extents and strides are written: `(8,(4,2))`.
struct Tree {
    bool leaf = true;
    std::int64_t value = 0;
    Axis axis = Axis::m;  ///< of a stride
    std::vector<Tree> children;
    Span span;
};

/// What a leaf is: a plain number, or a number with an optional `@axis`.
enum class Leaf { extent, stride };

/// Groups may nest 16 deep.
Result<Tree> read_tree(Scanner& in, Leaf leaf);

}  // namespace tilepath::layout
