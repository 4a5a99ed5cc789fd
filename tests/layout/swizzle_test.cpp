#include "layout/swizzle.h"

#include <gtest/gtest.h>

#include <set>

#include "layout/composed.h"

namespace tilepath::layout {
namespace {

TEST(Swizzle, IsTheXorOfItsDefinition) {
    for (int b = 0; b <= 3; ++b) {
        for (int m = 0; m <= 4; ++m) {
            for (int s = -4; s <= 4; ++s) {
                Swizzle swizzle{b, m, s};
                ASSERT_EQ(swizzle.valid(), (s < 0 ? -s : s) >= b);
                if (!swizzle.valid()) continue;
                std::set<std::uint64_t> seen;
                for (std::uint64_t x = 0; x < 4096; ++x) {
                    // CuTe's definition: yyy_msk = bit_msk << (M + max(0,S)), zzz = shiftr(x & yyy_msk, S).
                    std::uint64_t mask = ((1u << b) - 1) << (m + std::max(0, s));
                    std::uint64_t moved = s >= 0 ? (x & mask) >> s : (x & mask) << -s;
                    ASSERT_EQ(swizzle(x), x ^ moved);
                    ASSERT_EQ(swizzle(swizzle(x)), x);
                    seen.insert(swizzle(x));
                }
                EXPECT_EQ(seen.size(), 4096u);
            }
        }
    }
}

TEST(Swizzle, ModesAreTheAddressFormulae) {
    for (std::uint64_t a = 0; a < 8192; ++a) {
        EXPECT_EQ(swizzled(SwizzleMode::none, a), a);
        EXPECT_EQ(swizzled(SwizzleMode::b32, a), a ^ ((a >> 7 & 1) << 4));
        EXPECT_EQ(swizzled(SwizzleMode::b64, a), a ^ ((a >> 7 & 3) << 4));
        EXPECT_EQ(swizzled(SwizzleMode::b128, a), a ^ ((a >> 7 & 7) << 4));
        EXPECT_EQ(swizzled(SwizzleMode::b96, a), a ^ ((a >> 7 & 1) << 4));
        EXPECT_EQ(swizzled(SwizzleMode::b128_atom_32b, a), a ^ ((a >> 7 & 3) << 5));
        EXPECT_EQ(swizzled(SwizzleMode::b128_atom_64b, a), a ^ ((a >> 7 & 1) << 6));
        EXPECT_EQ(swizzled(SwizzleMode::b128_atom_32b_flip_8b, a), (a ^ ((a >> 7 & 3) << 5)) ^ ((a >> 7 & 1) << 3));
    }
    for (const SwizzleTraits& row : all_swizzle_modes()) {
        // The pattern repeats, and with no shorter period than named.
        bool shorter = true;
        for (std::uint64_t a = 0; a < 4096; ++a) {
            EXPECT_EQ(swizzled(row.mode, a + static_cast<std::uint64_t>(row.pattern_bytes)),
                      swizzled(row.mode, a) + static_cast<std::uint64_t>(row.pattern_bytes));
            std::uint64_t half = static_cast<std::uint64_t>(row.pattern_bytes / 2);
            shorter = shorter && swizzled(row.mode, a + half) == swizzled(row.mode, a) + half;
        }
        EXPECT_EQ(shorter, row.mode == SwizzleMode::none) << row.name;
        EXPECT_EQ(swizzle_mode_named(row.name), row.mode);
    }
    EXPECT_EQ(swizzle_mode_named("128b"), SwizzleMode::b128);
    EXPECT_FALSE(swizzle_mode_named("48B"));
}

TEST(Swizzle, EncodingsDifferByConsumer) {
    auto encodings = [](SwizzleMode mode) {
        const SwizzleTraits& row = traits(mode);
        return std::tuple(row.tensor_map.value_or(-1), row.wgmma.value_or(-1), row.tcgen05.value_or(-1));
    };
    EXPECT_EQ(encodings(SwizzleMode::none), std::tuple(0, 0, 0));
    EXPECT_EQ(encodings(SwizzleMode::b32), std::tuple(1, 3, 6));
    EXPECT_EQ(encodings(SwizzleMode::b64), std::tuple(2, 2, 4));
    EXPECT_EQ(encodings(SwizzleMode::b128), std::tuple(3, 1, 2));
    EXPECT_EQ(encodings(SwizzleMode::b128_atom_32b), std::tuple(4, -1, 1));
}

TEST(Swizzle, IsOfTheAbsoluteAddress) {
    // With a base of 128 every 16-byte chunk of a 1024-byte atom lands elsewhere than the buffer-relative formula says.
    int moved = 0, still = 0;
    for (std::uint64_t chunk = 0; chunk < 64; ++chunk) {
        moved += swizzled(SwizzleMode::b128, 128 + chunk * 16) != 128 + swizzled(SwizzleMode::b128, chunk * 16);
        still += swizzled(SwizzleMode::b128, 1024 + chunk * 16) == 1024 + swizzled(SwizzleMode::b128, chunk * 16);
    }
    EXPECT_EQ(moved, 64);
    EXPECT_EQ(still, 64);
}

}  // namespace
}  // namespace tilepath::layout
