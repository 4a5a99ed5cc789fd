// Vectors over the rows of A: their types, and the conversions and roundings of the fused dot product.
// Per target: included once by each pass of foreach_target.
#if defined(TILEPATH_ENGINE_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEPATH_ENGINE_VECTORS
#undef TILEPATH_ENGINE_VECTORS
#else
#define TILEPATH_ENGINE_VECTORS
#endif

#include <hwy/highway.h>

#include "number/engine_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace tilepath::number::engine::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, block_rows>;
using I32 = hn::Rebind<std::int32_t, F32>;
using U32 = hn::Rebind<std::uint32_t, F32>;
using I16 = hn::Repartition<std::int16_t, F32>;
using U16 = hn::Repartition<std::uint16_t, F32>;
using I8 = hn::Repartition<std::int8_t, F32>;
using VF = hn::Vec<F32>;
using VI = hn::Vec<I32>;
using VI16 = hn::Vec<I16>;
using VI8 = hn::Vec<I8>;
constexpr F32 f32;
constexpr I32 i32;
constexpr U32 u32;
constexpr I16 i16;
constexpr U16 u16;
constexpr I8 i8;
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

/// The even bytes, times 2^7, in 16 bits.
HWY_INLINE VI16 even_bytes_at_7(VI8 v) {
#if HWY_TARGET == HWY_AVX3
    return VI16{_mm512_maddubs_epi16(_mm512_set1_epi16(0x0080), v.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VI16{_mm256_maddubs_epi16(_mm256_set1_epi16(0x0080), v.raw)};
#else
    return hn::ShiftRight<1>(hn::ShiftLeft<8>(hn::BitCast(i16, v)));
#endif
}

/// The odd bytes, times 2^7, in 16 bits.
HWY_INLINE VI16 odd_bytes_at_7(VI8 v) {
#if HWY_TARGET == HWY_AVX3
    return VI16{_mm512_maddubs_epi16(_mm512_set1_epi16(std::int16_t(0x8000)), v.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VI16{_mm256_maddubs_epi16(_mm256_set1_epi16(std::int16_t(0x8000)), v.raw)};
#else
    return hn::ShiftRight<1>(hn::And(hn::BitCast(i16, v), hn::Set(i16, std::int16_t(0xff00))));
#endif
}

/// a0 b0 + a1 b1 of each two bytes, of A unsigned, in 16 bits. No sum may leave them.
HWY_INLINE VI16 pairs_of_bytes(VI a, VI b) {
#if HWY_TARGET == HWY_AVX3
    return VI16{_mm512_maddubs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VI16{_mm256_maddubs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4
    return VI16{_mm_maddubs_epi16(a.raw, b.raw)};
#else
    const VI16 x = hn::BitCast(i16, a), y = hn::BitCast(i16, b);
    const VI16 even = hn::Mul(hn::And(x, hn::Set(i16, 0xff)), hn::ShiftRight<8>(hn::ShiftLeft<8>(y)));
    const VI16 odd = hn::BitCast(i16, hn::ShiftRight<8>(hn::BitCast(u16, x)));
    return hn::Add(even, hn::Mul(odd, hn::ShiftRight<8>(y)));
#endif
}

/// a0 b0 + a1 b1 of each two words of 16 bits, in 32.
HWY_INLINE VI pairs_of_words(VI16 a, VI16 b) {
#if HWY_TARGET == HWY_AVX3
    return VI{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VI{_mm256_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4
    return VI{_mm_madd_epi16(a.raw, b.raw)};
#else
    // The even elements, then the odd ones. (Highway's ReorderWidenMulAccumulate may move products to other lanes.)
    const VI x = hn::BitCast(i32, a), y = hn::BitCast(i32, b);
    const VI even = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(x)), hn::ShiftRight<16>(hn::ShiftLeft<16>(y)));
    return hn::Add(even, hn::Mul(hn::ShiftRight<16>(x), hn::ShiftRight<16>(y)));
#endif
}

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

}  // namespace
#endif
}  // namespace tilepath::number::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
