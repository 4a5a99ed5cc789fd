#include "layout/bank.h"

#include <gtest/gtest.h>

#include <set>

#include "layout/composed.h"

namespace tilepath::layout {
namespace {

using Addresses = std::vector<std::optional<std::uint64_t>>;

int wavefronts(const Addresses& addresses, int bytes) { return bank_cost(addresses, bytes)->wavefronts; }

TEST(Bank, EightRowsOf128BytesBySwizzle) {
    // ldmatrix of one 8x8 matrix: 8 rows at a pitch of 128 bytes, one 16-byte chunk each.
    auto cost = [](SwizzleMode mode, std::uint64_t pitch) {
        Addresses addresses;
        for (std::uint64_t row = 0; row < 8; ++row) addresses.push_back(swizzled(mode, row * pitch));
        return wavefronts(addresses, 16);
    };
    EXPECT_EQ(cost(SwizzleMode::none, 128), 8);
    EXPECT_EQ(cost(SwizzleMode::b32, 128), 4);
    EXPECT_EQ(cost(SwizzleMode::b64, 128), 2);
    EXPECT_EQ(cost(SwizzleMode::b128, 128), 1);
    // With the pitch of the swizzle's own atom, every mode is free.
    EXPECT_EQ(cost(SwizzleMode::none, 16), 1);
    EXPECT_EQ(cost(SwizzleMode::b32, 32), 1);
    EXPECT_EQ(cost(SwizzleMode::b64, 64), 1);
}

TEST(Bank, PairsOfAnAccumulatorStoredByPitch) {
    // m16n8 C pairs in f32, stored by 8 bytes: row lane/4, columns 2(lane%4).
    auto cost = [](std::uint64_t pitch_words) {
        Addresses addresses;
        for (std::uint64_t lane = 0; lane < 32; ++lane)
            addresses.push_back(4 * (lane / 4 * pitch_words + 2 * (lane % 4)));
        return wavefronts(addresses, 8);
    };
    EXPECT_EQ(cost(128), 8);
    EXPECT_EQ(cost(132), 4);
    EXPECT_EQ(cost(136), 2);
}

TEST(Bank, TransposeOfFloats) {
    // 16x32 f32 tile read by column, 16 rows by two columns; element (n, m) at row n, column m ^ f(n).
    auto cost = [](auto column) {
        Addresses addresses;
        for (std::uint64_t lane = 0; lane < 32; ++lane) {
            std::uint64_t n = lane % 16, m = lane / 16;
            addresses.push_back(4 * (n * 32 + column(n, m)));
        }
        return wavefronts(addresses, 4);
    };
    EXPECT_EQ(cost([](std::uint64_t, std::uint64_t m) { return m; }), 16);
    EXPECT_EQ(cost([](std::uint64_t n, std::uint64_t m) { return n ^ m; }), 2);
    EXPECT_EQ(cost([](std::uint64_t n, std::uint64_t m) { return 2 * n ^ m; }), 1);
}

TEST(Bank, BroadcastAndInactiveLanes) {
    EXPECT_EQ(wavefronts(Addresses(32, 64), 4), 1);
    EXPECT_EQ(wavefronts(Addresses(32, std::nullopt), 4), 0);
    Addresses one(32, std::nullopt);
    one[5] = 400;
    EXPECT_EQ(wavefronts(one, 16), 1);
    // Lanes 0 and 16 of an 8-byte access are in different phases.
    Addresses two(32, std::nullopt);
    two[0] = 0;
    two[16] = 128;
    EXPECT_EQ(bank_cost(two, 8)->wavefronts, 2);
    EXPECT_TRUE(bank_cost(two, 8)->conflict_free());
    EXPECT_FALSE(bank_cost(two, 4)->conflict_free());
    EXPECT_FALSE(bank_cost(Addresses{2}, 4));
    EXPECT_FALSE(bank_cost(Addresses{0}, 3));
    EXPECT_FALSE(bank_cost(Addresses(33, 0), 4));
}

/// What the model of banks says of a pattern under the swizzle, over every base the buffer offers in steps of 128
/// bytes.
bool free_everywhere(const AccessPattern& pattern, const BankSwizzle& swizzle, int address_bits) {
    std::uint64_t span = 0;
    for (std::uint64_t bit : pattern.lane_bits) span |= bit;
    for (std::uint64_t base = 0; base < std::uint64_t{1} << address_bits; base += 128) {
        if ((base & span) != 0) continue;
        Addresses addresses;
        for (std::uint64_t lane = 0; lane < std::uint64_t{1} << pattern.lane_bits.size(); ++lane) {
            std::uint64_t address = base;
            for (std::size_t i = 0; i < pattern.lane_bits.size(); ++i)
                address ^= (lane >> i & 1) ? pattern.lane_bits[i] : 0;
            addresses.push_back(swizzle(address));
        }
        if (!bank_cost(addresses, pattern.bytes)->conflict_free()) return false;
    }
    return true;
}

void expect_free(std::vector<AccessPattern> patterns, int address_bits, std::string_view named) {
    auto proof = conflict_free_swizzle(patterns, address_bits);
    ASSERT_TRUE(proof) << to_string(proof.error());
    EXPECT_EQ(proof->swizzle.named ? to_string(*proof->swizzle.named) : "", named);
    ASSERT_EQ(proof->lines.size(), patterns.size());
    for (const AccessPattern& pattern : patterns)
        EXPECT_TRUE(free_everywhere(pattern, proof->swizzle, address_bits)) << pattern.name;
    std::set<std::uint64_t> seen;
    for (std::uint64_t a = 0; a < std::uint64_t{1} << address_bits; ++a) seen.insert(proof->swizzle(a));
    EXPECT_EQ(seen.size(), std::size_t{1} << address_bits);
}

TEST(BankSwizzle, IsFoundForPairsOfPatterns) {
    // Rows of 128 bytes written along (cp.async), read down by ldmatrix: the 128-byte swizzle.
    expect_free({{"write rows", 16, {16, 32, 64, 128, 256}}, {"ldmatrix", 16, {128, 256, 512}}}, 13, "Sw<3,4,3>");
    // Rows of 64 bytes: two rows share a line.
    expect_free({{"write rows", 16, {16, 32, 64, 128, 256}}, {"ldmatrix", 16, {64, 128, 256}}}, 12, "Sw<2,4,3>");
    // Rows of 256 bytes need a longer shift.
    expect_free({{"write rows", 16, {16, 32, 64, 128, 256}}, {"ldmatrix", 16, {256, 512, 1024}}}, 14, "Sw<3,4,4>");
    // f32 transpose of a 32x32 tile by words.
    expect_free({{"rows", 4, {4, 8, 16, 32, 64}}, {"columns", 4, {128, 256, 512, 1024, 2048}}}, 12, "Sw<5,2,5>");
    // Nothing to do.
    expect_free({{"rows", 4, {4, 8, 16, 32, 64}}}, 12, "Sw<0,4,3>");
    // Columns whose bits lie scattered: no Swizzle<B,M,S>, but an XOR.
    expect_free({{"rows", 4, {4, 8, 16, 32, 64}}, {"scattered", 4, {128, 512, 1024, 8192, 16384}}}, 15, "");
}

TEST(BankSwizzle, PrintsItsProof) {
    std::vector<AccessPattern> patterns{{"ldmatrix", 16, {128, 256, 512}}};
    auto proof = conflict_free_swizzle(patterns, 13);
    ASSERT_TRUE(proof);
    EXPECT_EQ(
        proof->lines[0],
        "ldmatrix: lane bits of a phase move {0x80, 0x100, 0x200}; swizzled, they move banks (in units of 16 bytes) by "
        "{0x1, 0x2, 0x4}: rank 3 of addresses, 3 of banks");
}

TEST(BankSwizzle, SaysWhenThereIsNone) {
    // All three differences of two bits of the same two-dimensional space cannot avoid a third line: (0,1) and (1,x)
    // for both x.
    std::vector<AccessPattern> all{{"a", 4, {128}}, {"b", 4, {128 ^ 4}}};
    for (int bank = 0; bank < 32; ++bank) all.push_back({"more", 4, {static_cast<std::uint64_t>(128 ^ 4 * bank)}});
    EXPECT_FALSE(conflict_free_swizzle(all, 8));
    std::vector<AccessPattern> outside{{"a", 4, {512}}}, odd{{"a", 8, {4}}}, wide{{"a", 32, {}}};
    EXPECT_FALSE(conflict_free_swizzle(outside, 8));
    EXPECT_FALSE(conflict_free_swizzle(odd, 8));
    EXPECT_FALSE(conflict_free_swizzle(wide, 8));
    EXPECT_FALSE(conflict_free_swizzle(odd, 40));
}

}  // namespace
}  // namespace tilepath::layout
