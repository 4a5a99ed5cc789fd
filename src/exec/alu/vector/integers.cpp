// Integer arithmetic: PTX ISA 9.7.1, 9.7.2 (carry chains), 9.7.18.2.3 (vabsdiff4).
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/integer_functions.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using program::DataType;
using program::MicroOp;
using program::MulHalf;

template <class F>
LaneFunction binary_integer(DataType type) {
    return pick(type, {{DataType::u16, binary<u16, u16, u16, F>},
                       {DataType::s16, binary<s16, s16, s16, F>},
                       {DataType::u32, binary<u32, u32, u32, F>},
                       {DataType::s32, binary<s32, s32, s32, F>},
                       {DataType::u64, binary<u64, u64, u64, F>},
                       {DataType::s64, binary<s64, s64, s64, F>}});
}

template <class F>
LaneFunction ternary_integer(DataType type) {
    return pick(type, {{DataType::u16, ternary<u16, u16, u16, u16, F>},
                       {DataType::s16, ternary<s16, s16, s16, s16, F>},
                       {DataType::u32, ternary<u32, u32, u32, u32, F>},
                       {DataType::s32, ternary<s32, s32, s32, s32, F>},
                       {DataType::u64, ternary<u64, u64, u64, u64, F>},
                       {DataType::s64, ternary<s64, s64, s64, s64, F>}});
}

/// Two halves of 16 bits, each by itself.
template <class T, class F>
struct Halves {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const {
        const u32 low = u16(F{}(T(a), T(b))), high = u16(F{}(T(a >> 16), T(b >> 16)));
        return high << 16 | low;
    }
};
template <class T, class F>
constexpr LaneFunction halves = binary<u32, u32, u32, Halves<T, F>>;

template <class F, class Relu>
LaneFunction min_max(const MicroOp& op) {
    if (op.type == DataType::u16x2) return halves<u16, F>;
    if (op.type == DataType::s16x2) return op.flags.relu ? halves<s16, Relu> : halves<s16, F>;
    if (op.flags.relu) return op.type == DataType::s32 ? binary<s32, s32, s32, Relu> : nullptr;
    return binary_integer<F>(op.type);
}

LaneFunction mul_wide(DataType type) {
    return pick(type, {{DataType::u16, binary<u32, u16, u16, MulWide<u32>>},
                       {DataType::s16, binary<s32, s16, s16, MulWide<s32>>},
                       {DataType::u32, binary<u64, u32, u32, MulWide<u64>>},
                       {DataType::s32, binary<s64, s32, s32, MulWide<s64>>}});
}

LaneFunction mad_wide(DataType type) {
    return pick(type, {{DataType::u16, ternary<u32, u16, u16, u32, MadWide<u32>>},
                       {DataType::s16, ternary<s32, s16, s16, s32, MadWide<s32>>},
                       {DataType::u32, ternary<u64, u32, u32, u64, MadWide<u64>>},
                       {DataType::s32, ternary<s64, s32, s32, s64, MadWide<s64>>}});
}

template <class F>
LaneFunction binary_24(DataType type) {
    return pick(type, {{DataType::u32, binary<u32, u32, u32, F>}, {DataType::s32, binary<s32, s32, s32, F>}});
}
template <class F>
LaneFunction ternary_24(DataType type) {
    return pick(type,
                {{DataType::u32, ternary<u32, u32, u32, u32, F>}, {DataType::s32, ternary<s32, s32, s32, s32, F>}});
}

/// d = x + y + carry, the carry out into CC.CF, which is the last destination and the last source. Subtraction adds the
/// complement and a carry of one, so that CC.CF is set where nothing was borrowed: the manual calls it the borrow, but
/// what an addc reads after a sub.cc is this carry (recorded on an H200).
template <class T, class F>
void carry_chain(const Decoded& op, Row* rows, LaneMask* predicates, LaneMask active) {
    const program::Flags flags = op.op->flags;
    const int last = op.op->destinations + op.op->sources - 1;
    const LaneMask in = flags.carry_in ? predicate_source(op, predicates, last) : F::subtracts ? all_lanes : 0;
    const auto* a = lanes_of<T>(rows, op.a);
    const auto* b = lanes_of<T>(rows, op.b);
    const auto* c = lanes_of<T>(rows, F::sources == 3 ? op.c : op.b);
    alignas(64) T result[warp_lanes];
    alignas(64) u32 out[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) {
        const T first = F::first(a[i], b[i]), second = F::second(b[i], c[i]);
        const T sum = T(first + second);
        result[i] = T(sum + ((in & lane_bit[i]) != 0 ? 1 : 0));
        out[i] = sum < first || result[i] < sum ? ~0u : 0;
    }
    write_lanes(rows, op.d, result, active);
    if (flags.carry_out) write_mask(predicates[op.places[1]], mask_of(out), active);
}

template <bool subtract>
struct CarryPair {
    static constexpr int sources = 2;
    static constexpr bool subtracts = subtract;
    template <class T>
    TILEPATH_BODY static T first(T a, T) {
        return a;
    }
    template <class T>
    TILEPATH_BODY static T second(T b, T) {
        return subtract ? T(~b) : b;
    }
};

template <class Signed, bool high>
struct CarryProduct {
    static constexpr int sources = 3;
    static constexpr bool subtracts = false;
    template <class T>
    TILEPATH_BODY static T first(T a, T b) {
        return high ? T(MulHi{}(Signed(a), Signed(b))) : T(a * b);
    }
    template <class T>
    TILEPATH_BODY static T second(T, T c) {
        return c;
    }
};

