// tcgen05.mma against plain loops: kinds, data paths, modifiers, runs of several.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tcgen05_case.h"

namespace tilepath::exec {
namespace {

using atom::Tcgen05Kind;
using enum number::Format;
using number::Format;

void expect_right(const Tcgen05Case& c, const std::string& what, unsigned seed = 1) {
    Tcgen05Multiplier multiplier;
    Tcgen05Bench bench(c, seed);
    EXPECT_EQ(bench.run(multiplier), "") << what;
}

TEST(Tcgen05Multiply, MultipliesEveryKind) {
    const Format narrow[] = {e4m3, e5m2, e2m3, e3m2, e2m1};
    for (const bool tmem : {false, true}) {
        expect_right({.a = f16, .b = f16, .a_in_tmem = tmem}, "f16");
        expect_right({.a = f16, .b = f16, .d = f16, .a_in_tmem = tmem}, "f16 in f16");
        expect_right({.a = bf16, .b = bf16, .a_in_tmem = tmem}, "bf16");
        expect_right({.a = bf16, .b = f16, .a_in_tmem = tmem}, "bf16 with f16");
        expect_right({.kind = Tcgen05Kind::tf32, .a = tf32, .b = tf32, .a_in_tmem = tmem}, "tf32");
        for (const Format a : narrow)
            for (const Format b : narrow)
                expect_right(
                    {.kind = Tcgen05Kind::f8f6f4, .a = a, .b = b, .d = a == e4m3 ? f16 : f32, .a_in_tmem = tmem},
                    fmt::format("{} with {}", number::traits(a).name, number::traits(b).name));
        for (const Format a : {u8, s8})
            expect_right({.kind = Tcgen05Kind::i8, .a = a, .b = s8, .d = s32, .a_in_tmem = tmem, .saturate = a == s8},
                         "i8");
    }
}

TEST(Tcgen05Multiply, MultipliesBlockScaledKinds) {
    for (const bool tmem : {false, true})
        for (int id = 0; id < 4; ++id) {
            expect_right({.kind = Tcgen05Kind::mxf8f6f4,
                          .a = e4m3,
                          .b = e2m1,
                          .n = 200,
                          .a_in_tmem = tmem,
                          .block = 32,
                          .sfa_id = id,
                          .sfb_id = 3 - id},
                         "mxf8f6f4");
            if (id % 2 == 0)
                for (const Tcgen05Kind kind : {Tcgen05Kind::mxf4, Tcgen05Kind::mxf4nvf4})
                    expect_right({.kind = kind,
                                  .a = e2m1,
                                  .b = e2m1,
                                  .n = 256,
                                  .a_in_tmem = tmem,
                                  .block = 32,
                                  .sfa_id = id,
                                  .sfb_id = 2 - id},
                                 "2X");
        }
    for (const Format scale : {ue4m3, ue8m0})
        for (const int m : {128, 256})
            expect_right({.kind = Tcgen05Kind::mxf4nvf4,
                          .a = e2m1,
                          .b = e2m1,
                          .m = m,
                          .n = 144,
                          .cta_group = m / 128,
                          .block = 16,
                          .scale = scale},
                         "4X");
    for (const int id : {0, 1, 2, 3})
        expect_right({.kind = Tcgen05Kind::mxf4,
                      .a = e2m1,
                      .b = e2m1,
                      .m = 256,
                      .n = 96,
                      .cta_group = 2,
                      .k96 = true,
                      .block = 32,
                      .sfa_id = id,
                      .sfb_id = id},
                     "k of 96, 3X");
    for (const int id : {0, 2})
        expect_right({.kind = Tcgen05Kind::mxf4nvf4,
                      .a = e2m1,
                      .b = e2m1,
                      .n = 64,
                      .k96 = true,
                      .block = 16,
                      .sfa_id = id,
                      .sfb_id = 2 - id,
                      .scale = ue4m3},
                     "k of 96, 6X");
    for (const int n : {64, 256})  // data path B: halves of columns
        expect_right({.kind = Tcgen05Kind::mxf4nvf4,
                      .a = e2m1,
                      .b = e2m1,
                      .m = 128,
                      .n = n,
                      .cta_group = 2,
                      .block = 16,
                      .scale = ue4m3},
                     fmt::format("m of 128 for a pair, n of {}", n));
}

TEST(Tcgen05Multiply, PutsDWhereEachDataPathHasIt) {
    for (const bool tmem : {false, true}) {
        expect_right({.m = 64, .n = 24, .a_in_tmem = tmem}, "F");
        expect_right({.m = 64, .n = 24, .a_in_tmem = tmem, .lane = 16}, "F from lane 16");
        expect_right({.m = 256, .n = 64, .cta_group = 2, .a_in_tmem = tmem}, "A");
        expect_right({.m = 128, .n = 64, .cta_group = 2, .a_in_tmem = tmem}, "B");
        expect_right({.m = 128, .n = 64, .cta_group = 2, .sparse = true, .a_in_tmem = tmem, .lane = 16}, "C");
        for (const int m : {32, 64, 128})
            expect_right({.m = m, .n = 128, .ws = true, .a_in_tmem = tmem}, fmt::format(".ws, m of {}", m));
    }
    for (const int n : {8, 16, 248, 256}) expect_right({.n = n}, fmt::format("n of {}", n));
    for (const int n : {16, 48, 256})
        expect_right({.kind = Tcgen05Kind::f8f6f4, .a = e4m3, .b = e4m3, .m = 256, .n = n, .cta_group = 2}, "pair");
}

TEST(Tcgen05Multiply, ObeysItsModifiers) {
    expect_right({.negate_a = true}, "negated A");
    expect_right({.kind = Tcgen05Kind::f8f6f4, .a = e3m2, .b = e2m1, .negate_a = true, .negate_b = true}, "negated");
    expect_right({.kind = Tcgen05Kind::mxf4, .a = e2m1, .b = e2m1, .negate_b = true, .block = 32}, "negated fp4");
    expect_right({.accumulates = false}, "D = AB");
    expect_right({.d = f16, .accumulates = false}, "D = AB in f16");
    for (const int scale : {1, 7, 15}) {
        expect_right({.scale_input_d = scale}, "D / 2^s");
        expect_right({.d = f16, .scale_input_d = scale}, "D / 2^s in f16");
    }
    expect_right({.disabled = {0x1, 0x80000000, 0xFFFF, 0xFFFFFFFF}}, "disabled lanes");
    expect_right({.m = 256, .n = 32, .cta_group = 2, .disabled = {0, 2, 4, 8, 16, 32, 64, ~0u}}, "of a pair");
    expect_right({.a_in_tmem = true, .ashift = true}, ".ashift");
    const std::uint64_t runs = 1ull << 39 | 2ull << 40 | 3ull << 48;  // three zeroed, four used
    for (const int m : {32, 64, 128})
        for (const std::uint64_t first : {0ull, 0x5ull << 32, 0xF00020100ull}) {
            const std::uint64_t mask = runs | first;
            expect_right({.m = m, .n = 64, .ws = true, .zero_columns = mask}, "zeroed columns");
            expect_right({.m = m, .n = 64, .ws = true, .zero_columns = mask | 5ull << 56, .max_shift = 8}, "shifted");
        }
}

/// A is spread with zeros, for the vector engine; or the scalar reference multiplies.
TEST(Tcgen05Multiply, MultipliesSparseKinds) {
    for (const unsigned seed : {1u, 2u}) {
        for (const Format d : {f32, f16}) expect_right({.d = d, .n = 48, .sparse = true}, "f16", seed);
        expect_right({.a = bf16, .b = bf16, .n = 48, .sparse = true, .negate_a = true}, "bf16", seed);
        expect_right({.kind = Tcgen05Kind::tf32, .a = tf32, .b = tf32, .n = 48, .sparse = true}, "tf32", seed);
        for (const Format a : {e4m3, e5m2, e2m3, e3m2, e2m1})
            for (const Format b : {e4m3, e2m1})
                expect_right({.kind = Tcgen05Kind::f8f6f4, .a = a, .b = b, .n = 48, .sparse = true}, "f8f6f4", seed);
        expect_right({.kind = Tcgen05Kind::i8, .a = s8, .b = u8, .d = s32, .n = 48, .sparse = true}, "i8", seed);
        for (const Format a : {e4m3, e2m3, e2m1})
            expect_right({.kind = Tcgen05Kind::mxf8f6f4, .a = a, .b = e5m2, .n = 48, .sparse = true, .block = 32},
                         "mxf8f6f4", seed);
        for (const Tcgen05Kind kind : {Tcgen05Kind::mxf4, Tcgen05Kind::mxf4nvf4})
            expect_right({.kind = kind, .a = e2m1, .b = e2m1, .n = 48, .sparse = true, .block = 32}, "mxf4", seed);
    }
}

/// What A does not select of B is no operand, infinities and NaNs included.
TEST(Tcgen05Multiply, SparseProductsMeetInfinitiesOnlyWhereASelectsThem) {
    const auto with = [](const Tcgen05Case& c) {
        Tcgen05Multiplier multiplier;
        Tcgen05Bench bench(c, 3);
        EXPECT_EQ(bench.run(multiplier), "");
    };
    for (const double rate : {0.002, 0.05}) {
        with({.n = 48, .sparse = true, .specials = rate});
        with({.a = bf16, .b = bf16, .n = 48, .sparse = true, .specials = rate});
        with({.kind = Tcgen05Kind::tf32, .a = tf32, .b = tf32, .n = 48, .sparse = true, .specials = rate});
        for (const Format b : {e4m3, e5m2})
            with({.kind = Tcgen05Kind::f8f6f4, .a = e5m2, .b = b, .n = 48, .sparse = true, .specials = rate});
    }
}

TEST(Tcgen05Multiply, RunsSeveralStepsAsOne) {
    for (const bool accumulates : {false, true}) {
        expect_right({.n = 32, .accumulates = accumulates, .steps = 3}, "f16");
        expect_right({.d = f16, .n = 32, .accumulates = accumulates, .steps = 3}, "f16 in f16");
        expect_right({.m = 128, .n = 32, .cta_group = 2, .a_in_tmem = true, .accumulates = accumulates, .steps = 4},
                     "pair");
        expect_right({.kind = Tcgen05Kind::i8,
                      .a = s8,
                      .b = s8,
                      .d = s32,
                      .n = 32,
                      .accumulates = accumulates,
                      .saturate = true,
                      .steps = 3},
                     "i8");
        expect_right({.kind = Tcgen05Kind::mxf4nvf4,
                      .a = e2m1,
                      .b = e2m1,
                      .n = 32,
                      .accumulates = accumulates,
                      .block = 16,
                      .scale = ue4m3,
                      .steps = 4},
                     "nvf4");
        expect_right({.n = 32, .sparse = true, .accumulates = accumulates, .steps = 2}, "sparse");
        expect_right({.n = 32, .accumulates = accumulates, .steps = 4, .within_row = true}, "along a row");
        expect_right({.kind = Tcgen05Kind::mxf8f6f4,
                      .a = e5m2,
                      .b = e4m3,
                      .n = 32,
                      .accumulates = accumulates,
                      .block = 32,
                      .steps = 4,
                      .within_row = true},
                     "factors of one cell");
        expect_right({.kind = Tcgen05Kind::mxf4,
                      .a = e2m1,
                      .b = e2m1,
                      .n = 32,
                      .accumulates = accumulates,
                      .block = 32,
                      .steps = 4,
                      .within_row = true},
                     "factors of two cells");
    }
}

}  // namespace
}  // namespace tilepath::exec
