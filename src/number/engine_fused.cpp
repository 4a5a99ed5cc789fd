// The truncated fused dot product on vectors over the rows of A.
//
// Quick path, per group of products: the largest exponent (16-bit lanes, two products at a time), then each product in
// f32, exact, times 2^(F − e_max), exact, converted to an integer, which truncates toward zero, and added. It holds
// while all of that stays inside f32's range. Everything else, infinities and NaN included, takes the wide path: the
// same in f64, where every product is exact and in range.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "number/engine_fused.cpp"
#include "number/engine_targets.h"
// After engine_targets.h:
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "number/engine_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
FusedKernel fused_kernel(const FusedRule&) { return nullptr; }
#else
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, block_rows>;
using I32 = hn::Rebind<std::int32_t, F32>;
using U32 = hn::Rebind<std::uint32_t, F32>;
using I16 = hn::Repartition<std::int16_t, F32>;
using VF = hn::Vec<F32>;
using VI = hn::Vec<I32>;
constexpr F32 f32;
constexpr I32 i32;
constexpr U32 u32;
constexpr I16 i16;
constexpr int lanes = int(hn::MaxLanes(f32));
/// Columns that are worked on together: their scales and sums stay in registers.
constexpr int columns = HWY_TARGET == HWY_AVX3 ? 8 : 4;

constexpr std::int32_t exponent_field = 0x7f800000, magnitude_bits = 0x7fffffff;
constexpr std::int32_t largest_up = 125 << 23;  // see quick_group
constexpr std::int32_t least_f16_exponent = (127 - 14) << 23;
constexpr float largest_f16 = 65504.0f;

HWY_INLINE VI bits_of(VF v) { return hn::BitCast(i32, v); }
HWY_INLINE VF float_of(VI v) { return hn::BitCast(f32, v); }
HWY_INLINE VI set(std::int32_t v) { return hn::Set(i32, v); }
HWY_INLINE VI shift_right_logical_24(VI v) { return hn::BitCast(i32, hn::ShiftRight<24>(hn::BitCast(u32, v))); }
HWY_INLINE VI sign_bit_of(VI v) { return hn::And(v, set(INT32_MIN)); }