template <class F>
LaneFunction carry_pair(DataType type) {
    return pick(type, {{DataType::u32, carry_chain<u32, F>},
                       {DataType::s32, carry_chain<u32, F>},
                       {DataType::u64, carry_chain<u64, F>},
                       {DataType::s64, carry_chain<u64, F>}});
}

template <bool high>
LaneFunction carry_product(DataType type) {
    return pick(type, {{DataType::u32, carry_chain<u32, CarryProduct<u32, high>>},
                       {DataType::s32, carry_chain<u32, CarryProduct<s32, high>>},
                       {DataType::u64, carry_chain<u64, CarryProduct<u64, high>>},
                       {DataType::s64, carry_chain<u64, CarryProduct<s64, high>>}});
}

template <template <class, class> class F>
LaneFunction by_signs(bool a_signed, bool b_signed) {
    if (a_signed) return b_signed ? ternary<u32, u32, u32, u32, F<s32, s32>> : ternary<u32, u32, u32, u32, F<s32, u32>>;
    return b_signed ? ternary<u32, u32, u32, u32, F<u32, s32>> : ternary<u32, u32, u32, u32, F<u32, u32>>;
}

template <template <class, class> class F>
LaneFunction by_types(const MicroOp& op) {
    return by_signs<F>(op.type == DataType::s32, op.source_type == DataType::s32);
}

}  // namespace

LaneFunction choose_integer_add(const MicroOp& op) {
    if (op.flags.sat) return op.type == DataType::s32 ? binary<s32, s32, s32, AddSat> : nullptr;
    if (op.type == DataType::u16x2 || op.type == DataType::s16x2) return halves<u16, Add>;
    return binary_integer<Add>(op.type);
}

LaneFunction choose_integer_sub(const MicroOp& op) {
    if (op.flags.sat) return op.type == DataType::s32 ? binary<s32, s32, s32, SubSat> : nullptr;
    return binary_integer<Sub>(op.type);
}

LaneFunction choose_integer_mul(const MicroOp& op) {
    switch (MulHalf(op.variant)) {
        case MulHalf::lo: return binary_integer<MulLo>(op.type);
        case MulHalf::hi: return binary_integer<MulHi>(op.type);
        case MulHalf::wide: return mul_wide(op.type);
    }
    return nullptr;
}

LaneFunction choose_mad(const MicroOp& op) {
    if (op.flags.sat)
        return op.type == DataType::s32 && MulHalf(op.variant) == MulHalf::hi ? ternary<s32, s32, s32, s32, MadHiSat>
                                                                              : nullptr;
    switch (MulHalf(op.variant)) {
        case MulHalf::lo: return ternary_integer<Mad<MulLo>>(op.type);
        case MulHalf::hi: return ternary_integer<Mad<MulHi>>(op.type);
        case MulHalf::wide: return mad_wide(op.type);
    }
    return nullptr;
}

LaneFunction choose_mul24(const MicroOp& op) {
    return MulHalf(op.variant) == MulHalf::hi ? binary_24<Mul24<true>>(op.type) : binary_24<Mul24<false>>(op.type);
}

LaneFunction choose_mad24(const MicroOp& op) {
    if (op.flags.sat)
        return op.type == DataType::s32 && MulHalf(op.variant) == MulHalf::hi ? ternary<s32, s32, s32, s32, Mad24HiSat>
                                                                              : nullptr;
    return MulHalf(op.variant) == MulHalf::hi ? ternary_24<Mad<Mul24<true>>>(op.type)
                                              : ternary_24<Mad<Mul24<false>>>(op.type);
}

LaneFunction choose_integer_div(const MicroOp& op) { return binary_integer<Div>(op.type); }
LaneFunction choose_rem(const MicroOp& op) { return binary_integer<Rem>(op.type); }
LaneFunction choose_sad(const MicroOp& op) { return ternary_integer<Sad>(op.type); }

LaneFunction choose_integer_abs(const MicroOp& op) {
    return pick(op.type, {{DataType::s16, unary<s16, s16, Abs>},
                          {DataType::s32, unary<s32, s32, Abs>},
                          {DataType::s64, unary<s64, s64, Abs>}});
}

LaneFunction choose_integer_neg(const MicroOp& op) {
    return pick(op.type, {{DataType::s16, unary<s16, s16, Neg>},
                          {DataType::s32, unary<s32, s32, Neg>},
                          {DataType::s64, unary<s64, s64, Neg>}});
}

LaneFunction choose_integer_min(const MicroOp& op) { return min_max<Min, Relu<Min>>(op); }
LaneFunction choose_integer_max(const MicroOp& op) { return min_max<Max, Relu<Max>>(op); }
LaneFunction choose_add_carry(const MicroOp& op) { return carry_pair<CarryPair<false>>(op.type); }
LaneFunction choose_sub_carry(const MicroOp& op) { return carry_pair<CarryPair<true>>(op.type); }

LaneFunction choose_mad_carry(const MicroOp& op) {
    return MulHalf(op.variant) == MulHalf::hi ? carry_product<true>(op.type) : carry_product<false>(op.type);
}

LaneFunction choose_dp4a(const MicroOp& op) { return by_types<Dp4a>(op); }
LaneFunction choose_dp2a(const MicroOp& op) { return op.variant == 1 ? by_types<Dp2aHi>(op) : by_types<Dp2aLo>(op); }

LaneFunction choose_vabsdiff4(const MicroOp& op) {
    const bool a_signed = op.source_type == DataType::s32, b_signed = !op.flags.unsigned_b;
    return op.variant == 1 ? by_signs<AbsDiff4Add>(a_signed, b_signed) : by_signs<AbsDiff4>(a_signed, b_signed);
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
