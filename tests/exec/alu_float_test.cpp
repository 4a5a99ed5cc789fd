// f32, f64, f16 and bf16 arithmetic to the bit: against number/ (a bit model of its own, written without the
// processor's arithmetic) over special values, ties, subnormals and random bits, in every rounding mode and with every
// modifier; and a few results by hand.
#include "alu_harness.h"
#include "number/arithmetic.h"

namespace tilepath::exec::alu_test {
namespace {

using number::Arithmetic;
using number::Comparison;
using number::Format;
using number::Rounding;

constexpr Rounding roundings[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp};

/// Random bits, special values, and neighbours of one another, so that sums cancel and products reach the edges.
class Pool {
  public:
    explicit Pool(Format format) : format_(format), width_(number::traits(format).bits) {
        const number::FormatTraits& f = number::traits(format);
        const Bits one = Bits(f.bias) << f.fraction_bits, infinity = number::infinity(format, false);
        special_ = {0,
                    1,
                    2,
                    3,
                    (1ull << f.fraction_bits) - 1,
                    1ull << f.fraction_bits,
                    (1ull << f.fraction_bits) + 1,
                    one,
                    one + 1,
                    one - 1,
                    one + (1ull << (f.fraction_bits - 1)),
                    infinity,
                    infinity - 1,
                    infinity + 1,
                    number::canonical_nan(format),
                    infinity | 1ull << (f.fraction_bits - 1),
                    infinity | 5,
                    Bits(f.bias / 2) << f.fraction_bits,
                    (Bits(f.bias / 2) << f.fraction_bits) - 1,
                    Bits(f.bias + f.bias / 2) << f.fraction_bits};
    }
    Bits pick() {
        const Bits sign = Bits(random_() & 1) << (width_ - 1);
        switch (random_() % 4) {
            case 0: return special_[random_() % special_.size()] | sign;
            case 1:
                return last_ = ((last_ + random_() % 9 - 4) ^ (random_() % 3 == 0 ? 1ull << (width_ - 1) : 0)) & mask();
            case 2: {
                // Few significant bits around one: exact results, ties.
                const number::FormatTraits& f = number::traits(format_);
                const Bits exponent = Bits(f.bias + int(random_() % 12) - 6);
                return last_ = (exponent << f.fraction_bits | (random_() & 7) << (f.fraction_bits - 3)) | sign;
            }
            default: return last_ = random_() & mask();
        }
    }
    Values values() {
        Values all;
        for (Bits& lane : all.lane) lane = pick();
        return all;
    }

  private:
    Bits mask() const { return width_ == 64 ? ~0ull : (1ull << width_) - 1; }
    Format format_;
    int width_;
    std::vector<Bits> special_;
    std::mt19937_64 random_{3};
    Bits last_ = 0;
};

struct Modifiers {
    Rounding rounding = Rounding::rn;
    bool ftz = false, sat = false, relu = false;

