// What a warp's access costs, against numbers worked out by hand and by brute force elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "check/bank_conflicts.h"
#include "check/sectors.h"
#include "small_kernel.h"

namespace tilepath::check {
namespace {

WarpAccess warp(std::uint32_t bytes, const std::function<std::uint64_t(std::uint64_t)>& address, int lanes = 32) {
    WarpAccess out;
    out.bytes = bytes;
    for (int lane = 0; lane < lanes; ++lane) {
        out.addresses[static_cast<std::size_t>(lane)] = address(static_cast<std::uint64_t>(lane));
        out.lanes |= 1u << lane;
    }
    return out;
}

void expect_sectors(const WarpAccess& access, SectorCount expected) {
    const SectorCount found = count_sectors(access);
    EXPECT_EQ(found.sectors, expected.sectors);
    EXPECT_EQ(found.lines, expected.lines);
    EXPECT_EQ(found.fewest_sectors, expected.fewest_sectors);
    EXPECT_EQ(found.fewest_lines, expected.fewest_lines);
}

TEST(Sectors, NeighboursFillThem) {
    expect_sectors(warp(4, [](auto lane) { return 4096 + 4 * lane; }), {4, 1, 4, 1});
    expect_sectors(warp(16, [](auto lane) { return 4096 + 16 * lane; }), {16, 4, 16, 4});
    expect_sectors(warp(4, [](auto lane) { return 4100 + 4 * lane; }), {5, 2, 4, 1});
    expect_sectors(warp(4, [](auto lane) { return 4096 + 4 * (31 - lane); }), {4, 1, 4, 1});
}
TEST(Sectors, OneAddressIsOneSector) {
    expect_sectors(warp(4, [](auto) { return 4096; }), {1, 1, 1, 1});
}
TEST(Sectors, RowsOfAMatrixAreFarApart) {
    expect_sectors(warp(4, [](auto lane) { return 4096 + 512 * lane; }), {32, 32, 4, 1});
    // The accumulator of m16n8 stored straight from the fragment: eight rows of four times 8 bytes.
    expect_sectors(warp(8, [](auto lane) { return 4096 + 4096 * (lane / 4) + 8 * (lane % 4); }), {8, 8, 8, 2});
    expect_sectors(warp(4, [](auto lane) { return 4096 + 4096 * (lane / 4) + 4 * (lane % 4); }), {8, 8, 4, 1});
}
TEST(Sectors, AnElementOverTwoSectorsTouchesBoth) {
    expect_sectors(warp(
                       16, [](auto) { return 4096 + 24; }, 1),
                   {2, 1, 1, 1});
}
TEST(Sectors, OverlapsCountOnce) {
    expect_sectors(warp(16, [](auto lane) { return 4096 + 8 * lane; }), {9, 3, 9, 3});
}

// One lane in four writes a number, as sums of rows are written behind mma: together 32 bytes.
TEST(Sectors, NeighboursThatBeginWithinOneWantAnAlignedBase) {
    const auto at = [](const std::string& offset) {
        return "    and.b32 %r10, %r6, 3;\n    setp.eq.and.u32 %p3, %r10, 0, %p2;\n    cvt.u64.u32 %rd2, %r6;\n"
               "    add.s64 %rd3, %rd1, %rd2;\n    @%p3 st.global.u32 [%rd3+" +
               offset + "], %r1;\n";
    };
    expect_none(findings_of(at("32")));
    expect_one(findings_of(at("48")), "coalescing", "st.global.u32", "begins 16 bytes behind a sector");
}

void expect_wavefronts(const WarpAccess& access, std::uint32_t taken, std::uint32_t ideal) {
    const Wavefronts found = count_wavefronts(access);
    EXPECT_EQ(found.taken, taken);
    EXPECT_EQ(found.ideal, ideal);
}

TEST(Wavefronts, WordsOfOneBankFollowEachOther) {
    expect_wavefronts(warp(4, [](auto lane) { return 1024 + 4 * lane; }), 1, 1);
    expect_wavefronts(warp(4, [](auto lane) { return 1024 + 128 * lane; }), 32, 1);
    expect_wavefronts(warp(4, [](auto lane) { return 1024 + 132 * lane; }), 1, 1);
    expect_wavefronts(warp(4, [](auto lane) { return 1024 + 8 * lane; }), 2, 1);
}
TEST(Wavefronts, OneWordIsBroadcast) {
    expect_wavefronts(warp(4, [](auto) { return 1024; }), 1, 1);
    expect_wavefronts(warp(2, [](auto lane) { return 1024 + 2 * lane; }), 1, 1);
    expect_wavefronts(warp(1, [](auto lane) { return 1024 + 128 * (lane / 4) + lane % 4; }), 8, 1);
}
TEST(Wavefronts, WideAccessesRunInPhases) {
    expect_wavefronts(warp(8, [](auto lane) { return 1024 + 8 * lane; }), 2, 2);
    expect_wavefronts(warp(16, [](auto lane) { return 1024 + 16 * lane; }), 4, 4);
    // Pairs of an m16n8 accumulator: a pitch of 128, 132, 136 words (8, 4, 2 wavefronts where 2 would do).
    for (const auto& [pitch, taken] : {std::pair{128u, 8u}, std::pair{132u, 4u}, std::pair{136u, 2u}})
        expect_wavefronts(warp(8, [&](auto lane) { return 1024 + 4 * pitch * (lane / 4) + 8 * (lane % 4); }), taken, 2);
}
TEST(Wavefronts, RowsOfLdmatrix) {
    // Eight rows 128 bytes apart, one 16-byte chunk of each: none 8, 32B 4, 64B 2, 128B 1.
    for (const auto& [bits, taken] : {std::pair{0u, 8u}, std::pair{1u, 4u}, std::pair{2u, 2u}, std::pair{3u, 1u}}) {
        const std::uint64_t mask = (1u << bits) - 1;
        expect_wavefronts(warp(
                              16, [&](auto lane) { return 1024 + 128 * lane + ((lane & mask) << 4); }, 8),
                          taken, 1);
    }
}
TEST(Wavefronts, LanesThatDoNothingAskForNothing) {
    WarpAccess access = warp(4, [](auto lane) { return 1024 + 128 * lane; });
    access.lanes = 1;
    expect_wavefronts(access, 1, 1);
}

TEST(WarpAccess, TellsItsStride) {
    EXPECT_EQ(warp(4, [](auto lane) { return 4096 + 512 * lane; }).stride(), 512);
    EXPECT_EQ(warp(4, [](auto lane) { return 4096 + lane * lane; }).stride(), std::nullopt);
    EXPECT_THAT(describe(warp(4, [](auto lane) { return 4096 + 512 * lane; })),
                testing::HasSubstr("lanes 0-31: 4 bytes each, 512 bytes apart from 0x1000 on"));
    EXPECT_THAT(describe(warp(4, [](auto lane) { return 4096 + lane * lane; })),
                testing::HasSubstr("at 0x1000 +0 +1 +4 +9"));
}

}  // namespace
}  // namespace tilepath::check
