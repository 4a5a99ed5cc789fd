// Operands on which the vector engine could err.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "number/fused_dot.h"

namespace tilepath::number {

using Random = std::mt19937_64;

/// Every recipe without block scales that the table of devices gives for some request.
std::vector<DotRecipe> all_recipes();
std::string describe(const DotRecipe& r);

/// How operands and C are drawn.
enum class Family {
    bits,         ///< any bits, so infinities and NaN in most tiles
    finite_bits,  ///< any finite bits: exponents far apart
    near,         ///< exponents within a few of one another: truncation, carries
    largest,      ///< the largest magnitudes: overflow of results, of 32-bit sums
    cancelling,   ///< B has every product twice, with both signs, next to small ones
    zeros,        ///< mostly zeros of both signs
    subnormal,    ///< exponents at the bottom
    one_special,  ///< finite but for one element
    one_sign,     ///< all terms positive and near their largest: sums that need more than 32 bits
    edges         ///< exponents around the limits of the engine's quick path, and of the formats
};
inline constexpr Family families[] = {Family::bits,       Family::finite_bits, Family::near,      Family::largest,
                                      Family::cancelling, Family::zeros,       Family::subnormal, Family::one_special,
                                      Family::one_sign,   Family::edges};

struct Problem {
    int m, n, k;
    std::vector<std::uint64_t> a, b, c;  // rows of A, columns of B; C by columns
};

Problem draw_problem(const DotRecipe& r, Family family, int m, int n, int k, Random& random);

}  // namespace tilepath::number
