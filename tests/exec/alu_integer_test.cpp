// Integer bodies against the manual's definitions.
#include "wide_integers.h"

namespace tilepath::exec::alu_test {
namespace {

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

}  // namespace
}  // namespace tilepath::exec::alu_test
