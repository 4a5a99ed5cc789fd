#include "layout/cute.h"

#include <gtest/gtest.h>

#include "small_layouts.h"

namespace tilepath::layout {
namespace {

/// CuTe's own evaluation: digits of every mode first fastest, the modes first fastest too.
std::int64_t cute(std::int64_t number, const std::vector<std::pair<std::int64_t, std::int64_t>>& flat) {
    std::int64_t sum = 0;
    for (auto [extent, stride] : flat) {
        sum += number % extent * stride;
        number /= extent;
    }
    return sum;
}

TEST(Cute, CoordinatesMeanTheSame) {
    // (8,(4,2)):(1,(8,64)): CuTe's flat digits are 8:1, 4:8, 2:64, first fastest.
    auto layout = parse_cute("(8,(4,2)):(1,(8,64))");
    ASSERT_TRUE(layout);
    EXPECT_EQ(to_string(*layout), "S[(8,(2,4)):(1,(64,8))]");
    std::vector<std::int64_t> shape = layout->shape();
    for (std::int64_t i = 0; i < 8; ++i) {
        for (std::int64_t j = 0; j < 8; ++j) {
            std::int64_t coordinate[] = {i, j};
            std::int64_t number = cute_number(coordinate, shape);
            EXPECT_EQ(layout->evaluate({i, j})->front()[Axis::m], cute(number, {{8, 1}, {4, 8}, {2, 64}}));
        }
    }
    EXPECT_EQ(*to_cute(*layout), "(8,(4,2)):(1,(8,64))");
    EXPECT_EQ(to_string(*parse_cute("(_8,(_4,_2)):(_1,(_8,_64))")), to_string(*layout));
    EXPECT_EQ(*to_cute(*parse_cute("8:1")), "8:1");
}

TEST(Cute, RoundTripsEveryLayoutWithoutReplicas) {
    for (const Layout& layout : small_layouts(false)) {
        auto text = to_cute(layout);
        if (!text) {
            EXPECT_TRUE(!layout.replica().empty() || layout.offset(Axis::laneid) != 0);
            continue;
        }
        auto back = parse_composed(*text);
        ASSERT_TRUE(back) << *text << to_string(back.error());
        EXPECT_TRUE(*equal(*back, ComposedLayout(layout))) << *text << " " << to_string(layout);
    }
    EXPECT_FALSE(to_cute(parse("S[8:1] + R[2:8]")));
}

TEST(Cute, SwizzledLayouts) {
    // The canonical K-major atom of 128-byte rows in 16-bit elements: Sw<3,3,3> o (8,64):(64,1).
    auto atom = parse_composed("Sw<3,3,3> o 0 o (8,64):(64,1)");
    ASSERT_TRUE(atom);
    std::vector<std::int64_t> shape{8, 64};
    for (std::int64_t row = 0; row < 8; ++row) {
        for (std::int64_t column = 0; column < 64; ++column) {
            std::int64_t coordinate[] = {row, column};
            auto byte = swizzled(SwizzleMode::b128, static_cast<std::uint64_t>(128 * row + 2 * column));
            EXPECT_EQ(atom->evaluate(coordinate, shape)->front()[Axis::m], static_cast<std::int64_t>(byte / 2));
        }
    }
    EXPECT_EQ(to_string(*atom), "Sw<3,3,3> o 0 o S[(8,64):(64,1)]");
    EXPECT_EQ(*parse_composed(to_string(*atom)), *atom);
    // A swizzle of no bits is the identity, whatever else it says.
    auto identity = parse_composed("Sw<0,3,1> o 8:-1");
    ASSERT_TRUE(identity) << to_string(identity.error());
    EXPECT_EQ(*parse_composed(to_string(*identity)), *identity);
    EXPECT_EQ(*parse_composed("Swizzle<3,3,3> o (8,64):(64,1)"), *atom);
    EXPECT_EQ(parse_composed("Sw<1,0,3> o 8:1")->at(0).front()[Axis::m], 0);
    // The offset is added before the swizzle: row 1 of the atom is not the atom's row 0, 64 elements on.
    auto row = parse_composed("Sw<3,3,3> o 64 o 64:1");
    EXPECT_EQ(row->at(0).front()[Axis::m], 64 + 8);
    EXPECT_EQ(*to_cute(*row), "Sw<3,3,3> o 64 o 64:1");
}

TEST(Cute, BadTextPointsAtTheCharacter) {
    auto column = [](std::string_view text) {
        auto layout = parse_composed(text);
        return layout ? 0u : layout.error().front().place->column;
    };
    EXPECT_EQ(column("(8,4):(1,8"), 11u);
    EXPECT_EQ(column("Sw<3,3> o 8:1"), 7u);
    EXPECT_EQ(column("Sw<3,3,1> o 8:1"), 1u);
    EXPECT_EQ(column("Sw<99,3,1> o 8:1"), 4u);
    EXPECT_EQ(column("Sw<1,3,1> 8:1"), 11u);
    EXPECT_EQ(column("Sw<1,3,1> o 8:-1"), 1u);
    EXPECT_EQ(column(""), 1u);
}

}  // namespace
}  // namespace tilepath::layout
