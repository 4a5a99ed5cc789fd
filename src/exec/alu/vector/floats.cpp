// f32 and f64 arithmetic, PTX ISA 9.7.3. The rounding modes other than to nearest are in rounded.cpp.
#include "exec/alu/approximated.h"
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/float_functions.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using number::Rounding;
using program::DataType;
using program::MicroOp;
using program::TestProperty;

template <class F, class T>
constexpr LaneFunction float_binary = binary<T, T, T, F>;
template <class F, class T>
constexpr LaneFunction float_ternary = ternary<T, T, T, T, F>;

/// One operation on both f32 of a register.
template <class F, class T>
struct Pair {
    TILEPATH_BODY static u64 both(u32 low, u32 high) { return u64(high) << 32 | low; }
    template <class... Bits>
    TILEPATH_BODY u64 operator()(Bits... operands) const {
        return both(Lane<T>::write(F{}(Lane<T>::read(u32(operands))...)),
                    Lane<T>::write(F{}(Lane<T>::read(u32(operands >> 32))...)));
    }
};

/// `Tiny` is the operation as .ftz wants it, where that may differ from flushing its rounded result.
template <class F, class Tiny>
LaneFunction binary_float(const MicroOp& op) {
    const bool ftz = op.flags.ftz, sat = op.flags.sat;
    if (op.rounding != Rounding::rn) return choose_rounded(op);
    if (op.type == DataType::f32 && sat)
        return ftz ? binary_flushed<Saturated<F>, Saturated<Tiny>> : float_binary<Saturated<F>, float>;
    if (op.type == DataType::f32) return ftz ? binary_flushed<F, Tiny> : float_binary<F, float>;
    if (op.type == DataType::f64) return float_binary<F, double>;
    if (op.type != DataType::f32x2) return nullptr;
    return ftz ? binary<u64, u64, u64, Pair<Tiny, F32Ftz>> : binary<u64, u64, u64, Pair<F, float>>;
}

/// A NaN is quieted and keeps its sign.
struct AbsF64 {
    TILEPATH_BODY u64 operator()(u64 a) const { return is_nan(a) ? a | quiet_bit_f64 : a & 0x7FFFFFFFFFFFFFFF; }
};
struct NegF64 {
    TILEPATH_BODY u64 operator()(u64 a) const { return is_nan(a) ? a | quiet_bit_f64 : a ^ 0x8000000000000000; }
};
struct AbsF32 {
    TILEPATH_BODY float operator()(float a) const { return as_float(bits_of(a) & 0x7FFFFFFF); }
};
struct NegF32 {
    TILEPATH_BODY float operator()(float a) const { return as_float(bits_of(a) ^ 0x80000000); }
};

template <bool is_max>
LaneFunction min_max(const MicroOp& op) {
    if (op.type == DataType::f64) return binary<u64, u64, u64, MinMaxF64<is_max>>;
    if (op.type != DataType::f32) return nullptr;
    const bool nan = op.flags.nan, ftz = op.flags.ftz;
    if (op.sources == 3) {
        if (op.flags.abs) return nan ? min_max_3<is_max, true, true>(ftz) : min_max_3<is_max, false, true>(ftz);
        return nan ? min_max_3<is_max, true, false>(ftz) : min_max_3<is_max, false, false>(ftz);
    }
    if (op.flags.xorsign_abs) return nan ? min_max_2<is_max, true, true>(ftz) : min_max_2<is_max, false, true>(ftz);
    return nan ? min_max_2<is_max, true, false>(ftz) : min_max_2<is_max, false, false>(ftz);
}

struct CopySign {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const { return (a & 0x80000000) | (b & 0x7FFFFFFF); }
    TILEPATH_BODY u64 operator()(u64 a, u64 b) const { return (a & 0x8000000000000000) | (b & 0x7FFFFFFFFFFFFFFF); }
};

/// Zeros count as normal.
template <class T, T infinity, T least_normal, TestProperty property>
bool has_property(T bits) {
    const T magnitude = bits & (T(~T(0)) >> 1);
    switch (property) {
        case TestProperty::finite: return magnitude < infinity;
        case TestProperty::infinite: return magnitude == infinity;
        case TestProperty::number: return magnitude <= infinity;
        case TestProperty::notanumber: return magnitude > infinity;
        case TestProperty::normal: return magnitude == 0 || (magnitude >= least_normal && magnitude < infinity);
        case TestProperty::subnormal: return magnitude != 0 && magnitude < least_normal;
    }
}

