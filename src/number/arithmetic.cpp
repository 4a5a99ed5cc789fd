#include "number/arithmetic.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace tilepath::number {
namespace {

__extension__ typedef unsigned __int128 Wide;

/// ± (significand + δ) × 2^exponent, 0 < δ < 1 if sticky; zero has significand 0.
struct Real {
    bool negative;
    Wide significand;
    int exponent;
    bool sticky = false;
};

int leading_zeros(Wide x) {
    const auto high = std::uint64_t(x >> 64), low = std::uint64_t(x);
    return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low);
}

Real real(const Decoded& d, Format format) { return {d.negative, d.significand, exact(d, format).exponent}; }

Exact narrowed(const Real& r) {
    const int shift = std::max(0, 64 - leading_zeros(r.significand));
    const Wide lost = shift == 0 ? 0 : r.significand & ((Wide(1) << shift) - 1);
    return {r.negative, std::uint64_t(r.significand >> shift), r.exponent + shift, r.sticky || lost != 0};
}

Real product(const Real& a, const Real& b) {
    return {a.negative != b.negative, a.significand * b.significand, a.exponent + b.exponent};
}

/// The sum of two exact reals of at most 106 bits, neither of them zero.
Real sum(Real a, Real b) {
    // Both leading ones go to bit 125, so that what falls off the smaller one's end means a gap too wide to cancel.
    for (Real* r : {&a, &b}) {
        const int shift = leading_zeros(r->significand) - 2;
        r->significand <<= shift;
        r->exponent -= shift;
    }
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) std::swap(a, b);
    const int gap = a.exponent - b.exponent;
    const Wide aligned = gap > 127 ? 0 : b.significand >> gap;
    const bool sticky = gap > 127 || (aligned << gap) != b.significand;
    if (a.negative == b.negative) return {a.negative, a.significand + aligned, a.exponent, sticky};
    return {a.negative, a.significand - aligned - (sticky ? 1 : 0), a.exponent, sticky};
}

bool is_nan(const Decoded& d) { return d.kind == Class::nan; }
bool is_infinite(const Decoded& d) { return d.kind == Class::infinity; }
bool is_zero(const Decoded& d) { return d.kind == Class::zero; }

/// An f64 operand's NaN passes through, quieted; the other formats know only the canonical one.
std::uint64_t nan_from(Format format, std::uint64_t operand) {
    return format == Format::f64 ? operand | 1ull << 51 : canonical_nan(format);
}

Decoded input(Format format, std::uint64_t bits, const Arithmetic& how) {
    Decoded d = decode(bits, format);
    const bool subnormal = d.kind == Class::finite && d.significand >> traits(format).fraction_bits == 0;
    if (how.ftz && subnormal) d = {Class::zero, d.negative, d.exponent, 0};
    return d;
}

std::uint64_t clamped(Format format, std::uint64_t bits, const Arithmetic& how) {
    if (!how.saturate && !how.relu) return bits;
    const Decoded d = decode(bits, format);
    if (how.relu) return d.negative && !is_nan(d) ? zero(format, false) : bits;
    if (is_nan(d) || d.negative) return zero(format, false);
    const std::uint64_t one = round_to(format, {false, 1, 0, false});
    return bits > one ? one : bits;  // positive floats are ordered as their bits are
}

std::uint64_t finish(Format format, const Real& value, const Arithmetic& how) {
    const Exact exact_value = narrowed(value);
    if (how.ftz && tiny(format, exact_value, how.rounding)) return clamped(format, zero(format, value.negative), how);
    return clamped(format, round_to(format, exact_value, {how.rounding}), how);
}

/// An exact sum of zero: the common sign, else + (− when rounding down). IEEE 754-2019 6.3.
std::uint64_t zero_sum(Format format, bool a_negative, bool b_negative, const Arithmetic& how) {
    const bool negative = a_negative == b_negative ? a_negative : how.rounding == Rounding::rm;
    return clamped(format, zero(format, negative), how);
}

std::uint64_t finite_sum(Format format, const Real& a, const Real& b, const Arithmetic& how) {
    if (a.significand == 0 && b.significand == 0) return zero_sum(format, a.negative, b.negative, how);
    if (b.significand == 0) return finish(format, a, how);
    if (a.significand == 0) return finish(format, b, how);
    const Real total = sum(a, b);
    if (total.significand == 0) return zero_sum(format, false, true, how);
    return finish(format, total, how);
}

std::uint64_t invalid(Format format, const Arithmetic& how) { return clamped(format, canonical_nan(format), how); }

std::uint64_t signed_infinity(Format format, bool negative, const Arithmetic& how) {
    return clamped(format, infinity(format, negative), how);
}

std::uint64_t sign_bit(Format format) { return 1ull << (traits(format).bits - 1); }

std::uint64_t flushed(Format format, std::uint64_t bits, const Comparison& how) {
    const Decoded d = input(format, bits, {Rounding::rn, how.ftz});
    return is_zero(d) ? zero(format, d.negative) : bits;
}

/// A key that orders finite numbers, infinities and signed zeros (−0 below +0).
std::int64_t order(Format format, std::uint64_t bits) {
    const std::int64_t magnitude = std::int64_t(bits & (sign_bit(format) - 1));
    return (bits & sign_bit(format)) != 0 ? -magnitude - 1 : magnitude;
}

