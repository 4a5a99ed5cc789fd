#include "layout/linear.h"

#include <gtest/gtest.h>

#include <set>

#include "layout/analysis.h"
#include "layout/gf2.h"
#include "small_layouts.h"

namespace tilepath::layout {
namespace {

TEST(Gf2, SolvesAndFindsKernels) {
    for (std::uint64_t seed = 1; seed < 400; ++seed) {
        std::vector<std::uint64_t> columns;
        std::uint64_t state = seed;
        for (std::size_t i = 0; i < 1 + seed % 7; ++i) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            columns.push_back(state >> 33 & 31);
        }
        ColumnSpace space(columns);
        auto sum = [&](std::uint64_t set) {
            std::uint64_t total = 0;
            for (std::size_t i = 0; i < columns.size(); ++i)
                if (set >> i & 1) total ^= columns[i];
            return total;
        };
        std::set<std::uint64_t> reached;
        for (std::uint64_t set = 0; set < std::uint64_t{1} << columns.size(); ++set) reached.insert(sum(set));
        EXPECT_EQ(reached.size(), std::size_t{1} << space.rank());
        for (std::uint64_t target = 0; target < 32; ++target) {
            auto set = space.solve(target);
            EXPECT_EQ(set.has_value(), reached.contains(target));
            if (set) {
                EXPECT_EQ(sum(*set), target);
            }
        }
        EXPECT_EQ(space.kernel().size() + static_cast<std::size_t>(space.rank()), columns.size());
        for (std::uint64_t set : space.kernel()) EXPECT_TRUE(set != 0 && sum(set) == 0);
    }
}

/// Every place of every element leads back to the element, and the place count is the linear layout's domain.
void expect_same(const ComposedLayout& layout, const LinearLayout& linear) {
    std::int64_t places = 0;
    std::vector<std::int64_t> shape = layout.shape();
    for (std::int64_t element = 0; element < layout.size(); ++element) {
        for (const Location& place : layout.at(element)) {
            auto coordinate = linear.evaluate(place);
            ASSERT_TRUE(coordinate) << to_string(layout);
            ASSERT_EQ(*coordinate, unflatten(element, shape)) << to_string(layout) << " " << to_string(linear);
            ++places;
        }
    }
    std::size_t bits = 0;
    for (const auto& input : linear.inputs()) bits += input.bases.size();
    EXPECT_EQ(places, std::int64_t{1} << bits) << to_string(layout);
}

TEST(Linear, OneObjectInThreeNotations) {
    struct Row {
        std::string_view ours, cute, bits;
    };
    for (const Row& row : {
             // The C fragment of mma.m16n8: two rows of quads, pairs of columns.
             Row{"S[((2,8),(4,2)):((2@reg,4@laneid),(1@laneid,1@reg))]",
                 "((8,2),(2,4)):((4@laneid,2@reg),(1@reg,1@laneid))",
                 "bits[laneid: (0,2) (0,4) (1,0) (2,0) (4,0); reg: (0,1) (8,0)] -> (16,8)"},
             // A column-major tile in memory.
             Row{"S[(8,4):(1,8)]", "(8,4):(1,8)", "bits[m: (1,0) (2,0) (4,0) (0,1) (0,2)] -> (8,4)"},
             // A row-major tile of 64 16-bit elements a row with the 128-byte swizzle.
             Row{"Sw<3,3,3> o 0 o S[(8,64):(64,1)]", "Sw<3,3,3> o 0 o (8,64):(64,1)",
                 "bits[m: (0,1) (0,2) (0,4) (0,8) (0,16) (0,32) (1,8) (2,16) (4,32)] -> (8,64)"},
         }) {
        auto ours = parse_composed(row.ours), cute = parse_composed(row.cute);
        auto bits = parse_linear(row.bits);
        ASSERT_TRUE(ours && cute && bits) << row.ours;
        EXPECT_TRUE(*equal(*ours, *cute)) << row.ours;
        expect_same(*ours, *bits);
        EXPECT_EQ(to_string(*bits), row.bits);
        auto from = LinearLayout::from(*ours);
        ASSERT_TRUE(from) << to_string(from.error());
        EXPECT_EQ(to_string(*from), row.bits);
        auto back = bits->to_layout();
        ASSERT_TRUE(back) << to_string(back.error());
        EXPECT_TRUE(*equal(*back, *ours)) << to_string(*back);
    }
}

TEST(Linear, RoundTripsEveryLinearSmallLayout) {
    int linear = 0;
    for (const Layout& layout : small_layouts()) {
        auto bits = LinearLayout::from(layout);
        if (!bits) continue;
        ++linear;
        expect_same(layout, *bits);
        auto back = bits->to_layout();
        ASSERT_TRUE(back) << to_string(*bits);
        EXPECT_TRUE(*equal(*back, ComposedLayout(layout))) << to_string(layout) << " " << to_string(*back);
        EXPECT_EQ(*parse_linear(to_string(*bits)), *bits);
    }
    EXPECT_GT(linear, 20);
}

TEST(Linear, ReplicasAreBasesOfZero) {
    auto scales = LinearLayout::from(parse("S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]"));
    ASSERT_TRUE(scales);
    EXPECT_EQ(to_string(*scales),
              "bits[TLane: (0,1,0) (0,2,0) (0,4,0) (0,8,0) (0,16,0) (0,0,0) (0,0,0); "
              "TCol: (0,0,1) (0,0,2) (1,0,0) (2,0,0)] -> (4,32,4)");
    EXPECT_TRUE(
        *equal(*scales->to_layout(), ComposedLayout(parse("S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]"))));
}

TEST(Linear, RefusesWhatIsNotLinear) {
    auto message = [](std::string_view text) {
        auto linear = LinearLayout::from(*parse_composed(text));
        return linear ? "linear" : linear.error().front().message;
    };
    EXPECT_EQ(message("S[6:1]"), "a linear layout has extents that are powers of two, found 6");
    EXPECT_EQ(message("S[8:1] + O[8]"), "a linear layout has no offset");
    EXPECT_EQ(message("S[(2,2):(1,1)]"), "the digits' sums carry: the layout is not linear over bits");
    EXPECT_EQ(message("S[8:2]"), "the place m=1 holds no element");
    EXPECT_EQ(message("S[(8,2):(1,0)]"), "elements share a place: no linear map leads places to elements");
    auto column = [](std::string_view text) {
        auto linear = parse_linear(text);
        return linear ? 0u : linear.error().front().place->column;
    };
    EXPECT_EQ(column("bits[m: (1) (2)] -> (4)"), 0u);
    EXPECT_EQ(column("bits[m: (1) (2)]"), 17u);
    EXPECT_EQ(column("bits[lane: (1)] -> (4)"), 6u);
    EXPECT_EQ(column("bits[m: (1) (x)] -> (4)"), 14u);
    EXPECT_EQ(column("bits[m: (1) (9)] -> (4)"), 1u);
    EXPECT_EQ(column("bits[m: (1,2)] -> (4)"), 1u);
    EXPECT_EQ(column("bits[m: (1)] -> (3)"), 1u);
    EXPECT_EQ(column("bits[m: (1); m: (2)] -> (4)"), 1u);
    EXPECT_FALSE(parse_linear("bits[m: (1) (1)] -> (4)")->to_layout());
    Location outside;
    outside[Axis::m] = 4;
    EXPECT_FALSE(parse_linear("bits[m: (1) (2)] -> (4)")->evaluate(outside));
}

}  // namespace
}  // namespace tilepath::layout
