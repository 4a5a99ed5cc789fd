// f16 and bf16 arithmetic, alone and in pairs, PTX ISA 9.7.4: each result rounded once, to nearest even.
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/half_lanes.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using program::DataType;
using program::MicroOp;

enum class Clamp { none, sat, relu };

/// What .sat and .relu make of a result's bits. NaN: +0 for .sat, canonical for .relu.
template <class Format, Clamp clamp>
TILEPATH_BODY u32 clamped(u32 bits) {
    const u32 infinity = Format::write(__builtin_inff()), one = Format::write(1.0f);
    const bool negative = (bits & 0x8000) != 0, nan = (bits & 0x7FFF) > infinity;
    if (clamp == Clamp::none) return bits;
    if (clamp == Clamp::relu) return negative && !nan ? 0 : bits;
    return negative || nan ? 0 : bits < one ? bits : one;
}

template <class Format>
struct AddHalf {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const { return Format::write(Format::read(a) + Format::read(b)); }
};
template <class Format>
struct SubHalf {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const { return Format::write(Format::read(a) - Format::read(b)); }
};
template <class Format>
struct MulHalf {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const { return Format::write(Format::read(a) * Format::read(b)); }
};
template <class Format>
struct FmaHalf {
    TILEPATH_BODY u32 operator()(u32 a, u32 b, u32 c) const {
        return Format::write(fma_odd(Format::read(a), Format::read(b), Format::read(c), Format{}));
    }
};

template <class F, class Format, Clamp clamp>
struct Clamped {
    template <class... T>
    TILEPATH_BODY u32 operator()(T... operands) const {
        return clamped<Format, clamp>(F{}(operands...));
    }
};

/// One operation in both halves.
template <class F>
struct Paired {
    template <class... T>
    TILEPATH_BODY u32 operator()(T... operands) const {
        return F{}((operands & 0xFFFF)...) | F{}((operands >> 16)...) << 16;
    }
};

template <int sources, class F>
constexpr LaneFunction body = nullptr;
template <class F>
constexpr LaneFunction body<1, F> = unary<u32, u32, F>;
template <class F>
constexpr LaneFunction body<2, F> = binary<u32, u32, u32, F>;
template <class F>
constexpr LaneFunction body<3, F> = ternary<u32, u32, u32, u32, F>;

template <int sources, class F, class Format>
LaneFunction choose_clamp(const MicroOp& op, bool pair) {
    using Sat = Clamped<F, Format, Clamp::sat>;
    using Relu = Clamped<F, Format, Clamp::relu>;
    if (op.flags.sat) return pair ? body<sources, Paired<Sat>> : body<sources, Sat>;
    if (op.flags.relu) return pair ? body<sources, Paired<Relu>> : body<sources, Relu>;
    return pair ? body<sources, Paired<F>> : body<sources, F>;
}

template <int sources, template <class> class F>
LaneFunction arithmetic(const MicroOp& op) {
    if (op.rounding != number::Rounding::rn) return nullptr;
    const bool pair = op.type == DataType::f16x2 || op.type == DataType::bf16x2;
    if (op.type == DataType::bf16 || op.type == DataType::bf16x2)
        return choose_clamp<sources, F<BFloat>, BFloat>(op, pair);
    if (op.type != DataType::f16 && op.type != DataType::f16x2) return nullptr;
    return op.flags.ftz ? choose_clamp<sources, F<HalfFtz>, HalfFtz>(op, pair)
                        : choose_clamp<sources, F<Half>, Half>(op, pair);
}

template <u32 infinity>
TILEPATH_BODY bool half_is_nan(u32 bits) {
    return (bits & 0x7FFF) > infinity;
}
template <u32 infinity>
TILEPATH_BODY u32 half_canonical(u32 bits) {
    return half_is_nan<infinity>(bits) ? canonical_nan_half : bits;
}
/// f16 alone has .ftz.
template <u32 infinity, bool ftz>
TILEPATH_BODY u32 half_flush(u32 bits) {
    return ftz && (bits & 0x7C00) == 0 ? bits & 0x8000 : bits;
}

template <u32 infinity, bool ftz>
struct AbsHalf {
    TILEPATH_BODY u32 operator()(u32 a) const {
        return half_canonical<infinity>(half_flush<infinity, ftz>(a & 0xFFFF)) & 0x7FFF;
    }
};
template <u32 infinity, bool ftz>
struct NegHalf {
    TILEPATH_BODY u32 operator()(u32 a) const {
        return half_canonical<infinity>(half_flush<infinity, ftz>(a & 0xFFFF) ^ 0x8000);
    }
};

