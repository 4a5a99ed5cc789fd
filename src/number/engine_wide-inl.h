// The wide path of the fused dot product, see engine_fused.cpp.
// Per target: included once by each pass of foreach_target.
#if defined(TILEPATH_ENGINE_WIDE) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEPATH_ENGINE_WIDE
#undef TILEPATH_ENGINE_WIDE
#else
#define TILEPATH_ENGINE_WIDE
#endif

#include <hwy/highway.h>

#include "number/engine_quick-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace {
using F64 = hn::CappedTag<double, block_rows>;
using I64 = hn::Rebind<std::int64_t, F64>;
using F32Half = hn::Rebind<float, F64>;
using I32Half = hn::Rebind<std::int32_t, F64>;
using VD = hn::Vec<F64>;
constexpr F64 f64;
constexpr I64 i64;
constexpr F32Half f32_half;
constexpr I32Half i32_half;
constexpr int wide_lanes = int(hn::MaxLanes(f64));

/// 2^exponent.
HWY_INLINE VD power_of_two(hn::Vec<I32Half> exponent) {
    const auto field = hn::PromoteTo(i64, hn::Add(exponent, hn::Set(i32_half, 1023)));
    return hn::BitCast(f64, hn::ShiftLeft<52>(field));
}

HWY_INLINE VD truncate_to_f32(VD v, int fraction_bits) {
    const auto mask = hn::Set(i64, -(std::int64_t(1) << (52 - fraction_bits)));
    const VD normal = hn::BitCast(f64, hn::And(hn::BitCast(i64, v), mask));
    const VD grid = power_of_two(hn::Set(i32_half, 126 + fraction_bits));
    const VD inverse = power_of_two(hn::Set(i32_half, -126 - fraction_bits));
    const VD subnormal = hn::Mul(hn::Trunc(hn::Mul(v, grid)), inverse);
    return hn::IfThenElse(hn::Lt(hn::Abs(v), hn::Set(f64, 0x1p-126)), subnormal, normal);
}

HWY_INLINE VD round_wide_to_f16(VD v) {
    const auto field = hn::And(hn::BitCast(i64, v), hn::Set(i64, 0x7ff0000000000000));
    const auto place = hn::Max(field, hn::Set(i64, std::int64_t(1023 - 14) << 52));
    const auto magic_bits =
        hn::Or(hn::Add(place, hn::Set(i64, std::int64_t(42) << 52)), hn::Set(i64, std::int64_t(1) << 51));
    const VD magic = hn::BitCast(f64, magic_bits);
    const VD rounded = hn::Sub(hn::Add(v, magic), magic);
    const VD infinite = hn::CopySign(hn::Inf(f64), v);
    return hn::IfThenElse(hn::Gt(hn::Abs(rounded), hn::Set(f64, 65504.0)), infinite, rounded);
}

/// −0, which a negative sum below the grid would leave, becomes +0 (recorded on an H200).
HWY_INLINE VD round_wide(VD sum, ResultRounding rounding) {
    VD result = sum;
    switch (rounding) {
        case ResultRounding::rz_f32: result = truncate_to_f32(sum, 23); break;
        case ResultRounding::rz_e8m13: result = truncate_to_f32(sum, 13); break;
        case ResultRounding::rne_f16: result = round_wide_to_f16(sum); break;
    }
    return hn::Add(result, hn::Zero(f64));
}

/// The exponents that the scales of `wide_lanes` rows and one column add to their products'.
HWY_INLINE hn::Vec<I32Half> wide_scale(const Group& g, int row, int column) {
    if (!g.a_scales) return hn::Zero(i32_half);
    return hn::Add(hn::Load(i32_half, g.a_scales + row), hn::Set(i32_half, g.b_scales[column]));
}

/// e_max + 127 for `wide_lanes` rows and one column.
HWY_INLINE hn::Vec<I32Half> wide_largest(const FusedRule& rule, const Group& g, int row, int column,
                                         hn::Vec<F32Half> c) {
    const auto scale = wide_scale(g, row, column);
    const int least_c = rule.rounding == ResultRounding::rne_f16 ? 127 - 14 : 1;
    const auto zero_exponent = hn::Set(i32_half, rule.zero_exponent + 127);
    const auto c_field = hn::ShiftRight<23>(hn::And(hn::BitCast(i32_half, c), hn::Set(i32_half, exponent_field)));
    const auto c_is_zero = hn::RebindMask(i32_half, hn::Eq(c, hn::Zero(f32_half)));
    auto largest = hn::IfThenElse(c_is_zero, zero_exponent, hn::Max(c_field, hn::Set(i32_half, least_c)));
    largest = hn::Max(largest, zero_exponent);
    for (int k = 0; k < g.length; ++k) {
        if (g.b[k * block_columns + column] == 0.0f) continue;
        const auto other = hn::Add(scale, hn::Set(i32_half, 127 + g.b_exponents[k * block_columns + column]));
        const auto sum = hn::Add(hn::ShiftRight<24>(hn::Load(i32_half, g.a_exponents + k * block_rows + row)), other);
        const auto value = hn::Load(f32_half, g.a + k * block_rows + row);
        const auto is_zero = hn::RebindMask(i32_half, hn::Eq(value, hn::Zero(f32_half)));
        largest = hn::Max(largest, hn::IfThenElse(is_zero, zero_exponent, sum));
    }
    return largest;
}

/// One group for `lanes` rows and one column, any operands. Infinities and NaN: the plain sum in f64, which no
/// finite operands overflow, is then infinite or NaN by the same rules.
HWY_NOINLINE void wide_group(const FusedRule& rule, const Group& g, int column, float* state) {
    const int kept_down = (g.a_special ? 0 : value_shift) + (g.b_special ? 0 : value_shift);
    for (int r = 0; r < lanes; r += wide_lanes) {
        const auto c = hn::Load(f32_half, state + r);
        const VD wide_c = hn::PromoteTo(f64, c);
        const auto largest = wide_largest(rule, g, r, column, c);
        const auto up = hn::Sub(hn::Set(i32_half, rule.fraction_bits + 127), largest);
        const auto all_down = hn::Add(wide_scale(g, r, column), hn::Set(i32_half, kept_down));
        const VD scale = power_of_two(hn::Add(up, all_down));
        VD sum = hn::Trunc(hn::Mul(wide_c, power_of_two(up))), plain = wide_c;
        for (int k = 0; k < g.length; ++k) {
            const VD value = hn::PromoteTo(f64, hn::Load(f32_half, g.a + k * block_rows + r));
            const VD product = hn::Mul(value, hn::Set(f64, double(g.b[k * block_columns + column])));
            sum = hn::Add(sum, hn::Trunc(hn::Mul(product, scale)));
            plain = hn::Add(plain, product);
        }
        const VD finite = round_wide(hn::Mul(sum, power_of_two(hn::Neg(up))), rule.rounding);
        const VD canonical_nan = hn::BitCast(f64, hn::Set(i64, 0x7fffffffe0000000));
        const VD special = hn::IfThenElse(hn::IsNaN(plain), canonical_nan, plain);
        const VD result = hn::IfThenElse(hn::IsFinite(plain), finite, special);
        hn::StoreU(hn::DemoteTo(f32_half, result), f32_half, state + r);
    }
}

HWY_INLINE void wide_groups(const FusedRule& rule, const Group& g, VF (&state)[columns]) {
    HWY_ALIGN float values[lanes];
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) {
        hn::Store(state[c], f32, values);
        wide_group(rule, g, c, values);
        state[c] = hn::Load(f32, values);
    }
}

}  // namespace
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