template <TestProperty property, class T>
void testp(const Decoded& op, Row* rows, LaneMask* predicates, LaneMask active) {
    constexpr T infinity = sizeof(T) == 8 ? T(0x7FF0000000000000) : T(0x7F800000);
    constexpr T least_normal = sizeof(T) == 8 ? T(0x0010000000000000) : T(0x00800000);
    const auto* a = lanes_of<T>(rows, op.a);
    alignas(64) u32 flags[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) flags[i] = has_property<T, infinity, least_normal, property>(a[i]) ? ~0u : 0;
    write_mask(predicates[op.d], mask_of(flags), active);
}

template <class T>
LaneFunction choose_test(TestProperty property) {
    switch (property) {
        case TestProperty::finite: return testp<TestProperty::finite, T>;
        case TestProperty::infinite: return testp<TestProperty::infinite, T>;
        case TestProperty::number: return testp<TestProperty::number, T>;
        case TestProperty::notanumber: return testp<TestProperty::notanumber, T>;
        case TestProperty::normal: return testp<TestProperty::normal, T>;
        case TestProperty::subnormal: return testp<TestProperty::subnormal, T>;
    }
    return nullptr;
}

}  // namespace

LaneFunction choose_float_add(const MicroOp& op) { return binary_float<AddFloat, AddFloat>(op); }
LaneFunction choose_float_sub(const MicroOp& op) { return binary_float<SubFloat, SubFloat>(op); }
LaneFunction choose_float_mul(const MicroOp& op) { return binary_float<MulFloat, MulTiny>(op); }
LaneFunction choose_float_div(const MicroOp& op) {
    if (LaneFunction approximated = choose_approximated(op)) return approximated;
    return binary_float<DivFloat, DivTiny>(op);
}

LaneFunction choose_float_fma(const MicroOp& op) {
    const bool ftz = op.flags.ftz, sat = op.flags.sat;
    if (op.rounding != Rounding::rn) return choose_rounded(op);
    if (op.type == DataType::f32 && sat)
        return ftz ? ternary_flushed<Saturated<FmaFloat>, Saturated<FmaTiny>>
                   : float_ternary<Saturated<FmaFloat>, float>;
    if (op.type == DataType::f32) return ftz ? ternary_flushed<FmaFloat, FmaTiny> : float_ternary<FmaFloat, float>;
    if (op.type == DataType::f64) return float_ternary<FmaFloat, double>;
    if (op.type != DataType::f32x2) return nullptr;
    return ftz ? ternary<u64, u64, u64, u64, Pair<FmaTiny, F32Ftz>>
               : ternary<u64, u64, u64, u64, Pair<FmaFloat, float>>;
}

LaneFunction choose_float_abs(const MicroOp& op) {
    if (op.type == DataType::f64) return unary<u64, u64, AbsF64>;
    if (op.type != DataType::f32) return nullptr;
    return op.flags.ftz ? unary<F32Ftz, F32Ftz, AbsF32> : unary<float, float, AbsF32>;
}

LaneFunction choose_float_neg(const MicroOp& op) {
    if (op.type == DataType::f64) return unary<u64, u64, NegF64>;
    if (op.type != DataType::f32) return nullptr;
    return op.flags.ftz ? unary<F32Ftz, F32Ftz, NegF32> : unary<float, float, NegF32>;
}

LaneFunction choose_float_min(const MicroOp& op) { return min_max<false>(op); }
LaneFunction choose_float_max(const MicroOp& op) { return min_max<true>(op); }

LaneFunction choose_copysign(const MicroOp& op) {
    return pick(op.type,
                {{DataType::f32, binary<u32, u32, u32, CopySign>}, {DataType::f64, binary<u64, u64, u64, CopySign>}});
}

LaneFunction choose_testp(const MicroOp& op) {
    if (op.type == DataType::f32) return choose_test<u32>(TestProperty(op.variant));
    return op.type == DataType::f64 ? choose_test<u64>(TestProperty(op.variant)) : nullptr;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