/// |v| < 2^31, toward zero. (Highway's own also corrects what is out of range.)
HWY_INLINE VI truncate(VF v) {
#if HWY_TARGET == HWY_AVX3
    return VI{_mm512_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VI{_mm256_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_SSE4
    return VI{_mm_cvttps_epi32(v.raw)};
#else
    return hn::ConvertTo(i32, v);
#endif
}

/// To f32, truncated to 24 significant bits.
HWY_INLINE VF to_float_toward_zero(VI v) {
#if HWY_TARGET == HWY_AVX3
    return VF{_mm512_cvt_roundepi32_ps(v.raw, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)};
#else
    // With the leading bit of m at place p, m >> 24 has its own at p − 24, the place whose value decides rounding.
    const VI m = hn::Abs(v);
    const VI cut = hn::AndNot(shift_right_logical_24(m), m);
    return float_of(hn::Or(bits_of(hn::ConvertTo(f32, cut)), sign_bit_of(v)));
#endif
}

/// To f32, so that one later rounding to binary16 is right: bits below the kept ones leave a 1 behind them.
HWY_INLINE VF to_float_with_sticky(VI v) {
    const VI m = hn::Abs(v);
    const VI low = hn::And(m, set(0xff));
    const VI sticky = hn::And(hn::Add(low, set(0xff)), set(0x100));
    const VI shortened = hn::Or(hn::Sub(m, low), sticky);
    const auto is_long = hn::Gt(m, set(0xffffff));
    const VF magnitude = hn::ConvertTo(f32, hn::IfThenElse(is_long, shortened, m));
    return float_of(hn::Or(bits_of(magnitude), sign_bit_of(v)));
}

/// Ties to even, overflow to infinity, zero to +0; infinities and NaN stay.
HWY_INLINE VF round_to_f16(VF v) {
    const VI field = hn::And(bits_of(v), set(exponent_field));
    const VI place = hn::Max(hn::Min(field, set(150 << 23)), set(least_f16_exponent));
    // 1.5 · 2^(exponent − 10 + 23): adding it leaves 10 fraction bits.
    const VF magic = float_of(hn::Or(hn::Add(place, set(13 << 23)), set(1 << 22)));
    const VF rounded = hn::Sub(hn::Add(v, magic), magic);
    const VF infinite = float_of(hn::Or(set(exponent_field), sign_bit_of(bits_of(v))));
    const VF finite = hn::IfThenElse(hn::Gt(hn::Abs(rounded), hn::Set(f32, largest_f16)), infinite, rounded);
    return hn::IfThenElse(hn::RebindMask(f32, hn::Eq(field, set(exponent_field))), v, finite);
}

using Words = hn::Rebind<std::uint16_t, I32>;

HWY_INLINE VF load_f16(const std::uint16_t* p) {
    const VI x = hn::ShiftLeft<16>(hn::BitCast(i32, hn::PromoteTo(u32, hn::LoadU(Words(), p))));
    const VI bits = hn::And(hn::ShiftRight<3>(x), set(std::int32_t(0x8fffe000)));
    const VI magnitude = hn::And(bits, set(magnitude_bits));
    const VF finite = hn::Mul(float_of(bits), hn::Set(f32, 0x1p112f));
    const VF special = float_of(hn::Or(bits, set(exponent_field)));
    return hn::IfThenElse(hn::RebindMask(f32, hn::Gt(magnitude, set(0x0f7fffff))), special, finite);
}

/// `v` is a value of binary16.
HWY_INLINE void store_f16(VF v, std::uint16_t* p) {
    const VI magnitude = hn::And(bits_of(v), set(magnitude_bits));
    const VI normal = hn::Sub(hn::ShiftRight<13>(magnitude), set(112 << 10));
    const VI subnormal = truncate(hn::Mul(hn::Min(hn::Abs(v), hn::Set(f32, 1.0f)), hn::Set(f32, 0x1p24f)));
    const VI finite = hn::IfThenElse(hn::Lt(magnitude, set(least_f16_exponent)), subnormal, normal);
    const VI encoded = hn::Or(hn::Min(finite, set(0x7c00)), hn::ShiftRight<16>(sign_bit_of(bits_of(v))));
    const VI result = hn::IfThenElse(hn::Gt(magnitude, set(exponent_field)), set(0x7fff), encoded);
    hn::StoreU(hn::DemoteTo(Words(), hn::And(result, set(0xffff))), Words(), p);
}

// ------------------------------------------------------------------------------------------------- quick path

/// Where a group's operands begin: its first element, row and column.
struct Group {
    const float* HWY_RESTRICT a;
    const float* HWY_RESTRICT b;
    const std::int32_t* HWY_RESTRICT a_exponents;  // both halves alike
    const std::int16_t* HWY_RESTRICT b_exponents;
    int length;
    bool a_special, b_special;
};

/// The exponents of columns c and c + 1 in every lane.
HWY_INLINE hn::Vec<I16> exponents_of_two(const std::int16_t* b) {
    std::int32_t both;
    __builtin_memcpy(&both, b, sizeof both);
    return hn::BitCast(i16, set(both));
}

/// The largest exponent among the products, at f32's place, in `largest`.
HWY_INLINE void largest_exponents(const Group& g, VI (&largest)[columns]) {
    using VE = hn::Vec<I16>;
    VE two[columns / 2];
    const std::int32_t* a = g.a_exponents;
    const std::int16_t* b = g.b_exponents;
    const VE first = hn::BitCast(i16, hn::Load(i32, a));
#pragma GCC unroll 4
    for (int c = 0; c < columns; c += 2) two[c / 2] = hn::Add(first, exponents_of_two(b + c));
    for (int k = 1; k < g.length; ++k) {
        a += block_rows, b += block_columns;
        const VE exponents = hn::BitCast(i16, hn::Load(i32, a));
#pragma GCC unroll 4
        for (int c = 0; c < columns; c += 2)
            two[c / 2] = hn::Max(two[c / 2], hn::Add(exponents, exponents_of_two(b + c)));
    }
#pragma GCC unroll 4
    for (int c = 0; c < columns; c += 2) {
        const VI both = hn::BitCast(i32, two[c / 2]);
        largest[c] = hn::ShiftLeft<16>(both);
        largest[c + 1] = hn::And(both, set(std::int32_t(0xffff0000)));
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

/// The exponent with which C enters, at f32's place.
template <ResultRounding rounding>
HWY_INLINE VI exponent_of_c(VF c) {
    const VI field = hn::And(bits_of(c), set(exponent_field));
    if constexpr (rounding != ResultRounding::rne_f16) return field;  // subnormals of f32 leave the range anyway
    const VI is_zero = hn::VecFromMask(i32, hn::RebindMask(i32, hn::Eq(c, hn::Zero(f32))));  // false for NaN
    return hn::AndNot(is_zero, hn::Max(field, set(least_f16_exponent)));
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
template <ResultRounding rounding, SumRange range>
HWY_INLINE bool quick_group(const FusedRule& rule, const Group& g, VF (&state)[columns]) {
    VI up[columns], sums[columns];
    largest_exponents(g, up);
    const VI above = set((rule.fraction_bits + 127 + 2 * value_shift) << 23);
    const VI floor = set((HWY_MAX(rule.zero_exponent, -30) + 127) << 23);
    auto most = hn::Zero(u32);  // negative `up` counts as large
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) {
        VI largest = hn::Max(up[c], exponent_of_c<rounding>(state[c]));
        if constexpr (rounding == ResultRounding::rne_f16) largest = hn::Max(largest, floor);
        up[c] = hn::Sub(above, largest);
        most = hn::Max(most, hn::BitCast(u32, up[c]));
    }
    if (!hn::AllFalse(u32, hn::Gt(most, hn::Set(u32, std::uint32_t(largest_up)))) && !excuse_zeros(g, state, up))
        return false;

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

// -------------------------------------------------------------------------------------------------- wide path

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

/// e_max + 127 for `wide_lanes` rows and one column.
HWY_INLINE hn::Vec<I32Half> wide_largest(const FusedRule& rule, const Group& g, int row, int column,
                                         hn::Vec<F32Half> c) {
    const int least_c = rule.rounding == ResultRounding::rne_f16 ? 127 - 14 : 1;
    const auto zero_exponent = hn::Set(i32_half, rule.zero_exponent + 127);
    const auto c_field = hn::ShiftRight<23>(hn::And(hn::BitCast(i32_half, c), hn::Set(i32_half, exponent_field)));
    const auto c_is_zero = hn::RebindMask(i32_half, hn::Eq(c, hn::Zero(f32_half)));
    auto largest = hn::IfThenElse(c_is_zero, zero_exponent, hn::Max(c_field, hn::Set(i32_half, least_c)));
    largest = hn::Max(largest, zero_exponent);
    for (int k = 0; k < g.length; ++k) {
        if (g.b[k * block_columns + column] == 0.0f) continue;
        const auto other = hn::Set(i32_half, g.b_exponents[k * block_columns + column] >> 7);
        const auto sum = hn::Add(hn::ShiftRight<23>(hn::Load(i32_half, g.a_exponents + k * block_rows + row)), other);
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
        const VD scale = power_of_two(hn::Add(up, hn::Set(i32_half, kept_down)));
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

// ------------------------------------------------------------------------------------------------------ blocks

/// Where one block of C, and of results, lie column by column: f32, and values of binary16 when D is f16.
struct State {
    const float* c;
    std::ptrdiff_t c_stride;
    float* d;
    std::ptrdiff_t d_stride;
};

/// The groups of [first, last) of k, chained, for one block of D.
template <ResultRounding rounding, SumRange range>
HWY_INLINE void add_groups(const FusedRule& rule, const Operands& operands, int block, int first, int last,
                           const State& state) {
    const auto* const a = reinterpret_cast<const float*>(operands.a);
    const auto* const b = reinterpret_cast<const float*>(operands.b + std::size_t(block) * operands.b_block_bytes);
    const auto* const a_exponents = reinterpret_cast<const std::int32_t*>(a + operands.elements * block_rows);
    const auto* const b_exponents = reinterpret_cast<const std::int16_t*>(b + operands.elements * block_columns);
    const bool a_special = operands.a_special, b_special = operands.b_special[block];
    for (int row = 0; row < block_rows; row += lanes)
        for (int column = 0; column < block_columns; column += columns) {
            VF sums[columns];
#pragma GCC unroll 8
            for (int c = 0; c < columns; ++c) sums[c] = hn::LoadU(f32, state.c + (column + c) * state.c_stride + row);
            for (int k = first; k < last; k += rule.group_length) {
                const Group g{a + k * block_rows + row,
                              b + k * block_columns + column,
                              a_exponents + k * block_rows + row,
                              b_exponents + k * block_columns + column,
                              HWY_MIN(rule.group_length, last - k),
                              a_special,
                              b_special};
                const bool special = a_special | b_special;
                if (special || !quick_group<rounding, range>(rule, g, sums)) wide_groups(rule, g, sums);
            }
#pragma GCC unroll 8
            for (int c = 0; c < columns; ++c) hn::StoreU(sums[c], f32, state.d + (column + c) * state.d_stride + row);
        }
}

HWY_ALIGN constexpr float zeros[block_rows] = {};

template <ResultRounding rounding>
HWY_INLINE VF load_c(const Accumulators& tile, int row, int column) {
    if (!tile.c) return hn::Zero(f32);
    const std::ptrdiff_t at = column * tile.c_stride + row;
    if constexpr (rounding == ResultRounding::rne_f16) return load_f16(static_cast<const std::uint16_t*>(tile.c) + at);
    return hn::LoadU(f32, static_cast<const float*>(tile.c) + at);
}

template <ResultRounding rounding>
HWY_INLINE void store_d(VF v, const Accumulators& tile, int row, int column) {
    const std::ptrdiff_t at = column * tile.d_stride + row;
    if constexpr (rounding == ResultRounding::rne_f16)
        store_f16(v, static_cast<std::uint16_t*>(tile.d) + at);
    else
        hn::StoreU(v, f32, static_cast<float*>(tile.d) + at);
}

/// One IEEE addition, to nearest, in D's format. (Of two binary16 values it is exact enough in f32: 24 ≥ 2 · 11 + 2.)
template <ResultRounding rounding>
HWY_INLINE VF add_ieee(VF x, VF y) {
    VF sum = hn::Add(x, y);
    if constexpr (rounding == ResultRounding::rne_f16) sum = round_to_f16(sum);
    return hn::IfThenElse(hn::IsNaN(sum), float_of(set(magnitude_bits)), sum);
}

template <class Body>
HWY_INLINE void for_each_vector(Body body) {
    for (int column = 0; column < block_columns; ++column)
        for (int row = 0; row < block_rows; row += lanes) body(row, column);
}

/// D is f32 and C comes first: the groups work on D itself.
template <ResultRounding rounding, SumRange range>
void multiply_in_place(const FusedRule& rule, const Operands& operands, const Accumulators& tile) {
    const std::ptrdiff_t c_stride = tile.c ? tile.c_stride : 0;
    State state{tile.c ? static_cast<const float*>(tile.c) : zeros, c_stride, static_cast<float*>(tile.d),
                tile.d_stride};
    for (int block = 0; block < operands.column_blocks; ++block) {
        add_groups<rounding, range>(rule, operands, block, 0, operands.elements, state);
        state.c += block_columns * state.c_stride;
        state.d += block_columns * state.d_stride;
    }
}

/// D is f16, or C comes last (fp8_through_f16).
template <ResultRounding rounding, SumRange range>
void multiply_aside(const FusedRule& rule, const Operands& operands, const Accumulators& tile) {
    HWY_ALIGN float sums[block_columns][block_rows], second[block_columns][block_rows];
    const State in_place{sums[0], block_rows, sums[0], block_rows}, from_zero{zeros, 0, second[0], block_rows};
    const int elements = operands.elements, middle = rule.separate_halves ? elements / 2 : elements;
    for (int block = 0; block < operands.column_blocks; ++block) {
        const int first = block * block_columns;
        for_each_vector([&](int row, int column) HWY_ATTR {
            const VF c = rule.starts_from_zero ? hn::Zero(f32) : load_c<rounding>(tile, row, first + column);
            hn::Store(c, f32, &sums[column][row]);
        });
        add_groups<rounding, range>(rule, operands, block, 0, middle, in_place);
        if (rule.separate_halves) add_groups<rounding, range>(rule, operands, block, middle, elements, from_zero);
        for_each_vector([&](int row, int column) HWY_ATTR {
            VF result = hn::Load(f32, &sums[column][row]);
            if (rule.separate_halves) result = add_ieee<rounding>(result, hn::Load(f32, &second[column][row]));
            if (rule.starts_from_zero) result = add_ieee<rounding>(result, load_c<rounding>(tile, row, first + column));
            store_d<rounding>(result, tile, row, first + column);
        });
    }
}

template <ResultRounding rounding, SumRange range>
FusedKernel kernel_for(const FusedRule& rule) {
    if (rounding == ResultRounding::rne_f16 || rule.starts_from_zero) return multiply_aside<rounding, range>;
    return multiply_in_place<rounding, range>;
}

template <ResultRounding rounding>
FusedKernel kernel_for(const FusedRule& rule) {
    switch (rule.range) {
        case SumRange::fits: return kernel_for<rounding, SumRange::fits>(rule);
        case SumRange::fits_less_c: return kernel_for<rounding, SumRange::fits_less_c>(rule);
        case SumRange::halves_fit: return kernel_for<rounding, SumRange::halves_fit>(rule);
    }
    return nullptr;
}

}  // namespace

FusedKernel fused_kernel(const FusedRule& rule) {
    switch (rule.rounding) {
        case ResultRounding::rz_f32: return kernel_for<ResultRounding::rz_f32>(rule);
        case ResultRounding::rz_e8m13: return kernel_for<ResultRounding::rz_e8m13>(rule);
        case ResultRounding::rne_f16: return kernel_for<ResultRounding::rne_f16>(rule);
    }
    return nullptr;
}
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilepath::number::engine {
HWY_EXPORT(fused_kernel);
FusedKernel best_fused_kernel(const FusedRule& rule) { return HWY_DYNAMIC_DISPATCH(fused_kernel)(rule); }
}  // namespace tilepath::number::engine
#endif
