// Bit counts and bit fields, PTX ISA 9.7.1.14 to 9.7.1.22.
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/widths.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using program::DataType;
using program::MicroOp;

struct Popc {
    TILEPATH_BODY u32 operator()(u32 a) const {
        a -= a >> 1 & 0x55555555;
        a = (a & 0x33333333) + (a >> 2 & 0x33333333);
        return ((a + (a >> 4)) & 0x0F0F0F0F) * 0x01010101u >> 24;
    }
    TILEPATH_BODY u32 operator()(u64 a) const { return (*this)(u32(a)) + (*this)(u32(a >> 32)); }
};

struct Clz {
    TILEPATH_BODY u32 operator()(u32 a) const { return a == 0 ? 32 : u32(__builtin_clz(a)); }
    TILEPATH_BODY u32 operator()(u64 a) const { return a == 0 ? 64 : u32(__builtin_clzll(a)); }
};

/// The highest bit that differs from the sign; all ones if there is none.
template <bool shift_amount>
struct Bfind {
    template <class T>
    TILEPATH_BODY u32 operator()(T a) const {
        using U = std::make_unsigned_t<T>;
        const U bits = std::is_signed_v<T> && a < 0 ? U(~U(a)) : U(a);
        const u32 zeros = Clz{}(bits);
        return bits == 0 ? ~0u : shift_amount ? zeros : u32(sizeof(T) * 8 - 1) - zeros;
    }
};

struct Brev {
    TILEPATH_BODY u32 operator()(u32 a) const {
        a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
        a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
        a = (a >> 4 & 0x0F0F0F0F) | (a & 0x0F0F0F0F) << 4;
        return __builtin_bswap32(a);
    }
    TILEPATH_BODY u64 operator()(u64 a) const { return u64((*this)(u32(a))) << 32 | (*this)(u32(a >> 32)); }
};

/// The manual cuts positions and lengths to 8 bits; an H200 does so in the 32-bit forms alone (recorded).
template <class T>
constexpr u32 field_bits = sizeof(T) == 4 ? 0xFF : ~0u;

/// Bits [pos, pos + len) of a; what lies beyond the top, and above the field, is the field's sign.
struct Bfe {
    template <class T>
    TILEPATH_BODY T operator()(T a, u32 b, u32 c) const {
        using U = std::make_unsigned_t<T>;
        constexpr u32 bits = sizeof(T) * 8;
        const u32 position = b & field_bits<T>, length = c & field_bits<T>;
        const u32 valid = position < bits ? bits - position : 0;  // bits of `shifted` that come from a
        const u32 kept = length < valid ? length : valid;
        const u32 last = length <= valid ? position + length - 1 : bits - 1;
        const bool sign = std::is_signed_v<T> && length != 0 && (U(a) >> (last & (bits - 1)) & 1) != 0;
        const U shifted = position < bits ? U(U(a) >> (position & (bits - 1))) : U(0);
        const U mask = kept >= bits ? U(~U(0)) : U((U(1) << (kept & (bits - 1))) - 1);
        return T((shifted & mask) | (sign ? U(~mask) : U(0)));
    }
};

template <class T>
TILEPATH_BODY T low_mask(u32 length) {
    constexpr u32 bits = sizeof(T) * 8;
    return length >= bits ? T(~T(0)) : T((T(1) << (length & (bits - 1))) - 1);
}

/// Bits [pos, pos + len) of b replaced by the low bits of a.
template <class T>
void bfi(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    constexpr u32 bits = sizeof(T) * 8;
    const auto* a = lanes_of<T>(rows, op.a);
    const auto* b = lanes_of<T>(rows, op.b);
    const auto* c = lanes_of<u32>(rows, op.c);
    const auto* d = lanes_of<u32>(rows, op.places[4]);
    alignas(64) T result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) {
        const u32 position = c[i] & field_bits<T>, length = d[i] & field_bits<T>;
        const T mask = position < bits ? T(low_mask<T>(length) << (position & (bits - 1))) : T(0);
        result[i] = (b[i] & ~mask) | (T(a[i] << (position & (bits - 1))) & mask);
    }
    write_lanes(rows, op.d, result, active);
}

