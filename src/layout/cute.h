#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "layout/composed.h"
#include "layout/layout.h"

namespace tilepath::layout {

class Scanner;

/// Reads CuTe's `(8,(4,2)):(1,(8,32))`. CuTe counts a mode's sub-modes first fastest, we last fastest, so each mode's
/// digits are turned round; the modes keep their order, and coordinate (i, j) means the same in both. Mind that CuTe
/// also numbers whole layouts first mode fastest: its element number of (i, j) is not ours (cute_number).
/// `_8` and `_1` (static integers as CuTe prints them) are read as 8 and 1; strides may carry our axes: `1@laneid`.
Result<Layout> parse_cute(std::string_view text, std::string name = "layout");
Result<Layout> read_cute(Scanner& in);

/// CuTe's notation of a layout over m: `(8,(4,2)):(1,(8,32))`, or `Sw<3,4,3> o 0 o (…):(…)` with a swizzle or an
/// offset. An error for replicas, which CuTe does not have. Other axes are written as CuTe writes basis strides,
/// `4@laneid`.
Result<std::string> to_cute(const ComposedLayout& layout);

/// CuTe's number of a coordinate: first mode fastest.
std::int64_t cute_number(std::span<const std::int64_t> coordinate, std::span<const std::int64_t> shape);

}  // namespace tilepath::layout
