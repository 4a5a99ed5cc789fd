// Logic and shifts, PTX ISA 9.7.8.
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/widths.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using program::BoolOp;
using program::DataType;
using program::MicroOp;

struct And {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return T(a & b);
    }
};
struct Or {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return T(a | b);
    }
};
struct Xor {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return T(a ^ b);
    }
};
struct Not {
    template <class T>
    TILEPATH_BODY T operator()(T a) const {
        return T(~a);
    }
};
struct CNot {
    template <class T>
    TILEPATH_BODY T operator()(T a) const {
        return T(a == 0);
    }
};

template <class F>
void on_predicates(const Decoded& op, Row*, LaneMask* predicates, LaneMask active) {
    write_mask(predicates[op.d], F{}(predicate_source(op, predicates, 1), predicate_source(op, predicates, 2)), active);
}

void not_predicate(const Decoded& op, Row*, LaneMask* predicates, LaneMask active) {
    write_mask(predicates[op.d], ~predicate_source(op, predicates, 1), active);
}

template <class F>
LaneFunction choose_logic(const MicroOp& op) {
    if (op.type == DataType::pred) return on_predicates<F>;
    return pick_width(op.type, {nullptr, binary<u16, u16, u16, F>, binary<u32, u32, u32, F>, binary<u64, u64, u64, F>});
}

/// Three levels of choice, by c, b and a, among the eight bits of the table.
struct Lut {
    u32 base[4], flip[4];  // for (a, b) = 00, 01, 10, 11: the value for c = 0, and whether c = 1 differs

    TILEPATH_BODY explicit Lut(u32 table) {
        for (int i = 0; i < 4; ++i) {
            const u32 low = 0u - (table >> (2 * i) & 1), high = 0u - (table >> (2 * i + 1) & 1);
            base[i] = low;
            flip[i] = low ^ high;
        }
    }
    TILEPATH_BODY u32 operator()(u32 a, u32 b, u32 c) const {
        u32 by_c[4];
        for (int i = 0; i < 4; ++i) by_c[i] = base[i] ^ (c & flip[i]);
        const u32 low = by_c[0] ^ (b & (by_c[0] ^ by_c[1]));
        const u32 high = by_c[2] ^ (b & (by_c[2] ^ by_c[3]));
        return low ^ (a & (low ^ high));
    }
};

void lop3(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    map<u32, u32, u32, u32>(op, rows, active, Lut(u32(op.op->immediate)));
}

/// p = (d != 0) BoolOp q, beside d.
void lop3_with_predicate(const Decoded& op, Row* rows, LaneMask* predicates, LaneMask active) {
    const Lut f(u32(op.op->immediate));
    const auto* a = lanes_of<u32>(rows, op.a);
    const auto* b = lanes_of<u32>(rows, op.b);
    const auto* c = lanes_of<u32>(rows, op.c);
    alignas(64) u32 result[warp_lanes], flags[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) result[i] = f(a[i], b[i], c[i]);
    for (int i = 0; i < warp_lanes; ++i) flags[i] = result[i] != 0 ? ~0u : 0;
    write_lanes(rows, op.d, result, active);
    write_mask(predicates[op.places[1]], combine(op.op->bool_op, mask_of(flags), predicate_source(op, predicates, 5)),
               active);
}

// Amounts of the width or more shift everything out.
struct ShiftLeft {
    template <class T>
    TILEPATH_BODY T operator()(T a, u32 b) const {
        constexpr u32 bits = sizeof(T) * 8;
        using Wide = Stored<T>;
        return b < bits ? T(Wide(a) << (b & (bits - 1))) : T(0);
    }
};

struct ShiftRight {
    template <class T>
    TILEPATH_BODY T operator()(T a, u32 b) const {
        constexpr u32 bits = sizeof(T) * 8;
        if constexpr (std::is_signed_v<T>) return T(a >> (b < bits ? b : bits - 1));
        return b < bits ? T(a >> (b & (bits - 1))) : T(0);
    }
};

/// The upper (left) or lower (right) word of b:a shifted by c.
template <bool right, bool clamp>
struct FunnelShift {
    TILEPATH_BODY u32 operator()(u32 a, u32 b, u32 c) const {
        const u32 n = clamp ? (c < 32 ? c : 32) : c & 31;
        const u64 both = u64(b) << 32 | a;
        return right ? u32(both >> n) : u32((both << n) >> 32);
    }
};

template <class F>
constexpr LaneFunction funnel = ternary<u32, u32, u32, u32, F>;

}  // namespace

LaneFunction choose_and_(const MicroOp& op) { return choose_logic<And>(op); }
LaneFunction choose_or_(const MicroOp& op) { return choose_logic<Or>(op); }
LaneFunction choose_xor_(const MicroOp& op) { return choose_logic<Xor>(op); }

LaneFunction choose_not_(const MicroOp& op) {
    if (op.type == DataType::pred) return not_predicate;
    return pick_width(op.type, {nullptr, unary<u16, u16, Not>, unary<u32, u32, Not>, unary<u64, u64, Not>});
}

LaneFunction choose_cnot(const MicroOp& op) {
    return pick_width(op.type, {nullptr, unary<u16, u16, CNot>, unary<u32, u32, CNot>, unary<u64, u64, CNot>});
}

LaneFunction choose_lop3(const MicroOp& op) { return op.bool_op == BoolOp::none ? lop3 : lop3_with_predicate; }

LaneFunction choose_shl(const MicroOp& op) {
    return pick_width(op.type, {nullptr, binary<u16, u16, u32, ShiftLeft>, binary<u32, u32, u32, ShiftLeft>,
                                binary<u64, u64, u32, ShiftLeft>});
}

LaneFunction choose_shr(const MicroOp& op) {
    if (op.type == DataType::s16) return binary<s16, s16, u32, ShiftRight>;
    if (op.type == DataType::s32) return binary<s32, s32, u32, ShiftRight>;
    if (op.type == DataType::s64) return binary<s64, s64, u32, ShiftRight>;
    return pick_width(op.type, {nullptr, binary<u16, u16, u32, ShiftRight>, binary<u32, u32, u32, ShiftRight>,
                                binary<u64, u64, u32, ShiftRight>});
}

LaneFunction choose_shf(const MicroOp& op) {
    const bool right = (op.variant & 1) != 0, clamp = (op.variant & 2) != 0;
    if (right) return clamp ? funnel<FunnelShift<true, true>> : funnel<FunnelShift<true, false>>;
    return clamp ? funnel<FunnelShift<false, true>> : funnel<FunnelShift<false, false>>;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
