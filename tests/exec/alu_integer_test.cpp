// Integer bodies against the manual's own definitions, worked out here in wide integers, on edges and random values.
#include "alu_harness.h"

namespace tilepath::exec::alu_test {
namespace {

__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;
using program::MulHalf;

constexpr DataType integer_types[] = {DataType::u16, DataType::s16, DataType::u32,
                                      DataType::s32, DataType::u64, DataType::s64};

/// The value that bits of a type stand for.
Wide value_of(Bits bits, DataType type) {
    const int width = program::bits(type);
    const Wide value = Wide(width == 64 ? bits : bits & ((1ull << width) - 1));
    const bool negative = program::is_signed(type) && (value >> (width - 1)) != 0;
    return negative ? value - (Wide(1) << width) : value;
}

Bits bits_of(Wide value, int width) { return width == 64 ? Bits(value) : Bits(value) & ((1ull << width) - 1); }

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

Wide clamp_s32(Wide value) { return std::min<Wide>(std::max<Wide>(value, -(Wide(1) << 31)), (Wide(1) << 31) - 1); }
auto saturating() {
    return [](MicroOp& op) { op.flags.sat = true; };
}

/// Bits 2n−1 … n of the product, as the manual has it.
Wide high_half(Wide a, Wide b, DataType type) {
    const int n = program::bits(type);
    if (n < 64 || program::is_signed(type)) return (a * b) >> n;  // the product fits 128 signed bits
    return Wide((UWide(a) * UWide(b)) >> 64);
}

TEST(AluInteger, AddSubMulMad) {
    for (DataType type : integer_types) {
        expect_binary(Case(Op::add, type, 2), type, [](Wide a, Wide b) { return a + b; });
        expect_binary(Case(Op::sub, type, 2), type, [](Wide a, Wide b) { return a - b; });
        expect_binary(Case(Op::mul, type, 2).variant(MulHalf::lo), type,
                      [](Wide a, Wide b) { return Wide(UWide(a) * UWide(b)); });
        expect_binary(Case(Op::mul, type, 2).variant(MulHalf::hi), type,
                      [&](Wide a, Wide b) { return high_half(a, b, type); });
        expect_ternary(Case(Op::mad, type, 3).variant(MulHalf::lo), type,
                       [](Wide a, Wide b, Wide c) { return Wide(UWide(a) * UWide(b) + UWide(c)); });
        expect_ternary(Case(Op::mad, type, 3).variant(MulHalf::hi), type,
                       [&](Wide a, Wide b, Wide c) { return high_half(a, b, type) + c; });
        expect_ternary(Case(Op::sad, type, 3), type,
                       [](Wide a, Wide b, Wide c) { return c + (a < b ? b - a : a - b); });
    }
}

TEST(AluInteger, Wide) {
    for (DataType type : {DataType::u16, DataType::s16, DataType::u32, DataType::s32}) {
        const int width = 2 * program::bits(type);
        const Case mul(Op::mul, type, {width}, {32, 32});
        expect_binary(
            mul.variant(MulHalf::wide), type, [](Wide a, Wide b) { return a * b; }, width);
        const Case mad = Case(Op::mad, type, {width}, {32, 32, width}).variant(MulHalf::wide);
        for_operands(width == 64 ? DataType::u64 : DataType::u32, 20,
                     [&](const Values& a, const Values& b, const Values& c) {
                         const Values d = mad.run({a, b, c})[0];
                         for (int i = 0; i < warp_lanes; ++i) {
                             const Wide product = value_of(a.lane[i], type) * value_of(b.lane[i], type);
                             ASSERT_EQ(d.lane[i], bits_of(product + Wide(c.lane[i]), width));
                         }
                     });
    }
    // The sources of a wide product may die here, and its two rows be theirs.
    Frame frame;
    for (const alu::Target& target : alu::targets()) {
        const MicroOp op = Case(Op::mul, DataType::s32, {64}, {32, 32}).variant(MulHalf::wide).op;
        for (int i = 0; i < warp_lanes; ++i)
            frame.set(0, 32, i, Bits(i + 1)), frame.rows_[1].lane[i] = std::uint32_t(-i);
        frame.run_at(op, target.choose(op), all_lanes, {0, 0, 1}, {0, 0, 0});
        for (int i = 0; i < warp_lanes; ++i) EXPECT_EQ(std::int64_t(frame.get(0, 64, i)), -std::int64_t(i) * (i + 1));
    }
}

TEST(AluInteger, Saturation) {
    const DataType s32 = DataType::s32;
    expect_binary(Case(Op::add, s32, 2).with(saturating()), s32, [](Wide a, Wide b) { return clamp_s32(a + b); });
    expect_binary(Case(Op::sub, s32, 2).with(saturating()), s32, [](Wide a, Wide b) { return clamp_s32(a - b); });
    expect_ternary(Case(Op::mad, s32, 3).variant(MulHalf::hi).with(saturating()), s32,
                   [](Wide a, Wide b, Wide c) { return clamp_s32(((a * b) >> 32) + c); });
}

TEST(AluInteger, TwentyFourBits) {
    auto low_24 = [](Wide a, DataType type) {
        return type == DataType::s32 ? value_of(Bits(a) << 8, type) >> 8 : Wide(Bits(a) & 0xFFFFFF);
    };
    for (DataType type : {DataType::u32, DataType::s32}) {
        for (const bool high : {false, true}) {
            auto product = [&](Wide a, Wide b) { return (low_24(a, type) * low_24(b, type)) >> (high ? 16 : 0); };
            const MulHalf half = high ? MulHalf::hi : MulHalf::lo;
            expect_binary(Case(Op::mul24, type, 2).variant(half), type, product);
            expect_ternary(Case(Op::mad24, type, 3).variant(half), type,
                           [&](Wide a, Wide b, Wide c) { return product(a, b) + c; });
        }
    }
    expect_ternary(Case(Op::mad24, DataType::s32, 3).variant(MulHalf::hi).with(saturating()), DataType::s32,
                   [&](Wide a, Wide b, Wide c) {
                       const Wide product = value_of(
                           bits_of((low_24(a, DataType::s32) * low_24(b, DataType::s32)) >> 16, 32), DataType::s32);
                       return clamp_s32(product + c);
                   });
}

TEST(AluInteger, DivisionAndRemainder) {
    // Recorded on an H200: all ones for a zero divisor, MININT for MININT / -1.
    for (DataType type : integer_types) {
        expect_binary(Case(Op::div, type, 2), type, [](Wide a, Wide b) { return b == 0 ? Wide(-1) : a / b; });
        expect_binary(Case(Op::rem, type, 2), type, [](Wide a, Wide b) { return b == 0 ? Wide(-1) : a % b; });
    }
    EXPECT_EQ(Case(Op::div, DataType::u16, 2)(5, 0), 0xFFFFu);
    EXPECT_EQ(Case(Op::rem, DataType::s32, 2)(5, 0), 0xFFFFFFFFu);
    EXPECT_EQ(Case(Op::div, DataType::s64, 2)(1ull << 63, ~0ull), 1ull << 63);
    EXPECT_EQ(Case(Op::div, DataType::s32, 2)(0x80000000u, 0xFFFFFFFFu), 0x80000000u);
    EXPECT_EQ(Case(Op::div, DataType::s32, 2)(0xFFFFFFF9u, 2), 0xFFFFFFFDu);  // -7 / 2 = -3
    EXPECT_EQ(Case(Op::rem, DataType::s32, 2)(0xFFFFFFF9u, 2), 0xFFFFFFFFu);  // -7 % 2 = -1
    EXPECT_EQ(Case(Op::div, DataType::u32, 2)(0xFFFFFFFFu, 1), 0xFFFFFFFFu);
    EXPECT_EQ(Case(Op::div, DataType::u32, 2)(0xFFFFFFFEu, 0xFFFFFFFFu), 0u);
}

TEST(AluInteger, MinMaxAbsNeg) {
    for (DataType type : integer_types) {
        expect_binary(Case(Op::min, type, 2), type, [](Wide a, Wide b) { return std::min(a, b); });
        expect_binary(Case(Op::max, type, 2), type, [](Wide a, Wide b) { return std::max(a, b); });
    }
    for (DataType type : {DataType::s16, DataType::s32, DataType::s64}) {
        for_operands(type, 10, [&](const Values& a, const Values&, const Values&) {
            const Values absolute = Case(Op::abs, type, 1).run({a})[0], negative = Case(Op::neg, type, 1).run({a})[0];
            for (int i = 0; i < warp_lanes; ++i) {
                const Wide value = value_of(a.lane[i], type);
                ASSERT_EQ(absolute.lane[i], bits_of(value < 0 ? -value : value, program::bits(type)));
                ASSERT_EQ(negative.lane[i], bits_of(-value, program::bits(type)));
            }
        });
    }
    auto relu = [](MicroOp& op) { op.flags.relu = true; };
    expect_binary(Case(Op::min, DataType::s32, 2).with(relu), DataType::s32,
                  [](Wide a, Wide b) { return std::max<Wide>(0, std::min(a, b)); });
    expect_binary(Case(Op::max, DataType::s32, 2).with(relu), DataType::s32,
                  [](Wide a, Wide b) { return std::max<Wide>(0, std::max(a, b)); });
}

TEST(AluInteger, PairsOfSixteenBits) {
    auto halves = [](Bits a, Bits b, bool is_signed, auto f) {
        const DataType type = is_signed ? DataType::s16 : DataType::u16;
        const Bits low = bits_of(f(value_of(a, type), value_of(b, type)), 16);
        const Bits high = bits_of(f(value_of(a >> 16, type), value_of(b >> 16, type)), 16);
        return high << 16 | low;
    };
    auto add = [](Wide a, Wide b) { return a + b; };
    auto low = [](Wide a, Wide b) { return std::min(a, b); };
    auto high = [](Wide a, Wide b) { return std::max(a, b); };
    auto low_relu = [](Wide a, Wide b) { return std::max<Wide>(0, std::min(a, b)); };
    for_operands(DataType::u32, 40, [&](const Values& a, const Values& b, const Values&) {
        for (const bool is_signed : {false, true}) {
            const DataType type = is_signed ? DataType::s16x2 : DataType::u16x2;
            const Values sum = Case(Op::add, type, 2).run({a, b})[0], least = Case(Op::min, type, 2).run({a, b})[0],
                         most = Case(Op::max, type, 2).run({a, b})[0];
            for (int i = 0; i < warp_lanes; ++i) {
                ASSERT_EQ(sum.lane[i], halves(a.lane[i], b.lane[i], is_signed, add));
                ASSERT_EQ(least.lane[i], halves(a.lane[i], b.lane[i], is_signed, low));
                ASSERT_EQ(most.lane[i], halves(a.lane[i], b.lane[i], is_signed, high));
            }
        }
        const Case relu = Case(Op::min, DataType::s16x2, 2).with([](MicroOp& op) { op.flags.relu = true; });
        const Values d = relu.run({a, b})[0];
        for (int i = 0; i < warp_lanes; ++i) ASSERT_EQ(d.lane[i], halves(a.lane[i], b.lane[i], true, low_relu));
    });
}

/// d, then CC.CF where it is written; a, b[, c], then CC.CF where it is read.
Case carry_case(Op op, DataType type, int sources, bool in, bool out) {
    const int width = row_width(type);
    std::vector<int> to{width}, from(std::size_t(sources), width);
    if (out) to.push_back(1);
    if (in) from.push_back(1);
    return Case(op, type, to, from).with([&](MicroOp& what) { what.flags.carry_in = in, what.flags.carry_out = out; });
}

TEST(AluInteger, CarryChains) {
    for (DataType type : {DataType::u32, DataType::s32, DataType::u64, DataType::s64}) {
        const int n = program::bits(type);
        const DataType plain = n == 64 ? DataType::u64 : DataType::u32;
        for_operands(plain, 30, [&](const Values& a, const Values& b, const Values& c) {
            Values carry;
            for (int i = 0; i < warp_lanes; ++i) carry.lane[i] = Bits(i % 3 == 0);
            for (const bool in : {false, true}) {
                const std::vector<Values> two = in ? std::vector{a, b, carry} : std::vector{a, b};
                const auto sum = carry_case(Op::add_carry, type, 2, in, true).run(two);
                const auto difference = carry_case(Op::sub_carry, type, 2, in, true).run(two);
                for (int i = 0; i < warp_lanes; ++i) {
                    const Wide x = Wide(a.lane[i]), y = Wide(b.lane[i]), z = in ? Wide(carry.lane[i]) : 0;
                    ASSERT_EQ(sum[0].lane[i], bits_of(x + y + z, n));
                    ASSERT_EQ(sum[1].lane[i], Bits((x + y + z) >> n));
                    // Recorded on an H200: the flag of a subtraction is set where nothing is borrowed.
                    const Wide borrow = in ? 1 - z : 0;
                    ASSERT_EQ(difference[0].lane[i], bits_of(x - y - borrow, n));
                    ASSERT_EQ(difference[1].lane[i], Bits(x - y - borrow >= 0));
                }
                for (const bool high : {false, true}) {
                    const Case mad =
                        carry_case(Op::mad_carry, type, 3, in, true).variant(high ? MulHalf::hi : MulHalf::lo);
                    const auto d = mad.run(in ? std::vector{a, b, c, carry} : std::vector{a, b, c});
                    for (int i = 0; i < warp_lanes; ++i) {
                        const Wide x = value_of(a.lane[i], type), y = value_of(b.lane[i], type);
                        const Bits half = bits_of(high ? high_half(x, y, type) : Wide(UWide(x) * UWide(y)), n);
                        const Wide total = Wide(half) + Wide(c.lane[i]) + (in ? Wide(carry.lane[i]) : 0);
                        ASSERT_EQ(d[0].lane[i], bits_of(total, n));
                        ASSERT_EQ(d[1].lane[i], Bits(total >> n));
                    }
                }
            }
            // The carry alone may be read and not written: the flag stays.
            const auto last = carry_case(Op::add_carry, type, 2, true, false).run({a, b, carry});
            for (int i = 0; i < warp_lanes; ++i)
                ASSERT_EQ(last[0].lane[i], bits_of(Wide(a.lane[i]) + Wide(b.lane[i]) + Wide(carry.lane[i]), n));
        });
    }
}

TEST(AluInteger, DotProductsOfBytes) {
    auto byte = [](Bits bits, int i, bool is_signed) {
        return is_signed ? int(std::int8_t(bits >> (8 * i))) : int(std::uint8_t(bits >> (8 * i)));
    };
    auto word = [](Bits bits, int i, bool is_signed) {
        return is_signed ? int(std::int16_t(bits >> (16 * i))) : int(std::uint16_t(bits >> (16 * i)));
    };
    for_operands(DataType::u32, 40, [&](const Values& a, const Values& b, const Values& c) {
        for (const bool as : {false, true})
            for (const bool bs : {false, true}) {
                auto signs = [&](MicroOp& op) {
                    op.type = as ? DataType::s32 : DataType::u32;
                    op.source_type = bs ? DataType::s32 : DataType::u32;
                };
                const Values four = Case(Op::dp4a, DataType::u32, 3).with(signs).run({a, b, c})[0];
                for (int i = 0; i < warp_lanes; ++i) {
                    std::int64_t sum = std::int64_t(c.lane[i]);
                    for (int j = 0; j < 4; ++j) sum += std::int64_t(byte(a.lane[i], j, as)) * byte(b.lane[i], j, bs);
                    ASSERT_EQ(four.lane[i], Bits(sum) & 0xFFFFFFFF);
                }
                for (int high = 0; high < 2; ++high) {
                    const Values two = Case(Op::dp2a, DataType::u32, 3).variant(high).with(signs).run({a, b, c})[0];
                    for (int i = 0; i < warp_lanes; ++i) {
                        std::int64_t sum = std::int64_t(c.lane[i]);
                        for (int j = 0; j < 2; ++j)
                            sum += std::int64_t(word(a.lane[i], j, as)) * byte(b.lane[i], 2 * high + j, bs);
                        ASSERT_EQ(two.lane[i], Bits(sum) & 0xFFFFFFFF);
                    }
                }
            }
    });
}

TEST(AluInteger, AbsoluteDifferencesOfBytes) {
    const auto signs = [](bool a, bool b) {
        return [=](MicroOp& op) { op.source_type = a ? DataType::s32 : DataType::u32, op.flags.unsigned_b = !b; };
    };
    const Case plain = Case(Op::vabsdiff4, DataType::u32, 3).variant(0), sum = plain.variant(1);
    const Bits a = 0x01FF80F0, b = 0x03007F10;  // bytes 1, 255, 128, 240 (or -1, -128, -16) and 3, 0, 127, 16
    EXPECT_EQ(plain.with(signs(false, false))(a, b, 12345), 0x02FF01E0u);
    EXPECT_EQ(sum.with(signs(false, false))(a, b, 1000), 1000u + 2 + 255 + 1 + 224);
    EXPECT_EQ(plain.with(signs(true, true))(a, b, 0), 0x0201FF20u);
    EXPECT_EQ(sum.with(signs(true, true))(a, b, 0), 2u + 1 + 255 + 32);
    EXPECT_EQ(sum.with(signs(true, false))(0x80, 0xFF, 0), 128u + 255);
    EXPECT_EQ(sum.with(signs(false, true))(0xFF, 0x80, 0), 255u + 128);
}

}  // namespace
}  // namespace tilepath::exec::alu_test
