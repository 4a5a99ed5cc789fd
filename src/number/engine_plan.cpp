#include "number/engine_plan.h"

#include <bit>

#include "number/engine.h"

namespace tilepath::number::engine {
namespace {

PairRule pair_rule(const FloatRule& rule, const FormatTraits& f) {
    // Masked bits have the fraction below bit 23; here it begins below bit 15 − the exponent's width.
    const auto at_top = [&](std::int32_t masked) { return std::int16_t(masked >> (16 - rule.right)); };
    PairRule pairs;
    pairs.field = std::int16_t(((1 << f.exponent_bits) - 1) << 7);
    pairs.bias = std::int16_t(f.bias * (1 << 7));
    pairs.largest_quick = at_top(rule.largest_quick);
    return pairs;
}

FloatRule float_rule(const DotRecipe& recipe, const FormatTraits& f) {
    const int shift = 23 - f.fraction_bits;  // from the format's fraction to f32's
    FloatRule rule;
    rule.container_bits = f.container_bits;
    rule.element_bits = f.bits;
    rule.right = 8 - f.exponent_bits;
    rule.mask = std::int32_t(0x80000000u | ((1u << (f.exponent_bits + f.fraction_bits)) - 1) << shift);
    rule.factor = std::bit_cast<float>((127 + 127 - f.bias) << 23);  // bf16, tf32: 1
    const std::int32_t magnitude = rule.mask & 0x7fffffff;
    switch (f.specials) {
        case Specials::ieee:
            rule.infinity = ((1 << f.exponent_bits) - 1) << 23;
            rule.largest_finite = rule.infinity - 1;
            break;
        case Specials::nan_only: rule.largest_finite = magnitude - 1; break;
        case Specials::none: rule.largest_finite = magnitude; break;
    }
    rule.halves = recipe.kind == DotRecipe::Kind::fp8_through_f16;
    // There FP8 subnormals become normals of binary16, so that its emin holds.
    rule.least_exponent = (127 + (rule.halves ? -14 : 1 - f.bias)) << 23;
    rule.largest_quick = f.exponent_bits == 8 ? ((127 + quick_exponents_end) << 23) - 1 : rule.largest_finite;
    if (f.bits <= 16 && !rule.halves) rule.pairs = pair_rule(rule, f);
    return rule;
}

/// Products of a group that may be other than zero; of each half of it half as many.
int nonzero(const DotRecipe& recipe, bool half_zero) {
    return half_zero ? recipe.group_length / 2 : recipe.group_length;
}

FusedRule fused_rule(const DotRecipe& recipe, bool half_zero) {
    FusedRule rule;
    rule.group_length = recipe.group_length;
    rule.fraction_bits = recipe.fraction_bits;
    rule.zero_exponent = recipe.zero_exponent;
    rule.rounding = recipe.rounding;
    if (recipe.kind == DotRecipe::Kind::fp8_through_f16) {
        rule.starts_from_zero = true;
        rule.separate_halves = recipe.separate_halves;
    }
    // Products are below 4 and C below 2 at the largest exponent, and the largest of them leave 2^31 unreached.
    const std::int64_t products = std::int64_t(4 * nonzero(recipe, half_zero)) << rule.fraction_bits;
    const std::int64_t limit = std::int64_t(1) << 31;
    if (products + (std::int64_t(2) << rule.fraction_bits) > limit)
        rule.range = products <= limit ? SumRange::fits_less_c : SumRange::halves_fit;
    return rule;
}

IntegerRule integer_rule(const DotRecipe& recipe) {
    IntegerRule rule;
    rule.saturate = recipe.saturate;
    if (recipe.kind == DotRecipe::Kind::bit_and) rule.kind = IntegerRule::Kind::bit_and;
    if (recipe.kind == DotRecipe::Kind::bit_xor) rule.kind = IntegerRule::Kind::bit_xor;
    return rule;
}

bool is_float_kind(const DotRecipe& r) {
    return r.kind == DotRecipe::Kind::fused || r.kind == DotRecipe::Kind::fp8_through_f16;
}

Fp4Rule fp4_rule(const DotRecipe& r) {
    Fp4Rule rule;
    rule.groups = r.group_length / fp4_group;
    rule.fraction_bits = r.fraction_bits;
    rule.zero_exponent = r.zero_exponent;
    rule.part_fraction = traits(r.a).fraction_bits + traits(r.b).fraction_bits + 2 * traits(r.scale).fraction_bits;
    return rule;
}

/// Four exact products of 19 bits with C, aligned, have to fit f64.
bool has_fp4_kernel(const DotRecipe& r, bool half_zero) {
    const int group = half_zero ? 2 * fp4_group : fp4_group;
    return r.a == Format::e2m1 && r.b == Format::e2m1 && r.d == Format::f32 && r.group_length == 4 * group &&
           r.scale_block % group == 0 && r.fraction_bits <= 35 && r.rounding == ResultRounding::rz_f32;
}

bool has_scaled_kernel(const DotRecipe& r, bool half_zero) {
    return nonzero(r, half_zero) == scaled_group && r.scale_block == r.group_length && r.d == Format::f32 &&
           r.scale == Format::ue8m0 && r.fraction_bits == 25 && r.rounding == ResultRounding::rz_f32 &&
           r.zero_exponent <= -128;
}

/// What the kernels can do, whatever the CPU.
bool has_kernel(const DotRecipe& r, bool half_zero) {
    if (r.scaling == Scaling::per_group) return has_fp4_kernel(r, half_zero);
    if (r.scaling == Scaling::per_dot && !has_scaled_kernel(r, half_zero)) return false;
    const int most = nonzero(r, half_zero);
    switch (r.kind) {
        case DotRecipe::Kind::fused:
            // Half a group's sum has to fit 32 bits (significands of at most 4 bits: products are below 3.52), and
            // a group has to be whole quadruples of elements (see FloatBlock).
            return r.group_length % 4 == 0 && r.fraction_bits <= 25 &&
                   (most <= 16 || (most <= 32 && traits(r.a).bits <= 8 && traits(r.b).bits <= 8));
        case DotRecipe::Kind::fp8_through_f16: return r.group_length <= 16 && r.fraction_bits <= 25;
        case DotRecipe::Kind::integer:
        case DotRecipe::Kind::bit_and:
        case DotRecipe::Kind::bit_xor: return true;
        case DotRecipe::Kind::fma_chain_f64:
        case DotRecipe::Kind::cuda_core_f32: return false;
    }
    return false;
}

Plan::Kind kind_of(const DotRecipe& r) {
    if (r.scaling == Scaling::per_group) return Plan::Kind::fp4;
    if (is_float_kind(r)) return Plan::Kind::floats;
    return r.kind == DotRecipe::Kind::integer ? Plan::Kind::integers : Plan::Kind::bits;
}

int prepared_bits(const DotRecipe& recipe, Plan::Kind kind, bool is_a) {
    switch (kind) {
        case Plan::Kind::floats: {
            const int scales = recipe.scaling == Scaling::none ? 0 : 32 / scaled_group;
            return 8 * (is_a ? float_bytes_a : float_bytes_b) + scales;
        }
        case Plan::Kind::integers: return 16;
        case Plan::Kind::bits: return 1;
        case Plan::Kind::fp4: return 32 * (is_a ? fp4_words_a : fp4_words_b) / fp4_group;
    }
    return 0;
}

Plan::Operand operand_of(const DotRecipe& recipe, Plan::Kind kind, bool is_a) {
    const Format format = is_a ? recipe.a : recipe.b;
    Plan::Operand operand;
    operand.block = is_a ? block_rows : block_columns;
    operand.bits = operand_bits(recipe, is_a ? Side::a : Side::b);
    operand.chunk_elements = chunk_bytes * 8 / operand.bits;
    operand.prepared_bits = prepared_bits(recipe, kind, is_a);
    operand.is_signed = traits(format).is_signed;
    if (kind == Plan::Kind::floats) operand.floats = float_rule(recipe, traits(format));
    return operand;
}

}  // namespace

std::shared_ptr<const Plan> make_plan(const DotRecipe& recipe, bool half_zero) {
    const PrepareKernels* prepare = best_prepare_kernels();
    if (!prepare || !has_kernel(recipe, half_zero)) return nullptr;
    Plan plan;
    plan.kind = kind_of(recipe);
    plan.a = operand_of(recipe, plan.kind, true);
    plan.b = operand_of(recipe, plan.kind, false);
    plan.accumulator_bytes = recipe.d == Format::f16 ? 2 : 4;
    plan.prepare = *prepare;
    if (plan.kind == Plan::Kind::floats) {
        plan.fused = fused_rule(recipe, half_zero);
        plan.multiply_fused = recipe.scaling == Scaling::none ? best_fused_kernel(plan.fused) : best_scaled_kernel();
    } else if (plan.kind == Plan::Kind::fp4) {
        plan.fp4 = fp4_rule(recipe);
        plan.multiply_fp4 = best_fp4_kernel(half_zero);
    } else {
        plan.integers = integer_rule(recipe);
        plan.multiply_integers = best_integer_kernel();
    }
    return std::make_shared<const Plan>(plan);
}

}  // namespace tilepath::number::engine
