// The vector engine with block scales against the scalar reference, to the bit: every instruction set of this CPU.
#include "number/engine.h"

#include "number/engine_targets.h"
// After engine_targets.h:
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "engine_problems.h"
#include "number/recipe.h"
#include "target_test.h"

namespace tilepath::number {
namespace {

/// How the scales are drawn: any bits, exponents near one another, the extremes, ones.
enum class ScaleFamily { bits, near, extremes, opposite, ones };
constexpr ScaleFamily scale_families[] = {ScaleFamily::bits, ScaleFamily::near, ScaleFamily::extremes,
                                          ScaleFamily::opposite, ScaleFamily::ones};

std::uint8_t draw_scale(ScaleFamily family, Format format, bool of_a, Random& random) {
    const bool power = format == Format::ue8m0;
    switch (family) {
        case ScaleFamily::bits: return std::uint8_t(random());
        case ScaleFamily::near: return std::uint8_t(power ? 122 + random() % 11 : 0x30 + random() % 16);
        case ScaleFamily::extremes: {
            const std::uint8_t choice[] = {0, 1, 0x7e, 0xfe, 0x7f, 0x80};  // 0x7f: NaN of ue4m3, 1 as ue8m0
            return choice[random() % (power || random() % 8 == 0 ? 6 : 4)];
        }
        case ScaleFamily::opposite: return std::uint8_t((of_a ? 200 : 54) + random() % 8);
        case ScaleFamily::ones: return power ? 127 : 0x38;
    }
    return 0;
}

struct Scaled {
    Problem p;
    std::vector<std::uint8_t> a, b;  ///< scales, row by row
};

Scaled draw_scaled(const DotRecipe& r, Family family, ScaleFamily scales, int m, int n, int k, Random& random) {
    Scaled s{draw_problem(r, family, m, n, k, random), {}, {}};
    const int blocks = k / r.scale_block;
    for (int i = 0; i < m * blocks; ++i) s.a.push_back(draw_scale(scales, r.scale, true, random));
    for (int i = 0; i < n * blocks; ++i) s.b.push_back(draw_scale(scales, r.scale, false, random));
    return s;
}

std::vector<std::uint8_t> pack(const std::vector<std::uint64_t>& elements, int bits) {
    std::vector<std::uint8_t> bytes(elements.size() * std::size_t(bits) / 8);
    for (std::size_t i = 0; i < elements.size(); ++i)
        if (bits == 8)
            bytes[i] = std::uint8_t(elements[i]);
        else
            bytes[i / 2] = std::uint8_t(bytes[i / 2] | elements[i] << i % 2 * 4);
    return bytes;
}

std::vector<std::uint32_t> engine_result(const TileEngine& engine, const Scaled& s, bool with_c) {
    const DotRecipe& r = engine.recipe();
    const Problem& p = s.p;
    PreparedOperand a, b;
    const int bits = operand_bits(r, Side::a), blocks = p.k / r.scale_block;
    const auto a_bytes = pack(p.a, bits), b_bytes = pack(p.b, bits);
    engine.prepare(Side::a, a_bytes.data(), p.m, p.k, p.k * bits / 8, a, {s.a.data(), blocks});
    engine.prepare(Side::b, b_bytes.data(), p.n, p.k, p.k * bits / 8, b, {s.b.data(), blocks});
    std::vector<std::uint32_t> d(p.c.begin(), p.c.end());
    engine.multiply(a, b, with_c ? d.data() : nullptr, d.data(), p.m);
    return d;
}

void expect_equal(const TileEngine& engine, const Scaled& s, bool with_c, const std::string& what) {
    const DotRecipe& r = engine.recipe();
    const Problem& p = s.p;
    const auto actual = engine_result(engine, s, with_c);
    const std::vector<std::uint64_t> sa(s.a.begin(), s.a.end()), sb(s.b.begin(), s.b.end());
    const std::size_t k = std::size_t(p.k), blocks = k / std::size_t(r.scale_block);
    for (int j = 0; j < p.n; ++j)
        for (int i = 0; i < p.m; ++i) {
            const std::size_t at = std::size_t(i + j * p.m), row = std::size_t(i), column = std::size_t(j);
            const auto expected =
                dot(r, std::span(p.a).subspan(row * k, k), std::span(p.b).subspan(column * k, k), with_c ? p.c[at] : 0,
                    {std::span(sa).subspan(row * blocks, blocks), std::span(sb).subspan(column * blocks, blocks)});
            if (actual[at] == expected) continue;
            ADD_FAILURE() << what
                          << fmt::format(": m {} n {} k {}, element ({}, {}): engine {:#x}, reference {:#x}, c {:#x}",
                                         p.m, p.n, p.k, i, j, actual[at], expected, with_c ? p.c[at] : 0);
            return;
        }
}

std::vector<DotRecipe> scaled_recipes() {
    std::vector<DotRecipe> recipes;
    const auto blackwell = Generation::blackwell;
    const auto tcgen05 = Instruction::tcgen05_mma;
    const Format narrow[] = {Format::e4m3, Format::e5m2, Format::e3m2, Format::e2m3, Format::e2m1};
    for (const Format a : narrow)
        for (const Format b : narrow)
            recipes.push_back(
                *recipe({.device = blackwell, .instruction = tcgen05, .a = a, .b = b, .scaling = Scaling::per_dot}));
    for (const Format scale : {Format::ue8m0, Format::ue4m3})
        for (const int block : {16, 32})
            recipes.push_back(*recipe({.device = blackwell,
                                       .instruction = tcgen05,
                                       .a = Format::e2m1,
                                       .b = Format::e2m1,
                                       .scaling = Scaling::per_group,
                                       .scale = scale,
                                       .scale_block = block}));
    return recipes;
}

class ScaledEngineTest : public TargetTest {};

TEST_P(ScaledEngineTest, EqualsTheReference) {
    Random random(20261130);
    for (const DotRecipe& r : scaled_recipes()) {
        const TileEngine engine(r);
        EXPECT_EQ(engine.vectorised(), GetParam() != HWY_SCALAR);
        const bool grouped = r.scaling == Scaling::per_group;
        for (const Family family : families)
            for (const ScaleFamily scales : scale_families)
                for (int seed = 0; seed < (grouped ? 4 : 1); ++seed) {
                    const int k = 32 * (1 + int(random() % (grouped ? 6 : 3)));
                    const auto s = draw_scaled(r, family, scales, 16, 8, k, random);
                    expect_equal(engine, s, random() % 4 != 0,
                                 fmt::format("{}, scales {} of {}, family {}, scale family {}", describe(r),
                                             traits(r.scale).name, r.scale_block, int(family), int(scales)));
                    if (HasFailure()) return;
                }
    }
}

TEST_P(ScaledEngineTest, TakesShapesThatDoNotFillItsBlocks) {
    Random random(7);
    for (const DotRecipe& r : scaled_recipes()) {
        const TileEngine engine(r);
        for (const auto& [m, n, k] : {std::array{1, 1, 64}, {17, 9, 96}, {33, 24, 128}}) {
            expect_equal(engine, draw_scaled(r, Family::near, ScaleFamily::near, m, n, k, random), true, describe(r));
            if (HasFailure()) return;
        }
    }
}

/// C far below and far above the products: each is cut at the last bit that the other leaves.
TEST_P(ScaledEngineTest, AlignsToTheLargestExponentOfScalesAndC) {
    Random random(8);
    for (const DotRecipe& r : scaled_recipes()) {
        if (r.scaling != Scaling::per_group) continue;
        const TileEngine engine(r);
        for (int far = -60; far <= 60; ++far) {
            auto s = draw_scaled(r, Family::finite_bits, ScaleFamily::near, 16, 8, 64, random);
            for (std::uint64_t& c : s.p.c)
                c = std::uint64_t(127 + far) << 23 | (random() & 0x7fffff) | (random() & 1) << 31;
            expect_equal(engine, s, true, fmt::format("{}, C of 2^{}", describe(r), far));
            if (HasFailure()) return;
        }
    }
}

std::string target_name(const testing::TestParamInfo<std::int64_t>& info) { return hwy::TargetName(info.param); }

INSTANTIATE_TEST_SUITE_P(Targets, ScaledEngineTest, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

}  // namespace
}  // namespace tilepath::number
