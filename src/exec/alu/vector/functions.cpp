// Reciprocals, roots and elementary functions: PTX ISA 9.7.3.13 to 9.7.3.22, 9.7.4.9, 9.7.4.10.
#include "exec/alu/approximated.h"
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/float_functions.h"
#include "exec/alu/vector/function_kernels.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using number::Rounding;
using program::DataType;
using program::MicroOp;

struct Rcp {
    TILEPATH_BODY float operator()(float a) const { return 1.0f / a; }
    TILEPATH_BODY double operator()(double a) const { return nan_rule(1.0 / a, bits_of(a), 0); }
};
struct Sqrt {
    TILEPATH_BODY float operator()(float a) const { return __builtin_sqrtf(a); }
    TILEPATH_BODY double operator()(double a) const { return nan_rule(__builtin_sqrt(a), bits_of(a), 0); }
};
struct Rsqrt {
    TILEPATH_BODY double operator()(double a) const { return nan_rule(1.0 / __builtin_sqrt(a), bits_of(a), 0); }
};
/// The reciprocal of the largest numbers is subnormal, and .ftz flushes what is tiny (float_functions.h).
struct RcpTiny {
    TILEPATH_BODY float operator()(float a) const { return DivTiny{}(1.0f, a); }
};

struct Tanh {
    TILEPATH_BODY double operator()(float a) const { return tanh(double(a)); }
};

/// A function's f64 result rounded once, to f32.
template <class F>
struct ToF32 {
    TILEPATH_BODY float operator()(float a) const { return float(F{}(a)); }
};

// The 16-bit functions of an H200 are those of f32, cut off: recorded for every source, ex2 agrees to the bit (tanh, a
// table in hardware, with seven sources in eight).
struct HalfCutOff {
    TILEPATH_BODY static float read(u32 bits) { return half_to_float(bits & 0xFFFF); }
    TILEPATH_BODY static u32 write(float value) {
        const u32 bits = bits_of(value), magnitude = bits & 0x7FFFFFFF;
        const u32 subnormal = u32(s32(as_float(magnitude < (113u << 23) ? magnitude : 0) * 0x1p24f));
        const u32 normal = (magnitude - (112u << 23)) >> 13;
        const u32 finite = magnitude < (113u << 23) ? subnormal : normal;
        const u32 half = magnitude >= (143u << 23) ? 0x7C00 : finite;
        return magnitude > 0x7F800000 ? canonical_nan_half : half | (bits >> 16 & 0x8000);
    }
};
struct BFloatCutOff {
    TILEPATH_BODY static float read(u32 bits) { return bfloat_to_float(bits & 0xFFFF); }
    TILEPATH_BODY static u32 write(float value) {
        return is_nan(bits_of(value)) ? canonical_nan_half : bits_of(value) >> 16;
    }
};
/// bf16 has the exponents of f32, and flushes what f32 does.
struct BFloatCutOffFtz {
    TILEPATH_BODY static float read(u32 bits) { return flush(bfloat_to_float(bits & 0xFFFF)); }
    TILEPATH_BODY static u32 write(float value) { return BFloatCutOff::write(flush(value)); }
};

/// Exponents keep 23 fraction bits: what is smaller counts for nothing.
struct Ex2OfHalf {
    TILEPATH_BODY double operator()(float a) const { return exp2(__builtin_fabsf(a) < 0x1p-23f ? 0.0 : double(a)); }
};

template <class F, class Format>
struct ToHalf {
    TILEPATH_BODY u32 operator()(u32 a) const { return Format::write(float(F{}(Format::read(a)))); }
};
template <class F, class Format>
struct ToHalves {
    TILEPATH_BODY u32 operator()(u32 a) const {
        return ToHalf<F, Format>{}(a & 0xFFFF) | ToHalf<F, Format>{}(a >> 16) << 16;
    }
};

