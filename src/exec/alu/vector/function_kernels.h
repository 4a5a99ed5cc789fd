// Elementary functions in f64 for the .approx operations, whose results are rounded to nearest: well within what PTX
// ISA 9.7.3 allows. Written without calls and branches, so that they vectorise, and without fma, so that all vector
// units agree.
#pragma once
#include "exec/alu/vector/conversion_functions.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

/// The integer nearest to a small number, and 2 to a power in the range of normal numbers.
TILEPATH_BODY double nearest_integer(double x) { return (x + 0x1.8p52) - 0x1.8p52; }
TILEPATH_BODY double power_of_two(double n) { return as_double((bits_of(n + 0x1.8p52) << 52) + (u64(1023) << 52)); }

/// Horner's rule: coefficients of x^0, x^1, …
template <int n>
TILEPATH_BODY double polynomial(const double (&coefficients)[n], double x) {
    double sum = coefficients[n - 1];
    for (int i = n - 2; i >= 0; --i) sum = sum * x + coefficients[i];
    return sum;
}

/// 2^f − 1 for |f| ≤ 1/2: f ln 2 · (1 + z/2! + z²/3! + …) with z = f ln 2. The first term left out is below 2^-60.
TILEPATH_BODY double exp2_minus_1(double f) {
    constexpr double series[] = {
        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,         1.0 / 5040,
        1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
    const double z = f * 0x1.62e42fefa39efp-1;
    return z * polynomial(series, z);
}

TILEPATH_BODY double clamped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/// Beyond the clamp, f32 overflows or vanishes.
TILEPATH_BODY double exp2(double x) {
    const double bounded = clamped(x, -300.0, 300.0), n = nearest_integer(bounded);
    const double result = power_of_two(n) * (1.0 + exp2_minus_1(bounded - n));
    return x != x ? x : result;
}

/// log2 of m · 2^e, √½ < m ≤ √2, by log2 m = 2/ln 2 · (s + s³/3 + s⁵/5 + …), s = (m − 1)/(m + 1).
TILEPATH_BODY double log2_positive(double x) {
    constexpr double series[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
    const u64 bits = bits_of(x);
    const double fraction = as_double((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);
    const bool large = fraction > 0x1.6a09e667f3bcdp0;
    const double m = large ? fraction * 0.5 : fraction;
    // The exponent field as an f64: 2^52 + field, exactly.
    const double exponent = as_double(0x4330000000000000 | bits >> 52) - (0x1p52 + 1023.0) + (large ? 1.0 : 0.0);
    const double s = (m - 1.0) / (m + 1.0);
    return exponent + 0x1.71547652b82fep1 * s * polynomial(series, s * s);
}

TILEPATH_BODY double log2(double x) {
    const double infinity = __builtin_inf();
    const double result = x == infinity ? infinity : log2_positive(x);
    return x > 0.0 ? result : x == 0.0 ? -infinity : __builtin_nan("");
}

/// tanh |x| = (e^2|x| − 1)/(e^2|x| + 1), the difference without cancellation; x's sign last.
TILEPATH_BODY double tanh(double x) {
    const double t = clamped(__builtin_fabs(x), 0.0, 40.0) * 0x1.71547652b82fep1, n = nearest_integer(t);
    const double scale = power_of_two(n);
    const double less_one = scale * exp2_minus_1(t - n) + (scale - 1.0);
    return x != x ? x : __builtin_copysign(less_one / (less_one + 2.0), x);
}

/// Up to this magnitude the reduction by multiples of π/2 is good to far more than an f32.
constexpr double largest_reduced_angle = 0x1p20;

/// The sine (shift 0) or cosine (shift 1) of an angle of at most that magnitude.
TILEPATH_BODY double sine_of_small(double x, int shift) {
    constexpr double sine[] = {1.0,
                               -1.0 / 6,
                               1.0 / 120,
                               -1.0 / 5040,
                               1.0 / 362880,
                               -1.0 / 39916800,
                               1.0 / 6227020800.0,
                               -1.0 / 1307674368000.0,
                               1.0 / 355687428096000.0};
    constexpr double cosine[] = {1.0,
                                 -1.0 / 2,
                                 1.0 / 24,
                                 -1.0 / 720,
                                 1.0 / 40320,
                                 -1.0 / 3628800,
                                 1.0 / 479001600,
                                 -1.0 / 87178291200.0,
                                 1.0 / 20922789888000.0};
    const double q = nearest_integer(x * 0x1.45f306dc9c883p-1);  // 2/π
    // π/2 in two pieces, the first of 33 bits, so that its product is exact.
    const double r = (x - q * 0x1.921fb544p0) - q * 0x1.0b4611a626331p-34;
    const u64 quadrant = bits_of(q + 0x1.8p52) + u64(shift);
    const double square = r * r;
    const double value = (quadrant & 1) != 0 ? polynomial(cosine, square) : r * polynomial(sine, square);
    return as_double(bits_of(value) ^ (quadrant & 2) << 62);
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
