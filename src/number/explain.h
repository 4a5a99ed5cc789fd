#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "number/fused_dot.h"

namespace tilepath::number {

/// One term of an aligned sum: value = significand × 2^(exponent − fraction_bits), exactly.
struct ExplainedTerm {
    enum class Source : std::uint8_t { c, product, scaled_group };
    Source source = Source::product;
    std::size_t k = 0;  ///< of the product, or the first of the scaled group
    Class kind = Class::zero;
    bool negative = false;
    int exponent = 0;              ///< with which it takes part in the alignment; zeros: the recipe's zero exponent
    std::int64_t significand = 0;  ///< signed
    int fraction_bits = 0;
    int shift = 0;          ///< largest exponent − its own
    std::int64_t kept = 0;  ///< in units of 2^least
    bool cut = false;       ///< whether something nonzero fell below 2^least
};

/// One group: terms, their common grid, the exact sum on it, and what it was rounded to.
struct ExplainedGroup {
    std::vector<ExplainedTerm> terms;  ///< C (or the previous group's result) first
    bool special = false;              ///< decided by NaN or infinities: no alignment took place
    int largest = 0;                   ///< exponent
    int least = 0;                     ///< exponent of the least bit kept
    std::int64_t sum = 0;              ///< in units of 2^least
    std::uint32_t result = 0;
};

/// An IEEE operation beside the groups: the addition of C after FP8 groups, a step of a chain of fma.
struct ExplainedOperation {
    std::string text;  ///< `c + sum`, `k=3: a × b + d`
    std::vector<std::uint64_t> operands;
    Format format = Format::f32;
    std::uint64_t result = 0;
};

struct Explanation {
    std::vector<ExplainedGroup> groups;
    std::vector<ExplainedOperation> operations;  ///< after the groups, in order
    std::int64_t integer_sum = 0;                ///< integer and bit kinds: before wrapping or clamping
    std::uint64_t result = 0;                    ///< equals dot()'s
};

/// How dot() comes to its result, step by step. The same arguments.
Explanation explain(const DotRecipe& recipe, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                    std::uint64_t c, const Scales& scales = {});

/// The steps as lines of text, zero terms counted rather than listed.
std::string to_string(const DotRecipe& recipe, const Explanation& explanation);

}  // namespace tilepath::number
