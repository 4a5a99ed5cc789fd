// Data movement: PTX ISA 9.7.9.3 (mov), 9.7.6.3 (selp), 9.7.6.4 (slct), 9.7.9.4 (mov that packs), 9.7.9.7 (prmt).
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/widths.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using program::DataType;
using program::MicroOp;

struct Same {
    template <class T>
    TILEPATH_BODY T operator()(T a) const {
        return a;
    }
};

void mov_predicate(const Decoded& op, Row*, LaneMask* predicates, LaneMask active) {
    write_mask(predicates[op.d], predicate_source(op, predicates, 1), active);
}

template <class T>
void select(const Decoded& op, Row* rows, LaneMask* predicates, LaneMask active) {
    const LaneMask p = predicate_source(op, predicates, 3);
    const auto* a = lanes_of<T>(rows, op.a);
    const auto* b = lanes_of<T>(rows, op.b);
    alignas(64) Stored<T> result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) result[i] = (p & lane_bit[i]) != 0 ? a[i] : b[i];
    write_lanes(rows, op.d, result, active);
}

struct ByIntegerSign {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b, s32 c) const {
        return c >= 0 ? a : b;
    }
};

/// c's bits: a negative zero counts as zero, NaN picks b; with .ftz a subnormal counts as zero.
template <bool ftz>
struct ByFloatSign {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b, u32 c) const {
        const u32 magnitude = c & 0x7FFFFFFF;
        const bool zero = ftz ? magnitude < 0x00800000 : magnitude == 0;
        return zero || c <= 0x7F800000 ? a : b;
    }
};

template <class Choice>
LaneFunction slct_by(DataType type) {
    return pick_width(type, {nullptr, ternary<u16, u16, u16, u32, Choice>, ternary<u32, u32, u32, u32, Choice>,
                             ternary<u64, u64, u64, u32, Choice>});
}

// Packed registers in memory order: elements of a lane lie one after the other, low bits first.
template <class Whole, class Element>
void pack(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    constexpr int count = sizeof(Whole) / sizeof(Element);
    alignas(64) Stored<Whole> result[warp_lanes] = {};
    for (int e = 0; e < count; ++e) {
        const auto* a = lanes_of<Element>(rows, op.places[1 + e]);
        for (int i = 0; i < warp_lanes; ++i)
            result[i] |= Stored<Whole>(Whole(Whole(std::make_unsigned_t<Element>(Lane<Element>::read(a[i])))
                                             << (e * int(sizeof(Element)) * 8)));
    }
    write_lanes(rows, op.d, result, active);
}

template <class Whole, class Element>
void unpack(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    constexpr int count = sizeof(Whole) / sizeof(Element), bits = sizeof(Element) * 8;
    alignas(64) Stored<Element> result[count][warp_lanes];  // all first: a destination may be the source's own row
    const auto* a = lanes_of<Whole>(rows, op.places[count]);
    for (int e = 0; e < count; ++e)
        for (int i = 0; i < warp_lanes; ++i) result[e][i] = Lane<Element>::write(Element(a[i] >> (e * bits)));
    for (int e = 0; e < count; ++e) write_lanes(rows, op.places[e], result[e], active);
}

/// The selectors of the four result bytes as the index form writes them, for the two low bits of c.
constexpr u32 permute_selectors[7][4] = {
    {0, 0, 0, 0},                      // index: c itself
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
};

TILEPATH_BODY u32 permute(u32 a, u32 b, u32 selectors) {
    const u64 bytes = u64(b) << 32 | a;
    u32 d = 0;
    for (int i = 0; i < 4; ++i) {
        const u32 selector = selectors >> (4 * i);
        const u32 byte = u32(bytes >> (8 * (selector & 7))) & 0xFF;
        const u32 sign = (byte >> 7) * 0xFF;
        d |= ((selector & 8) != 0 ? sign : byte) << (8 * i);
    }
    return d;
}

struct PermuteByIndex {
    TILEPATH_BODY u32 operator()(u32 a, u32 b, u32 c) const { return permute(a, b, c); }
};

void permute_by_mode(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    const u32(&selectors)[4] = permute_selectors[op.op->variant];
    map<u32, u32, u32, u32>(op, rows, active, [&](u32 a, u32 b, u32 c) { return permute(a, b, selectors[c & 3]); });
}

}  // namespace

LaneFunction choose_mov(const MicroOp& op) {
    if (op.type == DataType::pred) return mov_predicate;
    return pick_width(op.type, {unary<u8, u8, Same>, unary<u16, u16, Same>, unary<u32, u32, Same>,
                                unary<u64, u64, Same>, unary<u128, u128, Same>});
}

LaneFunction choose_select(const MicroOp& op) {
    return pick_width(op.type, {select<u8>, select<u16>, select<u32>, select<u64>});
}

LaneFunction choose_slct(const MicroOp& op) {
    if (op.source_type == DataType::s32)
        return pick_width(
            op.type, {nullptr, ternary<u16, u16, u16, s32, ByIntegerSign>, ternary<u32, u32, u32, s32, ByIntegerSign>,
                      ternary<u64, u64, u64, s32, ByIntegerSign>});
    if (op.source_type != DataType::f32) return nullptr;
    return op.flags.ftz ? slct_by<ByFloatSign<true>>(op.type) : slct_by<ByFloatSign<false>>(op.type);
}

LaneFunction choose_pack(const MicroOp& op) {
    return pick_widths(op.type, op.source_type,
                       {{16, 8, pack<u16, u8>},
                        {32, 8, pack<u32, u8>},
                        {32, 16, pack<u32, u16>},
                        {64, 8, pack<u64, u8>},
                        {64, 16, pack<u64, u16>},
                        {64, 32, pack<u64, u32>},
                        {128, 32, pack<u128, u32>},
                        {128, 64, pack<u128, u64>}});
}

LaneFunction choose_unpack(const MicroOp& op) {
    return pick_widths(op.source_type, op.type,
                       {{16, 8, unpack<u16, u8>},
                        {32, 8, unpack<u32, u8>},
                        {32, 16, unpack<u32, u16>},
                        {64, 8, unpack<u64, u8>},
                        {64, 16, unpack<u64, u16>},
                        {64, 32, unpack<u64, u32>},
                        {128, 32, unpack<u128, u32>},
                        {128, 64, unpack<u128, u64>}});
}

LaneFunction choose_prmt(const MicroOp& op) {
    if (op.variant >= 7) return nullptr;
    return op.variant == 0 ? ternary<u32, u32, u32, u32, PermuteByIndex> : permute_by_mode;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
