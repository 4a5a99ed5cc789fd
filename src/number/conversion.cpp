#include "number/conversion.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace tilepath::number {
namespace {

constexpr int f16_random_bits = 13, other_random_bits = 16;

std::uint64_t low_bits(std::uint64_t bits, Format format) {
    const int width = format == Format::tf32 ? 32 : traits(format).bits;
    return width >= 64 ? bits : bits & ((1ull << width) - 1);
}

std::uint64_t integer_to_integer(const Decoded& d, Format to, const Conversion& how) {
    if (how.saturate) return clamp_to(to, {d.negative, d.significand, false});
    return low_bits(d.negative ? 0 - d.significand : d.significand, to);
}

std::uint64_t float_to_integer(const Decoded& d, Format from, Format to, const Conversion& how) {
    switch (d.kind) {
        case Class::nan: {
            // PTX ISA, cvt: 0, unless a 64-bit type takes part: then the top bit alone.
            const bool wide = from == Format::f64 || traits(to).bits == 64;
            return wide ? 1ull << (traits(to).bits - 1) : 0;
        }
        case Class::infinity: return clamp_to(to, {d.negative, 0, true});
        case Class::zero:
        case Class::finite: break;
    }
    return clamp_to(to, round_to_whole(exact(d, from), how.rounding));
}

bool subnormal(const Decoded& d, Format format) {
    return d.kind == Class::finite && d.significand >> traits(format).fraction_bits == 0;
}

std::uint64_t saturated(std::uint64_t bits, Format format) {
    const Decoded d = decode(bits, format);
    if (d.kind == Class::nan || d.negative) return zero(format, false);
    return std::min(bits, round_to(format, {false, 1, 0, false}));  // positive floats are ordered as their bits are
}

std::uint64_t rectified(std::uint64_t bits, Format format) {
    const Decoded d = decode(bits, format);
    return d.negative && d.kind != Class::nan ? zero(format, false) : bits;
}

EncodeOptions encode_options(Format to, const Conversion& how) {
    return {how.rounding, how.satfinite, how.random_bits, to == Format::f16 ? f16_random_bits : other_random_bits};
}

/// ue8m0 holds magnitudes: .rz takes the exponent, .rp the next power of two.
std::uint64_t to_scale(const Decoded& d, Format from, const Conversion& how) {
    switch (d.kind) {
        case Class::nan: return canonical_nan(Format::ue8m0);
        case Class::infinity:
            return how.satfinite ? largest_finite(Format::ue8m0, false) : canonical_nan(Format::ue8m0);
        case Class::zero: return 0;
        case Class::finite: break;
    }
    Exact magnitude = exact(d, from);
    magnitude.negative = false;
    return round_to(Format::ue8m0, magnitude, encode_options(Format::ue8m0, how));
}

/// NaN, as recorded on an H200 for each pair: most give the canonical one, but f64 keeps payload and sign both ways
/// (quieted), and what is only a shift or a move keeps everything.
std::uint64_t nan_to_float(std::uint64_t bits, const Decoded& d, Format from, Format to, const Conversion& how) {
    if (from == to && (to == Format::f32 || to == Format::f64) && !how.to_integral && !how.ftz) return bits;
    if (from == Format::bf16 && to == Format::f32 && !how.ftz) return bits << 16;
    if (to == Format::tf32 && how.rounding == Rounding::rna) return bits & 0xffffe000;
    const bool through_f32 = how.ftz && from == Format::f32;  // ptxas flushes by an addition first
    if (to != Format::f64 && from != Format::f64) return canonical_nan(to);
    const Decoded nan = through_f32 ? decode(canonical_nan(from), from) : d;
    const int up = traits(to).fraction_bits - traits(from).fraction_bits;
    const std::uint64_t payload = up >= 0 ? nan.significand << up : nan.significand >> -up;
    return infinity(to, nan.negative) | payload | 1ull << (traits(to).fraction_bits - 1);
}

std::uint64_t float_to_float(std::uint64_t bits, Decoded d, Format from, Format to, const Conversion& how) {
    // Recorded on an H200: for an f16 result ptxas drops .ftz.
    const bool ftz = how.ftz && to != Format::f16;
    if (ftz && from == Format::f32 && subnormal(d, from)) d = {Class::zero, d.negative, d.exponent, 0};
    switch (d.kind) {
        case Class::nan: return nan_to_float(bits, d, from, to, how);
        case Class::zero: return zero(to, d.negative);
        case Class::infinity: return round_to(to, {d.negative, 1, 1 << 20, false}, {Rounding::rn, how.satfinite});
        case Class::finite: break;
    }
    Exact number = exact(d, from);
    if (how.to_integral) {
        const Whole whole = round_to_whole(number, how.rounding);
        if (whole.overflow) return round_to(to, number);  // so large that it is an integer already
        number = {whole.negative, whole.magnitude, 0, false};
    }
    if (ftz && to == Format::f32 && tiny(to, number, how.rounding)) return zero(to, d.negative);
    return round_to(to, number, encode_options(to, how));
}

std::uint32_t reversed16(std::uint32_t bits) {
    std::uint32_t result = 0;
    for (int i = 0; i < 16; ++i) result |= (bits >> i & 1) << (15 - i);
    return result;
}

}  // namespace

