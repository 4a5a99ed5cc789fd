// mxf4 and mxf4nvf4 on vectors over the rows of A: exact products of 16 elements in integers, which their scales'
// significands multiply; then, in f64, where all of it is exact, four of them and C aligned to the largest exponent,
// truncated, added, and the sum truncated to f32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "number/engine_fp4.cpp"
#include "number/engine_targets.h"
// After engine_targets.h:
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "number/engine_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
Fp4Kernel fp4_kernel(bool) { return nullptr; }
#else
namespace {
using F64Half = hn::RepartitionToWide<F32>;
using I64Half = hn::RepartitionToWide<I32>;
using F32OfHalf = hn::Half<F32>;
using I32OfHalf = hn::Half<I32>;
using VD2 = hn::Vec<F64Half>;
constexpr F64Half f64_half;
constexpr I64Half i64_half;
constexpr F32OfHalf f32_of_half;
constexpr I32OfHalf i32_of_half;
constexpr int groups_per_sum = 4;

/// The lower and the upper half of the lanes.
struct Wide {
    VD2 low, high;
};
HWY_INLINE Wide widen(VI v) {
    return {hn::PromoteTo(f64_half, hn::LowerHalf(i32_of_half, v)),
            hn::PromoteTo(f64_half, hn::UpperHalf(i32_of_half, v))};
}
HWY_INLINE Wide widen(VF v) {
    return {hn::PromoteTo(f64_half, hn::LowerHalf(f32_of_half, v)),
            hn::PromoteTo(f64_half, hn::UpperHalf(f32_of_half, v))};
}
HWY_INLINE Wide power_of_two_wide(VI exponent) {
    const VI field = hn::Add(exponent, set(1023));
    const auto power = [](hn::Vec<I32OfHalf> half)
                           HWY_ATTR { return hn::BitCast(f64_half, hn::ShiftLeft<52>(hn::PromoteTo(i64_half, half))); };
    return {power(hn::LowerHalf(i32_of_half, field)), power(hn::UpperHalf(i32_of_half, field))};
}
HWY_INLINE Wide times(Wide x, Wide y) { return {hn::Mul(x.low, y.low), hn::Mul(x.high, y.high)}; }
HWY_INLINE Wide truncated(Wide x) { return {hn::Trunc(x.low), hn::Trunc(x.high)}; }
HWY_INLINE Wide plus(Wide x, Wide y) { return {hn::Add(x.low, y.low), hn::Add(x.high, y.high)}; }

/// Toward zero; 2^128 and more is infinite; +0 for what is below the grid.
HWY_INLINE VF to_f32(Wide sum) {
    const auto narrow = [&](VD2 v) HWY_ATTR {
        const VD2 normal = hn::BitCast(f64_half, hn::And(hn::BitCast(i64_half, v), hn::Set(i64_half, -(1ll << 29))));
        return hn::DemoteTo(f32_of_half, normal);
    };
    return hn::Combine(f32, narrow(sum.high), narrow(sum.low));
}
/// The same for sums that may be subnormal in f32.
HWY_NOINLINE VF to_f32_with_subnormals(Wide sum) {
    const auto narrow = [&](VD2 v) HWY_ATTR {
        const VD2 subnormal = hn::Mul(hn::Trunc(hn::Mul(v, hn::Set(f64_half, 0x1p149))), hn::Set(f64_half, 0x1p-149));
        const VD2 normal = hn::BitCast(f64_half, hn::And(hn::BitCast(i64_half, v), hn::Set(i64_half, -(1ll << 29))));
        const auto is_small = hn::Lt(hn::Abs(v), hn::Set(f64_half, 0x1p-126));
        return hn::DemoteTo(f32_of_half, hn::Add(hn::IfThenElse(is_small, subnormal, normal), hn::Zero(f64_half)));
    };
    return hn::Combine(f32, narrow(sum.high), narrow(sum.low));
}

/// The product of group `g` with its scales' significands, and its exponent, for `lanes` rows and one column.
struct Part {
    VI value, exponent;
};
HWY_INLINE Part part_of(const Fp4Rule& rule, const std::int32_t* HWY_RESTRICT a, const std::int32_t* HWY_RESTRICT b) {
    const auto of_a = [&](int word) HWY_ATTR { return hn::Load(i32, a + word * block_rows); };
    const auto of_b = [&](int word) HWY_ATTR { return set(b[word * block_columns]); };
    VI16 sum = hn::BitCast(i16, of_b(fp4_word::bias));
#pragma GCC unroll 4
    for (int w = 0; w < 4; ++w) sum = hn::Add(sum, pairs_of_bytes(of_a(w), of_b(w)));
    const VI16 significands =
        hn::Mul(hn::BitCast(i16, of_a(fp4_word::significand)), hn::BitCast(i16, of_b(fp4_word::significand)));
    const VI exponent = hn::Add(of_a(fp4_word::exponent), of_b(fp4_word::exponent));
    const auto is_zero = hn::Eq(hn::And(of_a(fp4_word::nonzero), of_b(fp4_word::nonzero)), hn::Zero(i32));
    return {pairs_of_words(sum, significands), hn::IfThenElse(is_zero, set(rule.zero_exponent), exponent)};
}

/// The same for `halves` groups that count as one: the halves of a group of a sparse operand that has been spread.
template <int halves>
HWY_INLINE Part part_of_halves(const Fp4Rule& rule, const std::int32_t* a, const std::int32_t* b) {
    Part part = part_of(rule, a, b);
    if constexpr (halves == 2) {
        const Part second = part_of(rule, a + fp4_words_a * block_rows, b + fp4_words_b * block_columns);
        part = {hn::Add(part.value, second.value), hn::Max(part.exponent, second.exponent)};
    }
    return part;
}

HWY_INLINE VI exponent_of_c(VF c, std::int32_t zero_exponent) {
    const VI field = hn::ShiftRight<23>(hn::And(bits_of(c), set(exponent_field)));
    const VI exponent = hn::Sub(hn::Max(field, set(1)), set(127));
    const auto is_zero = hn::RebindMask(i32, hn::Eq(c, hn::Zero(f32)));
    return hn::Max(hn::IfThenElse(is_zero, set(zero_exponent), exponent), set(zero_exponent));
}

/// NaN where a scale or C is one, C where that is infinite.
HWY_NOINLINE VF with_specials(VF result, VF c, const std::int32_t* a, const std::int32_t* b, int groups) {
    VI most = hn::Zero(i32);
    for (int g = 0; g < groups; ++g) {
        const VI of_a = hn::Load(i32, a + (g * fp4_words_a + fp4_word::exponent) * block_rows);
        most = hn::Max(most, hn::Add(of_a, set(b[(g * fp4_words_b + fp4_word::exponent) * block_columns])));
    }
    const VF nan = float_of(set(magnitude_bits));
    const auto is_infinite = hn::Eq(hn::Abs(c), float_of(set(exponent_field)));
    const auto is_nan = hn::Or(hn::RebindMask(f32, hn::Gt(most, set(fp4_nan / 2))), hn::IsNaN(c));
    return hn::IfThenElse(is_nan, nan, hn::IfThenElse(is_infinite, c, result));
}

/// C and up to four groups.
template <int groups, int halves>
HWY_INLINE VF add_groups(const Fp4Rule& rule, const std::int32_t* HWY_RESTRICT a, const std::int32_t* HWY_RESTRICT b,
                         VF c, bool special) {
    Part parts[groups];
    VI largest = exponent_of_c(c, rule.zero_exponent);
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) {
        parts[g] = part_of_halves<halves>(rule, a + g * halves * fp4_words_a * block_rows,
                                          b + g * halves * fp4_words_b * block_columns);
        largest = hn::Max(largest, parts[g].exponent);
    }
    const VI up = hn::Sub(set(rule.fraction_bits), largest);
    const VD2 zero = hn::Zero(f64_half);  // C may be -0, a sum is not
    Wide sum = plus(truncated(times(widen(c), power_of_two_wide(up))), {zero, zero});
    const VI part_up = hn::Sub(up, set(rule.part_fraction));
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) {
        const Wide scale = power_of_two_wide(hn::Add(part_up, parts[g].exponent));
        sum = plus(sum, truncated(times(widen(parts[g].value), scale)));
    }
    sum = times(sum, power_of_two_wide(hn::Neg(up)));
    // Below that exponent a sum may be subnormal; C's own is 128 where it is infinite or NaN.
    const auto is_rare = hn::Or(hn::Gt(set(-126 + 35), largest), hn::Gt(largest, set(127)));
    if (HWY_LIKELY(!special) && HWY_LIKELY(hn::AllFalse(i32, is_rare))) return to_f32(sum);
    return with_specials(to_f32_with_subnormals(sum), c, a, b, groups * halves);
}

