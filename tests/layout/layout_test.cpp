#include "layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "layout/table.h"
#include "small_layouts.h"

namespace tilepath::layout {
namespace {

Location place(std::initializer_list<AxisOffset> at) {
    Location location;
    for (auto [value, axis] : at) location[axis] = value;
    return location;
}

TEST(Layout, EvaluatesByDigitsLastFastest) {
    // The (8,8) half of an m16n8 accumulator: row g, column 2t+i is held by lane 4g+t in register i.
    Layout half = parse("S[(8,4,2):(4@laneid,1@laneid,1@reg)]");
    std::int64_t shape[] = {8, 8};
    for (std::int64_t row = 0; row < 8; ++row) {
        for (std::int64_t column = 0; column < 8; ++column) {
            std::int64_t coordinate[] = {row, column};
            auto places = half.evaluate(coordinate, shape);
            ASSERT_TRUE(places);
            ASSERT_EQ(places->size(), 1u);
            EXPECT_EQ(places->front(), place({{4 * row + column / 2, Axis::laneid}, {column % 2, Axis::reg}}));
        }
    }
}

TEST(Layout, EvaluatesToAllReplicas) {
    // The seed of the block scale factors: 128 rows x 4 factors, each in four slabs of 32 lanes.
    Layout scales = parse("S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]");
    std::int64_t shape[] = {128, 4};
    std::int64_t coordinate[] = {37, 3};
    auto places = scales.evaluate(coordinate, shape);
    ASSERT_TRUE(places);
    std::vector<Location> expected;
    for (int slab = 0; slab < 4; ++slab)
        expected.push_back(place({{5 + 32 * slab, Axis::tlane}, {4 * 1 + 3, Axis::tcol}}));
    EXPECT_EQ(*places, expected);
}

TEST(Layout, AddsOffsetsAndDropsRepeatedReplicas) {
    EXPECT_EQ(parse("S[4:2] + O[1@laneid,-3]").at(3), (std::vector{place({{3, Axis::m}, {1, Axis::laneid}})}));
    EXPECT_EQ(parse("S[1:0] + R[(2,2):(1,1)]").at(0).size(), 3u);
    EXPECT_EQ(parse("S[1:0] + R[4:0]").at(0).size(), 1u);
}

TEST(Layout, BadCoordinatesAreErrors) {
    Layout layout = parse("S[(4,6):(6,1)]");
    EXPECT_FALSE(layout.evaluate({4, 0}));
    EXPECT_FALSE(layout.evaluate({0, -1}));
    EXPECT_FALSE(layout.evaluate({0}));
    std::int64_t coordinate[] = {0, 0}, shape[] = {4, 7}, huge[] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
    EXPECT_FALSE(layout.evaluate(coordinate, shape));
    EXPECT_FALSE(layout.evaluate(coordinate, huge));
    EXPECT_TRUE(layout.evaluate({3, 5}));
}

TEST(Layout, TableAgreesWithEvaluation) {
    for (std::string_view text : {"S[(3,(2,5)):(7@laneid,(-2,1@reg))] + R[(2,3):(16@laneid,1@TCol)] + O[4@bit,9]",
                                  "S[1:0]", "S[(2,2):(0,0)]"}) {
        Layout layout = parse(text);
        auto table = Table::of(layout);
        ASSERT_TRUE(table);
        ASSERT_EQ(table->elements(), layout.size());
        for (std::int64_t element = 0; element < layout.size(); ++element) {
            std::vector<Location> places;
            for (std::int64_t replica = 0; replica < table->replicas(); ++replica)
                places.push_back(table->location(element, replica));
            std::ranges::sort(places);
            places.erase(std::unique(places.begin(), places.end()), places.end());
            EXPECT_EQ(places, layout.at(element)) << text << " " << element;
        }
    }
    EXPECT_FALSE(Table::of(parse("S[1000000000000:1]")));
}

}  // namespace
}  // namespace tilepath::layout