std::uint64_t convert(std::uint64_t bits, Format from, Format to, const Conversion& how) {
    const Decoded d = decode(bits, from);
    const bool from_float = traits(from).floating, to_float = traits(to).floating;
    if (!from_float && !to_float) return integer_to_integer(d, to, how);
    if (!to_float) {
        const bool flush = how.ftz && from == Format::f32 && subnormal(d, from);
        return float_to_integer(flush ? Decoded{Class::zero, d.negative, d.exponent, 0} : d, from, to, how);
    }
    if (to == Format::ue8m0) return to_scale(d, from, how);
    std::uint64_t result = 0;
    if (from_float)
        result = float_to_float(bits, d, from, to, how);
    else if (d.kind != Class::zero)
        result = round_to(to, exact(d, from), encode_options(to, how));
    // Recorded on an H200: .rna.satfinite steps one place back from the exponent of infinity, NaN or not.
    if (to == Format::tf32 && how.rounding == Rounding::rna && how.satfinite && (result & 0x7f800000) == 0x7f800000)
        return result - 0x2000;
    if (how.relu) result = rectified(result, to);
    return how.saturate ? saturated(result, to) : result;
}

int packed_bits(Format format) { return format == Format::e2m1 ? 4 : traits(format).container_bits; }

std::uint64_t unpack(std::uint64_t packed, Format format, int index) {
    return low_bits(packed >> (index * packed_bits(format)), format);
}

std::uint64_t pack(Format format, std::span<const std::uint64_t> elements) {
    std::uint64_t packed = 0;
    for (std::size_t i = 0; i < elements.size(); ++i)
        packed |= low_bits(elements[i], format) << (int(i) * packed_bits(format));
    return packed;
}

std::uint64_t convert_packed(std::uint64_t packed, int count, Format from, Format to, const Conversion& how) {
    std::uint64_t result = 0;
    for (int i = 0; i < count; ++i) result |= convert(unpack(packed, from, i), from, to, how) << (i * packed_bits(to));
    return result;
}

std::uint32_t random_bits_of(Format to, std::uint32_t rbits, int index) {
    if (to == Format::f16) return rbits >> (16 * index) & 0x1fff;
    if (to == Format::bf16) return rbits >> (16 * index) & 0xffff;
    // Four results: each half of rbits serves a pair, the upper of the pair reads it backwards.
    const std::uint32_t half = rbits >> (16 * (index / 2)) & 0xffff;
    return index % 2 == 0 ? half : reversed16(half);
}

std::uint32_t convert_pack(std::uint32_t a, std::uint32_t b, std::uint32_t c, int bits, bool is_signed,
                           bool source_signed) {
    const auto clamped = [&](std::uint32_t x) {
        const std::int64_t value = source_signed ? std::int64_t(std::int32_t(x)) : std::int64_t(x);
        const std::int64_t low = is_signed ? -(std::int64_t(1) << (bits - 1)) : 0;
        const std::int64_t high = (std::int64_t(1) << (is_signed ? bits - 1 : bits)) - 1;
        return std::uint32_t(std::clamp(value, low, high)) & ((1u << bits) - 1);
    };
    const std::uint32_t pair = clamped(a) << bits | clamped(b);
    return bits == 16 ? pair : c << (2 * bits) | pair;
}

}  // namespace tilepath::number