/// Order-preserving integers: sixteen bits as a signed word, a negative number's magnitude inverted.
TILEPATH_BODY s32 ordered_half(u32 bits) { return (bits & 0x8000) != 0 ? ~s32(bits & 0x7FFF) : s32(bits); }

/// -0 below +0; NaN as for f32 (PTX ISA 9.7.4.7).
template <bool is_max, bool nan, bool xorsign_abs, u32 infinity, bool ftz>
struct MinMaxHalf {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const {
        a = half_flush<infinity, ftz>(a & 0xFFFF), b = half_flush<infinity, ftz>(b & 0xFFFF);
        const u32 sign = xorsign_abs ? (a ^ b) & 0x8000 : 0;
        if (xorsign_abs) a &= 0x7FFF, b &= 0x7FFF;
        const s32 x = ordered_half(a), y = ordered_half(b);
        const u32 number = (is_max ? x > y : x < y) ? a : b;
        const bool a_nan = half_is_nan<infinity>(a), b_nan = half_is_nan<infinity>(b);
        if (nan) return a_nan || b_nan ? canonical_nan_half : number | sign;
        return a_nan && b_nan ? canonical_nan_half : (a_nan ? b : b_nan ? a : number) | sign;
    }
};

constexpr u32 f16_infinity = 0x7C00, bf16_infinity = 0x7F80;

template <template <u32, bool> class F>
LaneFunction sign_operation(const MicroOp& op) {
    if (op.type == DataType::bf16) return unary<u32, u32, F<bf16_infinity, false>>;
    if (op.type == DataType::bf16x2) return unary<u32, u32, Paired<F<bf16_infinity, false>>>;
    using Kept = F<f16_infinity, false>;
    using Flushed = F<f16_infinity, true>;
    if (op.type == DataType::f16) return op.flags.ftz ? unary<u32, u32, Flushed> : unary<u32, u32, Kept>;
    if (op.type != DataType::f16x2) return nullptr;
    return op.flags.ftz ? unary<u32, u32, Paired<Flushed>> : unary<u32, u32, Paired<Kept>>;
}

template <bool is_max, bool nan, bool xorsign_abs>
LaneFunction min_max_by_type(const MicroOp& op) {
    using BF = MinMaxHalf<is_max, nan, xorsign_abs, bf16_infinity, false>;
    using H = MinMaxHalf<is_max, nan, xorsign_abs, f16_infinity, false>;
    using HFtz = MinMaxHalf<is_max, nan, xorsign_abs, f16_infinity, true>;
    if (op.type == DataType::bf16) return body<2, BF>;
    if (op.type == DataType::bf16x2) return body<2, Paired<BF>>;
    if (op.type == DataType::f16) return op.flags.ftz ? body<2, HFtz> : body<2, H>;
    if (op.type != DataType::f16x2) return nullptr;
    return op.flags.ftz ? body<2, Paired<HFtz>> : body<2, Paired<H>>;
}

template <bool is_max>
LaneFunction min_max(const MicroOp& op) {
    if (op.flags.xorsign_abs)
        return op.flags.nan ? min_max_by_type<is_max, true, true>(op) : min_max_by_type<is_max, false, true>(op);
    return op.flags.nan ? min_max_by_type<is_max, true, false>(op) : min_max_by_type<is_max, false, false>(op);
}

}  // namespace

LaneFunction choose_half_add(const MicroOp& op) { return arithmetic<2, AddHalf>(op); }
LaneFunction choose_half_sub(const MicroOp& op) { return arithmetic<2, SubHalf>(op); }
LaneFunction choose_half_mul(const MicroOp& op) { return arithmetic<2, MulHalf>(op); }
LaneFunction choose_half_fma(const MicroOp& op) { return arithmetic<3, FmaHalf>(op); }
LaneFunction choose_half_abs(const MicroOp& op) { return sign_operation<AbsHalf>(op); }
LaneFunction choose_half_neg(const MicroOp& op) { return sign_operation<NegHalf>(op); }
LaneFunction choose_half_min(const MicroOp& op) { return min_max<false>(op); }
LaneFunction choose_half_max(const MicroOp& op) { return min_max<true>(op); }

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
