// tcgen05.mma against plain loops: every layout in shared memory, and metadata in Tensor Memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "tcgen05_case.h"

namespace tilepath::exec {
namespace {

using atom::Tcgen05Kind;
using enum number::Format;

void expect_right(const Tcgen05Case& c, const std::string& what, unsigned seed = 1) {
    Tcgen05Multiplier multiplier;
    Tcgen05Bench bench(c, seed);
    EXPECT_EQ(bench.run(multiplier), "") << what;
}

TEST(Tcgen05Layouts, ReadsEveryLayoutInSharedMemory) {
    using enum Swizzle;
    for (const Swizzle a : {none, b32, b64, b128})
        for (const Swizzle b : {none, b32, b64, b128})
            for (const int major : {0, 1, 2, 3}) {
                const bool am = major & 1, bm = major >> 1;
                const std::string what = fmt::format("swizzles {} and {}, majors {}", int(a), int(b), major);
                expect_right({.n = 80, .a_mn_major = am, .b_mn_major = bm, .a_swizzle = a, .b_swizzle = b}, what);
                expect_right({.kind = Tcgen05Kind::i8,
                              .a = s8,
                              .b = u8,
                              .d = s32,
                              .m = 256,
                              .n = 64,
                              .cta_group = 2,
                              .a_mn_major = am,
                              .b_mn_major = bm,
                              .a_swizzle = a,
                              .b_swizzle = b},
                             what);
            }
    for (const bool a : {false, true})
        for (const bool b : {false, true})
            expect_right({.kind = Tcgen05Kind::tf32,
                          .a = tf32,
                          .b = tf32,
                          .a_mn_major = a,
                          .b_mn_major = b,
                          .a_swizzle = a ? b128_atom_32 : b128,
                          .b_swizzle = b ? b128_atom_32 : b128},
                         "tf32");
    for (const Swizzle swizzle : {none, b32, b64, b128})
        expect_right(
            {.kind = Tcgen05Kind::mxf4, .a = e2m1, .b = e2m1, .a_swizzle = swizzle, .b_swizzle = swizzle, .block = 32},
            "packed nibbles");
    for (const std::uint32_t phase : {32u, 64u, 96u})
        expect_right({.phase = phase}, fmt::format("{} bytes into the pattern's row", phase));
}

TEST(Tcgen05Layouts, ReadsRowsThatGoOnInAnotherBuffer) {
    for (const std::uint32_t phase : {0u, 48u, 96u, 112u})
        expect_right({.kind = Tcgen05Kind::mxf4,
                      .a = e2m1,
                      .b = e2m1,
                      .m = 256,
                      .n = 64,
                      .cta_group = 2,
                      .k96 = true,
                      .block = 32,
                      .two_buffers = true,
                      .phase = phase},
                     fmt::format("from byte {}", phase));
}

/// D of a case whose columns of factors from `column` on are twice as large in the third window of lanes.
std::vector<std::uint32_t> with_larger_copy(const Tcgen05Case& c, std::uint32_t column) {
    Tcgen05Multiplier multiplier;
    Tcgen05Bench bench(c, 1);
    for (std::uint32_t i = column; column != 0 && i < column + 4; ++i)
        for (int lane = 64; lane < 96; ++lane) bench.tensor[0].column(i)[lane] += 0x01010101;  // ue8m0
    const Tcgen05Plan& plan = multiplier.plan(words_of(c), bench.operands[0]);
    EXPECT_EQ(multiplier.multiply(plan, bench.operands, bench.ctas()), "");
    return {bench.tensor[0].column(0), bench.tensor[0].column(static_cast<std::uint32_t>(c.n))};
}

TEST(Tcgen05Layouts, ReadsFactorsFromEachWindowsOwnCopy) {
    for (const Tcgen05Case& c :
         {Tcgen05Case{.kind = Tcgen05Kind::mxf8f6f4, .a = e4m3, .b = e4m3, .n = 128, .accumulates = false, .block = 32},
          Tcgen05Case{.kind = Tcgen05Kind::mxf4, .a = e2m1, .b = e2m1, .n = 128, .accumulates = false, .block = 32}}) {
        const auto alike = with_larger_copy(c, 0);
        for (const std::uint32_t column : {320u, 384u}) {  // of A's factors, of B's
            const auto larger = with_larger_copy(c, column);
            for (std::size_t i = 0; i < alike.size(); ++i) {
                const bool is_twice = i % 128 / 32 == 2 && alike[i] != 0;
                ASSERT_EQ(larger[i], alike[i] + (is_twice ? 1u << 23 : 0)) << "lane " << i % 128;
            }
        }
    }
}

/// Groups of products begin anew with every instruction: 64 and 32.
TEST(Tcgen05Layouts, KeepsStepsOfK96Apart) {
    for (const bool accumulates : {false, true})
        expect_right({.kind = Tcgen05Kind::mxf4nvf4,
                      .a = e2m1,
                      .b = e2m1,
                      .n = 32,
                      .k96 = true,
                      .accumulates = accumulates,
                      .block = 16,
                      .scale = ue4m3,
                      .steps = 3},
                     "nvf4, k of 96");
}

TEST(Tcgen05Layouts, SelectsByMetadata) {
    for (const bool tmem : {false, true}) {
        for (const int selector : {0, 1})
            for (const int m : {64, 128}) {
                expect_right({.m = m, .n = 32, .sparse = true, .a_in_tmem = tmem, .selector = selector}, "f16");
                expect_right({.kind = Tcgen05Kind::tf32,
                              .a = tf32,
                              .b = tf32,
                              .m = m,
                              .n = 32,
                              .sparse = true,
                              .a_in_tmem = tmem,
                              .selector = selector},
                             "tf32");
            }
        expect_right({.kind = Tcgen05Kind::i8, .a = s8, .b = s8, .d = s32, .n = 32, .sparse = true, .a_in_tmem = tmem},
                     "i8");
        expect_right({.kind = Tcgen05Kind::mxf8f6f4,
                      .a = e4m3,
                      .b = e3m2,
                      .n = 40,
                      .sparse = true,
                      .a_in_tmem = tmem,
                      .block = 32,
                      .sfa_id = 1},
                     "mxf8f6f4");
        expect_right({.kind = Tcgen05Kind::mxf4nvf4,
                      .a = e2m1,
                      .b = e2m1,
                      .m = 256,
                      .n = 48,
                      .cta_group = 2,
                      .sparse = true,
                      .a_in_tmem = tmem,
                      .block = 16,
                      .scale = ue4m3},
                     "nvf4");
        for (const int m : {32, 64})
            expect_right({.m = m, .n = 64, .sparse = true, .ws = true, .a_in_tmem = tmem}, "f16, .ws");
    }
    expect_right({.n = 32, .sparse = true, .b_mn_major = true, .b_swizzle = Swizzle::b32}, "B by columns");
    expect_right({.n = 32, .sparse = true, .b_swizzle = Swizzle::b32}, "rows of B longer than the swizzle's");
}

}  // namespace
}  // namespace tilepath::exec
