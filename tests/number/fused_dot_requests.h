// Recipes and operands as the tests of the fused dot product write them.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "number/fused_dot.h"
#include "number/recipe.h"

namespace tilepath::number {

using Bits = std::vector<std::uint64_t>;

inline DotRecipe require(const DotRequest& request) {
    const auto r = recipe(request);
    EXPECT_TRUE(r) << to_string(r.error());
    return r.value_or(DotRecipe{});
}

inline DotRecipe hopper(Format input, Format d, Instruction instruction = Instruction::mma_sync) {
    return require({.device = Generation::hopper, .instruction = instruction, .a = input, .b = input, .d = d});
}

/// A dot product of `length` whose first elements are given and whose others are zero.
inline std::uint64_t padded_dot(const DotRecipe& r, Bits a, Bits b, std::uint64_t c, std::size_t length = 16) {
    a.resize(length), b.resize(length);
    return dot(r, a, b, c);
}

/// Finite random bits: all patterns, so that exponents spread over the whole range.
inline std::uint64_t finite_bits(std::mt19937_64& random, Format format) {
    for (;;) {
        const std::uint64_t bits =
            random() & ((traits(format).container_bits == 64) ? ~0ull : (1ull << traits(format).container_bits) - 1);
        const std::uint64_t inside = format == Format::tf32 ? bits : bits & ((1ull << traits(format).bits) - 1);
        const Class kind = decode(inside, format).kind;
        if (kind == Class::finite || kind == Class::zero) return inside;
    }
}

/// As above, or with exponents near those of the accumulator, or few distinct values, so that sums cancel.
inline Bits finite_row(std::mt19937_64& random, Format format, std::size_t length, unsigned style) {
    Bits row(length);
    for (std::uint64_t& x : row) {
        x = finite_bits(random, format);
        if (style == 1 && random() % 2 == 0) x = zero(format, random() % 2 != 0);
        if (style == 2) x = from_double(double(int(random() % 9)) - 4.0, format);
        if (style == 3) x = from_double((double(random() >> 11) * 0x1p-53 - 0.5) * 8, format);
    }
    return row;
}

}  // namespace tilepath::number