template <class F>
LaneFunction f32_function(const MicroOp& op) {
    if (op.type != DataType::f32) return nullptr;
    return op.flags.ftz ? unary<F32Ftz, F32Ftz, F> : unary<float, float, F>;
}

template <class F, class Format>
LaneFunction one_or_two(bool pair) {
    return pair ? unary<u32, u32, ToHalves<F, Format>> : unary<u32, u32, ToHalf<F, Format>>;
}

template <class F>
LaneFunction half_function(const MicroOp& op) {
    if (op.type == DataType::f16 || op.type == DataType::f16x2)
        return one_or_two<F, HalfCutOff>(op.type == DataType::f16x2);
    if (op.type != DataType::bf16 && op.type != DataType::bf16x2) return nullptr;
    const bool pair = op.type == DataType::bf16x2;
    return op.flags.ftz ? one_or_two<F, BFloatCutOffFtz>(pair) : one_or_two<F, BFloatCutOff>(pair);
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 know the upper words alone; subnormals count as zeros. Cut off, not
/// rounded: so they equal an H200's for all but a few in a hundred operands, which are one place off.
template <class F>
struct UpperWord {
    TILEPATH_BODY u64 operator()(u64 a) const {
        const u64 sign = a & 0x8000000000000000, high = a & 0xFFFFFFFF00000000;
        const u64 input = (high ^ sign) < 0x0010000000000000 ? sign : high;
        const u64 result = bits_of(F{}(as_double(input))) & 0xFFFFFFFF00000000;
        const bool tiny = (result & 0x7FF0000000000000) == 0;
        return (result & 0x7FFFFFFFFFFFFFFF) > 0x7FF0000000000000 ? 0x7FFFFFFF00000000
               : tiny                                             ? result & 0x8000000000000000
                                                                  : result;
    }
};
struct Reciprocal {
    TILEPATH_BODY double operator()(double a) const { return 1.0 / a; }
};
struct ReciprocalRoot {
    TILEPATH_BODY double operator()(double a) const { return a == 0 ? 1.0 / a : 1.0 / __builtin_sqrt(a); }
};

}  // namespace

LaneFunction choose_rcp(const MicroOp& op) {
    if (LaneFunction approximated = choose_approximated(op)) return approximated;
    if (op.type == DataType::f64 && op.flags.approx)
        return op.flags.ftz ? unary<u64, u64, UpperWord<Reciprocal>> : nullptr;
    if (op.rounding != Rounding::rn) return choose_rounded(op);
    if (op.type == DataType::f64) return unary<double, double, Rcp>;
    if (op.type != DataType::f32) return nullptr;
    return op.flags.ftz ? unary<F32Ftz, F32Ftz, RcpTiny> : unary<float, float, Rcp>;
}

LaneFunction choose_sqrt(const MicroOp& op) {
    if (LaneFunction approximated = choose_approximated(op)) return approximated;
    if (op.rounding != Rounding::rn) return choose_rounded(op);
    return op.type == DataType::f64 ? unary<double, double, Sqrt> : f32_function<Sqrt>(op);
}

LaneFunction choose_rsqrt(const MicroOp& op) {
    if (op.type == DataType::f64)
        return op.flags.ftz ? unary<u64, u64, UpperWord<ReciprocalRoot>> : unary<double, double, Rsqrt>;
    return choose_approximated(op);
}

LaneFunction choose_sin(const MicroOp& op) { return choose_approximated(op); }
LaneFunction choose_cos(const MicroOp& op) { return choose_approximated(op); }
LaneFunction choose_lg2(const MicroOp& op) { return choose_approximated(op); }

LaneFunction choose_ex2(const MicroOp& op) {
    return op.type == DataType::f32 ? choose_approximated(op) : half_function<Ex2OfHalf>(op);
}

LaneFunction choose_tanh(const MicroOp& op) {
    return op.type == DataType::f32 ? f32_function<ToF32<Tanh>>(op) : half_function<Tanh>(op);
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
