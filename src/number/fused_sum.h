#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

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

/// One group of products and C, special values included; `scale_exponent` is added to each product's exponent.
std::uint32_t fused_group(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c,
                          int scale_exponent);

/// Kind::fused with block scales.
std::uint32_t scaled_dot(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c,
                         const Scales& scales);

/// The recipe of fp8_through_f16's groups.
inline DotRecipe through_f16(DotRecipe recipe) {
    recipe.kind = DotRecipe::Kind::fused;
    recipe.a = recipe.b = Format::f16;
    return recipe;
}

/// An FP8 operand as f16, exactly, as a conversion makes it: what is subnormal becomes normal where f16 reaches it.
inline Term as_f16(const Term& term, const FormatTraits& from) {
    constexpr int fraction_bits = 10, least_exponent = -14;
    if (term.kind != Class::finite) return term;
    const auto magnitude = std::uint32_t(term.negative ? -term.significand : term.significand);
    Term wide = term;
    if (magnitude >> from.fraction_bits != 0) {
        wide.significand = term.significand * (1 << (fraction_bits - from.fraction_bits));
        return wide;
    }
    const int highest = 31 - std::countl_zero(magnitude);
    const int up =
        std::min(fraction_bits - highest, fraction_bits - from.fraction_bits + term.exponent - least_exponent);
    wide.significand = term.significand * (1 << up);
    wide.exponent = std::int16_t(term.exponent - from.fraction_bits + fraction_bits - up);
    return wide;
}

}  // namespace tilepath::number