template <int halves>
HWY_INLINE VF add_last_groups(const Fp4Rule& rule, int groups, const std::int32_t* a, const std::int32_t* b, VF c,
                              bool special) {
    switch (groups) {
        case 1: return add_groups<1, halves>(rule, a, b, c, special);
        case 2: return add_groups<2, halves>(rule, a, b, c, special);
        case 3: return add_groups<3, halves>(rule, a, b, c, special);
        default: return c;
    }
}

template <int halves>
void multiply(const Fp4Rule& given, const Operands& operands, const Accumulators& tile) {
    const Fp4Rule rule = given;  // a copy that no store can change
    const int groups = operands.elements / (halves * fp4_group);
    const auto* const a_words = reinterpret_cast<const std::int32_t*>(operands.a);
    for (int block = 0; block < operands.column_blocks; ++block) {
        const auto* b_words =
            reinterpret_cast<const std::int32_t*>(operands.b + std::size_t(block) * operands.b_block_bytes);
        const bool special = operands.a_special | operands.b_special[block];
        for (int column = 0; column < block_columns; ++column)
            for (int row = 0; row < block_rows; row += lanes) {
                const std::ptrdiff_t at = block * block_columns + column;
                const auto* const source = static_cast<const float*>(tile.c);
                VF sum = source ? hn::LoadU(f32, source + at * tile.c_stride + row) : hn::Zero(f32);
                const std::int32_t* a = a_words + row;
                const std::int32_t* b = b_words + column;
                int g = 0;
                for (; g + groups_per_sum <= groups; g += groups_per_sum) {
                    sum = add_groups<groups_per_sum, halves>(rule, a, b, sum, special);
                    a += groups_per_sum * halves * fp4_words_a * block_rows;
                    b += groups_per_sum * halves * fp4_words_b * block_columns;
                }
                sum = add_last_groups<halves>(rule, groups - g, a, b, sum, special);
                hn::StoreU(sum, f32, static_cast<float*>(tile.d) + at * tile.d_stride + row);
            }
    }
}

}  // namespace

Fp4Kernel fp4_kernel(bool halves) { return halves ? multiply<2> : multiply<1>; }
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilepath::number::engine {
HWY_EXPORT(fp4_kernel);
Fp4Kernel best_fp4_kernel(bool halves) { return HWY_DYNAMIC_DISPATCH(fp4_kernel)(halves); }
}  // namespace tilepath::number::engine
#endif
