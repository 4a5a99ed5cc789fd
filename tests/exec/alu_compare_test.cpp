// setp and set: every comparison over values that include NaN, zeros of both signs and equal operands (PTX
// ISA 9.3.1, 9.7.6, 9.7.7).
#include <cmath>

#include "alu_harness.h"
#include "number/format.h"

namespace tilepath::exec::alu_test {
namespace {

using number::Format;
using program::BoolOp;
using program::Compare;

constexpr Compare all_compares[] = {Compare::eq,  Compare::ne,  Compare::lt,  Compare::le,  Compare::gt,  Compare::ge,
                                    Compare::lo,  Compare::ls,  Compare::hi,  Compare::hs,  Compare::equ, Compare::neu,
                                    Compare::ltu, Compare::leu, Compare::gtu, Compare::geu, Compare::num, Compare::nan};

bool unordered(Compare c) { return c >= Compare::equ && c != Compare::num; }
bool for_floats_only(Compare c) { return c >= Compare::equ; }
bool for_unsigned_only(Compare c) { return c >= Compare::lo && c <= Compare::hs; }

/// Tables 22 to 25 of the manual.
template <class T>
bool holds(Compare c, T a, T b) {
    switch (c) {
        case Compare::eq:
        case Compare::equ: return a == b;
        case Compare::ne:
        case Compare::neu: return a != b;
        case Compare::lt:
        case Compare::lo:
        case Compare::ltu: return a < b;
        case Compare::le:
        case Compare::ls:
        case Compare::leu: return a <= b;
        case Compare::gt:
        case Compare::hi:
        case Compare::gtu: return a > b;
        case Compare::ge:
        case Compare::hs:
        case Compare::geu: return a >= b;
        case Compare::num: return true;
        case Compare::nan: return false;
    }
    return false;
}

bool holds_for_floats(Compare c, double a, double b) {
    return std::isnan(a) || std::isnan(b) ? unordered(c) : holds(c, a, b);
}

bool apply(BoolOp op, bool t, bool c) {
    switch (op) {
        case BoolOp::none: return t;
        case BoolOp::and_: return t && c;
        case BoolOp::or_: return t || c;
        case BoolOp::xor_: return t != c;
    }
    return t;
}

template <class Expected>
void expect_setp(DataType type, Compare compare, const Values& a, const Values& b, bool ftz, Expected expected) {
    const int width = row_width(type);
    auto how = [&](MicroOp& op) { op.compare = compare, op.flags.ftz = ftz; };
    Values c;
    for (int i = 0; i < warp_lanes; ++i) c.lane[i] = Bits(i / 2 % 2);
    const auto plain = Case(Op::setp, type, {1}, {width, width}).with(how).run({a, b}, 0x7FFFFFFE);
    for (int i = 1; i < 31; ++i)
        ASSERT_EQ(plain[0].lane[i], Bits(expected(i)))
            << program::traits(type).name << " " << int(compare) << std::hex << " " << a.lane[i] << " " << b.lane[i];
    for (const BoolOp op : {BoolOp::and_, BoolOp::or_, BoolOp::xor_}) {
        const Case both =
            Case(Op::setp, type, {1, 1}, {width, width, 1}).with(how).with([&](MicroOp& x) { x.bool_op = op; });
        const auto normal = both.run({a, b, c}), negated = both.run({a, b, c}, all_lanes, 1 << 4);
        for (int i = 0; i < warp_lanes; ++i) {
            const bool t = expected(i), p = c.lane[i] != 0;
            ASSERT_EQ(normal[0].lane[i], Bits(apply(op, t, p)));
            ASSERT_EQ(normal[1].lane[i], Bits(apply(op, !t, p)));
            ASSERT_EQ(negated[0].lane[i], Bits(apply(op, t, !p)));
        }
    }
}

TEST(AluCompare, Integers) {
    std::mt19937_64 random(9);
    const DataType types[] = {DataType::u16, DataType::s16, DataType::u32, DataType::s32, DataType::u64, DataType::s64};
    for (DataType type : types) {
        const int width = program::bits(type);
        const Bits mask = width == 64 ? ~0ull : (1ull << width) - 1;
        auto value = [&](Bits bits) { return std::int64_t(bits << (64 - width)) >> (64 - width); };
        for (Compare compare : all_compares) {
            if (for_floats_only(compare) || (program::is_signed(type) && for_unsigned_only(compare))) continue;
            Values a, b;
            for (int i = 0; i < warp_lanes; ++i) {
                a.lane[i] = random() & mask;
                b.lane[i] = i % 3 == 0 ? a.lane[i] : i % 3 == 1 ? (a.lane[i] ^ 1ull << (width - 1)) : random() & mask;
            }
            expect_setp(type, compare, a, b, false, [&](int i) {
                return program::is_signed(type) ? holds(compare, value(a.lane[i]), value(b.lane[i]))
                                                : holds(compare, a.lane[i], b.lane[i]);
            });
        }
    }
    // Bit types have equality alone, upper bits of a narrow source count for nothing.
    EXPECT_EQ(Case(Op::setp, DataType::b16, {1}, {32, 32})(0x12345, 0x2345), 1u);
}

const std::pair<DataType, Format> float_types[] = {{DataType::f32, Format::f32},
                                                   {DataType::f64, Format::f64},
                                                   {DataType::f16, Format::f16},
                                                   {DataType::bf16, Format::bf16}};

/// Pairs of everything with everything.
std::vector<Bits> interesting(Format format) {
    const Bits infinity = number::infinity(format, false), one = number::from_double(1.0, format);
    std::vector<Bits> all{0, 1, one, one + 1, infinity, infinity + 1, number::canonical_nan(format), infinity >> 4};
    for (std::size_t i = 0, n = all.size(); i < n; ++i)
        all.push_back(all[i] ^ 1ull << (number::traits(format).bits - 1));
    return all;
}

double flushed(double value, Format format, bool ftz) {
    const double least = format == Format::f16 ? 0x1p-14 : 0x1p-126;
    return ftz && std::abs(value) < least ? 0.0 : value;
}

TEST(AluCompare, Floats) {
    for (const auto& [type, format] : float_types) {
        const std::vector<Bits> pool = interesting(format);
        for (const bool ftz : {false, true}) {
            if (ftz && format != Format::f32 && format != Format::f16) continue;
            for (Compare compare : all_compares) {
                if (for_unsigned_only(compare)) continue;
                for (std::size_t first = 0; first < pool.size() * pool.size(); first += warp_lanes) {
                    Values a, b;
                    for (std::size_t i = 0; i < warp_lanes; ++i) {
                        const std::size_t pair = (first + i) % (pool.size() * pool.size());
                        a.lane[i] = pool[pair / pool.size()], b.lane[i] = pool[pair % pool.size()];
                    }
                    const Format f = format;
                    expect_setp(type, compare, a, b, ftz, [&](int i) {
                        return holds_for_floats(compare, flushed(number::to_double(a.lane[i], f), f, ftz),
                                                flushed(number::to_double(b.lane[i], f), f, ftz));
                    });
                }
            }
        }
    }
}

TEST(AluCompare, HalvesInPairs) {
    for (const auto& [pair, format] :
         {std::pair{DataType::f16x2, Format::f16}, std::pair{DataType::bf16x2, Format::bf16}}) {
        const std::vector<Bits> pool = interesting(format);
        std::mt19937 random(2);
        for (Compare compare : all_compares) {
            if (for_unsigned_only(compare)) continue;
            Values a, b, c;
            for (int i = 0; i < warp_lanes; ++i) {
                auto pick = [&] { return pool[random() % pool.size()]; };
                a.lane[i] = pick() << 16 | pick(), b.lane[i] = pick() << 16 | pick(), c.lane[i] = random() & 1;
            }
            const auto result = [&](int i, int half) {
                return holds_for_floats(compare, number::to_double(a.lane[i] >> (16 * half), format),
                                        number::to_double(b.lane[i] >> (16 * half), format));
            };
            auto how = [&](MicroOp& op) { op.compare = compare; };
            const auto p = Case(Op::setp, pair, {1, 1}, {32, 32}).with(how).run({a, b});
            const auto q = Case(Op::setp, pair, {1, 1}, {32, 32, 1})
                               .with(how)
                               .with([](MicroOp& op) { op.bool_op = BoolOp::xor_; })
                               .run({a, b, c});
            const DataType destination = pair;
            const auto ones = Case(Op::set, destination, {32}, {32, 32})
                                  .with(how)
                                  .with([&](MicroOp& op) { op.source_type = pair; })
                                  .run({a, b});
            const auto masks = Case(Op::set, DataType::u32, {32}, {32, 32, 1})
                                   .with(how)
                                   .with([&](MicroOp& op) { op.source_type = pair, op.bool_op = BoolOp::and_; })
                                   .run({a, b, c});
            const Bits one = format == Format::f16 ? 0x3C00 : 0x3F80;
            for (int i = 0; i < warp_lanes; ++i) {
                const bool low = result(i, 0), high = result(i, 1), and_c = c.lane[i] != 0;
                ASSERT_EQ(p[0].lane[i], Bits(low));
                ASSERT_EQ(p[1].lane[i], Bits(high));
                ASSERT_EQ(q[0].lane[i], Bits(low != and_c));
                ASSERT_EQ(q[1].lane[i], Bits(high != and_c));
                ASSERT_EQ(ones[0].lane[i], (high ? one << 16 : 0) | (low ? one : 0));
                ASSERT_EQ(masks[0].lane[i], (high && and_c ? 0xFFFF0000u : 0u) | (low && and_c ? 0xFFFFu : 0u));
            }
        }
    }
}

TEST(AluCompare, Set) {
    const auto set = [](DataType to, DataType from, Compare compare) {
        const int width = row_width(from);
        return Case(Op::set, to, {32}, {width, width}).with([&](MicroOp& op) {
            op.source_type = from, op.compare = compare;
        });
    };
    EXPECT_EQ(set(DataType::u32, DataType::s32, Compare::lt)(0xFFFFFFFFu, 0), 0xFFFFFFFFu);
    EXPECT_EQ(set(DataType::u32, DataType::u32, Compare::lt)(0xFFFFFFFFu, 0), 0u);
    EXPECT_EQ(set(DataType::f32, DataType::f64, Compare::ge)(f64(2), f64(2)), f32(1.0f));
    EXPECT_EQ(set(DataType::f32, DataType::f64, Compare::gt)(f64(2), f64(2)), 0u);
    EXPECT_EQ(set(DataType::s32, DataType::s64, Compare::ne)(1, 1ull << 40), 0xFFFFFFFFu);
    EXPECT_EQ(set(DataType::u16, DataType::f16, Compare::le)(0x3C00, 0x3C00), 0xFFFFu);
    EXPECT_EQ(set(DataType::u32, DataType::f16, Compare::nan)(0x7E00, 0x3C00), 0xFFFFFFFFu);
    EXPECT_EQ(set(DataType::f16, DataType::f32, Compare::eq)(f32(0), f32(-0.0f)), 0x3C00u);
    EXPECT_EQ(set(DataType::bf16, DataType::u16, Compare::eq)(7, 7), 0x3F80u);
    const Case flushed = set(DataType::u32, DataType::f32, Compare::eq).with([](MicroOp& op) { op.flags.ftz = true; });
    EXPECT_EQ(flushed(1, 0x80000002u), 0xFFFFFFFFu);
    const Case with_or = Case(Op::set, DataType::f32, {32}, {32, 32, 1}).with([](MicroOp& op) {
        op.source_type = DataType::u32, op.compare = Compare::hi, op.bool_op = BoolOp::or_;
    });
    EXPECT_EQ(with_or(1, 2, 1), f32(1));
    EXPECT_EQ(with_or(1, 2, 0), 0u);
    EXPECT_EQ(with_or.run({splat(1), splat(2), splat(0)}, all_lanes, 1 << 3)[0].lane[5], f32(1));
}

}  // namespace
}  // namespace tilepath::exec::alu_test