std::uint64_t extremum(Format format, std::uint64_t a, std::uint64_t b, const Comparison& how, bool largest) {
    a = flushed(format, a, how), b = flushed(format, b, how);
    const std::uint64_t product_sign = (a ^ b) & sign_bit(format);
    if (how.xorsign_abs) a &= ~sign_bit(format), b &= ~sign_bit(format);
    const bool a_nan = is_nan(decode(a, format)), b_nan = is_nan(decode(b, format));
    if ((a_nan && b_nan) || (how.nan && (a_nan || b_nan))) return nan_from(format, b);
    std::uint64_t chosen = a;
    if (a_nan || (!b_nan && (order(format, a) < order(format, b)) == largest)) chosen = b;
    return how.xorsign_abs ? chosen | product_sign : chosen;
}

std::uint64_t integer_root(Wide value, bool& exact_root) {
    Wide root = 0, rest = value;
    for (Wide bit = Wide(1) << 126; bit != 0; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    exact_root = rest == 0;
    return std::uint64_t(root);
}

}  // namespace

std::uint64_t add(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how) {
    const Decoded x = input(format, a, how), y = input(format, b, how);
    if (is_nan(y)) return clamped(format, nan_from(format, b), how);
    if (is_nan(x)) return clamped(format, nan_from(format, a), how);
    if (is_infinite(x) && is_infinite(y) && x.negative != y.negative) return invalid(format, how);
    if (is_infinite(x) || is_infinite(y)) return signed_infinity(format, is_infinite(x) ? x.negative : y.negative, how);
    return finite_sum(format, real(x, format), real(y, format), how);
}

std::uint64_t sub(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how) {
    if (is_nan(decode(b, format))) return clamped(format, nan_from(format, b), how);
    return add(format, a, b ^ 1ull << (traits(format).bits - 1), how);
}

std::uint64_t mul(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how) {
    const Decoded x = input(format, a, how), y = input(format, b, how);
    if (is_nan(y)) return clamped(format, nan_from(format, b), how);
    if (is_nan(x)) return clamped(format, nan_from(format, a), how);
    const bool negative = x.negative != y.negative;
    if (is_infinite(x) || is_infinite(y))
        return is_zero(x) || is_zero(y) ? invalid(format, how) : signed_infinity(format, negative, how);
    if (is_zero(x) || is_zero(y)) return clamped(format, zero(format, negative), how);
    return finish(format, product(real(x, format), real(y, format)), how);
}

std::uint64_t fma(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, const Arithmetic& how) {
    const auto out_of_bounds = [](std::uint64_t bits) { return (bits & 0x7fff) == 0x7ff7; };
    if (how.oob && (out_of_bounds(a) || out_of_bounds(b))) return zero(format, false);
    const Decoded x = input(format, a, how), y = input(format, b, how), z = input(format, c, how);
    if (is_nan(y)) return clamped(format, nan_from(format, b), how);
    if (is_nan(z)) return clamped(format, nan_from(format, c), how);
    if (is_nan(x)) return clamped(format, nan_from(format, a), how);
    const bool negative = x.negative != y.negative;
    if (is_infinite(x) || is_infinite(y)) {
        if (is_zero(x) || is_zero(y) || (is_infinite(z) && z.negative != negative)) return invalid(format, how);
        return signed_infinity(format, negative, how);
    }
    if (is_infinite(z)) return signed_infinity(format, z.negative, how);
    return finite_sum(format, product(real(x, format), real(y, format)), real(z, format), how);
}

std::uint64_t div(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how) {
    const Decoded x = input(format, a, how), y = input(format, b, how);
    if (is_nan(x)) return clamped(format, nan_from(format, a), how);
    if (is_nan(y)) return clamped(format, nan_from(format, b), how);
    const bool negative = x.negative != y.negative;
    if ((is_infinite(x) && is_infinite(y)) || (is_zero(x) && is_zero(y))) return invalid(format, how);
    if (is_infinite(x) || is_zero(y)) return signed_infinity(format, negative, how);
    if (is_zero(x) || is_infinite(y)) return clamped(format, zero(format, negative), how);
    const Real dividend = real(x, format), divisor = real(y, format);
    const int shift = leading_zeros(dividend.significand);
    const Wide numerator = dividend.significand << shift;
    return finish(format,
                  {negative, numerator / divisor.significand, dividend.exponent - shift - divisor.exponent,
                   numerator % divisor.significand != 0},
                  how);
}

std::uint64_t sqrt(Format format, std::uint64_t a, const Arithmetic& how) {
    const Decoded x = input(format, a, how);
    if (is_nan(x)) return clamped(format, nan_from(format, a), how);
    if (is_zero(x)) return clamped(format, zero(format, x.negative), how);
    if (x.negative) return invalid(format, how);
    if (is_infinite(x)) return signed_infinity(format, false, how);
    const Real value = real(x, format);
    int shift = leading_zeros(value.significand);
    if ((value.exponent - shift) % 2 != 0) --shift;
    bool exact_root = false;
    const std::uint64_t root = integer_root(value.significand << shift, exact_root);
    return finish(format, {false, root, (value.exponent - shift) / 2, !exact_root}, how);
}

std::uint64_t minimum(Format format, std::uint64_t a, std::uint64_t b, const Comparison& how) {
    return extremum(format, a, b, how, false);
}

std::uint64_t maximum(Format format, std::uint64_t a, std::uint64_t b, const Comparison& how) {
    return extremum(format, a, b, how, true);
}

std::uint64_t negated(Format format, std::uint64_t a, const Comparison& how) {
    if (is_nan(decode(a, format))) return nan_from(format, a);
    return flushed(format, a, how) ^ sign_bit(format);
}

std::uint64_t absolute(Format format, std::uint64_t a, const Comparison& how) {
    if (is_nan(decode(a, format))) return nan_from(format, a);
    return flushed(format, a, how) & ~sign_bit(format);
}

}  // namespace tilepath::number
