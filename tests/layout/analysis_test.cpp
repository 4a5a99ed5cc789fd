#include "layout/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "layout/operations.h"
#include "small_layouts.h"

namespace tilepath::layout {
namespace {

TEST(Analysis, AgreesWithBruteForce) {
    for (const Layout& layout : small_layouts()) {
        std::map<Location, std::int64_t> holder;
        bool shared = false;
        std::int64_t least = layout.at(0).front()[Axis::laneid], greatest = least;
        for (std::int64_t element = 0; element < layout.size(); ++element) {
            for (const Location& place : layout.at(element)) {
                shared = shared || (holder.contains(place) && holder[place] != element);
                holder.try_emplace(place, element);
                least = std::min(least, place[Axis::laneid]);
                greatest = std::max(greatest, place[Axis::laneid]);
            }
        }
        EXPECT_EQ(find_alias(layout)->has_value(), shared) << to_string(layout);
        EXPECT_EQ(bounds(layout, Axis::laneid), (Bounds{least, greatest})) << to_string(layout);
        EXPECT_EQ(span(layout, Axis::laneid), greatest - least + 1);
        EXPECT_EQ(cosize(layout, Axis::laneid), greatest + 1);
        Box box{{Axis::m, 3}, {Axis::laneid, 4}};
        bool covered = true, outside = false;
        for (std::int64_t m = 0; m < 3; ++m) {
            for (std::int64_t lane = 0; lane < 4; ++lane) {
                Location place;
                place[Axis::m] = m;
                place[Axis::laneid] = lane;
                covered = covered && holder.contains(place);
            }
        }
        for (const auto& [place, element] : holder) {
            outside = outside || place[Axis::m] < 0 || place[Axis::m] > 2 || place[Axis::laneid] < 0 ||
                      place[Axis::laneid] > 3;
        }
        EXPECT_EQ(find_uncovered(layout, box)->has_value(), !covered) << to_string(layout);
        EXPECT_EQ(find_outside(layout, box)->has_value(), outside) << to_string(layout);
    }
}

TEST(Analysis, NamesTheFault) {
    auto alias = find_alias(parse("S[(2,4):(2,1)]"));
    ASSERT_TRUE(alias && *alias);
    EXPECT_EQ((*alias)->first, 2);
    EXPECT_EQ((*alias)->second, 4);
    EXPECT_EQ(to_string((*alias)->location), "m=2");
    auto hole = find_uncovered(parse("S[(8,4,2):(4@laneid,1@laneid,1@reg)]"), {{Axis::laneid, 32}, {Axis::reg, 3}});
    ASSERT_TRUE(hole && *hole);
    EXPECT_EQ(to_string(**hole), "reg=2");
    auto outside = find_outside(parse("S[(8,4,2):(4@laneid,1@laneid,1@reg)]"), {{Axis::laneid, 31}, {Axis::reg, 2}});
    ASSERT_TRUE(outside && *outside);
    EXPECT_EQ((*outside)->element, 62);
    auto overlap = find_overlap(parse("S[4:2]"), parse("S[4:1] + O[3]"));
    ASSERT_TRUE(overlap && *overlap);
    EXPECT_EQ((*overlap)->first, 2);
    EXPECT_EQ((*overlap)->second, 1);
    EXPECT_FALSE(*find_overlap(parse("S[4:2]"), parse("S[4:2] + O[1]")));
}

TEST(Analysis, EqualityIsByEvaluation) {
    EXPECT_TRUE(*equal(parse("S[1:0] + R[4:32@TLane]"), parse("S[1:0] + R[(2,2):(64@TLane,32@TLane)]")));
    EXPECT_TRUE(*equal(parse("S[1:0] + R[4:1]"), parse("S[1:0] + R[4:-1] + O[3]")));
    EXPECT_FALSE(*equal(parse("S[4:1]"), parse("S[2:1]")));
    auto difference = find_difference(parse("S[(2,4):(4,1)]"), parse("S[(2,2,2):(4,1,2)]"));
    ASSERT_TRUE(difference && *difference);
    EXPECT_EQ((*difference)->element, 1);
    EXPECT_FALSE(find_difference(parse("S[4:1]"), parse("S[2:1]")));
}

TEST(Analysis, Bijections) {
    EXPECT_TRUE(
        *is_bijection(parse("S[(2,8,4,2):(2@reg,4@laneid,1@laneid,1@reg)]"), {{Axis::laneid, 32}, {Axis::reg, 4}}));
    EXPECT_FALSE(
        *is_bijection(parse("S[(2,8,4,2):(2@reg,4@laneid,1@laneid,1@reg)]"), {{Axis::laneid, 32}, {Axis::reg, 8}}));
    EXPECT_FALSE(*is_bijection(parse("S[4:1] + R[2:4]"), {{Axis::m, 8}}));
    EXPECT_FALSE(find_alias(parse("S[100000000:1]")));
    EXPECT_FALSE(find_uncovered(parse("S[4:1]"), {{Axis::m, std::int64_t{1} << 40}}));
}

}  // namespace
}  // namespace tilepath::layout
