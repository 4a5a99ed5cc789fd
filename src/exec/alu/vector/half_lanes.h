#pragma once
#include "exec/alu/vector/float_lanes.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

constexpr u32 canonical_nan_half = 0x7FFF;  // of f16 and bf16, recorded on an H200

TILEPATH_BODY float half_to_float(u32 bits) {
    const u32 magnitude = (bits & 0x7FFF) << 13;
    const u32 normal = magnitude + ((127 - 15) << 23);
    const u32 special = magnitude + ((255 - 31) << 23);
    // A subnormal's fraction, hung below 2^-14, less that 2^-14: exact.
    const float subnormal = as_float(magnitude + ((127 - 14) << 23)) - 0x1p-14f;
    const u32 value = magnitude < (1u << 23) ? bits_of(subnormal) : magnitude >= (31u << 23) ? special : normal;
    return as_float(value | (bits & 0x8000) << 16);
}

/// One rounding to nearest even; too large gives infinity, NaN the canonical one.
TILEPATH_BODY u32 float_to_half(float value) {
    const u32 bits = bits_of(value), magnitude = bits & 0x7FFFFFFF;
    // Below 2^-14 the addition of 1/2 rounds: the sum's last place is 2^-24, that of f16's subnormals.
    const u32 subnormal = bits_of(as_float(magnitude) + 0.5f) - bits_of(0.5f);
    const u32 normal = (magnitude - ((127 - 15) << 23) + 0xFFF + (magnitude >> 13 & 1)) >> 13;
    u32 half = magnitude < ((127 - 14) << 23) ? subnormal : normal;
    half = magnitude >= ((127 + 16) << 23) ? 0x7C00 : half;
    return magnitude > 0x7F800000 ? canonical_nan_half : half | (bits >> 16 & 0x8000);
}

TILEPATH_BODY float bfloat_to_float(u32 bits) { return as_float(bits << 16); }

TILEPATH_BODY u32 float_to_bfloat(float value) {
    const u32 bits = bits_of(value);
    const u32 rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    return is_nan(bits) ? canonical_nan_half : rounded;
}

/// f16 with .ftz: what is tiny after rounding as if the exponent had no lower bound is flushed (recorded on an H200).
TILEPATH_BODY float flush_half(float value) {
    constexpr float bound = 0x1p-14f - 0x1p-26f;
    const u32 bits = bits_of(value);
    return (bits & 0x7FFFFFFF) < __builtin_bit_cast(u32, bound) ? as_float(bits & 0x80000000) : value;
}

// The 16-bit formats: how bits become f32 (exactly), and how an f32 that stands for an exact result (or for one rounded
// to odd) becomes bits. Sums and products rounded to f32 first are right too: 24 bits are twice eleven and two.
struct Half {
    TILEPATH_BODY static float read(u32 bits) { return half_to_float(bits & 0xFFFF); }
    TILEPATH_BODY static u32 write(float value) { return float_to_half(value); }
};
struct HalfFtz {
    TILEPATH_BODY static float read(u32 bits) { return flush_half(half_to_float(bits & 0xFFFF)); }
    TILEPATH_BODY static u32 write(float value) { return float_to_half(flush_half(value)); }
};
struct BFloat {
    TILEPATH_BODY static float read(u32 bits) { return bfloat_to_float(bits & 0xFFFF); }
    TILEPATH_BODY static u32 write(float value) { return float_to_bfloat(value); }
};

template <>
struct Lane<Half> : Half {
    using Stored = u32;
    using Value = float;
};
template <>
struct Lane<HalfFtz> : HalfFtz {
    using Stored = u32;
    using Value = float;
};
template <>
struct Lane<BFloat> : BFloat {
    using Stored = u32;
    using Value = float;
};

/// a·b + c for f16 operands as an f32 rounded to odd, so that rounding it once more is one rounding. The product is
/// exact.
TILEPATH_BODY float fma_odd(float a, float b, float c, Half) {
    const float product = a * b;
    const float sum = product + c;
    const float back = sum - product;
    const float error = (product - (sum - back)) + (c - back);
    const u32 bits = bits_of(sum);
    const bool toward_zero = (error < 0) != (sum < 0);  // the exact sum is smaller in magnitude
    const u32 odd = (bits & 1) != 0 ? bits : toward_zero ? bits - 1 : bits + 1;
    return error != 0 && !is_nan(bits_of(error)) ? as_float(odd) : sum;
}
TILEPATH_BODY float fma_odd(float a, float b, float c, HalfFtz) { return fma_odd(a, b, c, Half{}); }

/// The same for bf16, whose exponents need f64 underway.
TILEPATH_BODY float fma_odd(float a, float b, float c, BFloat) {
    const double product = double(a) * double(b);
    const double sum = product + double(c);
    const double back = sum - product;
    const double error = (product - (sum - back)) + (double(c) - back);
    const float narrow = float(sum);
    const double rest = (sum - double(narrow)) + error;  // only its sign and whether it is zero matter
    const u32 bits = bits_of(narrow);
    const bool toward_zero = (rest < 0) != (sum < 0);
    const u32 odd = (bits & 1) != 0 ? bits : toward_zero ? bits - 1 : bits + 1;
    const bool finite = (bits & 0x7F800000) != 0x7F800000;
    return rest != 0 && finite ? as_float(odd) : narrow;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
