#include "number/fused_sum.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace tilepath::number {
namespace {

/// Truncated to `fraction_bits` in an f32 word; at 2^128 and beyond infinity, although the rounding is toward zero.
std::uint32_t truncated(std::uint64_t magnitude, int exponent, int fraction_bits) {
    const int top = exponent + 63 - std::countl_zero(magnitude);
    if (top > 127) return 0x7f800000;
    const int last_place = (top < -126 ? -126 : top) - fraction_bits;
    const int shift = last_place - exponent;
    const std::uint64_t kept = shift >= 64 ? 0 : shift >= 0 ? magnitude >> shift : magnitude << -shift;
    const std::uint32_t field = top < -126 ? 0 : std::uint32_t(top + 126);
    return std::uint32_t((std::uint64_t(field) << fraction_bits) + kept) << (23 - fraction_bits);
}

}  // namespace

std::uint32_t round_sum(std::int64_t sum, int exponent, ResultRounding rounding) {
    if (sum == 0) return 0;
    const bool negative = sum < 0;
    const std::uint64_t magnitude = negative ? 0 - std::uint64_t(sum) : std::uint64_t(sum);
    std::uint32_t result = 0;
    switch (rounding) {
        case ResultRounding::rz_f32: result = truncated(magnitude, exponent, 23); break;
        case ResultRounding::rz_e8m13: result = truncated(magnitude, exponent, 13); break;
        case ResultRounding::rne_f16: {
            const Exact value{false, magnitude, exponent, false};
            result = std::uint32_t(round_to(Format::f16, value));
            return result == 0 ? 0 : result | std::uint32_t(negative) << 15;
        }
    }
    return result == 0 ? 0 : result | std::uint32_t(negative) << 31;
}

Term renormalised(const Term& term, Format from, Format to) {
    if (term.kind != Class::finite) return term;
    const FormatTraits& f = traits(from);
    const FormatTraits& t = traits(to);
    const std::uint32_t magnitude = std::uint32_t(term.negative ? -term.significand : term.significand);
    // Exact: every 8-bit float is a normal of binary16, e5m2's subnormals apart, which keep their exponent.
    const int up = std::min(t.fraction_bits + 1 - int(std::bit_width(magnitude)),
                            t.fraction_bits - f.fraction_bits + (term.exponent - (1 - t.bias)));
    TILEPATH_ASSERT(up >= 0, "the wider format holds every value");
    Term wide = term;
    wide.significand = term.significand * (1 << up);
    wide.exponent = std::int16_t(term.exponent - f.fraction_bits + t.fraction_bits - up);
    return wide;
}

}  // namespace tilepath::number
