#pragma once
#include <cstdint>

namespace tilepath::number {

// rcp.approx, rsqrt.approx, sqrt.approx, ex2.approx, lg2.approx, sin.approx, cos.approx, div.approx and div.full of f32
// as an H200 computes them, to the bit: a table of 64 or 128 segments a binade and a quadratic in the fraction's
// remaining bits, whose square is cut off. Operands and results are bits of f32. Without `ftz` subnormal operands and
// results are numbers. docs/numerics.md tells more.

std::uint32_t approximate_reciprocal(std::uint32_t x, bool ftz);
std::uint32_t approximate_reciprocal_root(std::uint32_t x, bool ftz);
std::uint32_t approximate_root(std::uint32_t x, bool ftz);
std::uint32_t approximate_exponential(std::uint32_t x, bool ftz);  ///< 2^x
std::uint32_t approximate_logarithm(std::uint32_t x, bool ftz);    ///< to base 2
std::uint32_t approximate_sine(std::uint32_t x, bool ftz);
std::uint32_t approximate_cosine(std::uint32_t x, bool ftz);

/// div.approx: the dividend times the divisor's reciprocal, so 0 where that is tiny. div.full: large divisors are
/// scaled too.
std::uint32_t approximate_quotient(std::uint32_t a, std::uint32_t b, bool ftz);
std::uint32_t full_range_quotient(std::uint32_t a, std::uint32_t b, bool ftz);

}  // namespace tilepath::number
