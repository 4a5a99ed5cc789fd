#pragma once
#include "exec/alu/types.h"
#include "exec/alu/vector/half_lanes.h"
#include "program/op.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

/// An f64 as the f32 that is nearest, or odd where that is inexact: rounding it once more, to a format of at most 22
/// bits, is one rounding.
struct NarrowOdd {
    TILEPATH_BODY float operator()(double value) const {
        const float narrow = float(value);
        const double rest = value - double(narrow);
        const u32 bits = bits_of(narrow);
        const bool toward_zero = (rest < 0) != (value < 0);
        const u32 odd = (bits & 1) != 0 ? bits : toward_zero ? bits - 1 : bits + 1;
        const bool finite = (bits & 0x7F800000) != 0x7F800000;
        return rest != 0 && finite ? as_float(odd) : narrow;
    }
};

/// To a whole number; NaN and what is whole already stay. Adding and subtracting 2^52 rounds magnitudes to nearest
/// even.
template <number::Rounding rounding>
TILEPATH_BODY double round_whole(double value) {
    const double magnitude = __builtin_fabs(value);
    const double nearest = __builtin_copysign((magnitude + 0x1p52) - 0x1p52, value);
    const double down = nearest > value ? nearest - 1.0 : nearest, up = nearest < value ? nearest + 1.0 : nearest;
    double whole = nearest;
    if (rounding == number::Rounding::rm) whole = down;
    if (rounding == number::Rounding::rp) whole = up;
    if (rounding == number::Rounding::rz) whole = value < 0 ? up : down;
    return magnitude < 0x1p52 ? whole : value;
}

/// The same in f32.
template <number::Rounding rounding>
TILEPATH_BODY float round_whole(float value) {
    const float magnitude = __builtin_fabsf(value);
    const float nearest = __builtin_copysignf((magnitude + 0x1p23f) - 0x1p23f, value);
    const float down = nearest > value ? nearest - 1.0f : nearest, up = nearest < value ? nearest + 1.0f : nearest;
    float whole = nearest;
    if (rounding == number::Rounding::rm) whole = down;
    if (rounding == number::Rounding::rp) whole = up;
    if (rounding == number::Rounding::rz) whole = value < 0 ? up : down;
    return magnitude < 0x1p23f ? whole : value;
}

/// With the sign of the source, also of zero.
template <number::Rounding rounding>
struct RoundIntegral {
    TILEPATH_BODY float operator()(float value) const {
        return __builtin_copysignf(round_whole<rounding>(value), value);
    }
    TILEPATH_BODY double operator()(double value) const {
        const double whole = __builtin_copysign(round_whole<rounding>(value), value);
        return is_nan(bits_of(value)) ? as_double(bits_of(value) | quiet_bit_f64) : whole;
    }
};

/// What a type of at most 32 bits holds: the clamp (for f32 the nearest that it has inside), the largest value, what a
/// NaN gives (zero, from f64 the top bit alone), the bits that are written.
template <class Real>
struct IntegerRange {
    Real low, high;
    u32 largest, nan, mask;
};
template <class Real>
TILEPATH_BODY IntegerRange<Real> range_of(program::DataType type) {
    constexpr bool wide = sizeof(Real) == 8;
    switch (type) {
        case program::DataType::s8: return {-128, 127, 127, wide ? 0x80 : 0, 0xFF};
        case program::DataType::u8: return {0, 255, 255, wide ? 0x80 : 0, 0xFF};
        case program::DataType::s16: return {-32768, 32767, 32767, wide ? 0x8000 : 0, 0xFFFF};
        case program::DataType::u16: return {0, 65535, 65535, wide ? 0x8000 : 0, 0xFFFF};
        case program::DataType::u32:
            return {0, wide ? Real(4294967295) : Real(4294967040), ~0u, wide ? 1u << 31 : 0, ~0u};
        default:
            return {Real(-2147483648.0), wide ? Real(2147483647) : Real(2147483520), 0x7FFFFFFF, wide ? 1u << 31 : 0,
                    ~0u};
    }
}

template <class Real>
TILEPATH_BODY u32 to_word(Real whole, s32) {
    return u32(s32(whole));
}
/// Vector units convert signed words.
template <class Real>
TILEPATH_BODY u32 to_word(Real whole, u32) {
    const bool large = whole >= Real(2147483648.0);
    return u32(s32(large ? whole - Real(2147483648.0) : whole)) ^ (large ? 1u << 31 : 0);
}
template <class D>
constexpr double word_limit = std::is_signed_v<D> ? 0x1p31 : 0x1p32;

/// A whole number or NaN, which gives the top bit alone.
template <class D>
TILEPATH_BODY D to_long(double whole) {
    constexpr u64 top = u64(1) << 63;
    if constexpr (std::is_signed_v<D>) {
        const bool inside = whole >= -0x1p63 && whole < 0x1p63;
        const s64 value = s64(inside ? whole : 0.0);
        return inside ? value : whole >= 0x1p63 ? s64(top - 1) : s64(top);
    } else {
        const bool inside = whole >= 0.0 && whole < 0x1p64;
        const u64 value = u64(inside ? whole : 0.0);
        return inside ? value : whole != whole ? top : whole < 0 ? 0 : ~u64(0);
    }
}

struct Relu {
    TILEPATH_BODY float operator()(float value) const { return value <= 0.0f ? 0.0f : value; }
};

/// 10 fraction bits kept, ties away from zero; of a NaN they are kept as they are (recorded on an H200).
struct NearestAwayTf32 {
    TILEPATH_BODY u32 operator()(u32 bits) const { return (is_nan(bits) ? bits : bits + 0x1000) & 0xFFFFE000; }
};

/// cvt.f32.bf16 is a shift; NaN keeps its bits.
struct UpperHalf {
    TILEPATH_BODY u32 operator()(u16 bits) const { return u32(bits) << 16; }
};

// f64 and f32: a NaN keeps sign and payload, quieted (recorded on an H200).
struct WidenF32 {
    TILEPATH_BODY u64 operator()(float value) const {
        const u64 bits = bits_of(value);
        const u64 nan = (bits & 0x80000000) << 32 | 0x7FF8000000000000 | (bits & 0x007FFFFF) << 29;
        return is_nan(u32(bits)) ? nan : bits_of(double(value));
    }
};
struct NarrowF64 {
    TILEPATH_BODY u32 operator()(double value) const {
        const u64 bits = bits_of(value);
        const u32 nan = u32(bits >> 32 & 0x80000000) | 0x7FC00000 | u32(bits >> 29 & 0x003FFFFF);
        return is_nan(bits) ? nan : bits_of(float(value));
    }
};

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
