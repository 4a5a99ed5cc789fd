#include "number/fused_dot.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.h"
#include "number/arithmetic.h"
#include "number/conversion.h"
#include "number/fused_sum.h"

namespace tilepath::number {
namespace {

constexpr std::size_t fp8_instruction_k = 32;  // mma.sync.m16n8k32: C is added once per instruction
constexpr std::size_t volta_instruction_k = 4;

std::uint32_t fused_dot(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c) {
    const std::size_t length = std::size_t(r.group_length);
    for (std::size_t k = 0; k < a.size(); k += length) {
        const std::size_t n = std::min(length, a.size() - k);
        c = fused_group(r, a.subspan(k, n), b.subspan(k, n), c, 0);
    }
    return c;
}

/// One of the two f16 groups: bytes 0–1 (half 0) or 2–3 (half 1) of every register, as f16: the values stay, but an
/// FP8 subnormal becomes normal.
std::uint32_t fp8_half(const DotRecipe& recipe, std::span<const Term> a, std::span<const Term> b, std::uint32_t c,
                       std::size_t half) {
    std::array<Term, fp8_instruction_k / 2> half_a, half_b;
    const FormatTraits &from_a = traits(recipe.a), &from_b = traits(recipe.b);
    std::size_t n = 0;
    for (std::size_t quad = 2 * half; quad < a.size(); quad += 4)
        for (std::size_t k = quad; k < std::min(quad + 2, a.size()); ++k) {
            half_a[n] = as_f16(a[k], from_a);
            half_b[n++] = as_f16(b[k], from_b);
        }
    return fused_group(through_f16(recipe), std::span(half_a).first(n), std::span(half_b).first(n), c, 0);
}

std::uint32_t fp8_instruction(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c) {
    const auto sum = [&](std::uint64_t x, std::uint64_t y) { return std::uint32_t(add(r.d, x, y, {})); };
    const std::uint32_t first = fp8_half(r, a, b, 0, 0);
    if (r.separate_halves) return sum(sum(first, fp8_half(r, a, b, 0, 1)), c);
    return sum(fp8_half(r, a, b, first, 1), c);
}

std::uint32_t fp8_through_f16(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c) {
    for (std::size_t k = 0; k < a.size(); k += fp8_instruction_k) {
        const std::size_t n = std::min(fp8_instruction_k, a.size() - k);
        c = fp8_instruction(r, a.subspan(k, n), b.subspan(k, n), c);
    }
    return c;
}

std::uint32_t integer_dot(const DotRecipe& r, std::span<const Term> a, std::span<const Term> b, std::uint32_t c) {
    std::int64_t sum = std::int32_t(c);
    for (std::size_t k = 0; k < a.size(); ++k) sum += std::int64_t(a[k].significand) * b[k].significand;
    if (r.saturate)
        sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                       std::numeric_limits<std::int32_t>::max());
    return std::uint32_t(sum);
}

/// Recorded on an H200: f16 results add two halves to c, f32 results add the chain of four to c.
std::uint64_t volta_instruction(const DotRecipe& r, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                                std::uint64_t c) {
    std::array<std::uint64_t, volta_instruction_k> x{}, y{};  // what is missing is zero
    for (std::size_t k = 0; k < a.size(); ++k) {
        x[k] = convert(a[k], Format::f16, Format::f32);
        y[k] = convert(b[k], Format::f16, Format::f32);
    }
    const auto mul_f32 = [](std::uint64_t p, std::uint64_t q) { return mul(Format::f32, p, q, {}); };
    const auto add_f32 = [](std::uint64_t p, std::uint64_t q) { return add(Format::f32, p, q, {}); };
    const auto fma_f32 = [](std::uint64_t p, std::uint64_t q, std::uint64_t s) {
        return fma(Format::f32, p, q, s, {});
    };
    if (r.d == Format::f16) {
        const std::uint64_t wide_c = convert(c, Format::f16, Format::f32);
        const std::uint64_t low = fma_f32(x[1], y[1], mul_f32(x[0], y[0]));
        const std::uint64_t high = fma_f32(x[3], y[3], mul_f32(x[2], y[2]));
        return convert(add_f32(add_f32(wide_c, low), high), Format::f32, Format::f16);
    }
    std::uint64_t chain = 0;
    for (std::size_t k = 0; k < 4; ++k) chain = fma_f32(x[k], y[k], chain);
    return add_f32(c, chain);
}

}  // namespace

Term decode_term(std::uint64_t bits, Format format) {
    const Decoded d = decode(bits, format);
    const bool is_special = d.kind == Class::infinity || d.kind == Class::nan;
    Term term;
    term.kind = d.kind;
    term.negative = d.negative;
    term.exponent = d.kind == Class::finite ? std::int16_t(d.exponent) : Term::zero_exponent;
    term.significand = is_special ? 0 : std::int32_t(d.negative ? -std::int64_t(d.significand) : d.significand);
    return term;
}

std::vector<Term> decode_terms(std::span<const std::uint64_t> bits, Format format) {
    std::vector<Term> terms;
    terms.reserve(bits.size());
    for (const std::uint64_t element : bits) terms.push_back(decode_term(element, format));
    return terms;
}

std::uint32_t dot(const DotRecipe& recipe, std::span<const Term> a, std::span<const Term> b, std::uint32_t c,
                  const Scales& scales) {
    TILEPATH_ASSERT(a.size() == b.size() && !a.empty(), "a dot product has as many elements of A as of B");
    switch (recipe.kind) {
        case DotRecipe::Kind::fused:
            return recipe.scaling == Scaling::none ? fused_dot(recipe, a, b, c) : scaled_dot(recipe, a, b, c, scales);
        case DotRecipe::Kind::fp8_through_f16: return fp8_through_f16(recipe, a, b, c);
        case DotRecipe::Kind::integer: return integer_dot(recipe, a, b, c);
        case DotRecipe::Kind::fma_chain_f64:
        case DotRecipe::Kind::bit_and:
        case DotRecipe::Kind::bit_xor:
        case DotRecipe::Kind::cuda_core_f32: break;
    }
    TILEPATH_ASSERT(false, "this kind takes undecoded operands");
    return 0;
}

std::uint64_t dot(const DotRecipe& recipe, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                  std::uint64_t c, const Scales& scales) {
    TILEPATH_ASSERT(a.size() == b.size() && !a.empty(), "a dot product has as many elements of A as of B");
    switch (recipe.kind) {
        case DotRecipe::Kind::fused:
        case DotRecipe::Kind::fp8_through_f16:
        case DotRecipe::Kind::integer:
            return dot(recipe, decode_terms(a, recipe.a), decode_terms(b, recipe.b), std::uint32_t(c), scales);
        case DotRecipe::Kind::fma_chain_f64:
            for (std::size_t k = 0; k < a.size(); ++k) c = fma(Format::f64, a[k], b[k], c, {recipe.f64_rounding});
            return c;
        case DotRecipe::Kind::bit_and:
            for (std::size_t k = 0; k < a.size(); ++k) c += a[k] & b[k] & 1;
            return std::uint32_t(c);
        case DotRecipe::Kind::bit_xor:
            for (std::size_t k = 0; k < a.size(); ++k) c += (a[k] ^ b[k]) & 1;
            return std::uint32_t(c);
        case DotRecipe::Kind::cuda_core_f32:
            for (std::size_t k = 0; k < a.size(); k += volta_instruction_k) {
                const std::size_t n = std::min(volta_instruction_k, a.size() - k);
                c = volta_instruction(recipe, a.subspan(k, n), b.subspan(k, n), c);
            }
            return c;
    }
    return 0;
}

}  // namespace tilepath::number
