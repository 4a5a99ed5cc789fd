// f32, f64, f16 and bf16 arithmetic to the bit: against number/ over special values, ties, subnormals and random bits,
// in every rounding mode and with every modifier.
#include "float_model.h"

namespace tilepath::exec::alu_test {
namespace {

using number::Comparison;

TEST(AluFloat, ArithmeticAgreesWithTheModel) {
    for (const Typed& typed : scalar_types)
        for (const Op op : {Op::add, Op::sub, Op::mul, Op::fma, Op::div}) {
            if (op == Op::div && (typed.format == Format::f16 || typed.format == Format::bf16)) continue;
            for (const Modifiers& how : modifiers_of(typed.format, op)) expect_like_model(op, typed, how, 60);
        }
}

/// A packed type computes each element as the single type does.
TEST(AluFloat, Pairs) {
    const struct {
        DataType pair, single;
        Format format;
    } types[] = {{DataType::f16x2, DataType::f16, Format::f16},
                 {DataType::bf16x2, DataType::bf16, Format::bf16},
                 {DataType::f32x2, DataType::f32, Format::f32}};
    for (const auto& [pair, single, format] : types) {
        const int width = number::traits(format).bits;
        for (const Op op : {Op::add, Op::sub, Op::mul, Op::fma}) {
            const int sources = op == Op::fma ? 3 : 2;
            for (const Modifiers& how : modifiers_of(format, op)) {
                if (format == Format::f32 && how.sat) continue;
                const Case with = how.on(Case(op, pair, sources));
                Pool pool(format);
                for (int round = 0; round < 10; ++round) {
                    const Values low[3] = {pool.values(), pool.values(), pool.values()};
                    const Values high[3] = {pool.values(), pool.values(), pool.values()};
                    std::vector<Values> operands(std::size_t(sources), Values{});
                    for (int s = 0; s < sources; ++s)
                        for (int i = 0; i < warp_lanes; ++i)
                            operands[std::size_t(s)].lane[i] = high[s].lane[i] << width | low[s].lane[i];
                    const Values d = with.run(operands, 0xFFFF00FF)[0];
                    for (int i = 0; i < warp_lanes; ++i) {
                        if ((0xFFFF00FF >> i & 1) == 0) continue;
                        const auto part = [&](const Values* x) {
                            return model(op, format, x[0].lane[i], x[1].lane[i], x[2].lane[i], how.arithmetic());
                        };
                        ASSERT_EQ(d.lane[i], part(high) << width | part(low)) << program::traits(pair).name;
                    }
                }
            }
        }
    }
}

TEST(AluFloat, RootsAndReciprocals) {
    for (const Typed& typed : {scalar_types[0], scalar_types[1]})
        for (Rounding rounding : roundings)
            for (const bool ftz : {false, true}) {
                if (ftz && typed.format == Format::f64) continue;
                const Modifiers how{rounding, ftz};
                const Case root = how.on(Case(Op::sqrt, typed.type, 1)),
                           reciprocal = how.on(Case(Op::rcp, typed.type, 1));
                const Bits one = typed.format == Format::f32 ? f32(1.0f) : f64(1.0);
                Pool pool(typed.format);
                for (int round = 0; round < 60; ++round) {
                    const Values a = pool.values(), r = root.run({a})[0], q = reciprocal.run({a})[0];
                    for (int i = 0; i < warp_lanes; ++i) {
                        ASSERT_EQ(r.lane[i], number::sqrt(typed.format, a.lane[i], how.arithmetic()))
                            << std::hex << a.lane[i];
                        ASSERT_EQ(q.lane[i], number::div(typed.format, one, a.lane[i], how.arithmetic()))
                            << std::hex << a.lane[i];
                    }
                }
            }
}

TEST(AluFloat, MinMaxAbsNeg) {
    for (const Typed& typed : scalar_types)
        for (int bits = 0; bits < 8; ++bits) {
            const Comparison how{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
            if (typed.format == Format::f64 && bits != 0) continue;
            if (typed.format == Format::bf16 && how.ftz) continue;
            auto flags = [&](MicroOp& op) {
                op.flags.ftz = how.ftz, op.flags.nan = how.nan, op.flags.xorsign_abs = how.xorsign_abs;
            };
            const Case least = Case(Op::min, typed.type, 2).with(flags),
                       most = Case(Op::max, typed.type, 2).with(flags);
            const Case negative = Case(Op::neg, typed.type, 1).with(flags),
                       absolute = Case(Op::abs, typed.type, 1).with(flags);
            Pool pool(typed.format);
            for (int round = 0; round < 40; ++round) {
                const Values a = pool.values(), b = pool.values();
                const Values low = least.run({a, b})[0], high = most.run({a, b})[0];
                const Values minus = negative.run({a})[0], magnitude = absolute.run({a})[0];
                for (int i = 0; i < warp_lanes; ++i) {
                    ASSERT_EQ(low.lane[i], number::minimum(typed.format, a.lane[i], b.lane[i], how));
                    ASSERT_EQ(high.lane[i], number::maximum(typed.format, a.lane[i], b.lane[i], how));
                    ASSERT_EQ(minus.lane[i], number::negated(typed.format, a.lane[i], how));
                    ASSERT_EQ(magnitude.lane[i], number::absolute(typed.format, a.lane[i], how));
                }
            }
        }
}

/// Results about 2^-126, on both sides of what .ftz flushes, which is more than what is subnormal once rounded.
TEST(AluFloat, FlushesAtTheLeastNormal) {
    std::mt19937_64 random(13);
    for (Rounding rounding : roundings)
        for (const Op op : {Op::mul, Op::fma, Op::div}) {
            const Case with = Modifiers{rounding, true}.on(Case(op, DataType::f32, op == Op::fma ? 3 : 2));
            const Arithmetic how{.rounding = rounding, .ftz = true};
            int normal = 0, flushed = 0;
            for (int round = 0; round < 400; ++round) {
                Values a, b, c;
                for (int i = 0; i < warp_lanes; ++i) {
                    const double sign = random() % 2 == 0 ? 1 : -1;
                    const double target = sign * (0x1p-126 - std::ldexp(double(random() % 9) - 2, -152));
                    const float x = float(std::ldexp(double(1ull << 23 | (random() & 0x7FFFFF)), -46));
                    const float y = float(op == Op::div ? x / target : target / x);  // finite: x < 2^-22
                    // fma: what the product misses, nothing, or a product that all but vanishes beside 2^-126.
                    const bool beside = op == Op::fma && random() % 3 == 0;
                    a.lane[i] = f32(beside ? x * 0x1p-60f : x), b.lane[i] = f32(beside ? float(-sign) * 0x1p-70f : y);
                    c.lane[i] = f32(beside              ? float(sign) * 0x1p-126f
                                    : random() % 2 == 0 ? float(target - double(x) * y)
                                                        : 0.0f);
                }
                const Values d = with.run(op == Op::fma ? std::vector{a, b, c} : std::vector{a, b})[0];
                for (int i = 0; i < warp_lanes; ++i) {
                    ASSERT_EQ(d.lane[i], model(op, Format::f32, a.lane[i], b.lane[i], c.lane[i], how))
                        << program::traits(op).name << " rounding " << int(rounding) << std::hex << " " << a.lane[i]
                        << " " << b.lane[i] << " " << c.lane[i];
                    ((d.lane[i] & 0x7FFFFFFF) == 0 ? flushed : normal) += 1;
                }
            }
            EXPECT_GT(normal, 1000) << program::traits(op).name << int(rounding);
            EXPECT_GT(flushed, 1000) << program::traits(op).name << int(rounding);
        }
}

}  // namespace
}  // namespace tilepath::exec::alu_test
