// Floating-point operations beside number/, a bit model written without the processor's arithmetic.
#pragma once
#include "alu_harness.h"
#include "number/arithmetic.h"

namespace tilepath::exec::alu_test {

using number::Arithmetic;
using number::Format;
using number::Rounding;

inline constexpr Rounding roundings[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp};

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
inline std::vector<Modifiers> modifiers_of(Format format, Op op) {
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
inline constexpr Typed scalar_types[] = {{DataType::f32, Format::f32},
                                         {DataType::f64, Format::f64},
                                         {DataType::f16, Format::f16},
                                         {DataType::bf16, Format::bf16}};

inline Bits model(Op op, Format format, Bits a, Bits b, Bits c, const Arithmetic& how) {
    switch (op) {
        case Op::add: return number::add(format, a, b, how);
        case Op::sub: return number::sub(format, a, b, how);
        case Op::mul: return number::mul(format, a, b, how);
        case Op::div: return number::div(format, a, b, how);
        default: return number::fma(format, a, b, c, how);
    }
}

inline void expect_like_model(Op op, const Typed& typed, const Modifiers& how, int rounds) {
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

}  // namespace tilepath::exec::alu_test