    Arithmetic arithmetic() const { return {.rounding = rounding, .ftz = ftz, .saturate = sat, .relu = relu}; }
    Case on(const Case& with) const {
        return with.with(
            [&](MicroOp& op) { op.rounding = rounding, op.flags.ftz = ftz, op.flags.sat = sat, op.flags.relu = relu; });
    }
};

/// What instructions of a type take.
std::vector<Modifiers> modifiers_of(Format format, Op op) {
    std::vector<Modifiers> all;
    if (format == Format::f64)
        for (Rounding rounding : roundings) all.push_back({rounding});
    if (format == Format::f32)
        for (Rounding rounding : roundings)
            for (const bool ftz : {false, true})
                for (const bool sat : {false, true})
                    if (!sat || op != Op::div) all.push_back({rounding, ftz, sat});
    if (format == Format::f16)
        for (const bool ftz : {false, true}) {
            all.push_back({Rounding::rn, ftz});
            all.push_back({Rounding::rn, ftz, true});
            if (op == Op::fma) all.push_back({Rounding::rn, ftz, false, true});
        }
    if (format == Format::bf16) {
        all.push_back({});
        if (op == Op::fma) all.push_back({.relu = true});
    }
    return all;
}

struct Typed {
    DataType type;
    Format format;
};
constexpr Typed scalar_types[] = {{DataType::f32, Format::f32},
                                  {DataType::f64, Format::f64},
                                  {DataType::f16, Format::f16},
                                  {DataType::bf16, Format::bf16}};

Bits model(Op op, Format format, Bits a, Bits b, Bits c, const Arithmetic& how) {
    switch (op) {
        case Op::add: return number::add(format, a, b, how);
        case Op::sub: return number::sub(format, a, b, how);
        case Op::mul: return number::mul(format, a, b, how);
        case Op::div: return number::div(format, a, b, how);
        default: return number::fma(format, a, b, c, how);
    }
}

void expect_like_model(Op op, const Typed& typed, const Modifiers& how, int rounds) {
    const int sources = op == Op::fma ? 3 : 2;
    const Case with = how.on(Case(op, typed.type, sources));
    Pool pool(typed.format);
    for (int round = 0; round < rounds; ++round) {
        const Values a = pool.values(), b = pool.values(), c = pool.values();
        const Values d = with.run(sources == 3 ? std::vector{a, b, c} : std::vector{a, b})[0];
        for (int i = 0; i < warp_lanes; ++i)
            ASSERT_EQ(d.lane[i], model(op, typed.format, a.lane[i], b.lane[i], c.lane[i], how.arithmetic()))
                << program::traits(op).name << "." << program::traits(typed.type).name << " rounding "
                << int(how.rounding) << (how.ftz ? " ftz" : "") << (how.sat ? " sat" : "") << (how.relu ? " relu" : "")
                << std::hex << " " << a.lane[i] << " " << b.lane[i] << " " << c.lane[i];
    }
}

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

TEST(AluFloat, MinMaxByHand) {
    const Case least(Op::min, DataType::f32, 2), most(Op::max, DataType::f32, 2);
    const Bits nan = 0x7FC12345, canonical = 0x7FFFFFFF;
    EXPECT_EQ(least(f32(0.0f), f32(-0.0f)), f32(-0.0f));
    EXPECT_EQ(least(f32(-0.0f), f32(0.0f)), f32(-0.0f));
    EXPECT_EQ(most(f32(-0.0f), f32(0.0f)), f32(0.0f));
    EXPECT_EQ(least(nan, f32(3)), f32(3));
    EXPECT_EQ(most(f32(3), nan), f32(3));
    EXPECT_EQ(most(nan, nan), canonical);
    const auto flag_nan = [](MicroOp& op) { op.flags.nan = true; };
    EXPECT_EQ(most.with(flag_nan)(f32(3), nan), canonical);
    const auto signs = [](MicroOp& op) { op.flags.xorsign_abs = true; };
    EXPECT_EQ(least.with(signs)(f32(-3), f32(2)), f32(-2));
    EXPECT_EQ(most.with(signs)(f32(-3), f32(-2)), f32(3));
    EXPECT_EQ(most.with(signs)(f32(-3), nan), f32(-3));  // sign: one minus of the two
    const Case three(Op::max, DataType::f32, 3);
    EXPECT_EQ(three(f32(1), f32(5), f32(3)), f32(5));
    EXPECT_EQ(three(nan, nan, f32(3)), f32(3));
    EXPECT_EQ(three.with(flag_nan)(f32(1), nan, f32(3)), canonical);
    const auto magnitudes = [](MicroOp& op) { op.flags.abs = true; };
    EXPECT_EQ(three.with(magnitudes)(f32(1), f32(-5), f32(3)), f32(5));
    EXPECT_EQ(Case(Op::min, DataType::f32, 3).with(magnitudes)(f32(-1), f32(-5), f32(3)), f32(1));
}

TEST(AluFloat, ByHand) {
    const Case mul(Op::mul, DataType::f32, 2), fma(Op::fma, DataType::f32, 3);
    const auto ftz = [](MicroOp& op) { op.flags.ftz = true; };
    const auto sat = [](MicroOp& op) { op.flags.sat = true; };
    const auto toward = [](Rounding rounding) { return [=](MicroOp& op) { op.rounding = rounding; }; };
    EXPECT_EQ(Case(Op::add, DataType::f32, 2)(f32(1.0f), f32(0x1p-24f)), f32(1.0f));  // a tie: to even
    EXPECT_EQ(Case(Op::add, DataType::f32, 2).with(toward(Rounding::rp))(f32(1.0f), f32(0x1p-60f)), 0x3F800001u);
    EXPECT_EQ(Case(Op::add, DataType::f32, 2).with(toward(Rounding::rm))(f32(1.0f), f32(-1.0f)), 0x80000000u);
    EXPECT_EQ(Case(Op::add, DataType::f32, 2).with(toward(Rounding::rz))(0x7F7FFFFF, 0x7F7FFFFF), 0x7F7FFFFFu);
    EXPECT_EQ(Case(Op::add, DataType::f32, 2)(0x7F7FFFFF, 0x7F7FFFFF), 0x7F800000u);
    EXPECT_EQ(fma(f32(1 + 0x1p-12f), f32(1 + 0x1p-12f), f32(-1 - 0x1p-11f)), f32(0x1p-24f));  // not rounded in between
    EXPECT_EQ(mul(f32(INFINITY), f32(0)), 0x7FFFFFFFu);
    // Recorded on an H200: (1 − 2^-24)·2^-126 is flushed, though rounding would make it normal.
    EXPECT_EQ(mul(0x3F7FFFFF, 0x00800000), 0x00800000u);
    EXPECT_EQ(mul.with(ftz)(0x3F7FFFFF, 0x80800000), 0x80000000u);
    EXPECT_EQ(mul.with(ftz)(f32(2.0f), 0x007FFFFF), 0u);
    EXPECT_EQ(mul.with(sat)(f32(3), f32(1)), f32(1));
    EXPECT_EQ(mul.with(sat)(f32(-3), f32(1)), 0u);
    EXPECT_EQ(mul.with(sat)(f32(INFINITY), f32(0)), 0u);
    // f64 NaN, recorded on an H200: add has b's first, div a's, fma b's, c's, a's.
    const Bits x = 0x7FF0000000000001, y = 0xFFF0000000000002, z = 0x7FF8000000000003, quiet = 1ull << 51;
    EXPECT_EQ(Case(Op::add, DataType::f64, 2)(x, y), (y | quiet));
    EXPECT_EQ(Case(Op::div, DataType::f64, 2)(x, y), (x | quiet));
    EXPECT_EQ(Case(Op::fma, DataType::f64, 3)(x, y, z), (y | quiet));
    EXPECT_EQ(Case(Op::fma, DataType::f64, 3)(x, f64(1), z), z);
    EXPECT_EQ(Case(Op::mul, DataType::f64, 2)(f64(INFINITY), f64(0)), 0xFFF8000000000000u);
    // f16: ties and .ftz before rounding.
    EXPECT_EQ(Case(Op::mul, DataType::f16, 2).with(ftz)(0x0400, 0xBBFF), 0x8000u);
    EXPECT_EQ(Case(Op::mul, DataType::f16, 2)(0x0400, 0xBBFF), 0x8400u);
    EXPECT_EQ(Case(Op::add, DataType::f16, 2)(0x7BFF, 0x4C00), 0x7C00u);           // 65504 + 16 rounds to infinity
    EXPECT_EQ(Case(Op::fma, DataType::bf16, 3)(0x3F81, 0x3F81, 0xBF82), 0x3880u);  // (1+2^-7)² − 1 − 2^-6 = 2^-14
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

TEST(AluFloat, ApproximateDivision) {
    const auto approx = [](MicroOp& op) { op.flags.approx = true; };
    const Case div = Case(Op::div, DataType::f32, 2).with(approx);
    EXPECT_EQ(div(f32(6), f32(-3)), f32(-2));
    EXPECT_EQ(div(f32(0x1p127f), f32(0x1.8p126f)), 0u);  // PTX ISA 9.7.3.8: 2^126 < |b| < 2^128
    EXPECT_EQ(div(f32(-0x1p127f), f32(0x1.8p126f)), 0x80000000u);
    EXPECT_EQ(div(f32(INFINITY), f32(0x1.8p126f)), 0x7FFFFFFFu);
    EXPECT_EQ(div(f32(INFINITY), f32(0x1p126f)), 0x7F800000u);
    const Case full = Case(Op::div, DataType::f32, 2).with([](MicroOp& op) { op.flags.full = true; });
    EXPECT_EQ(full(f32(0x1p127f), f32(0x1.8p126f)), f32(2.0f / 1.5f));
}

TEST(AluFloat, CopysignAndTestp) {
    EXPECT_EQ(Case(Op::copysign, DataType::f32, 2)(0x80000000u, 0x7FC00001u), 0xFFC00001u);
    EXPECT_EQ(Case(Op::copysign, DataType::f64, 2)(f64(2), f64(-3)), f64(3));
    using program::TestProperty;
    const struct {
        Bits f32, f64;
        bool finite, infinite, number, nan, normal, subnormal;
    } rows[] = {{0, 0, true, false, true, false, true, false},
                {0x80000000, 1ull << 63, true, false, true, false, true, false},
                {0x007FFFFF, 0x000FFFFFFFFFFFFF, true, false, true, false, false, true},
                {0x80000001, 0x8000000000000001, true, false, true, false, false, true},
                {0x00800000, 0x0010000000000000, true, false, true, false, true, false},
                {0x7F7FFFFF, 0x7FEFFFFFFFFFFFFF, true, false, true, false, true, false},
                {0xFF800000, 0xFFF0000000000000, false, true, true, false, false, false},
                {0x7F800001, 0x7FF0000000000001, false, false, false, true, false, false}};
    for (const auto& row : rows) {
        const std::pair<TestProperty, bool> expected[] = {
            {TestProperty::finite, row.finite}, {TestProperty::infinite, row.infinite},
            {TestProperty::number, row.number}, {TestProperty::notanumber, row.nan},
            {TestProperty::normal, row.normal}, {TestProperty::subnormal, row.subnormal}};
        for (const auto& [property, value] : expected) {
            EXPECT_EQ(Case(Op::testp, DataType::f32, {1}, {32}).variant(property)(row.f32), Bits(value))
                << int(property);
            EXPECT_EQ(Case(Op::testp, DataType::f64, {1}, {64}).variant(property)(row.f64), Bits(value))
                << int(property);
        }
    }
}

}  // namespace
}  // namespace tilepath::exec::alu_test
