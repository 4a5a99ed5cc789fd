#pragma once
#include <cstdint>
#include <span>

#include "number/fused_dot.h"

namespace tilepath::number {

/// A second model of the truncated fused dot product, for finite operands, written apart from number/: doubles hold
/// every aligned term exactly, std::trunc cuts it, the processor's own rounding makes the result.
std::uint64_t second_fused_dot(const DotRecipe& recipe, std::span<const std::uint64_t> a,
                               std::span<const std::uint64_t> b, std::uint64_t c, const Scales& scales = {});

/// An element's value, from its fields by the definition of its format alone. Finite elements only.
double value_of(std::uint64_t bits, int exponent_bits, int fraction_bits, int bias, bool is_signed);

}  // namespace tilepath::number
