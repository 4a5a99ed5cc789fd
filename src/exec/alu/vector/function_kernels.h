// Elementary functions in f64 for the .approx operations that have no model to the bit (number/approximation.h): their
// results are well within what PTX ISA 9.7.3 allows. Written without calls and branches, so that they vectorise, and without fma, so that all vector
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

/// tanh |x| = (e^2|x| − 1)/(e^2|x| + 1), the difference without cancellation; x's sign last.
TILEPATH_BODY double tanh(double x) {
    const double t = clamped(__builtin_fabs(x), 0.0, 40.0) * 0x1.71547652b82fep1, n = nearest_integer(t);
    const double scale = power_of_two(n);
    const double less_one = scale * exp2_minus_1(t - n) + (scale - 1.0);
    return x != x ? x : __builtin_copysign(less_one / (less_one + 2.0), x);
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
