#include "number/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilepath::number {
namespace {

using testing::HasSubstr;

struct Parameters {
    int group_length, fraction_bits, zero_exponent;
    friend bool operator==(const Parameters&, const Parameters&) = default;
};

void PrintTo(const Parameters& p, std::ostream* out) {
    *out << "L=" << p.group_length << " F=" << p.fraction_bits << " e_zero=" << p.zero_exponent;
}

Parameters parameters(Generation device, Instruction instruction, Format input, Format d,
                      Scaling scaling = Scaling::none) {
    const auto r =
        recipe({.device = device, .instruction = instruction, .a = input, .b = input, .d = d, .scaling = scaling});
    EXPECT_TRUE(r) << to_string(r.error());
    return r ? Parameters{r->group_length, r->fraction_bits, r->zero_exponent} : Parameters{};
}

TEST(Recipe, BelongsToTheDeviceThatExecutes) {
    using enum Format;
    constexpr auto mma = Instruction::mma_sync, wgmma = Instruction::wgmma, tcgen05 = Instruction::tcgen05_mma;
    using enum Generation;
    EXPECT_EQ(parameters(turing, mma, f16, f32), (Parameters{8, 24, -132}));
    EXPECT_EQ(parameters(ampere, mma, tf32, f32), (Parameters{4, 24, -132}));
    EXPECT_EQ(parameters(ampere, mma, bf16, f32), (Parameters{8, 24, -132}));
    EXPECT_EQ(parameters(ada, mma, f16, f16), (Parameters{8, 24, -21}));
    EXPECT_EQ(parameters(ada, mma, e4m3, f32), (Parameters{16, 13, -132}));
    EXPECT_EQ(parameters(hopper, mma, f16, f32), (Parameters{16, 25, -133}));
    EXPECT_EQ(parameters(hopper, mma, f16, f16), (Parameters{16, 25, -21}));
    EXPECT_EQ(parameters(hopper, wgmma, f16, f16), (Parameters{16, 25, -21}));
    EXPECT_EQ(parameters(hopper, mma, tf32, f32), (Parameters{8, 25, -133}));
    EXPECT_EQ(parameters(hopper, Instruction::wmma, tf32, f32), (Parameters{4, 25, -133}));
    EXPECT_EQ(parameters(hopper, wgmma, e5m2, f32), (Parameters{32, 13, -133}));
    EXPECT_EQ(parameters(blackwell, tcgen05, e2m3, f32), (Parameters{32, 25, -133}));
    EXPECT_EQ(parameters(blackwell, tcgen05, e2m1, f32, Scaling::per_group), (Parameters{64, 35, -139}));
    EXPECT_EQ(parameters(blackwell_rtx, mma, e3m2, f32, Scaling::per_dot), (Parameters{32, 25, -133}));
    EXPECT_EQ(recipe({.device = hopper, .a = e4m3, .b = e5m2})->kind, DotRecipe::Kind::fp8_through_f16);
    EXPECT_EQ(recipe({.device = ada, .a = e4m3, .b = e5m2})->rounding, ResultRounding::rz_e8m13);
    EXPECT_EQ(recipe({.device = blackwell, .a = e4m3, .b = e5m2})->kind, DotRecipe::Kind::fp8_through_f16);
    EXPECT_EQ(recipe({.device = blackwell_rtx, .a = e4m3, .b = e5m2})->kind, DotRecipe::Kind::fused);
    EXPECT_EQ(recipe({.device = ampere, .a = b1, .b = b1, .d = s32, .exclusive_or = true})->kind,
              DotRecipe::Kind::bit_xor);
    EXPECT_EQ(find_recipe({.device = hopper})->evidence, Evidence::hardware);
    EXPECT_EQ(find_recipe({.device = blackwell, .instruction = tcgen05})->evidence, Evidence::model);
}

TEST(Recipe, DevicesByName) {
    EXPECT_EQ(*generation_of("sm_86"), Generation::ampere);
    EXPECT_EQ(*generation_of("sm_90a"), Generation::hopper);
    EXPECT_EQ(*generation_of("sm_103f"), Generation::blackwell);
    EXPECT_EQ(*generation_of("sm_121a"), Generation::blackwell_rtx);
    for (const char* bad : {"", "sm_", "sm_91", "sm_90x", "90", "compute_90", "sm_90aa"}) {
        const auto g = generation_of(bad);
        ASSERT_FALSE(g) << bad;
        EXPECT_THAT(to_string(g.error()), HasSubstr("known are sm_75"));
    }
    EXPECT_EQ(*instruction_named("tcgen05.mma"), Instruction::tcgen05_mma);
    EXPECT_THAT(to_string(instruction_named("mma").error()), HasSubstr("known are mma.sync"));
}

TEST(Recipe, RefusesWhatDoesNotExist) {
    const auto fp8_on_ampere = recipe({.device = Generation::ampere, .a = Format::e4m3, .b = Format::e4m3});
    ASSERT_FALSE(fp8_on_ampere);
    EXPECT_THAT(to_string(fp8_on_ampere.error()),
                HasSubstr("no arithmetic is known for mma.sync of e4m3,e4m3,f32 on sm_80"));
    EXPECT_THAT(to_string(fp8_on_ampere.error()), HasSubstr("it has bf16,bf16,f32"));
    const auto wgmma_on_ada = recipe({.device = Generation::ada, .instruction = Instruction::wgmma});
    ASSERT_FALSE(wgmma_on_ada);
    EXPECT_THAT(to_string(wgmma_on_ada.error()), HasSubstr("wgmma exists on sm_90"));
    EXPECT_FALSE(recipe({.a = Format::f16, .b = Format::bf16}));
    EXPECT_FALSE(recipe({.a = Format::bf16, .b = Format::bf16, .d = Format::f16}));
    EXPECT_FALSE(recipe({.a = Format::s8, .b = Format::s4, .d = Format::s32}));
    EXPECT_FALSE(recipe({.device = Generation::turing, .a = Format::f64, .b = Format::f64, .d = Format::f64}));
    DotRequest scaled{
        .device = Generation::blackwell_rtx, .a = Format::e4m3, .b = Format::e4m3, .scaling = Scaling::per_dot};
    EXPECT_TRUE(recipe(scaled));
    scaled.scale = Format::ue4m3;
    EXPECT_THAT(to_string(recipe(scaled).error()), HasSubstr("mxf8f6f4 has ue8m0 scales of 32 elements"));
    scaled.scale = Format::e4m3;
    EXPECT_THAT(to_string(recipe(scaled).error()), HasSubstr("no format of block scales"));
    scaled = {.device = Generation::blackwell_rtx,
              .a = Format::e2m1,
              .b = Format::e2m1,
              .scaling = Scaling::per_group,
              .scale_block = 8};
    EXPECT_THAT(to_string(recipe(scaled).error()), HasSubstr("16 or 32 elements, found 8"));
}

}  // namespace
}  // namespace tilepath::number
