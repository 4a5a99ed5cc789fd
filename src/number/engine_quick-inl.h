// The quick path of the fused dot product, see engine_fused.cpp.
// Per target: included once by each pass of foreach_target.
#if defined(TILEPATH_ENGINE_QUICK) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEPATH_ENGINE_QUICK
#undef TILEPATH_ENGINE_QUICK
#else
#define TILEPATH_ENGINE_QUICK
#endif

#include <hwy/highway.h>

#include "number/engine_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace {
/// Where a group's operands begin: its first element, row and column.
struct Group {
    const float* HWY_RESTRICT a;
    const float* HWY_RESTRICT b;
    const std::int32_t* HWY_RESTRICT a_exponents;  // four bytes alike
    const std::int8_t* HWY_RESTRICT b_exponents;
    int length;
    bool a_special, b_special;
    const std::int32_t *a_scales = nullptr, *b_scales = nullptr;  ///< exponents, of mxf8f6f4
};

/// The exponents of columns c … c + 3 in every lane.
HWY_INLINE VI8 exponents_of_four(const std::int8_t* b) {
    std::int32_t four;
    __builtin_memcpy(&four, b, sizeof four);
    return hn::BitCast(i8, set(four));
}

/// 16 bits at f32's place (<< 7) for two columns: `two[i]` holds those of 4 · (i / 2) + i % 2 (low half) and of that
/// + 2.
using Pairs = VI16[columns / 2];
constexpr int first_of_pair(int i) { return i / 2 * 4 + i % 2; }

/// The largest exponent among the products.
HWY_INLINE void largest_exponents(const Group& g, Pairs& two) {
    VI8 four[columns / 4];
    const std::int32_t* a = g.a_exponents;
    const std::int8_t* b = g.b_exponents;
    const VI8 first = hn::BitCast(i8, hn::Load(i32, a));
#pragma GCC unroll 2
    for (int c = 0; c < columns; c += 4) four[c / 4] = hn::SaturatedAdd(first, exponents_of_four(b + c));
    for (int k = 1; k < g.length; ++k) {
        a += block_rows, b += block_columns;
        const VI8 exponents = hn::BitCast(i8, hn::Load(i32, a));
#pragma GCC unroll 2
        for (int c = 0; c < columns; c += 4)
            four[c / 4] = hn::Max(four[c / 4], hn::SaturatedAdd(exponents, exponents_of_four(b + c)));
    }
    const VI16 bias = hn::Set(i16, 127 << 7);
#pragma GCC unroll 2
    for (int i = 0; i < columns / 4; ++i) {
        two[2 * i] = hn::Add(even_bytes_at_7(four[i]), bias);
        two[2 * i + 1] = hn::Add(odd_bytes_at_7(four[i]), bias);
    }
}

/// `sums` += Σ trunc(a · b · 2^up) over `length` elements, `up` at f32's exponent. Adding to the exponent
/// scales every normal product; zero and less become something below 1, which is truncated away.
HWY_INLINE void add_products(const float* HWY_RESTRICT values, const float* HWY_RESTRICT others, int length,
                             const VI (&up)[columns], VI (&sums)[columns]) {
    for (int i = 0; i < length; ++i, values += block_rows, others += block_columns) {
        const VF value = hn::Load(f32, values);
#pragma GCC unroll 8
        for (int c = 0; c < columns; ++c) {
            const VF product = hn::Mul(value, hn::Set(f32, others[c]));
            sums[c] = hn::Add(sums[c], truncate(float_of(hn::Add(bits_of(product), up[c]))));
        }
    }
}

/// The exponents with which C enters, of one pair.
template <ResultRounding rounding>
HWY_INLINE VI16 exponents_of_c(VF low, VF high) {
    const VI16 upper = hn::BitCast(i16, hn::ShiftRight<16>(hn::BitCast(u32, low)));
    const VI16 field = hn::And(hn::OddEven(hn::BitCast(i16, high), upper), hn::Set(i16, exponent_field >> 16));
    if constexpr (rounding != ResultRounding::rne_f16) return field;  // subnormals of f32 leave the range anyway
    const VI16 is_zero = hn::VecFromMask(i16, hn::Eq(field, hn::Zero(i16)));  // subnormals of f16 are normal here
    return hn::AndNot(is_zero, hn::Max(field, hn::Set(i16, least_f16_exponent >> 16)));
}

/// trunc(c · 2^(F − e_max)).
HWY_INLINE VI aligned_c(VF c, VI up) {
    return truncate(hn::Mul(c, float_of(hn::Add(up, set((127 - 2 * value_shift) << 23)))));
}

template <ResultRounding rounding>
HWY_INLINE VF round_sum(VI sum, VI scale) {
    if constexpr (rounding == ResultRounding::rne_f16)
        return round_to_f16(hn::Mul(to_float_with_sticky(sum), float_of(scale)));
    const VF result = hn::Mul(to_float_toward_zero(sum), float_of(scale));
    if constexpr (rounding == ResultRounding::rz_f32) return result;
    return float_of(hn::And(bits_of(result), set(std::int32_t(0xfffffc00))));
}

