// Bit counts, fields, logic and shifts against the manual's own loops (PTX ISA 9.7.1.14 to 9.7.1.22, 9.7.8) and
// examples.
#include "alu_harness.h"

namespace tilepath::exec::alu_test {
namespace {

using program::BoolOp;

template <class F>
void on_random(int rounds, F f) {
    std::mt19937_64 random(11);
    for (int i = 0; i < rounds; ++i) {
        auto pick = [&] {
            return random() % 4 == 0 ? Bits(random() % 2 == 0 ? 0 : ~0ull) : random() >> (random() % 64);
        };
        f(pick(), pick(), pick(), Bits(random() % 300), Bits(random() % 300));
    }
}

Bits cut(Bits bits, int width) { return width == 64 ? bits : bits & ((1ull << width) - 1); }

/// The manual's loops run over one lane at a time; so many lanes make one call.
struct Batch {
    Values a, b, c, d;
    template <class F>
    static void each(int rounds, F f) {
        std::mt19937_64 random(5);
        for (int round = 0; round < rounds; ++round) {
            Batch batch;
            for (int i = 0; i < warp_lanes; ++i) {
                auto pick = [&] {
                    return random() % 5 == 0 ? Bits(random() % 2 == 0 ? 0 : ~0ull) : random() >> (random() % 64);
                };
                batch.a.lane[i] = pick(), batch.b.lane[i] = pick();
                batch.c.lane[i] = random() % 4 == 0 ? random() : random() % 70;
                batch.d.lane[i] = random() % 4 == 0 ? random() : random() % 70;
            }
            f(batch);
        }
    }
};

Values cut(Values values, int width) {
    for (Bits& lane : values.lane) lane = cut(lane, width);
    return values;
}

TEST(AluBits, Counts) {
    on_random(300, [](Bits a, Bits, Bits, Bits, Bits) {
        for (const int width : {32, 64}) {
            const DataType type = width == 32 ? DataType::b32 : DataType::b64;
            const Bits x = cut(a, width);
            EXPECT_EQ(Case(Op::popc, type, {32}, {width})(x), Bits(std::popcount(x)));
            EXPECT_EQ(Case(Op::clz, type, {32}, {width})(x), Bits(std::countl_zero(x) - (64 - width)));
            Bits reversed = 0;
            for (int i = 0; i < width; ++i) reversed |= (x >> i & 1) << (width - 1 - i);
            EXPECT_EQ(Case(Op::brev, type, 1)(x), reversed);
        }
    });
}

TEST(AluBits, Bfind) {
    for (DataType type : {DataType::u32, DataType::s32, DataType::u64, DataType::s64}) {
        const int width = program::bits(type), msb = width - 1;
        const Case find(Op::bfind, type, {32}, {width});
        on_random(200, [&](Bits bits, Bits, Bits, Bits, Bits) {
            Bits a = cut(bits, width);
            const Bits source = a;
            if (program::is_signed(type) && (a >> msb & 1) != 0) a = cut(~a, width);
            Bits expected = 0xFFFFFFFF, shift = 0xFFFFFFFF;
            for (int i = msb; i >= 0; --i)
                if ((a >> i & 1) != 0) {
                    expected = Bits(i), shift = Bits(msb - i);
                    break;
                }
            EXPECT_EQ(find(source), expected);
            EXPECT_EQ(find.variant(1)(source), shift);
        });
    }
}

TEST(AluBits, Bfe) {
    for (DataType type : {DataType::u32, DataType::s32, DataType::u64, DataType::s64}) {
        const int width = program::bits(type), msb = width - 1;
        Batch::each(60, [&](const Batch& in) {
            const Values d = Case(Op::bfe, type, {width}, {width, 32, 32}).run({cut(in.a, width), in.c, in.d})[0];
            for (int lane = 0; lane < warp_lanes; ++lane) {
                const Bits a = cut(in.a.lane[lane], width);
                // Recorded on an H200: the 64-bit form does not cut its operands to 8 bits.
                const Bits kept = width == 32 ? 0xFF : 0xFFFFFFFF;
                const std::int64_t position = std::int64_t(in.c.lane[lane] & kept),
                                   length = std::int64_t(in.d.lane[lane] & kept);
                const bool sign = program::is_signed(type) && length != 0 &&
                                  (a >> std::min<std::int64_t>(position + length - 1, msb) & 1) != 0;
                Bits expected = 0;
                for (int i = 0; i <= msb; ++i)
                    expected |= Bits(i < length && position + i <= msb ? a >> (position + i) & 1 : sign) << i;
                ASSERT_EQ(d.lane[lane], expected) << std::hex << a << std::dec << " " << position << " " << length;
            }
        });
    }
}

TEST(AluBits, Bfi) {
    for (const int width : {32, 64}) {
        const Case insert(Op::bfi, width == 32 ? DataType::b32 : DataType::b64, {width}, {width, width, 32, 32});
        Batch::each(60, [&](const Batch& in) {
            const Values f = insert.run({cut(in.a, width), cut(in.b, width), in.c, in.d})[0];
            for (int lane = 0; lane < warp_lanes; ++lane) {
                const Bits a = cut(in.a.lane[lane], width);
                // Recorded on an H200: the 64-bit form does not cut its operands to 8 bits.
                const Bits kept = width == 32 ? 0xFF : 0xFFFFFFFF;
                const std::int64_t position = std::int64_t(in.c.lane[lane] & kept),
                                   length = std::int64_t(in.d.lane[lane] & kept);
                Bits expected = cut(in.b.lane[lane], width);
                for (int i = 0; i < length && position + i < width; ++i)
                    expected = (expected & ~(1ull << (position + i))) | (a >> i & 1) << (position + i);
                ASSERT_EQ(f.lane[lane], expected) << position << " " << length;
            }
        });
    }
}

TEST(AluBits, Fns) {
    const Case fns(Op::fns, DataType::b32, 3);
    EXPECT_EQ(fns(0xAAAAAAAAu, 3, 1), 3u);  // the manual's examples
    EXPECT_EQ(fns(0xAAAAAAAAu, 3, -1), 3u);
    EXPECT_EQ(fns(0xAAAAAAAAu, 2, 1), 3u);
    EXPECT_EQ(fns(0xAAAAAAAAu, 2, -1), 1u);
    EXPECT_EQ(fns(0xAAAAAAAAu, 3, 0), 3u);
    EXPECT_EQ(fns(0xAAAAAAAAu, 2, 0), 0xFFFFFFFFu);
    EXPECT_EQ(fns(0xAAAAAAAAu, 0, 16), 31u);
    EXPECT_EQ(fns(0xAAAAAAAAu, 0, 17), 0xFFFFFFFFu);
    EXPECT_EQ(fns(0xFFFFFFFFu, 31, Bits(0x80000000u)), 0u);  // recorded on an H200, whatever the mask
    EXPECT_EQ(fns(1, 31, -1), 0u);
}

TEST(AluBits, SzextAndBmsk) {
    const Case clamp = Case(Op::szext, DataType::s32, 2).variant(0), wrap = clamp.variant(1);
    const Case unsigned_clamp = Case(Op::szext, DataType::u32, 2).variant(0), unsigned_wrap = unsigned_clamp.variant(1);
    EXPECT_EQ(clamp(0x80, 8), 0xFFFFFF80u);
    EXPECT_EQ(clamp(0x17F, 8), 0x7Fu);
    EXPECT_EQ(clamp(0x80000001u, 40), 0x80000001u);
    EXPECT_EQ(wrap(0x1, 33), 0xFFFFFFFFu);
    EXPECT_EQ(wrap(0x1234, 32), 0u);
    EXPECT_EQ(clamp(0x1234, 0), 0u);
    EXPECT_EQ(unsigned_clamp(0xFFFFFFFFu, 5), 31u);
    EXPECT_EQ(unsigned_clamp(0xFFFFFFFFu, 32), 0xFFFFFFFFu);
    EXPECT_EQ(unsigned_wrap(0xFFFFFFFFu, 0), 0u);  // the manual's example
    EXPECT_EQ(unsigned_wrap(0xFFFFFFFFu, 36), 15u);

    const Case mask = Case(Op::bmsk, DataType::b32, 2).variant(0), wrapped = mask.variant(1);
    EXPECT_EQ(wrapped(1, 2), 6u);  // the manual's example
    EXPECT_EQ(wrapped(33, 34), 6u);
    EXPECT_EQ(wrapped(4, 32), 0u);
    EXPECT_EQ(mask(4, 32), 0xFFFFFFF0u);
    EXPECT_EQ(mask(32, 4), 0u);
    EXPECT_EQ(mask(31, 5), 0x80000000u);
    EXPECT_EQ(mask(0, 0), 0u);
    EXPECT_EQ(mask(0, 100), 0xFFFFFFFFu);
}

TEST(AluLogic, AndOrXorNot) {
    on_random(50, [](Bits a, Bits b, Bits, Bits, Bits) {
        for (const DataType type : {DataType::b16, DataType::b32, DataType::b64}) {
            const int width = program::bits(type);
            const Bits x = cut(a, width), y = cut(b, width);
            EXPECT_EQ(Case(Op::and_, type, 2)(x, y), (x & y));
            EXPECT_EQ(Case(Op::or_, type, 2)(x, y), (x | y));
            EXPECT_EQ(Case(Op::xor_, type, 2)(x, y), (x ^ y));
            EXPECT_EQ(Case(Op::not_, type, 1)(x), cut(~x, width));
            EXPECT_EQ(Case(Op::cnot, type, 1)(x), Bits(x == 0));
        }
    });
    for (Bits a : {0, 1})
        for (Bits b : {0, 1}) {
            EXPECT_EQ(Case(Op::and_, DataType::pred, 2)(a, b), (a & b));
            EXPECT_EQ(Case(Op::or_, DataType::pred, 2)(a, b), (a | b));
            EXPECT_EQ(Case(Op::xor_, DataType::pred, 2)(a, b), (a ^ b));
            EXPECT_EQ(Case(Op::not_, DataType::pred, 1)(a), 1 - a);
            EXPECT_EQ(Case(Op::mov, DataType::pred, 1)(a), a);
            // `!b`: operand 2.
            EXPECT_EQ(Case(Op::and_, DataType::pred, 2).run({splat(a), splat(b)}, all_lanes, 4)[0].lane[9],
                      (a & (1 - b)));
            EXPECT_EQ(Case(Op::mov, DataType::pred, 1).run({splat(a)}, 0xFFFF, 2)[0].lane[3], 1 - a);
        }
}

TEST(AluLogic, Lop3) {
    Batch::each(3, [](const Batch& in) {
        for (int table = 0; table < 256; ++table) {
            const Case lop3 = Case(Op::lop3, DataType::b32, 3).with([&](MicroOp& op) { op.immediate = table; });
            Values q;
            for (int i = 0; i < warp_lanes; ++i) q.lane[i] = Bits(i & 1);
            const Case with_or = Case(Op::lop3, DataType::b32, {32, 1}, {32, 32, 32, 1}).with([&](MicroOp& op) {
                op.immediate = table, op.bool_op = BoolOp::or_;
            });
            const Values c = cut(in.c, 8);  // few bits, so that some results vanish
            const auto plain = lop3.run({in.a, in.b, c});
            const auto both = with_or.run({in.a, in.b, c, q}),
                       negated = with_or.run({in.a, in.b, c, q}, 0x0F0F1234, 1 << 5);
            for (int i = 0; i < warp_lanes; ++i) {
                Bits expected = 0;
                for (int bit = 0; bit < 32; ++bit) {
                    const int index =
                        int(in.a.lane[i] >> bit & 1) * 4 + int(in.b.lane[i] >> bit & 1) * 2 + int(c.lane[i] >> bit & 1);
                    expected |= Bits(table >> index & 1) << bit;
                }
                ASSERT_EQ(plain[0].lane[i], expected) << table;
                ASSERT_EQ(both[0].lane[i], expected);
                ASSERT_EQ(both[1].lane[i], Bits(expected != 0 || (i & 1) != 0));
                if ((0x0F0F1234 >> i & 1) == 0) continue;
                ASSERT_EQ(negated[1].lane[i], Bits(expected != 0 || (i & 1) == 0));
            }
        }
    });
    const Case only_and = Case(Op::lop3, DataType::b32, {32, 1}, {32, 32, 32, 1}).with([](MicroOp& op) {
        op.immediate = 0x80, op.bool_op = BoolOp::and_;
    });
    EXPECT_EQ(only_and.run({splat(6), splat(3), splat(2), splat(1)})[1].lane[0], 1u);
    EXPECT_EQ(only_and.run({splat(6), splat(3), splat(4), splat(1)})[1].lane[0], 0u);
    EXPECT_EQ(only_and.run({splat(6), splat(3), splat(2), splat(0)})[1].lane[0], 0u);
}

TEST(AluLogic, ShiftsClampTheAmount) {
    const auto shift = [](Bits a, Bits amount, int width, bool is_signed, bool left) {
        const bool sign = is_signed && (a >> (width - 1) & 1) != 0;
        Bits d = 0;
        for (int i = 0; i < width; ++i) {
            const std::int64_t from = left ? i - std::int64_t(amount) : i + std::int64_t(amount);
            const bool bit = from < 0 ? false : from >= width ? sign : (a >> from & 1) != 0;
            d |= Bits(bit) << i;
        }
        return d;
    };
    const DataType types[] = {DataType::b16, DataType::b32, DataType::b64, DataType::u16, DataType::u32,
                              DataType::u64, DataType::s16, DataType::s32, DataType::s64};
    for (DataType type : types) {
        const int width = program::bits(type), row = row_width(type);
        Batch::each(20, [&](const Batch& in) {
            const Values amounts = cut(in.c, 32), a = cut(in.a, width);
            const Values right = Case(Op::shr, type, {row}, {row, 32}).run({a, amounts})[0];
            const bool bits_only = program::traits(type).kind == program::TypeKind::bits;
            const Values left = bits_only ? Case(Op::shl, type, {row}, {row, 32}).run({a, amounts})[0] : Values{};
            for (int i = 0; i < warp_lanes; ++i) {
                ASSERT_EQ(right.lane[i], shift(a.lane[i], amounts.lane[i], width, program::is_signed(type), false));
                if (!bits_only) continue;
                ASSERT_EQ(left.lane[i], shift(a.lane[i], amounts.lane[i], width, false, true));
            }
        });
    }
}

TEST(AluLogic, FunnelShift) {
    enum { left_wrap = 0, right_wrap = 1, left_clamp = 2, right_clamp = 3 };
    const Case shf(Op::shf, DataType::b32, 3);
    const Bits a = 0x89ABCDEF, b = 0x01234567;
    EXPECT_EQ(shf.variant(left_wrap)(a, b, 8), 0x23456789u);
    EXPECT_EQ(shf.variant(left_wrap)(a, b, 40), 0x23456789u);
    EXPECT_EQ(shf.variant(left_clamp)(a, b, 40), 0x89ABCDEFu);
    EXPECT_EQ(shf.variant(right_wrap)(a, b, 8), 0x6789ABCDu);
    EXPECT_EQ(shf.variant(right_wrap)(a, b, 32), 0x89ABCDEFu);
    EXPECT_EQ(shf.variant(right_clamp)(a, b, 32), 0x01234567u);
    EXPECT_EQ(shf.variant(right_clamp)(a, b, 0xFFFFFFFFu), 0x01234567u);
    EXPECT_EQ(shf.variant(left_clamp)(a, b, 0), 0x01234567u);
}

}  // namespace
}  // namespace tilepath::exec::alu_test
