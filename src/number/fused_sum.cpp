#include "number/fused_sum.h"

#include <bit>

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

}  // namespace tilepath::number