/// Rows and columns that are all zero, C too, as padding is: no exponent is too low for them. Gives such lanes `up` = 0
/// where it is out of range; false if others are out of range.
HWY_INLINE bool excuse_zeros(const Group& g, const VF (&state)[columns], VI (&up)[columns]) {
    auto bad = hn::Zero(i32);
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) {
        const auto outside =
            hn::RebindMask(i32, hn::Gt(hn::BitCast(u32, up[c]), hn::Set(u32, std::uint32_t(largest_up))));
        if (hn::AllFalse(i32, outside)) continue;
        VI factors = hn::ShiftLeft<1>(bits_of(state[c]));
        for (int k = 0; k < g.length; ++k)
            if (g.b[k * block_columns + c] != 0.0f)
                factors = hn::Or(factors, hn::ShiftLeft<1>(bits_of(hn::Load(f32, g.a + k * block_rows))));
        bad = hn::Or(bad, hn::IfThenElseZero(outside, factors));
        up[c] = hn::IfThenZeroElse(outside, up[c]);
    }
    return hn::AllTrue(i32, hn::Eq(bad, hn::Zero(i32)));
}

/// One group for `columns` columns. False, with nothing changed, if it is not for this path.
///
/// Range: products are kept times 2^-20 (value_shift of both sides), and brought to 2^(F − e_max) by adding
/// up = F − e_max + 20 to their exponent. 0 ≤ up keeps the exponent from wrapping; up ≤ 125 makes products that f32
/// cannot hold exactly (below 2^-126 as kept) less than 1 afterwards. So e_max ∈ [F − 105, F + 20]: results are normal
/// f32 then, and zero terms and subnormal C lie too low to be the largest. With f16 results only the upper limit can
/// fail: below 2^-28 all terms are zero (products of 5 exponent bits, and C, have none there), so a floor is free.
template <ResultRounding rounding, SumRange range, bool excusing>
HWY_INLINE bool quick_group(const FusedRule& rule, const Group& g, VF (&state)[columns]) {
    VI up[columns], sums[columns];
    Pairs two;
    largest_exponents(g, two);
    const VI16 above = hn::Set(i16, std::int16_t((rule.fraction_bits + 127 + 2 * value_shift) << 7));
    const VI16 floor = hn::Set(i16, std::int16_t((HWY_MAX(rule.zero_exponent, -30) + 127) << 7));
    auto most = hn::Zero(u16);  // negative `up` counts as large
#pragma GCC unroll 4
    for (int i = 0; i < columns / 2; ++i) {
        const int c = first_of_pair(i);
        VI16 largest = hn::Max(two[i], exponents_of_c<rounding>(state[c], state[c + 2]));
        if constexpr (rounding == ResultRounding::rne_f16) largest = hn::Max(largest, floor);
        const VI16 both = hn::Sub(above, largest);
        most = hn::Max(most, hn::BitCast(u16, both));
        up[c] = hn::ShiftLeft<16>(hn::BitCast(i32, both));
        up[c + 2] = hn::And(hn::BitCast(i32, both), set(std::int32_t(0xffff0000)));
    }
    if (!hn::AllFalse(u16, hn::Gt(most, hn::Set(u16, largest_up >> 16)))) {
        if constexpr (!excusing) return false;
        if (!excuse_zeros(g, state, up)) return false;
    }

#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c)
        sums[c] = range == SumRange::fits_less_c ? hn::Zero(i32) : aligned_c(state[c], up[c]);
    if constexpr (range == SumRange::fits) {
        add_products(g.a, g.b, g.length, up, sums);
    } else {
        const int first = range == SumRange::halves_fit ? g.length / 2 : g.length;
        add_products(g.a, g.b, first, up, sums);
        VI rest[columns];
#pragma GCC unroll 8
        for (int c = 0; c < columns; ++c)
            rest[c] = range == SumRange::fits_less_c ? aligned_c(state[c], up[c]) : hn::Zero(i32);
        if constexpr (range == SumRange::halves_fit)
            add_products(g.a + first * block_rows, g.b + first * block_columns, g.length - first, up, rest);
        VI overflow = hn::Zero(i32);
#pragma GCC unroll 8
        for (int c = 0; c < columns; ++c) {
            const VI total = hn::Add(sums[c], rest[c]);
            overflow = hn::Or(overflow, hn::And(hn::Xor(sums[c], total), hn::Xor(rest[c], total)));
            sums[c] = total;
        }
        if (!hn::AllFalse(i32, hn::Lt(overflow, hn::Zero(i32)))) return false;
    }
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) {
        const VI down = hn::Sub(set((127 + 2 * value_shift) << 23), up[c]);
        state[c] = round_sum<rounding>(sums[c], down);
    }
    return true;
}

}  // namespace
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
