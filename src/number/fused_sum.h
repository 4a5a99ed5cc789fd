#pragma once
#include <cstdint>

#include "number/fused_dot.h"

namespace tilepath::number {

/// A term of the aligned sum: shifted left into the sum's grid, then right by its distance from the largest exponent,
/// the magnitude truncated. `left` may be negative only where a format has more fraction bits than the grid (C on the
/// 13-bit paths).
inline std::int64_t align(std::int64_t significand, int distance, int left) {
    if (left < 0) distance -= left, left = 0;
    if (distance > 62) return 0;
    const std::int64_t wide = significand * (std::int64_t(1) << left);
    const std::int64_t remainder_mask = (std::int64_t(1) << distance) - 1;
    return (wide + (wide >> 63 & remainder_mask)) >> distance;  // the quotient, toward zero
}

/// sum × 2^exponent (of its lowest bit) into the result's format; a zero result is +0, whatever was truncated.
std::uint32_t round_sum(std::int64_t sum, int exponent, ResultRounding rounding);

/// The recipe of fp8_through_f16's groups.
inline DotRecipe through_f16(DotRecipe recipe) {
    recipe.kind = DotRecipe::Kind::fused;
    recipe.a = recipe.b = Format::f16;
    return recipe;
}

/// The same value as a normal of a wider format, as a conversion makes it.
Term renormalised(const Term& term, Format from, Format to);

}  // namespace tilepath::number
