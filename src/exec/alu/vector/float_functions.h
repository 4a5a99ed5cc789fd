#pragma once
#include "exec/alu/vector/float_lanes.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

// The order in which an f64 operation looks for a NaN to return was recorded on an H200: add, mul: b first; div: a
// first; fma: b, c, a.
struct AddFloat {
    TILEPATH_BODY float operator()(float a, float b) const { return a + b; }
    TILEPATH_BODY double operator()(double a, double b) const { return nan_rule(a + b, bits_of(b), bits_of(a)); }
};
struct SubFloat {
    TILEPATH_BODY float operator()(float a, float b) const { return a - b; }
    TILEPATH_BODY double operator()(double a, double b) const { return nan_rule(a - b, bits_of(b), bits_of(a)); }
};
struct MulFloat {
    TILEPATH_BODY float operator()(float a, float b) const { return a * b; }
    TILEPATH_BODY double operator()(double a, double b) const { return nan_rule(a * b, bits_of(b), bits_of(a)); }
};
struct DivFloat {
    TILEPATH_BODY float operator()(float a, float b) const { return a / b; }
    TILEPATH_BODY double operator()(double a, double b) const { return nan_rule(a / b, bits_of(a), bits_of(b)); }
};
struct FmaFloat {
    TILEPATH_BODY float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
    TILEPATH_BODY double operator()(double a, double b, double c) const {
        return nan_rule(__builtin_fma(a, b, c), bits_of(b), bits_of(c), bits_of(a));
    }
};

// What .ftz flushes is tiny after rounding as if the exponent had no lower bound (recorded on an H200): below 2^-126 by
// more than 2^-151. A result that f32 rounds up to 2^-126 may be one; products and quotients in f64 tell.
constexpr double tiny_bound_f32 = 0x1p-126 - 0x1p-151;

TILEPATH_BODY float zero_if(bool tiny, float result) { return tiny ? as_float(bits_of(result) & 0x80000000) : result; }

struct MulTiny {
    TILEPATH_BODY float operator()(float a, float b) const {
        return zero_if(__builtin_fabs(double(a) * double(b)) < tiny_bound_f32, a * b);
    }
};
struct DivTiny {
    TILEPATH_BODY float operator()(float a, float b) const {
        return zero_if(__builtin_fabs(double(a) / double(b)) < tiny_bound_f32, a / b);
    }
};
struct FmaTiny {
    TILEPATH_BODY float operator()(float a, float b, float c) const {
        const double product = double(a) * double(b), sum = product + double(c);
        const double back = sum - product;
        const double error = (product - (sum - back)) + (double(c) - back);  // sum + error is exact
        const double magnitude = __builtin_fabs(sum);
        const bool below =
            magnitude < tiny_bound_f32 || (magnitude == tiny_bound_f32 && (sum < 0 ? error > 0 : error < 0));
        return zero_if(below, __builtin_fmaf(a, b, c));
    }
};

/// Where some lane's result is ±2^-126, the operation is done over by the careful `Tiny`.
TILEPATH_BODY bool any_least_normal(const u32 (&bits)[warp_lanes]) {
    u32 found = 0;
    for (int i = 0; i < warp_lanes; ++i) found |= (bits[i] & 0x7FFFFFFF) == 0x00800000 ? ~0u : 0;
    return found != 0;
}

template <class F, class Tiny>
void binary_flushed(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    using T = Lane<F32Ftz>;
    const auto* a = lanes_of<F32Ftz>(rows, op.a);
    const auto* b = lanes_of<F32Ftz>(rows, op.b);
    alignas(64) u32 result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) result[i] = T::write(F{}(T::read(a[i]), T::read(b[i])));
    if (any_least_normal(result))
        for (int i = 0; i < warp_lanes; ++i) result[i] = T::write(Tiny{}(T::read(a[i]), T::read(b[i])));
    write_lanes(rows, op.d, result, active);
}

