#include "number/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "number/recipe.h"

namespace tilepath::number {
namespace {

using Bits = std::vector<std::uint64_t>;
using testing::HasSubstr;

TEST(Explain, ShowsWhatTheAlignmentCutOff) {
    const DotRecipe r = *recipe({.device = Generation::ampere});
    Bits a(8, 0), b(8, 0);
    a[0] = b[0] = 0x6c00;          // 2^12 each: 2^24
    a[3] = 0xbc01, b[3] = 0x1400;  // −(1 + 2^-10) × 2^-10
    const Explanation e = explain(r, a, b, 0x3f800000);
    ASSERT_EQ(e.groups.size(), 1u);
    const ExplainedGroup& g = e.groups.front();
    ASSERT_EQ(g.terms.size(), 9u);
    EXPECT_EQ(g.largest, 24);
    EXPECT_EQ(g.least, 0);
    const ExplainedTerm &c = g.terms[0], &large = g.terms[1], &small = g.terms[4];
    EXPECT_EQ(c.source, ExplainedTerm::Source::c);
    EXPECT_EQ(c.kept, 1);
    EXPECT_FALSE(c.cut);
    EXPECT_EQ(large.shift, 0);
    EXPECT_EQ(large.kept, 1 << 24);
    EXPECT_EQ(small.exponent, -10);
    EXPECT_EQ(small.shift, 34);
    EXPECT_EQ(small.kept, 0);
    EXPECT_TRUE(small.cut);
    EXPECT_EQ(g.sum, (1 << 24) + 1);
    EXPECT_EQ(e.result, 0x4b800000u) << "the 1 does not fit 24 bits";
    const std::string text = to_string(r, e);
    EXPECT_THAT(text, HasSubstr("largest exponent 24, least bit kept 2^0"));
    EXPECT_THAT(text, HasSubstr("6 zero terms"));
    EXPECT_THAT(text, HasSubstr("-0.0009775"));
}

TEST(Explain, NamesSpecialValues) {
    const DotRecipe r = *recipe({.device = Generation::hopper});
    const Explanation e = explain(r, Bits{0x7c00, 0x3c00}, Bits{0x3c00, 0x3c00}, 0xff800000);
    EXPECT_TRUE(e.groups.front().special);
    EXPECT_THAT(to_string(r, e), HasSubstr("decided by special values: c -Inf k=0 +Inf -> 7fffffff"));
}

TEST(Explain, ShowsTheStepsBesideTheGroups) {
    const DotRecipe fp8 = *recipe({.device = Generation::hopper, .a = Format::e4m3, .b = Format::e4m3});
    const Explanation e = explain(fp8, Bits(32, 0x38), Bits(32, 0x38), 0x3f800000);
    ASSERT_EQ(e.groups.size(), 2u);
    EXPECT_EQ(e.groups[0].terms.size(), 17u);
    EXPECT_EQ(e.groups[1].terms[0].significand != 0, true) << "the second group starts from the first's sum";
    ASSERT_EQ(e.operations.size(), 1u);
    EXPECT_EQ(e.result, 0x42040000u);
    EXPECT_THAT(to_string(fp8, e), HasSubstr("groups + c: 42000000 (32) 3f800000 (1) -> 42040000 (33)"));
    const DotRecipe s8 = *recipe({.a = Format::s8, .b = Format::s8, .d = Format::s32, .saturate = true});
    EXPECT_THAT(to_string(s8, explain(s8, Bits{0x80}, Bits{0x80}, 0x7fffffff)),
                HasSubstr("exact sum 2147500031, clamped to 32 bits -> 7fffffff"));
}

/// explain() asserts that its result is dot()'s: all kinds on random bits, specials included.
TEST(Explain, EndsWhereDotEnds) {
    std::mt19937_64 random(4);
    for (unsigned device = 0; device <= unsigned(Generation::blackwell_rtx); ++device)
        for (const Instruction i : {Instruction::mma_sync, Instruction::wgmma, Instruction::tcgen05_mma})
            for (const Format a : all_formats())
                for (const Format d : {Format::f32, Format::f16, Format::s32, Format::f64})
                    for (const Scaling scaling : {Scaling::none, Scaling::per_dot, Scaling::per_group}) {
                        const auto r = recipe({.device = Generation(device),
                                               .instruction = i,
                                               .a = a,
                                               .b = a,
                                               .d = d,
                                               .scaling = scaling});
                        if (!r) continue;
                        for (int trial = 0; trial < 50; ++trial) {
                            Bits x(64), y(64), scale_a(4), scale_b(4);
                            for (auto* row : {&x, &y, &scale_a, &scale_b})
                                for (std::uint64_t& element : *row) element = random() >> (random() % 2 == 0 ? 0 : 60);
                            const std::uint64_t c = d == Format::f64 ? random() : random() & 0xffffffff;
                            const Scales scales{scale_a, scale_b};
                            ASSERT_EQ(explain(*r, x, y, c, scales).result, dot(*r, x, y, c, scales));
                        }
                    }
}

}  // namespace
}  // namespace tilepath::number
