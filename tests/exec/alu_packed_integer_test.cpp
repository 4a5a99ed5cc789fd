// Integers in parts of registers, and sums over several registers: pairs, bytes, carries.
#include "wide_integers.h"

namespace tilepath::exec::alu_test {
namespace {

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
