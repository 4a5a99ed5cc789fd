#pragma once
#include "exec/alu/vector/conversion_functions.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

// Elements of packed registers. `write` rounds an f32 to nearest even, with .satfinite for formats below 16 bits.
struct HalfElement {
    static constexpr int width = 16;
    TILEPATH_BODY static u32 write(float value) { return float_to_half(value); }
};
struct BFloatElement {
    static constexpr int width = 16;
    TILEPATH_BODY static u32 write(float value) { return float_to_bfloat(value); }
};

/// OCP 8-, 6- and 4-bit floats. `largest` is the largest finite magnitude, `nan` what a NaN becomes (PTX ISA 9.7.9.21:
/// formats without one give their largest number); a magnitude above `largest` is a NaN, of e5m2 also infinity.
template <int exponent_bits, int fraction_bits, int container, u32 largest, u32 nan>
struct Small {
    static constexpr int width = container, bias = (1 << (exponent_bits - 1)) - 1;
    static constexpr u32 sign = 1u << (exponent_bits + fraction_bits);

    TILEPATH_BODY static u32 write(float value) {
        const u32 bits = bits_of(value), magnitude = bits & 0x7FFFFFFF;
        constexpr int dropped = 23 - fraction_bits;
        constexpr u32 rebias = u32(127 - bias) << 23, least_normal = u32(128 - bias) << 23;
        // Adding a number whose last place is that of the subnormals rounds them.
        constexpr float magic = as_power(1 - bias - fraction_bits + 23);
        const u32 subnormal = bits_of(as_float(magnitude) + magic) - bits_of(magic);
        const u32 normal = (magnitude - rebias + ((1u << (dropped - 1)) - 1) + (magnitude >> dropped & 1)) >> dropped;
        const u32 rounded = magnitude < least_normal ? subnormal : normal;
        const u32 finite = (rounded < largest ? rounded : largest) | (bits >> 31) * sign;
        return magnitude > 0x7F800000 ? nan : finite;
    }

    /// As f16 bits, exactly: every element of these formats is one.
    TILEPATH_BODY static u32 to_half(u32 bits) {
        const u32 magnitude = bits & (sign - 1), upper = (bits & sign) != 0 ? 0x8000 : 0;
        const float value = as_float(magnitude << (23 - fraction_bits)) * as_power(127 - bias);
        const bool special = magnitude > largest;
        const bool infinite = exponent_bits == 5 && magnitude == largest + 1;
        return special && !infinite ? canonical_nan_half : infinite ? 0x7C00 | upper : float_to_half(value) | upper;
    }

  private:
    static constexpr float as_power(int exponent) { return __builtin_bit_cast(float, u32(127 + exponent) << 23); }
};

using E4m3 = Small<4, 3, 8, 0x7E, 0x7F>;
using E5m2 = Small<5, 2, 8, 0x7B, 0x7F>;
using E3m2 = Small<3, 2, 8, 0x1F, 0x1F>;
using E2m3 = Small<2, 3, 8, 0x1F, 0x1F>;
using E2m1 = Small<2, 1, 4, 0x7, 0x7>;

/// Two f32, the first into the upper element.
template <class Element, bool relu>
struct PackF32 {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const { return element(a) << Element::width | element(b); }
    TILEPATH_BODY static u32 element(u32 bits) {
        return Element::write(relu ? Relu{}(as_float(bits)) : as_float(bits));
    }
};

template <class Element, bool relu>
struct FromHalves {
    TILEPATH_BODY u32 operator()(u32 a) const { return element(a >> 16) << Element::width | element(a & 0xFFFF); }
    TILEPATH_BODY static u32 element(u32 bits) {
        const float value = half_to_float(bits);
        return Element::write(relu ? Relu{}(value) : value);
    }
};

template <class Element, bool relu>
struct ToHalves {
    TILEPATH_BODY u32 operator()(u32 a) const {
        constexpr u32 mask = (1u << Element::width) - 1;
        return element(a >> Element::width & mask) << 16 | element(a & mask);
    }
    TILEPATH_BODY static u32 element(u32 bits) {
        const u32 half = Element::to_half(bits);
        return relu && half >= 0x8000 ? 0 : half;
    }
};

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