template <class F, class Tiny>
void ternary_flushed(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    using T = Lane<F32Ftz>;
    const auto* a = lanes_of<F32Ftz>(rows, op.a);
    const auto* b = lanes_of<F32Ftz>(rows, op.b);
    const auto* c = lanes_of<F32Ftz>(rows, op.c);
    alignas(64) u32 result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) result[i] = T::write(F{}(T::read(a[i]), T::read(b[i]), T::read(c[i])));
    if (any_least_normal(result))
        for (int i = 0; i < warp_lanes; ++i) result[i] = T::write(Tiny{}(T::read(a[i]), T::read(b[i]), T::read(c[i])));
    write_lanes(rows, op.d, result, active);
}

/// Order-preserving integers of a float's bits: -0 lies below +0, as min and max have it.
TILEPATH_BODY s32 ordered(u32 bits) { return s32(bits ^ (u32(s32(bits) >> 31) & 0x7FFFFFFF)); }
TILEPATH_BODY s64 ordered(u64 bits) { return s64(bits ^ (u64(s64(bits) >> 63) & 0x7FFFFFFFFFFFFFFF)); }

/// min and max of PTX ISA 9.7.3.11: without .NaN, a number beats a NaN.
template <bool is_max, bool nan>
TILEPATH_BODY u32 min_max_f32(u32 a, u32 b) {
    const bool a_wins = is_max ? ordered(a) > ordered(b) : ordered(a) < ordered(b);
    const u32 number = a_wins ? a : b;
    if (nan) return is_nan(a) || is_nan(b) ? canonical_nan_f32 : number;
    return is_nan(a) ? canonical(b) : is_nan(b) ? a : number;
}

/// Both NaN: as nan_rule for add.
template <bool is_max>
struct MinMaxF64 {
    TILEPATH_BODY u64 operator()(u64 a, u64 b) const {
        const bool a_wins = is_max ? ordered(a) > ordered(b) : ordered(a) < ordered(b);
        const u64 number = a_wins ? a : b;
        return is_nan(a) ? (is_nan(b) ? b | quiet_bit_f64 : b) : is_nan(b) ? a : number;
    }
};

template <bool ftz>
TILEPATH_BODY u32 flush_if(u32 bits) {
    return ftz ? flush(bits) : bits;
}

template <bool is_max, bool nan, bool xorsign_abs, bool ftz>
struct MinMax2 {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const {
        a = flush_if<ftz>(a), b = flush_if<ftz>(b);
        if (!xorsign_abs) return min_max_f32<is_max, nan>(a, b);
        const u32 result = min_max_f32<is_max, nan>(a & 0x7FFFFFFF, b & 0x7FFFFFFF);
        return is_nan(result) ? result : result | ((a ^ b) & 0x80000000);
    }
};

template <bool is_max, bool nan, bool abs, bool ftz>
struct MinMax3 {
    TILEPATH_BODY u32 operator()(u32 a, u32 b, u32 c) const {
        constexpr u32 kept = abs ? 0x7FFFFFFF : ~0u;
        a = flush_if<ftz>(a) & kept, b = flush_if<ftz>(b) & kept, c = flush_if<ftz>(c) & kept;
        return min_max_f32<is_max, nan>(min_max_f32<is_max, nan>(a, b), c);
    }
};

template <bool is_max, bool nan, bool xorsign_abs>
LaneFunction min_max_2(bool ftz) {
    return ftz ? binary<u32, u32, u32, MinMax2<is_max, nan, xorsign_abs, true>>
               : binary<u32, u32, u32, MinMax2<is_max, nan, xorsign_abs, false>>;
}
template <bool is_max, bool nan, bool abs>
LaneFunction min_max_3(bool ftz) {
    return ftz ? ternary<u32, u32, u32, u32, MinMax3<is_max, nan, abs, true>>
               : ternary<u32, u32, u32, u32, MinMax3<is_max, nan, abs, false>>;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
