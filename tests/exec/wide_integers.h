// Integer operations beside the manual's own definitions, worked out in wide integers on edges and random values.
#pragma once
#include "alu_harness.h"

namespace tilepath::exec::alu_test {

__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;
using program::MulHalf;

inline constexpr DataType integer_types[] = {DataType::u16, DataType::s16, DataType::u32,
                                             DataType::s32, DataType::u64, DataType::s64};

/// The value that bits of a type stand for.
inline Wide value_of(Bits bits, DataType type) {
    const int width = program::bits(type);
    const Wide value = Wide(width == 64 ? bits : bits & ((1ull << width) - 1));
    const bool negative = program::is_signed(type) && (value >> (width - 1)) != 0;
    return negative ? value - (Wide(1) << width) : value;
}

inline Bits bits_of(Wide value, int width) { return width == 64 ? Bits(value) : Bits(value) & ((1ull << width) - 1); }

/// Edges of the type and random bits, as 32 lanes of two or three operands, over and over.
template <class F>
void for_operands(DataType type, int rounds, F f) {
    std::mt19937_64 random(7);
    const int width = program::bits(type);
    const Bits top = 1ull << (width - 1);
    const Bits edges[] = {0, 1, 2, 3, top - 1, top, top + 1, ~0ull, ~0ull - 1, 7, 10, 0xFF, 0x80, 1ull << (width / 2)};
    auto pick = [&] {
        const Bits bits = random() % 3 == 0 ? edges[random() % std::size(edges)] : random() >> (random() % 64);
        return width == 64 ? bits : bits & ((1ull << width) - 1);
    };
    for (int round = 0; round < rounds; ++round) {
        Values a, b, c;
        for (int i = 0; i < warp_lanes; ++i) a.lane[i] = pick(), b.lane[i] = pick(), c.lane[i] = pick();
        f(a, b, c);
    }
}

/// `expected` computes with the operands' values; its result is cut to `width` bits (the type's own if 0).
template <class F>
void expect_binary(const Case& with, DataType type, F expected, int width = 0) {
    for_operands(type, 40, [&](const Values& a, const Values& b, const Values&) {
        const Values d = with.run({a, b})[0];
        for (int i = 0; i < warp_lanes; ++i) {
            const Wide value = expected(value_of(a.lane[i], type), value_of(b.lane[i], type));
            ASSERT_EQ(d.lane[i], bits_of(value, width != 0 ? width : program::bits(type)))
                << program::traits(with.op.op).name << "." << program::traits(type).name << std::hex << " " << a.lane[i]
                << " " << b.lane[i];
        }
    });
}

template <class F>
void expect_ternary(const Case& with, DataType type, F expected) {
    for_operands(type, 40, [&](const Values& a, const Values& b, const Values& c) {
        const Values d = with.run({a, b, c})[0];
        for (int i = 0; i < warp_lanes; ++i) {
            const Wide value =
                expected(value_of(a.lane[i], type), value_of(b.lane[i], type), value_of(c.lane[i], type));
            ASSERT_EQ(d.lane[i], bits_of(value, program::bits(type)))
                << program::traits(with.op.op).name << "." << program::traits(type).name << std::hex << " " << a.lane[i]
                << " " << b.lane[i] << " " << c.lane[i];
        }
    });
}

inline Wide clamp_s32(Wide value) {
    return std::min<Wide>(std::max<Wide>(value, -(Wide(1) << 31)), (Wide(1) << 31) - 1);
}
inline auto saturating() {
    return [](MicroOp& op) { op.flags.sat = true; };
}

/// Bits 2n−1 … n of the product, as the manual has it.
inline Wide high_half(Wide a, Wide b, DataType type) {
    const int n = program::bits(type);
    if (n < 64 || program::is_signed(type)) return (a * b) >> n;  // the product fits 128 signed bits
    return Wide((UWide(a) * UWide(b)) >> 64);
}

}  // namespace tilepath::exec::alu_test
