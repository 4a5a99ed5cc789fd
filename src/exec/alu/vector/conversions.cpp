// cvt, PTX ISA 9.7.9.21: vector code for what kernels use much; number::convert (modelled.cpp) has the rest.
#include "exec/alu/modelled.h"
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/conversion_functions.h"
#include "exec/alu/vector/small_floats.h"
#include "exec/alu/vector/widths.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using number::Rounding;
using program::DataType;
using program::Flags;
using program::MicroOp;

template <class D>
struct To {
    template <class S>
    TILEPATH_BODY D operator()(S value) const {
        return D(value);
    }
};
struct Same {
    template <class T>
    TILEPATH_BODY T operator()(T value) const {
        return value;
    }
};

template <class S>
LaneFunction extend_or_chop(DataType to) {
    return pick_width(to,
                      {unary<u8, S, To<u8>>, unary<u16, S, To<u16>>, unary<u32, S, To<u32>>, unary<u64, S, To<u64>>});
}

LaneFunction integer_to_integer(const MicroOp& op) {
    if (op.flags.sat) return choose_modelled_cvt(op);
    switch (op.source_type) {
        case DataType::u8: return extend_or_chop<u8>(op.type);
        case DataType::s8: return extend_or_chop<s8>(op.type);
        case DataType::u16: return extend_or_chop<u16>(op.type);
        case DataType::s16: return extend_or_chop<s16>(op.type);
        case DataType::u32: return extend_or_chop<u32>(op.type);
        case DataType::s32: return extend_or_chop<s32>(op.type);
        case DataType::u64: return extend_or_chop<u64>(op.type);
        case DataType::s64: return extend_or_chop<s64>(op.type);
        default: return nullptr;  // cvt has no other integers
    }
}

/// To f32 and f64; to f16 and bf16 through an f32 rounded to odd.
template <class S>
LaneFunction from_integer(DataType to) {
    if (to == DataType::f32) return unary<float, S, To<float>>;
    if (to == DataType::f64) return unary<double, S, To<double>>;
    if constexpr (sizeof(S) <= 4) {
        if (to == DataType::f16) return unary<Half, S, NarrowOdd>;
        if (to == DataType::bf16) return unary<BFloat, S, NarrowOdd>;
    }
    return nullptr;
}

LaneFunction integer_to_float(const MicroOp& op) {
    if (op.flags.sat || op.rounding != Rounding::rn) return nullptr;
    switch (op.source_type) {
        case DataType::u8: return from_integer<u8>(op.type);
        case DataType::s8: return from_integer<s8>(op.type);
        case DataType::u16: return from_integer<u16>(op.type);
        case DataType::s16: return from_integer<s16>(op.type);
        case DataType::u32: return from_integer<u32>(op.type);
        case DataType::s32: return from_integer<s32>(op.type);
        case DataType::u64: return from_integer<u64>(op.type);
        case DataType::s64: return from_integer<s64>(op.type);
        default: return nullptr;
    }
}

/// Up to 32 bits, in f32 where the source is no f64.
template <class S, class D, Rounding rounding>
void float_to_integer(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    using Real = Value<S>;
    const IntegerRange<Real> range = range_of<Real>(op.op->type);
    const auto* a = lanes_of<S>(rows, op.a);
    alignas(64) u32 result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) {
        const Real value = Lane<S>::read(a[i]);
        const Real clamped = value < range.low ? range.low : value > range.high ? range.high : value;
        const Real number = value != value ? Real(0) : clamped;
        const u32 word =
            to_word(rounding == Rounding::rz ? number : round_whole<rounding>(number), D{});  // it truncates
        result[i] = (value != value ? range.nan : value >= Real(word_limit<D>) ? range.largest : word) & range.mask;
    }
    write_lanes(rows, op.d, result, active);
}

template <class S, class D, Rounding rounding>
void float_to_long(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    map<D, S>(op, rows, active, [](Value<S> value) { return to_long<D>(round_whole<rounding>(double(value))); });
}

