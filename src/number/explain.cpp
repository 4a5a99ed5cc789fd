#include "number/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "number/arithmetic.h"
#include "number/conversion.h"
#include "number/fused_sum.h"

namespace tilepath::number {
namespace {

using Source = ExplainedTerm::Source;

ExplainedTerm term_of(const Decoded& d, Format format) {
    ExplainedTerm t;
    t.kind = d.kind;
    t.negative = d.negative;
    t.exponent = d.exponent;
    t.significand = d.negative ? -std::int64_t(d.significand) : std::int64_t(d.significand);
    t.fraction_bits = traits(format).fraction_bits;
    return t;
}

ExplainedTerm product_of(const Decoded& a, const Decoded& b, Format format_a, Format format_b, std::size_t k) {
    ExplainedTerm x = term_of(a, format_a);
    const ExplainedTerm y = term_of(b, format_b);
    const bool special = a.kind == Class::infinity || b.kind == Class::infinity;
    const bool zero = a.kind == Class::zero || b.kind == Class::zero;
    x.k = k;
    x.kind = special ? (zero ? Class::nan : Class::infinity) : zero ? Class::zero : Class::finite;
    if (a.kind == Class::nan || b.kind == Class::nan) x.kind = Class::nan;
    x.negative = a.negative != b.negative;
    x.exponent += y.exponent;
    x.significand *= y.significand;
    x.fraction_bits += y.fraction_bits;
    return x;
}

/// Sums a group whose terms stand with their exponents; decided by specials where there are any.
void conclude(ExplainedGroup& group, const DotRecipe& r, bool nan) {
    bool positive = false, negative = false;
    for (const ExplainedTerm& t : group.terms) {
        nan |= t.kind == Class::nan;
        if (t.kind == Class::infinity) (t.negative ? negative : positive) = true;
    }
    group.special = nan || positive || negative;
    if (group.special) {
        group.result = std::uint32_t(nan || (positive && negative) ? canonical_nan(r.d) : infinity(r.d, negative));
        return;
    }
    group.largest = r.zero_exponent;
    for (ExplainedTerm& t : group.terms) {
        if (t.kind == Class::zero) t.exponent = r.zero_exponent;
        group.largest = std::max(group.largest, t.exponent);
    }
    group.least = group.largest - r.fraction_bits;
    for (ExplainedTerm& t : group.terms) {
        t.shift = group.largest - t.exponent;
        t.kept = align(t.significand, t.shift, r.fraction_bits - t.fraction_bits);
        // The kept part shifted back differs from the whole where bits were lost.
        const int right = t.shift + t.fraction_bits - r.fraction_bits;
        t.cut = right > 0 && (right > 62 ? t.significand != 0 : t.kept * (std::int64_t(1) << right) != t.significand);
        group.sum += t.kept;
    }
    group.result = round_sum(group.sum, group.least, r.rounding);
}

struct Operands {
    const DotRecipe& recipe;
    std::span<const std::uint64_t> a, b;
    const Scales& scales;

