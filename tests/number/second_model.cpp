#include "second_model.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <vector>

namespace tilepath::number {
namespace {

struct Layout {
    int exponent_bits, fraction_bits, bias;
    bool is_signed = true;
};

Layout layout(Format format) {
    switch (format) {
        case Format::f32: return {8, 23, 127};
        case Format::tf32: return {8, 10, 127};
        case Format::f16: return {5, 10, 15};
        case Format::bf16: return {8, 7, 127};
        case Format::e4m3: return {4, 3, 7};
        case Format::e5m2: return {5, 2, 15};
        case Format::e3m2: return {3, 2, 3};
        case Format::e2m3: return {2, 3, 1};
        case Format::e2m1: return {2, 1, 1};
        case Format::ue8m0: return {8, 0, 127, false};
        case Format::ue4m3: return {4, 3, 7, false};
        case Format::f64:
        case Format::s32:
        case Format::s8:
        case Format::u8:
        case Format::s4:
        case Format::u4:
        case Format::b1:
        case Format::u16:
        case Format::s16:
        case Format::u32:
        case Format::u64:
        case Format::s64: break;
    }
    return {0, 0, 0};
}

double value(std::uint64_t bits, Format format) {
    const Layout l = layout(format);
    if (format == Format::tf32) bits >>= 13;
    if (format == Format::ue4m3) bits &= 0x7f;
    if (format == Format::ue8m0) return std::ldexp(1.0, int(bits) - 127);
    return value_of(bits, l.exponent_bits, l.fraction_bits, l.bias, l.is_signed);
}

int exponent(std::uint64_t bits, Format format) {
    const Layout l = layout(format);
    if (format == Format::tf32) bits >>= 13;
    const int field = int(bits >> l.fraction_bits & ((1u << l.exponent_bits) - 1));
    if (format == Format::ue8m0) return field - l.bias;
    return std::max(field, 1) - l.bias;
}

struct Aligned {
    double value;
    int exponent;
};

std::uint64_t rounded(double units, int least, ResultRounding rounding) {
    // units × 2^least: units is an integer of fewer than 53 bits, so the double is exact.
    const double sum = std::ldexp(units, least);
    if (rounding == ResultRounding::rne_f16) {
        const _Float16 half = static_cast<_Float16>(sum);
        std::uint16_t bits;
        std::memcpy(&bits, &half, 2);
        return bits == 0x8000 ? 0 : bits;
    }
    if (std::fabs(sum) >= std::ldexp(1.0, 128)) return sum < 0 ? 0xff800000 : 0x7f800000;
    std::fesetround(FE_TOWARDZERO);
    volatile float single = static_cast<float>(sum);
    std::fesetround(FE_TONEAREST);
    const float copy = single;
    std::uint32_t bits;
    std::memcpy(&bits, &copy, 4);
    if (rounding == ResultRounding::rz_e8m13) bits &= 0xfffffc00;
    return bits == 0x80000000 ? 0 : bits;
}

std::uint64_t summed(const std::vector<Aligned>& terms, const DotRecipe& r) {
    int largest = r.zero_exponent;
    for (const Aligned& t : terms)
        if (t.value != 0) largest = std::max(largest, t.exponent);
    const int least = largest - r.fraction_bits;
    double units = 0;
    for (const Aligned& t : terms) units += std::trunc(std::ldexp(t.value, -least));
    return rounded(units, least, r.rounding);
}

}  // namespace

double value_of(std::uint64_t bits, int exponent_bits, int fraction_bits, int bias, bool is_signed) {
    const int field = int(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    const double fraction = double(bits & ((1ull << fraction_bits) - 1)) / double(1ull << fraction_bits);
    const double magnitude = field == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, field - bias);
    const bool negative = is_signed && (bits >> (exponent_bits + fraction_bits) & 1) != 0;
    return negative ? -magnitude : magnitude;
}

std::uint64_t second_fused_dot(const DotRecipe& r, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                               std::uint64_t c, const Scales& scales) {
    const std::size_t length = std::size_t(r.group_length);
    for (std::size_t first = 0; first < a.size(); first += length) {
        const std::size_t end = std::min(first + length, a.size());
        std::vector<Aligned> terms{{value(c, r.d), exponent(c, r.d)}};
        if (r.scaling == Scaling::per_group) {
            for (std::size_t k = first; k < end; k += 16) {
                double sum = 0;
                bool all_zero = true;
                for (std::size_t i = k; i < k + 16; ++i) {
                    const double product = value(a[i], r.a) * value(b[i], r.b);
                    all_zero &= product == 0;
                    sum += product;
                }
                const std::uint64_t sa = scales.a[k / std::size_t(r.scale_block)];
                const std::uint64_t sb = scales.b[k / std::size_t(r.scale_block)];
                // A group that cancels still stands at its scales' exponent: a value under every grid keeps it there.
                const double scaled = sum * value(sa, r.scale) * value(sb, r.scale);
                const bool counts = !all_zero && value(sa, r.scale) != 0 && value(sb, r.scale) != 0;
                const int at = exponent(sa, r.scale) + exponent(sb, r.scale);
                terms.push_back({scaled == 0 && counts ? std::ldexp(1.0, at - 200) : scaled, at});
            }
        } else {
            int shift = 0;
            if (r.scaling == Scaling::per_dot)
                shift = exponent(scales.a[first / 32], r.scale) + exponent(scales.b[first / 32], r.scale);
            for (std::size_t k = first; k < end; ++k)
                terms.push_back({std::ldexp(value(a[k], r.a) * value(b[k], r.b), shift),
                                 exponent(a[k], r.a) + exponent(b[k], r.b) + shift});
        }
        c = summed(terms, r);
        const bool infinite = r.d == Format::f16 ? (c & 0x7fff) == 0x7c00 : (c & 0x7fffffff) == 0x7f800000;
        if (infinite) return c;  // and stays so: the operands are finite
    }
    return c;
}

}  // namespace tilepath::number
