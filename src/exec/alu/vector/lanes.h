// exec/alu/vector/: the bodies of lane operations as loops over 32 lanes, written once and compiled once per vector
// unit.
//
// Each file here is compiled several times, with other -m flags and another TILEPATH_ALU_TARGET, the namespace of what
// it defines. Nothing here may use an inline function from outside that namespace (the standard library's included):
// the linker would keep one copy for all targets, perhaps one with instructions that this processor lacks. Types are
// free.
#pragma once
#include <cstdint>
#include <type_traits>

#include "exec/decoded.h"

#ifndef TILEPATH_ALU_TARGET
#define TILEPATH_ALU_TARGET baseline
#endif
#define TILEPATH_BODY [[gnu::always_inline]] inline

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

template <class S>
using Aliased [[gnu::may_alias]] = S;

/// The bit of each lane in a mask: loops test `mask & lane_bit[i]`, which every vector unit can do.
alignas(64) constexpr u32 lane_bit[warp_lanes] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

/// How a lane holds a value of T: `Stored` in the rows, `Value` in arithmetic. Integers: zero-extended, chopped when
/// read.
template <class T>
struct Lane {
    using Stored = std::conditional_t<sizeof(T) == 16, u128, std::conditional_t<sizeof(T) == 8, u64, u32>>;
    using Value = T;
    TILEPATH_BODY static T read(Stored bits) { return T(bits); }
    TILEPATH_BODY static Stored write(T value) {
        if constexpr (sizeof(T) < 4)
            return Stored(std::make_unsigned_t<T>(value));
        else
            return Stored(value);
    }
};

template <class T>
using Stored = typename Lane<T>::Stored;
template <class T>
using Value = typename Lane<T>::Value;

template <class T>
TILEPATH_BODY const Aliased<Stored<T>>* lanes_of(const Row* rows, u32 index) {
    return reinterpret_cast<const Aliased<Stored<T>>*>(rows + index);
}

/// Writes the active lanes of a register. `result` is never the row itself: a register of two rows may share one with a
/// source that dies here, so that every source is read before anything is written.
template <class S>
TILEPATH_BODY void write_lanes(Row* rows, u32 index, const S (&result)[warp_lanes], LaneMask active) {
    auto* to = reinterpret_cast<Aliased<S>*>(rows + index);
    if (active == all_lanes) {
        for (int i = 0; i < warp_lanes; ++i) to[i] = result[i];
    } else {
        for (int i = 0; i < warp_lanes; ++i) to[i] = (active & lane_bit[i]) != 0 ? result[i] : to[i];
    }
}

TILEPATH_BODY void write_mask(LaneMask& predicate, LaneMask result, LaneMask active) {
    predicate = (result & active) | (predicate & ~active);
}

// map: d = f(a), f(a, b), f(a, b, c) in every lane; f may return garbage for garbage but never traps.
template <class D, class A, class F>
TILEPATH_BODY void map(const Decoded& op, Row* rows, LaneMask active, F f) {
    const auto* a = lanes_of<A>(rows, op.a);
    alignas(64) Stored<D> result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) result[i] = Lane<D>::write(f(Lane<A>::read(a[i])));
    write_lanes(rows, op.d, result, active);
}

template <class D, class A, class B, class F>
TILEPATH_BODY void map(const Decoded& op, Row* rows, LaneMask active, F f) {
    const auto* a = lanes_of<A>(rows, op.a);
    const auto* b = lanes_of<B>(rows, op.b);
    alignas(64) Stored<D> result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) result[i] = Lane<D>::write(f(Lane<A>::read(a[i]), Lane<B>::read(b[i])));
    write_lanes(rows, op.d, result, active);
}

template <class D, class A, class B, class C, class F>
TILEPATH_BODY void map(const Decoded& op, Row* rows, LaneMask active, F f) {
    const auto* a = lanes_of<A>(rows, op.a);
    const auto* b = lanes_of<B>(rows, op.b);
    const auto* c = lanes_of<C>(rows, op.c);
    alignas(64) Stored<D> result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i)
        result[i] = Lane<D>::write(f(Lane<A>::read(a[i]), Lane<B>::read(b[i]), Lane<C>::read(c[i])));
    write_lanes(rows, op.d, result, active);
}

// The same as LaneFunctions, for functions F without state.
template <class D, class A, class F>
void unary(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    map<D, A>(op, rows, active, F{});
}
template <class D, class A, class B, class F>
void binary(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    map<D, A, B>(op, rows, active, F{});
}
template <class D, class A, class B, class C, class F>
void ternary(const Decoded& op, Row* rows, LaneMask*, LaneMask active) {
    map<D, A, B, C>(op, rows, active, F{});
}

/// The mask of the lanes whose flag is all ones (else zero).
TILEPATH_BODY LaneMask mask_of(const u32 (&flags)[warp_lanes]) {
#if defined(__AVX512DQ__)
    typedef int Vector __attribute__((vector_size(64)));
    const auto* vectors = reinterpret_cast<const Aliased<Vector>*>(flags);
    return LaneMask(__builtin_ia32_cvtd2mask512(vectors[0])) | LaneMask(__builtin_ia32_cvtd2mask512(vectors[1])) << 16;
#elif defined(__AVX2__)
    typedef float Vector __attribute__((vector_size(32)));
    const auto* vectors = reinterpret_cast<const Aliased<Vector>*>(flags);
    LaneMask mask = 0;
    for (int i = 0; i < 4; ++i) mask |= LaneMask(__builtin_ia32_movmskps256(vectors[i])) << (8 * i);
    return mask;
#else
    LaneMask mask = 0;
    for (int i = 0; i < warp_lanes; ++i) mask |= flags[i] & lane_bit[i];
    return mask;
#endif
}

/// The mask of a predicate source. `index` counts all operands, destinations first.
TILEPATH_BODY LaneMask predicate_source(const Decoded& op, const LaneMask* predicates, int index) {
    return predicates[op.places[index]] ^ op.inverts[index];
}

/// Mask a, or a BoolOp c.
TILEPATH_BODY LaneMask combine(program::BoolOp op, LaneMask a, LaneMask c) {
    switch (op) {
        case program::BoolOp::none: return a;
        case program::BoolOp::and_: return a & c;
        case program::BoolOp::or_: return a | c;
        case program::BoolOp::xor_: return a ^ c;
    }
    return a;
}

/// One row of a choice by type.
struct ByType {
    program::DataType type;
    LaneFunction body;
};

template <int n>
LaneFunction pick(program::DataType type, const ByType (&table)[n]) {
    for (const ByType& row : table)
        if (row.type == type) return row.body;
    return nullptr;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