    Decoded scale(std::span<const std::uint64_t> of, std::size_t k) const {
        return decode(of[k / std::size_t(recipe.scale_block)], recipe.scale);
    }
};

ExplainedGroup group_of(const DotRecipe& r, std::uint64_t c) {
    ExplainedGroup group;
    group.terms.push_back(term_of(decode(c, r.d), r.d));
    group.terms.front().source = Source::c;
    return group;
}

ExplainedGroup plain_group(const Operands& in, std::size_t first, std::size_t end, std::uint64_t c) {
    const DotRecipe& r = in.recipe;
    ExplainedGroup group = group_of(r, c);
    bool nan = false;
    int shift = 0;
    if (r.scaling == Scaling::per_dot) {
        const Decoded sa = in.scale(in.scales.a, first), sb = in.scale(in.scales.b, first);
        nan = sa.kind == Class::nan || sb.kind == Class::nan;
        shift = sa.exponent + sb.exponent;
    }
    for (std::size_t k = first; k < end; ++k) {
        group.terms.push_back(product_of(decode(in.a[k], r.a), decode(in.b[k], r.b), r.a, r.b, k));
        group.terms.back().exponent += shift;
    }
    conclude(group, r, nan);
    return group;
}

ExplainedGroup scaled_group(const Operands& in, std::size_t first, std::size_t end, std::uint64_t c) {
    const DotRecipe& r = in.recipe;
    ExplainedGroup group = group_of(r, c);
    bool nan = false;
    for (std::size_t k = first; k < end; k += 16) {
        const Decoded sa = in.scale(in.scales.a, k), sb = in.scale(in.scales.b, k);
        nan |= sa.kind == Class::nan || sb.kind == Class::nan;
        ExplainedTerm t;
        t.source = Source::scaled_group;
        t.k = k;
        bool any = false;
        for (std::size_t i = k; i < std::min(k + 16, end); ++i) {
            const ExplainedTerm p = product_of(decode(in.a[i], r.a), decode(in.b[i], r.b), r.a, r.b, i);
            any |= p.significand != 0;
            if (p.significand != 0) t.significand += p.significand * (1 << p.exponent);
        }
        t.significand *= std::int64_t(sa.significand * sb.significand);
        t.kind = any && sa.significand != 0 && sb.significand != 0 ? Class::finite : Class::zero;
        t.negative = t.significand < 0;
        t.exponent = sa.exponent + sb.exponent;
        t.fraction_bits = traits(r.a).fraction_bits + traits(r.b).fraction_bits + 2 * traits(r.scale).fraction_bits;
        group.terms.push_back(t);
    }
    conclude(group, r, nan);
    return group;
}

void explain_fused(Explanation& e, const Operands& in, std::uint64_t c) {
    const DotRecipe& r = in.recipe;
    const std::size_t longest = std::size_t(r.group_length);
    const std::size_t length = r.scaling == Scaling::per_dot ? std::min(longest, std::size_t(r.scale_block)) : longest;
    for (std::size_t k = 0; k < in.a.size(); k += length) {
        const std::size_t end = std::min(k + length, in.a.size());
        e.groups.push_back(r.scaling == Scaling::per_group ? scaled_group(in, k, end, c) : plain_group(in, k, end, c));
        c = e.groups.back().result;
    }
    e.result = c;
}

/// One instruction of k = 32 from element `first`.
std::uint64_t explain_fp8(Explanation& e, const Operands& in, std::size_t first, std::uint64_t c) {
    const DotRecipe half_recipe = through_f16(in.recipe);
    std::uint64_t sum = 0;
    const auto add_step = [&](const char* text, std::uint64_t x, std::uint64_t y) {
        e.operations.push_back({text, {x, y}, in.recipe.d, add(in.recipe.d, x, y, {})});
        return e.operations.back().result;
    };
    for (std::size_t half = 0; half < 2; ++half) {
        const bool from_zero = half == 0 || in.recipe.separate_halves;
        ExplainedGroup group = group_of(half_recipe, from_zero ? 0 : sum);
        for (std::size_t k = first; k < std::min(first + 32, in.a.size()); ++k) {
            if (k % 4 / 2 != half) continue;
            const auto wide = [&](std::uint64_t x, Format from) {
                return decode(convert(x, from, Format::f16), Format::f16);
            };
            group.terms.push_back(
                product_of(wide(in.a[k], in.recipe.a), wide(in.b[k], in.recipe.b), Format::f16, Format::f16, k));
        }
        conclude(group, half_recipe, false);
        sum = half == 1 && from_zero ? add_step("first group + second group", sum, group.result) : group.result;
        e.groups.push_back(std::move(group));
    }
    return add_step("groups + c", sum, c);
}

void explain_f64(Explanation& e, const Operands& in, std::uint64_t c) {
    for (std::size_t k = 0; k < in.a.size(); ++k) {
        const std::uint64_t d = fma(Format::f64, in.a[k], in.b[k], c, {in.recipe.f64_rounding});
        e.operations.push_back({fmt::format("k={}: fma(a, b, d)", k), {in.a[k], in.b[k], c}, Format::f64, d});
        c = d;
    }
    e.result = c;
}

}  // namespace

Explanation explain(const DotRecipe& recipe, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                    std::uint64_t c, const Scales& scales) {
    Explanation e;
    const Operands in{recipe, a, b, scales};
    e.result = dot(recipe, a, b, c, scales);
    const std::uint64_t expected = e.result;
    switch (recipe.kind) {
        case DotRecipe::Kind::fused: explain_fused(e, in, c); break;
        case DotRecipe::Kind::fp8_through_f16:
            for (std::size_t k = 0; k < a.size(); k += 32) c = explain_fp8(e, in, k, c);
            e.result = c;
            break;
        case DotRecipe::Kind::fma_chain_f64: explain_f64(e, in, c); break;
        case DotRecipe::Kind::integer:
        case DotRecipe::Kind::bit_and:
        case DotRecipe::Kind::bit_xor: {
            e.integer_sum = std::int32_t(std::uint32_t(c));
            const auto product = [&](std::size_t k) {
                if (recipe.kind == DotRecipe::Kind::bit_and) return double(a[k] & b[k] & 1);
                if (recipe.kind == DotRecipe::Kind::bit_xor) return double((a[k] ^ b[k]) & 1);
                return to_double(a[k], recipe.a) * to_double(b[k], recipe.b);
            };
            for (std::size_t k = 0; k < a.size(); ++k) e.integer_sum += std::int64_t(product(k));
            break;
        }
        case DotRecipe::Kind::cuda_core_f32: break;
    }
    TILEPATH_ASSERT(e.result == expected, "the explanation is of the result that dot() gives");
    return e;
}

}  // namespace tilepath::number
