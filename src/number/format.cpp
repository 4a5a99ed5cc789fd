#include "number/format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/assert.h"

namespace tilepath::number {
namespace {

// name, bits, container, floating, signed, exponent bits, fraction bits, bias, specials; in the order of the enum.
// OCP Microscaling Formats 1.0 for the 4- to 8-bit floats and ue8m0; PTX ISA 5.2.3 for tf32, ue4m3.
constexpr std::array<FormatTraits, 23> table{{
    {"f64", 64, 64, true, true, 11, 52, 1023, Specials::ieee},
    {"f32", 32, 32, true, true, 8, 23, 127, Specials::ieee},
    {"tf32", 19, 32, true, true, 8, 10, 127, Specials::ieee},
    {"f16", 16, 16, true, true, 5, 10, 15, Specials::ieee},
    {"bf16", 16, 16, true, true, 8, 7, 127, Specials::ieee},
    {"e4m3", 8, 8, true, true, 4, 3, 7, Specials::nan_only},
    {"e5m2", 8, 8, true, true, 5, 2, 15, Specials::ieee},
    {"e3m2", 6, 8, true, true, 3, 2, 3, Specials::none},
    {"e2m3", 6, 8, true, true, 2, 3, 1, Specials::none},
    {"e2m1", 4, 8, true, true, 2, 1, 1, Specials::none},
    {"ue8m0", 8, 8, true, false, 8, 0, 127, Specials::nan_only},
    {"ue4m3", 7, 8, true, false, 4, 3, 7, Specials::nan_only},
    {"s32", 32, 32, false, true, 0, 0, 0, Specials::none},
    {"s8", 8, 8, false, true, 0, 0, 0, Specials::none},
    {"u8", 8, 8, false, false, 0, 0, 0, Specials::none},
    {"s4", 4, 8, false, true, 0, 0, 0, Specials::none},
    {"u4", 4, 8, false, false, 0, 0, 0, Specials::none},
    {"b1", 1, 8, false, false, 0, 0, 0, Specials::none},
    {"u16", 16, 16, false, false, 0, 0, 0, Specials::none},
    {"s16", 16, 16, false, true, 0, 0, 0, Specials::none},
    {"u32", 32, 32, false, false, 0, 0, 0, Specials::none},
    {"u64", 64, 64, false, false, 0, 0, 0, Specials::none},
    {"s64", 64, 64, false, true, 0, 0, 0, Specials::none},
}};

constexpr auto formats = [] {
    std::array<Format, table.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = Format(i);
    return all;
}();

constexpr std::uint64_t low_bits(int count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

/// Where the encoding begins inside its container.
int container_shift(Format format) { return format == Format::tf32 ? 13 : 0; }

std::uint64_t place(Format format, bool negative, std::uint64_t magnitude) {
    const FormatTraits& f = traits(format);
    return (magnitude | std::uint64_t(negative && f.is_signed) << (f.bits - 1)) << container_shift(format);
}

std::uint64_t largest_magnitude(Format format) {
    const FormatTraits& f = traits(format);
    const std::uint64_t all_ones = low_bits(f.exponent_bits + f.fraction_bits);
    switch (f.specials) {
        case Specials::ieee: return all_ones - low_bits(f.fraction_bits) - 1;
        case Specials::nan_only: return all_ones - 1;
        case Specials::none: return all_ones;
    }
    return 0;
}

/// Whether a value goes away from zero, whose part under the last place is `rest` / 2^64 (and a little if sticky).
bool rounds_up(bool negative, bool odd, std::uint64_t rest, bool sticky, const EncodeOptions& options) {
    constexpr std::uint64_t half = 1ull << 63;
    const bool inexact = rest != 0 || sticky;
    switch (options.rounding) {
        case Rounding::rn: return rest > half || (rest == half && (sticky || odd));
        case Rounding::rna: return rest >= half;
        case Rounding::rz: return false;
        case Rounding::rm: return negative && inexact;
        case Rounding::rp: return !negative && inexact;
        case Rounding::rs: {
            const int width = options.random_width;  // what lies below the random bits is dropped
            return ((rest >> (64 - width)) + (options.random_bits & low_bits(width))) >> width != 0;
        }
    }
    return false;
}

std::uint64_t overflow(Format format, bool negative, const EncodeOptions& options) {
    const bool toward_zero = options.rounding == Rounding::rz || (options.rounding == Rounding::rm && !negative) ||
                             (options.rounding == Rounding::rp && negative);
    const Specials specials = traits(format).specials;
    if (options.satfinite || specials == Specials::none || toward_zero) return largest_finite(format, negative);
    if (specials == Specials::ieee) return infinity(format, negative);
    return place(format, negative, low_bits(traits(format).exponent_bits + traits(format).fraction_bits));
}

}  // namespace

const FormatTraits& traits(Format format) { return table[std::size_t(format)]; }

std::optional<Format> format_named(std::string_view name) {
    const auto* row = std::ranges::find(table, name, &FormatTraits::name);
    if (row == table.end()) return std::nullopt;
    return Format(row - table.begin());
}

std::span<const Format> all_formats() { return formats; }

Decoded decode(std::uint64_t bits, Format format) {
    const FormatTraits& f = traits(format);
    bits = bits >> container_shift(format) & low_bits(f.bits);
    if (!f.floating) {
        const bool negative = f.is_signed && (bits >> (f.bits - 1)) != 0;
        const std::uint64_t magnitude = negative ? (0 - bits) & low_bits(f.bits) : bits;
        return {magnitude == 0 ? Class::zero : Class::finite, negative, 0, magnitude};
    }
    const bool negative = f.is_signed && (bits >> (f.bits - 1)) != 0;
    const std::uint64_t magnitude = bits & low_bits(f.exponent_bits + f.fraction_bits);
    const std::uint64_t fraction = bits & low_bits(f.fraction_bits);
    const int field = int(magnitude >> f.fraction_bits);
    if (magnitude > largest_magnitude(format)) {
        const bool is_infinity = f.specials == Specials::ieee && fraction == 0;
        return {is_infinity ? Class::infinity : Class::nan, negative, 0, fraction};
    }
    if (format == Format::ue8m0) return {Class::finite, false, field - f.bias, 1};
    if (magnitude == 0) return {Class::zero, negative, 1 - f.bias, 0};
    if (field == 0) return {Class::finite, negative, 1 - f.bias, fraction};
    return {Class::finite, negative, field - f.bias, fraction | 1ull << f.fraction_bits};
}

double to_double(std::uint64_t bits, Format format) {
    const Decoded d = decode(bits, format);
    const double sign = d.negative ? -1.0 : 1.0;
    switch (d.kind) {
        case Class::zero: return sign * 0.0;
        case Class::infinity: return sign * std::numeric_limits<double>::infinity();
        case Class::nan: return std::numeric_limits<double>::quiet_NaN();
        case Class::finite: break;
    }
    return sign * std::ldexp(double(d.significand), d.exponent - traits(format).fraction_bits);
}

Exact exact(const Decoded& value, Format format) {
    TILEPATH_ASSERT(value.kind == Class::zero || value.kind == Class::finite, "only finite numbers are exact");
    return {value.negative, value.significand, value.exponent - traits(format).fraction_bits, false};
}

std::uint64_t round_to(Format format, const Exact& value, const EncodeOptions& options) {
    const FormatTraits& f = traits(format);
    TILEPATH_ASSERT(f.floating, "integers are made by from_double");
    const bool negative = value.negative;
    if (negative && !f.is_signed) return zero(format, false);
    if (value.significand == 0 && !value.sticky) return zero(format, negative);

    // Normalise to bit 63: more bits than any format keeps (53). ue8m0 has no subnormals: field 0 is 2^-127.
    const int shift = value.significand == 0 ? 0 : std::countl_zero(value.significand);
    const std::uint64_t significand = value.significand == 0 ? 1ull << 63 : value.significand << shift;
    const int top = value.significand == 0 ? -100000 : value.exponent - shift + 63;
    const int emin = 1 - f.bias - (format == Format::ue8m0 ? 1 : 0);
    const int exponent = std::max(top, emin);
    const int dropped = 63 - f.fraction_bits + (exponent - top);
    std::uint64_t kept = dropped >= 64 ? 0 : significand >> dropped;
    std::uint64_t rest = significand << (64 - dropped % 64) % 64;
    bool sticky = value.sticky;
    if (dropped > 64) {
        rest = dropped >= 128 ? 0 : significand >> (dropped - 64);
        sticky = true;
    }
    kept += rounds_up(negative, kept & 1, rest, sticky, options);

    if (exponent + f.bias > 1 << f.exponent_bits) return overflow(format, negative, options);
    // A carry out of the fraction lands in the exponent field by plain addition.
    const std::uint64_t magnitude = format == Format::ue8m0
                                        ? std::uint64_t(exponent + f.bias) + (kept > 1 ? 1 : 0)
                                        : (std::uint64_t(exponent + f.bias - 1) << f.fraction_bits) + kept;
    if (magnitude > largest_magnitude(format)) return overflow(format, negative, options);
    return place(format, negative, magnitude);
}

Whole round_to_whole(const Exact& value, Rounding rounding) {
    if (value.significand == 0 && !value.sticky) return {value.negative, 0, false};
    if (value.exponent >= 0)
        return {value.negative, value.significand << std::min(value.exponent, 63),
                value.exponent > std::countl_zero(value.significand)};
    const int dropped = -value.exponent;
    std::uint64_t kept = dropped >= 64 ? 0 : value.significand >> dropped;
    std::uint64_t rest = dropped > 64 ? 0 : value.significand << (64 - dropped % 64) % 64;
    bool sticky = value.sticky;
    if (dropped > 64) {
        rest = dropped >= 128 ? 0 : value.significand >> (dropped - 64);
        sticky = true;
    }
    const std::uint64_t up = rounds_up(value.negative, kept & 1, rest, sticky, {rounding});
    kept += up;
    return {value.negative, kept, up == 1 && kept == 0};
}

std::uint64_t clamp_to(Format format, const Whole& value) {
    const FormatTraits& f = traits(format);
    TILEPATH_ASSERT(!f.floating, "only integers are clamped to a range");
    const std::uint64_t highest = low_bits(f.is_signed ? f.bits - 1 : f.bits);
    if (!value.negative) return value.overflow ? highest : std::min(value.magnitude, highest);
    if (!f.is_signed) return 0;
    const std::uint64_t lowest = highest + 1;  // its magnitude
    return (0 - (value.overflow ? lowest : std::min(value.magnitude, lowest))) & low_bits(f.bits);
}

bool tiny(Format format, const Exact& value, Rounding rounding) {
    const FormatTraits& f = traits(format);
    const int top = value.exponent + int(std::bit_width(value.significand)) - 1;
    if (top != -f.bias) return top < -f.bias;
    // One binade below the normals: rounded in place, with one more bit than the subnormals there have.
    const Exact in_place{value.negative, value.significand, value.exponent - (top - f.fraction_bits), value.sticky};
    return round_to_whole(in_place, rounding).magnitude >> (f.fraction_bits + 1) == 0;
}

std::uint64_t from_double(double value, Format format, const EncodeOptions& options) {
    const FormatTraits& f = traits(format);
    const Decoded d = decode(std::bit_cast<std::uint64_t>(value), Format::f64);
    switch (d.kind) {
        case Class::nan: return f.floating ? canonical_nan(format) : 0;
        case Class::infinity:
            if (!f.floating) return clamp_to(format, {d.negative, 0, true});
            if (!f.is_signed && d.negative) return zero(format, false);
            if (f.specials == Specials::ieee && !options.satfinite) return infinity(format, d.negative);
            return overflow(format, d.negative, {Rounding::rn, options.satfinite, 0, 0});
        case Class::zero:
        case Class::finite: break;
    }
    const Exact number = exact(d, Format::f64);
    return f.floating ? round_to(format, number, options) : clamp_to(format, round_to_whole(number, options.rounding));
}

std::uint64_t canonical_nan(Format format) {
    const FormatTraits& f = traits(format);
    switch (f.specials) {
        case Specials::none: return largest_finite(format, false);
        case Specials::nan_only: return low_bits(f.exponent_bits + f.fraction_bits);
        case Specials::ieee: break;
    }
    if (format == Format::f64) return 0xfff8000000000000;  // recorded on an H200: the invalid operation's NaN
    return place(format, false, low_bits(f.exponent_bits + f.fraction_bits));
}

std::uint64_t infinity(Format format, bool negative) {
    TILEPATH_ASSERT(traits(format).specials == Specials::ieee, "the format has no infinity");
    return place(format, negative, largest_magnitude(format) + 1);
}

std::uint64_t largest_finite(Format format, bool negative) {
    return place(format, negative, largest_magnitude(format));
}

std::uint64_t zero(Format format, bool negative) { return place(format, negative, 0); }

}  // namespace tilepath::number