template <class S, Rounding rounding>
LaneFunction to_integer(DataType to) {
    switch (to) {
        case DataType::u64: return float_to_long<S, u64, rounding>;
        case DataType::s64: return float_to_long<S, s64, rounding>;
        case DataType::u32: return float_to_integer<S, u32, rounding>;
        case DataType::s32:
        case DataType::s16:
        case DataType::u16:
        case DataType::s8:
        case DataType::u8: return float_to_integer<S, s32, rounding>;
        default: return nullptr;
    }
}

template <class S>
LaneFunction to_integer(DataType to, Rounding rounding) {
    switch (rounding) {
        case Rounding::rn: return to_integer<S, Rounding::rn>(to);
        case Rounding::rz: return to_integer<S, Rounding::rz>(to);
        case Rounding::rm: return to_integer<S, Rounding::rm>(to);
        case Rounding::rp: return to_integer<S, Rounding::rp>(to);
        case Rounding::rna:
        case Rounding::rs: return nullptr;
    }
    return nullptr;
}

LaneFunction float_to_integer(const MicroOp& op) {
    switch (op.source_type) {
        case DataType::f16: return to_integer<Half>(op.type, op.rounding);
        case DataType::bf16: return to_integer<BFloat>(op.type, op.rounding);
        case DataType::f64: return to_integer<double>(op.type, op.rounding);
        case DataType::f32:
            return op.flags.ftz ? to_integer<F32Ftz>(op.type, op.rounding) : to_integer<float>(op.type, op.rounding);
        default: return nullptr;
    }
}

/// .rni .rzi .rmi .rpi to the same floating type.
template <Rounding rounding>
LaneFunction to_integral(const MicroOp& op) {
    if (op.type == DataType::f32)
        return op.flags.ftz ? unary<F32Ftz, F32Ftz, RoundIntegral<rounding>>
                            : unary<float, float, RoundIntegral<rounding>>;
    if (op.type == DataType::f64) return unary<double, double, RoundIntegral<rounding>>;
    if (op.type == DataType::f16) return unary<Half, Half, RoundIntegral<rounding>>;
    return op.type == DataType::bf16 ? unary<BFloat, BFloat, RoundIntegral<rounding>> : nullptr;
}

LaneFunction to_integral(const MicroOp& op) {
    if (op.flags.sat || op.type != op.source_type) return nullptr;
    switch (op.rounding) {
        case Rounding::rn: return to_integral<Rounding::rn>(op);
        case Rounding::rz: return to_integral<Rounding::rz>(op);
        case Rounding::rm: return to_integral<Rounding::rm>(op);
        case Rounding::rp: return to_integral<Rounding::rp>(op);
        case Rounding::rna:
        case Rounding::rs: return nullptr;
    }
    return nullptr;
}

bool is_floating(DataType type) { return kind_of(type) != NumberKind::integer; }

bool converts(const MicroOp& op, DataType to, DataType from) { return op.type == to && op.source_type == from; }

template <class Element, bool relu>
constexpr LaneFunction pack = binary<u32, u32, u32, PackF32<Element, relu>>;

/// To and from pairs of 4- to 8-bit elements: f32, f16x2 to them, they to f16x2.
template <class Small>
LaneFunction with_small(const MicroOp& op, DataType small) {
    const bool relu = op.flags.relu;
    if (op.rounding != Rounding::rn) return nullptr;
    if (op.source_type == small) {
        if (op.type != DataType::f16x2) return nullptr;
        return relu ? unary<u32, u32, ToHalves<Small, true>> : unary<u32, u32, ToHalves<Small, false>>;
    }
    if (!op.flags.satfinite) return nullptr;
    if (op.source_type == DataType::f32) return relu ? pack<Small, true> : pack<Small, false>;
    if (op.source_type != DataType::f16x2) return nullptr;
    return relu ? unary<u32, u32, FromHalves<Small, true>> : unary<u32, u32, FromHalves<Small, false>>;
}

LaneFunction with_small(const MicroOp& op) {
    for (const DataType type : {op.type, op.source_type}) {
        if (type == DataType::e4m3x2) return with_small<E4m3>(op, type);
        if (type == DataType::e5m2x2) return with_small<E5m2>(op, type);
        if (type == DataType::e3m2x2) return with_small<E3m2>(op, type);
        if (type == DataType::e2m3x2) return with_small<E2m3>(op, type);
        if (type == DataType::e2m1x2) return with_small<E2m1>(op, type);
    }
    return nullptr;
}

