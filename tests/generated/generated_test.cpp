// Generated programs end alike however they are scheduled. `generated_programs --seconds N` goes on for as long as you
// like.
#include <gtest/gtest.h>

#include "generated/agreement.h"
#include "generated/tiles.h"

namespace tilepath::generated {
namespace {

class Generated : public testing::TestWithParam<const char*> {};

TEST_P(Generated, ProgramsEndAlikeHoweverTheyAreScheduled) {
    const Instructions instructions(GetParam());
    Agreement agreement(GetParam());
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Choices choices(seed);
        const Kernel kernel = generate(instructions, choices);
        const std::string wrong = agreement.check(kernel, seed);
        ASSERT_EQ(wrong, "") << "seed " << seed << ", grid " << kernel.grid << ", block " << kernel.block << "\n"
                             << kernel.text;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Generated, testing::Values("sm_80", "sm_90"),
                         [](const auto& each) { return each.param; });

TEST(Generated, WildProgramsFaultAlike) {
    const Instructions instructions("sm_90");
    Agreement agreement("sm_90");
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Choices choices(seed);
        const Kernel kernel = generate(instructions, choices, true);
        const std::string wrong = agreement.check(kernel, seed);
        ASSERT_EQ(wrong, "") << "seed " << seed << ", grid " << kernel.grid << ", block " << kernel.block << "\n"
                             << kernel.text;
    }
    EXPECT_GT(agreement.faults(), 100u);
}

class GeneratedTiles : public testing::TestWithParam<const char*> {};

TEST_P(GeneratedTiles, EndAlikeHoweverCopiesLandAndWildOnesTellAlike) {
    const TileForms forms(GetParam());
    Agreement agreement(GetParam());
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        Choices choices(seed);
        const Kernel kernel = generate_tiles(forms, choices, seed % 3 == 0);
        const std::string wrong = agreement.check(kernel, seed);
        ASSERT_EQ(wrong, "") << "seed " << seed << (kernel.wild ? ", wild" : "") << ", grid " << kernel.grid
                             << ", block " << kernel.block << ", cluster " << kernel.cluster << "\n"
                             << kernel.text;
    }
    EXPECT_LT(agreement.refusals(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Targets, GeneratedTiles, testing::Values("sm_90a", "sm_100a", "sm_103a", "sm_120a"),
                         [](const auto& each) { return each.param; });

/// The check itself notices: threads that write one place, in no order.
TEST(Agreement, TellsARace) {
    Agreement agreement("sm_90");
    Kernel kernel{.text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 input, .param .u64 slots, .param .u64 results, .param .u64 counters)
{
    .reg .b32 r<2>; .reg .b64 q<2>;
    ld.param.u64 q0, [slots];
    mov.u32 r0, %warpid;
    st.global.u32 [q0], r0;
    ret;
}
)",
                  .grid = 1,
                  .block = 128};
    std::string found;
    for (std::uint64_t seed = 1; seed < 50 && found.empty(); ++seed) found = agreement.check(kernel, seed);
    EXPECT_NE(found.find("slots differ"), std::string::npos) << found;
}

}  // namespace
}  // namespace tilepath::generated