/// The n-th set bit from `base`, upwards or (negative) downwards; n = 0: base itself. A base beyond 31 finds nothing. The
/// least n finds bit 0 (recorded on an H200).
struct Fns {
    TILEPATH_BODY u32 operator()(u32 mask, u32 base, s32 offset) const {
        if (u32(offset) == 0x80000000) return 0;
        if (base > 31) return ~0u;
        if (offset == 0) return (mask >> base & 1) != 0 ? base : ~0u;
        const int step = offset > 0 ? 1 : -1;
        s64 left = offset > 0 ? s64(offset) : -s64(offset);
        for (int position = int(base); position >= 0 && position < 32; position += step)
            if ((mask >> position & 1) != 0 && --left == 0) return u32(position);
        return ~0u;
    }
};

template <bool wrap>
struct Szext {
    template <class T>
    TILEPATH_BODY T operator()(T a, u32 b) const {
        const bool whole = !wrap && b >= 32;
        const u32 n = b & 31;
        const u32 above = whole ? 0 : ~0u << n;
        const bool sign = std::is_signed_v<T> && !whole && n != 0 && (u32(a) >> ((n - 1) & 31) & 1) != 0;
        return T((u32(a) & ~above) | (sign ? above : 0));
    }
};

/// b ones from bit a upwards.
template <bool wrap>
struct Bmsk {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const {
        const u32 width = wrap ? b & 31 : (b < 32 ? b : 32);
        const u32 ones = width == 32 ? ~0u : (1u << (width & 31)) - 1;
        return !wrap && a >= 32 ? 0 : ones << (a & 31);
    }
};

template <class F>
LaneFunction count_bits(DataType type) {
    return pick_width(type, {nullptr, nullptr, unary<u32, u32, F>, unary<u32, u64, F>});
}

template <bool shift_amount>
LaneFunction bfind(DataType type) {
    return pick(type, {{DataType::u32, unary<u32, u32, Bfind<shift_amount>>},
                       {DataType::s32, unary<u32, s32, Bfind<shift_amount>>},
                       {DataType::u64, unary<u32, u64, Bfind<shift_amount>>},
                       {DataType::s64, unary<u32, s64, Bfind<shift_amount>>}});
}

template <bool wrap>
LaneFunction szext(DataType type) {
    return pick(type, {{DataType::u32, binary<u32, u32, u32, Szext<wrap>>},
                       {DataType::s32, binary<s32, s32, u32, Szext<wrap>>}});
}

}  // namespace

LaneFunction choose_popc(const MicroOp& op) { return count_bits<Popc>(op.type); }
LaneFunction choose_clz(const MicroOp& op) { return count_bits<Clz>(op.type); }
LaneFunction choose_bfind(const MicroOp& op) { return op.variant == 1 ? bfind<true>(op.type) : bfind<false>(op.type); }

LaneFunction choose_brev(const MicroOp& op) {
    return pick_width(op.type, {nullptr, nullptr, unary<u32, u32, Brev>, unary<u64, u64, Brev>});
}

LaneFunction choose_bfe(const MicroOp& op) {
    return pick(op.type, {{DataType::u32, ternary<u32, u32, u32, u32, Bfe>},
                          {DataType::s32, ternary<s32, s32, u32, u32, Bfe>},
                          {DataType::u64, ternary<u64, u64, u32, u32, Bfe>},
                          {DataType::s64, ternary<s64, s64, u32, u32, Bfe>}});
}

LaneFunction choose_bfi(const MicroOp& op) { return pick_width(op.type, {nullptr, nullptr, bfi<u32>, bfi<u64>}); }
LaneFunction choose_fns(const MicroOp&) { return ternary<u32, u32, u32, s32, Fns>; }
LaneFunction choose_szext(const MicroOp& op) { return op.variant == 1 ? szext<true>(op.type) : szext<false>(op.type); }

/// The mode is in `variant` as szext's.
LaneFunction choose_bmsk(const MicroOp& op) {
    return op.variant == 1 ? binary<u32, u32, u32, Bmsk<true>> : binary<u32, u32, u32, Bmsk<false>>;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