LaneFunction float_to_float(const MicroOp& op) {
    const Flags flags = op.flags;
    if (flags.integer_rounding) return to_integral(op);
    if (const LaneFunction body = with_small(op)) return body;
    if (converts(op, DataType::f32, DataType::f32) && flags.sat)
        return flags.ftz ? unary<F32Ftz, F32Ftz, Saturated<Same>> : unary<float, float, Saturated<Same>>;
    if (converts(op, DataType::tf32, DataType::f32) && op.rounding == Rounding::rna && !flags.satfinite && !flags.relu)
        return unary<u32, u32, NearestAwayTf32>;
    if (flags.sat || flags.satfinite || op.rounding != Rounding::rn) return nullptr;
    const bool relu = flags.relu;
    if (converts(op, DataType::f16x2, DataType::f32)) return relu ? pack<HalfElement, true> : pack<HalfElement, false>;
    if (converts(op, DataType::bf16x2, DataType::f32))
        return relu ? pack<BFloatElement, true> : pack<BFloatElement, false>;
    // .ftz does nothing for an f16 result (recorded on an H200).
    if (converts(op, DataType::f16, DataType::f32)) return relu ? unary<Half, float, Relu> : unary<Half, float, Same>;
    if (relu) return nullptr;
    if (converts(op, DataType::bf16, DataType::f32))
        return flags.ftz ? unary<BFloat, F32Ftz, Same> : unary<BFloat, float, Same>;
    if (converts(op, DataType::f32, DataType::f16))
        return flags.ftz ? unary<F32Ftz, Half, Same> : unary<float, Half, Same>;
    if (flags.ftz) return nullptr;
    if (converts(op, DataType::f32, DataType::bf16)) return unary<u32, u16, UpperHalf>;
    if (converts(op, DataType::bf16, DataType::f16)) return unary<BFloat, Half, Same>;
    if (converts(op, DataType::f16, DataType::bf16)) return unary<Half, BFloat, Same>;
    if (converts(op, DataType::f64, DataType::f32)) return unary<u64, float, WidenF32>;
    return converts(op, DataType::f32, DataType::f64) ? unary<u32, double, NarrowF64> : nullptr;
}

LaneFunction fast_cvt(const MicroOp& op) {
    const bool from_float = is_floating(op.source_type), to_float = is_floating(op.type);
    if (!from_float && !to_float) return integer_to_integer(op);
    if (!from_float) return integer_to_float(op);
    return to_float ? float_to_float(op) : float_to_integer(op);
}

/// Two s32 clamped to integers of `vector` bits, signed if `variant` is 1. Below 16 bits c moves up to make room for
/// them.
void pack_clamped(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    const int bits = op.op->vector;
    const bool is_signed = op.op->variant == 1;
    const s32 low = is_signed ? -(1 << (bits - 1)) : 0, high = (1 << (is_signed ? bits - 1 : bits)) - 1;
    const u32 mask = (1u << bits) - 1;
    const auto* a = lanes_of<s32>(rows, op.a);
    const auto* b = lanes_of<s32>(rows, op.b);
    const auto* c = lanes_of<u32>(rows, op.op->sources == 3 ? op.c : op.b);
    alignas(64) u32 result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) {
        const s32 x = s32(a[i]), y = s32(b[i]);
        const u32 first = u32(x < low ? low : x > high ? high : x) & mask;
        const u32 second = u32(y < low ? low : y > high ? high : y) & mask;
        const u32 above = bits == 16 ? 0 : c[i] << (2 * bits & 31);
        result[i] = above | first << bits | second;
    }
    write_lanes(rows, op.d, result, active);
}

}  // namespace

LaneFunction choose_cvt(const MicroOp& op) {
    const LaneFunction fast = fast_cvt(op);
    return fast != nullptr ? fast : choose_modelled_cvt(op);
}

LaneFunction choose_cvt_pack(const MicroOp& op) {
    const bool has_c = op.sources == 3;
    if (op.vector == 16) return has_c ? nullptr : pack_clamped;
    return has_c && (op.vector == 2 || op.vector == 4 || op.vector == 8) ? pack_clamped : nullptr;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
