#include <algorithm>

#include "number/fused_sum.h"

namespace tilepath::number {
namespace {

/// Infinities and NaN decide a group before any alignment (docs/numerics.md, "Special values").
struct SpecialSum {
    bool nan = false, positive = false, negative = false;

    void add(Class kind, bool is_negative) {
        nan |= kind == Class::nan;
        if (kind == Class::infinity) (is_negative ? negative : positive) = true;
    }
    bool any() const { return nan || positive || negative; }
    std::uint32_t result(Format d) const {
        if (nan || (positive && negative)) return std::uint32_t(canonical_nan(d));
        return std::uint32_t(infinity(d, negative));
    }
};

Class product_kind(const Term& a, const Term& b) {
    if (a.kind == Class::nan || b.kind == Class::nan) return Class::nan;
    if (a.kind == Class::infinity || b.kind == Class::infinity)
        return a.kind == Class::zero || b.kind == Class::zero ? Class::nan : Class::infinity;
    return Class::finite;
}

bool is_special(const Term& t) { return t.kind == Class::infinity || t.kind == Class::nan; }

/// A group whose terms are all finite: align to the largest exponent, truncate each, add exactly.
std::uint32_t finite_group(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, const Term& c,
                           int scale_exponent) {
    int largest = std::max<int>(r.zero_exponent, c.exponent);
    for (std::size_t k = 0; k < a.size(); ++k)
        largest = std::max(largest, a[k].exponent + b[k].exponent + scale_exponent);
    const int product_fraction = traits(r.a).fraction_bits + traits(r.b).fraction_bits;
    const int left = r.fraction_bits - product_fraction;
    std::int64_t sum = align(c.significand, largest - c.exponent, r.fraction_bits - traits(r.d).fraction_bits);
    for (std::size_t k = 0; k < a.size(); ++k)
        sum += align(std::int64_t(a[k].significand) * b[k].significand,
                     largest - (a[k].exponent + b[k].exponent + scale_exponent), left);
    return round_sum(sum, largest - r.fraction_bits, r.rounding);
}

}  // namespace

std::uint32_t fused_group(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c_bits,
                          int scale_exponent) {
    const Term c = decode_term(c_bits, r.d);
    SpecialSum special;
    special.add(c.kind, c.negative);
    for (std::size_t k = 0; k < a.size(); ++k)
        if (is_special(a[k]) || is_special(b[k])) special.add(product_kind(a[k], b[k]), a[k].negative != b[k].negative);
    if (special.any()) return special.result(r.d);
    return finite_group(r, a, b, c, scale_exponent);
}

}  // namespace tilepath::number
