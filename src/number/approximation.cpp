#include "number/approximation.h"

#include <bit>

#include "number/arithmetic.h"

namespace tilepath::number {
namespace {

struct Segment {
    std::int32_t base, slope, curve;
};
#include "number/approximation_tables.inc"

constexpr std::uint32_t nan_bits = 0x7FFFFFFF, infinity_bits = 0x7F800000, sign_bit = 0x80000000;

/// What each function's sums carry besides the table's base, in units of 2^-34 of the last place. An H200's results
/// leave it open by a few of 2^-17.
constexpr std::int64_t reciprocal_bias = 0x3F3B << 16, exponential_bias = std::int64_t(0xBF14) << 16,
                       logarithm_bias = 0x1A2B << 16, root_bias = -(1 << 16), sine_bias = 1 << 19;

/// x² of a fraction of `width` bits in units of 2^-15: partial products below that are left out, without a carry.
constexpr std::int64_t cut_square(std::uint32_t x, int width) {
    const int cut = 2 * width - 15;
    std::int64_t sum = 0;
    for (int i = 8; i < width; ++i) {
        if ((x >> i & 1) == 0) continue;
        sum += (x & ((1u << i) - 1)) >> (cut - 1 - i);
        if (2 * i >= cut) sum += std::int64_t(1) << (2 * i - cut);
    }
    return sum;
}

/// base + slope x + curve x² in units of 2^-34 of the last place; x has `width` bits.
std::int64_t interpolate(const Segment& segment, std::uint32_t x, int width, std::int64_t bias) {
    return (std::int64_t(segment.base) << 31) + bias + (std::int64_t(segment.slope) * x << (33 - width)) +
           std::int64_t(segment.curve) * cut_square(x, width) * (1 << 18);
}
/// Of 64 segments, by the 23 bits of a fraction.
std::int64_t interpolate_64(const Segment* segments, std::uint32_t fraction, std::int64_t bias) {
    return interpolate(segments[fraction >> 17], fraction & 0x1FFFF, 17, bias);
}

/// A number apart from its sign: 1.fraction × 2^exponent.
struct Magnitude {
    int exponent;
    std::uint32_t fraction;
};
Magnitude magnitude(std::uint32_t x) {
    const std::uint32_t fraction = x & 0x7FFFFF;
    const int field = int(x >> 23 & 0xFF);
    if (field != 0) return {field - 127, fraction};
    const int shift = std::countl_zero(fraction) - 8;
    return {-126 - shift, (fraction << shift) & 0x7FFFFF};
}

/// significand × 2^(exponent − 23), the significand from 2^23 up to 2^24; what is subnormal is rounded to nearest.
std::uint32_t compose(std::uint32_t sign, int exponent, std::uint32_t significand, bool ftz) {
    if (significand == 1u << 24) significand = 1u << 23, ++exponent;
    if (exponent > 127) return sign | infinity_bits;
    if (exponent >= -126) return sign | (std::uint32_t(exponent + 127) << 23) | (significand & 0x7FFFFF);
    const int shift = -126 - exponent;
    if (ftz || shift > 25) return sign;
    const std::uint32_t kept = significand >> shift, rest = significand << (32 - shift);
    return sign | (kept + (rest > sign_bit || (rest == sign_bit && (kept & 1) != 0)));
}

/// A sum of `fraction_bits`, cut off; a negative one is complemented, not negated.
std::uint32_t compose_fixed(std::int64_t sum, int fraction_bits) {
    const std::uint64_t size = std::uint64_t(sum < 0 ? ~sum : sum);
    if (size == 0) return 0;
    const int top = 63 - std::countl_zero(size);
    const std::uint32_t significand = std::uint32_t(top >= 23 ? size >> (top - 23) : size << (23 - top));
    return compose(sum < 0 ? sign_bit : 0, top - fraction_bits, significand, false);
}

bool is_nan(std::uint32_t x) { return (x & ~sign_bit) > infinity_bits; }
bool is_zero(std::uint32_t x, bool ftz) { return ftz ? (x & infinity_bits) == 0 : (x & ~sign_bit) == 0; }

}  // namespace

std::uint32_t approximate_reciprocal(std::uint32_t x, bool ftz) {
    const std::uint32_t sign = x & sign_bit;
    if (is_nan(x)) return nan_bits;
    if (is_zero(x, ftz)) return sign | infinity_bits;
    if ((x & ~sign_bit) == infinity_bits) return sign;
    const Magnitude of = magnitude(x);
    const std::int64_t sum =
        interpolate(reciprocal_segments[of.fraction >> 16], of.fraction & 0xFFFF, 16, reciprocal_bias);
    return compose(sign, -1 - of.exponent, std::uint32_t(sum >> 34), ftz);
}

std::uint32_t approximate_reciprocal_root(std::uint32_t x, bool ftz) {
    if (is_nan(x)) return nan_bits;
    if (is_zero(x, ftz)) return (x & sign_bit) | infinity_bits;
    if ((x & sign_bit) != 0) return nan_bits;
    if (x == infinity_bits) return 0;
    const Magnitude of = magnitude(x);
    const bool odd = (of.exponent & 1) != 0;
    if (!odd && of.fraction == 0) return compose(0, -of.exponent / 2, 1u << 23, ftz);
    const std::int64_t sum = interpolate_64(reciprocal_root_segments + (odd ? 64 : 0), of.fraction, root_bias);
    return compose(0, -1 - (of.exponent - odd) / 2, std::uint32_t(sum >> 34), ftz);
}

std::uint32_t approximate_root(std::uint32_t x, bool ftz) {
    if (is_nan(x)) return nan_bits;
    if (is_zero(x, ftz)) return x & sign_bit;
    if ((x & sign_bit) != 0) return nan_bits;
    if (x == infinity_bits) return x;
    const Magnitude of = magnitude(x);
    const bool odd = (of.exponent & 1) != 0;
    const std::int64_t sum = interpolate_64(root_segments + (odd ? 64 : 0), of.fraction, root_bias);
    return compose(0, (of.exponent - odd) / 2, std::uint32_t(sum >> 34), ftz);
}

std::uint32_t approximate_exponential(std::uint32_t x, bool ftz) {
    if (is_nan(x)) return nan_bits;
    const bool negative = (x & sign_bit) != 0;
    const std::uint32_t of_x = x & ~sign_bit;
    if (of_x >= 0x43800000) return negative ? 0 : infinity_bits;  // 256
    if (!ftz && negative && of_x > 0x42FC0000) {                  // below -126: 2^(x/2), squared
        const std::uint32_t half = approximate_exponential(x - (1u << 23), true);
        return std::uint32_t(mul(Format::f32, half, half, {}));
    }
    const int exponent = int(of_x >> 23) - 127;
    const std::uint32_t significand = of_x < 0x00800000 ? 0 : (of_x & 0x7FFFFF) | 0x800000;
    const std::int64_t fixed = exponent >= 0     ? std::int64_t(significand) << exponent
                               : exponent >= -24 ? std::int64_t(significand) >> -exponent
                                                 : 0;
    // A negative fraction is complemented, not negated.
    const std::int64_t value = !negative ? fixed : (fixed & 0x7FFFFF) == 0 ? -fixed : ~fixed;
    const std::int64_t sum = interpolate_64(exponential_segments, std::uint32_t(value & 0x7FFFFF), exponential_bias);
    return compose(0, int(value >> 23), std::uint32_t(sum >> 34), true);
}

std::uint32_t approximate_logarithm(std::uint32_t x, bool ftz) {
    if (is_nan(x)) return nan_bits;
    if (is_zero(x, ftz)) return sign_bit | infinity_bits;
    if ((x & sign_bit) != 0) return nan_bits;
    if (x == infinity_bits || x == 0x3F800000) return x == infinity_bits ? x : 0;
    if (x < 0x00800000) {  // a subnormal is scaled first
        const std::uint32_t scaled = std::uint32_t(mul(Format::f32, x, 0x4B000000, {}));
        return std::uint32_t(add(Format::f32, approximate_logarithm(scaled, true), 0xC1B80000, {}));  // 2^23, -23
    }
    const Magnitude of = magnitude(x);
    const std::int64_t fraction = interpolate_64(logarithm_segments, of.fraction, logarithm_bias) >> 21;
    return compose_fixed(std::int64_t(of.exponent) * (std::int64_t(1) << 36) + fraction, 36);
}

namespace {

/// The angle becomes turns by a multiplication that cuts off, then 25 fraction bits; a quarter turn has the table.
std::uint32_t sine(std::uint32_t x, bool ftz, bool cosine) {
    if ((x & ~sign_bit) >= infinity_bits) return nan_bits;
    Arithmetic how;
    how.rounding = Rounding::rz;
    how.ftz = ftz;
    const std::uint32_t turns = std::uint32_t(mul(Format::f32, x, 0x3E22F983, how));  // 1 / 2 pi
    const std::uint32_t significand = (turns & 0x7FFFFF) | ((turns & infinity_bits) != 0 ? 0x800000 : 0);
    const int shift = int(turns >> 23 & 0xFF) - 127 + 2;  // to 25 fraction bits
    const std::uint32_t fixed = shift >= 25   ? 0
                                : shift >= 0  ? significand << shift
                                : shift > -24 ? significand >> -shift
                                              : 0;
    const std::uint32_t quarter = (fixed >> 23) + cosine, fraction = fixed & 0x7FFFFF;
    const std::uint32_t at = (quarter & 1) != 0 ? ~fraction & 0x7FFFFF : fraction;
    const std::uint32_t size = compose_fixed(interpolate_64(sine_segments, at, sine_bias) >> 21, 37);
    return size ^ ((quarter & 2) != 0 ? sign_bit : 0) ^ (cosine ? 0 : x & sign_bit);
}

}  // namespace

std::uint32_t approximate_sine(std::uint32_t x, bool ftz) { return sine(x, ftz, false); }
std::uint32_t approximate_cosine(std::uint32_t x, bool ftz) { return sine(x, ftz, true); }

namespace {

/// Divisors above `large` (a quarter) and subnormal ones (2^24) are scaled together with the dividend.
std::uint32_t scaled_quotient(std::uint32_t a, std::uint32_t b, std::uint32_t large, bool ftz) {
    Arithmetic how;
    how.ftz = ftz;
    const auto times = [&](std::uint32_t x, std::uint32_t y) { return std::uint32_t(mul(Format::f32, x, y, how)); };
    const std::uint32_t size = b & ~sign_bit;
    const std::uint32_t scale = size > large ? 0x3E800000 : size < 0x00800000 ? 0x4B800000 : 0x3F800000;
    return times(times(a, scale), approximate_reciprocal(times(b, scale), true));
}

}  // namespace

std::uint32_t approximate_quotient(std::uint32_t a, std::uint32_t b, bool ftz) {
    return scaled_quotient(a, b, nan_bits, ftz);
}
std::uint32_t full_range_quotient(std::uint32_t a, std::uint32_t b, bool ftz) {
    return scaled_quotient(a, b, 0x7E800000, ftz);  // 2^126
}

}  // namespace tilepath::number
