#pragma once
#include "exec/alu/vector/lanes.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

TILEPATH_BODY u32 bits_of(float value) { return __builtin_bit_cast(u32, value); }
TILEPATH_BODY u64 bits_of(double value) { return __builtin_bit_cast(u64, value); }
TILEPATH_BODY float as_float(u32 bits) { return __builtin_bit_cast(float, bits); }
TILEPATH_BODY double as_double(u64 bits) { return __builtin_bit_cast(double, bits); }

constexpr u32 canonical_nan_f32 = 0x7FFFFFFF;  // recorded on an H200
constexpr u64 invalid_nan_f64 = 0xFFF8000000000000, quiet_bit_f64 = 0x0008000000000000;

TILEPATH_BODY u32 canonical(u32 bits) { return (bits & 0x7FFFFFFF) > 0x7F800000 ? canonical_nan_f32 : bits; }
TILEPATH_BODY u32 flush(u32 bits) { return (bits & 0x7F800000) == 0 ? bits & 0x80000000 : bits; }
TILEPATH_BODY float flush(float value) { return as_float(flush(bits_of(value))); }
TILEPATH_BODY bool is_nan(u64 bits) { return (bits & 0x7FFFFFFFFFFFFFFF) > 0x7FF0000000000000; }
TILEPATH_BODY bool is_nan(u32 bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; }

template <>
struct Lane<float> {
    using Stored = u32;
    using Value = float;
    TILEPATH_BODY static float read(u32 bits) { return as_float(bits); }
    TILEPATH_BODY static u32 write(float value) { return canonical(bits_of(value)); }
};

/// f32 with .ftz: subnormal sources and results become zeros of their sign.
struct F32Ftz;
template <>
struct Lane<F32Ftz> {
    using Stored = u32;
    using Value = float;
    TILEPATH_BODY static float read(u32 bits) { return as_float(flush(bits)); }
    TILEPATH_BODY static u32 write(float value) { return canonical(flush(bits_of(value))); }
};

/// Bits kept as they are: which NaN results is the operation's affair.
template <>
struct Lane<double> {
    using Stored = u64;
    using Value = double;
    TILEPATH_BODY static double read(u64 bits) { return as_double(bits); }
    TILEPATH_BODY static u64 write(double value) { return bits_of(value); }
};

/// The NaN of an f64 operation (recorded on an H200): the first operand that is one, in the operation's own order,
/// quieted, else that of an invalid operation.
TILEPATH_BODY double nan_rule(double result, u64 first, u64 second) {
    const u64 r = bits_of(result);
    return as_double(is_nan(first)    ? first | quiet_bit_f64
                     : is_nan(second) ? second | quiet_bit_f64
                     : is_nan(r)      ? invalid_nan_f64
                                      : r);
}
TILEPATH_BODY double nan_rule(double result, u64 first, u64 second, u64 third) {
    return is_nan(first) ? as_double(first | quiet_bit_f64) : nan_rule(result, second, third);
}

/// .sat: clamped to [0, 1], NaN gives +0.
template <class F>
struct Saturated {
    template <class... T>
    TILEPATH_BODY float operator()(T... operands) const {
        const float value = F{}(operands...);
        return !(value > 0.0f) ? 0.0f : value < 1.0f ? value : 1.0f;
    }
};

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
