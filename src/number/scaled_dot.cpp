// Dot products with block scales.
#include <algorithm>
#include <array>

#include "base/assert.h"
#include "number/fused_sum.h"

namespace tilepath::number {
namespace {

constexpr std::size_t grouped_products = 16;  // exact products per scaled group of mxf4 and mxf4nvf4

/// One of the operands' scales for element k.
Decoded scale_at(const DotRecipe& r, std::span<const std::uint64_t> scales, std::size_t k) {
    const std::size_t index = k / std::size_t(r.scale_block);
    TILEPATH_ASSERT(index < scales.size(), "fewer scales than blocks of k");
    return decode(scales[index], r.scale);
}

/// mxf8f6f4: the scales are powers of two and only move the products' exponents.
std::uint32_t powers_of_two_dot(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c,
                                const Scales& scales) {
    const std::size_t length = std::size_t(std::min(r.group_length, r.scale_block));
    for (std::size_t k = 0; k < a.size(); k += length) {
        const std::size_t n = std::min(length, a.size() - k);
        const Decoded sa = scale_at(r, scales.a, k), sb = scale_at(r, scales.b, k);
        if (sa.kind == Class::nan || sb.kind == Class::nan)
            c = std::uint32_t(canonical_nan(r.d));
        else
            c = fused_group(r, a.subspan(k, n), b.subspan(k, n), c, sa.exponent + sb.exponent);
    }
    return c;
}

/// mxf4, mxf4nvf4: exact dot products of 16, times their scales, enter one aligned sum with c. Only the scales'
/// exponents take part in the alignment, and a group whose products cancel keeps them.
std::uint32_t grouped_scaled_group(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b,
                                   std::uint32_t c_bits, const Scales& scales, std::size_t first_k) {
    struct Part {
        std::int64_t significand;
        int exponent;
    };
    std::array<Part, 8> parts;
    std::size_t count = 0;
    bool nan = false;
    for (std::size_t k = 0; k < a.size(); k += grouped_products) {
        const Decoded sa = scale_at(r, scales.a, first_k + k), sb = scale_at(r, scales.b, first_k + k);
        nan |= sa.kind == Class::nan || sb.kind == Class::nan;
        std::int64_t sum = 0;
        bool all_zero = sa.significand == 0 || sb.significand == 0;
        bool any_product = false;
        for (std::size_t i = k; i < std::min(k + grouped_products, a.size()); ++i) {
            // Significands of E2M1 in halves: exponent 0 … 2 shifts them in place.
            const std::int64_t product = std::int64_t(a[i].significand) * b[i].significand;
            if (product == 0) continue;
            any_product = true;
            sum += product * (1 << (a[i].exponent + b[i].exponent));
        }
        all_zero |= !any_product;
        TILEPATH_ASSERT(count < parts.size(), "a group of mxf4 has at most 128 products");
        parts[count++] = {sum * std::int64_t(sa.significand * sb.significand),
                          all_zero ? r.zero_exponent : sa.exponent + sb.exponent};
    }
    const Term c = decode_term(c_bits, r.d);
    if (nan || c.kind == Class::nan) return std::uint32_t(canonical_nan(r.d));
    if (c.kind == Class::infinity) return std::uint32_t(infinity(r.d, c.negative));

    int largest = std::max<int>(r.zero_exponent, c.exponent);
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, parts[i].exponent);
    const int part_fraction = traits(r.a).fraction_bits + traits(r.b).fraction_bits + 2 * traits(r.scale).fraction_bits;
    std::int64_t sum = align(c.significand, largest - c.exponent, r.fraction_bits - traits(r.d).fraction_bits);
    for (std::size_t i = 0; i < count; ++i)
        sum += align(parts[i].significand, largest - parts[i].exponent, r.fraction_bits - part_fraction);
    return round_sum(sum, largest - r.fraction_bits, r.rounding);
}

/// mxf4, mxf4nvf4.
std::uint32_t grouped_dot(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c,
                          const Scales& scales) {
    const std::size_t length = std::size_t(r.group_length);
    for (std::size_t k = 0; k < a.size(); k += length) {
        const std::size_t n = std::min(length, a.size() - k);
        c = grouped_scaled_group(r, a.subspan(k, n), b.subspan(k, n), c, scales, k);
    }
    return c;
}

}  // namespace

std::uint32_t scaled_dot(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c,
                         const Scales& scales) {
    return r.scaling == Scaling::per_dot ? powers_of_two_dot(r, a, b, c, scales) : grouped_dot(r, a, b, c, scales);
}

}  // namespace tilepath::number
