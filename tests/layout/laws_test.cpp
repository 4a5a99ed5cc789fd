// Laws of the layout operations, over thousands of enumerated small layouts, each checked by evaluation.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "layout/analysis.h"
#include "layout/operations.h"
#include "small_layouts.h"

namespace tilepath::layout {
namespace {

std::vector<Location> shifted(std::vector<Location> places, const Location& by, std::int64_t times = 1) {
    for (Location& place : places)
        for (const AxisTraits& row : all_axes()) place[row.axis] += times * by[row.axis];
    std::ranges::sort(places);
    return places;
}

TEST(Laws, CanonicalFormIsEqualAndIdempotent) {
    for (const Layout& layout : small_layouts()) {
        Layout form = canonical(layout);
        EXPECT_TRUE(*equal(layout, form)) << to_string(layout) << " " << to_string(form);
        EXPECT_EQ(canonical(form), form) << to_string(layout);
        EXPECT_LE(form.digits().size(), std::max<std::size_t>(1, layout.digits().size()));
    }
    EXPECT_EQ(to_string(canonical(parse("S[(2,1,4):(4,9,1)] + R[(2,2):(32@TLane,64@TLane)]"))),
              "S[8:1] + R[4:32@TLane]");
    EXPECT_EQ(to_string(canonical(parse("S[(2,4):(4@laneid,1)]"))), "S[(2,4):(4@laneid,1)]");
}

TEST(Laws, NotationRoundTrips) {
    for (const Layout& layout : small_layouts()) EXPECT_EQ(parse(to_string(layout)), layout) << to_string(layout);
}

TEST(Laws, GroupingKeepsTheMapAndGivesTheShape) {
    int grouped = 0, refused = 0;
    std::vector<Layout> all = small_layouts();
    for (std::size_t n = 0; n < all.size(); n += 5) {
        const Layout& layout = all[n];
        EXPECT_TRUE(group(layout, layout.shape())) << to_string(layout);
        for (const auto& shape : shapes_of(layout.size())) {
            auto made = group(layout, shape);
            if (!made) {
                ++refused;
                continue;
            }
            ++grouped;
            EXPECT_EQ(made->shape(), shape);
            EXPECT_TRUE(*equal(layout, *made)) << to_string(layout) << " " << to_string(*made);
        }
    }
    EXPECT_GT(grouped, 5000);
    EXPECT_GT(refused, 5000);
    std::int64_t cut[] = {3, 2}, wrong[] = {2, 2};
    EXPECT_FALSE(group(parse("S[(2,3):(1,7)]"), cut));
    EXPECT_FALSE(group(parse("S[(2,3):(1,7)]"), wrong));
    EXPECT_FALSE(group(parse("S[8:1]"), wrong));
}

TEST(Laws, PermutedModesTakePermutedCoordinates) {
    for (const Layout& layout : small_layouts()) {
        if (layout.rank() != 2) continue;
        std::size_t order[] = {1, 0};
        auto made = permute(layout, order);
        ASSERT_TRUE(made);
        std::vector<std::int64_t> shape = layout.shape();
        for (std::int64_t i = 0; i < shape[0]; ++i)
            for (std::int64_t j = 0; j < shape[1]; ++j) EXPECT_EQ(*made->evaluate({j, i}), *layout.evaluate({i, j}));
    }
    std::size_t twice[] = {0, 0}, beyond[] = {0, 2}, few[] = {1};
    EXPECT_FALSE(permute(parse("S[(2,2):(1,2)]"), twice));
    EXPECT_FALSE(permute(parse("S[(2,2):(1,2)]"), beyond));
    EXPECT_FALSE(permute(parse("S[(2,2):(1,2)]"), few));
}

TEST(Laws, TilesAndSumsAreOuterPlusInner) {
    std::vector<Layout> all = small_layouts();
    for (std::size_t n = 0; n < all.size(); n += 7) {
        const Layout &outer = all[n], &inner = all[(n * 31 + 17) % all.size()];
        if (outer.rank() != inner.rank()) {
            EXPECT_FALSE(tile(outer, inner));
            continue;
        }
        auto sum = direct_sum(outer, inner), tiled = tile(outer, inner);
        ASSERT_TRUE(sum && tiled);
        std::vector<std::int64_t> big = outer.shape(), small = inner.shape(), shape = sum->shape();
        for (std::int64_t element = 0; element < sum->size(); ++element) {
            std::vector<std::int64_t> at = unflatten(element, shape), at_outer, at_inner;
            for (std::size_t i = 0; i < at.size(); ++i) {
                at_outer.push_back(at[i] / small[i]);
                at_inner.push_back(at[i] % small[i]);
            }
            std::set<Location> summed, scaled;
            std::vector<Location> outer_places = *outer.evaluate(at_outer), inner_places = *inner.evaluate(at_inner);
            for (const Location& o : outer_places) {
                for (Location i : inner_places) {
                    Location s = i;
                    for (const AxisTraits& row : all_axes()) {
                        i[row.axis] += o[row.axis];
                        s[row.axis] += o[row.axis] * span(inner, row.axis);
                    }
                    summed.insert(i);
                    scaled.insert(s);
                }
            }
            ASSERT_EQ(sum->at(element), std::vector(summed.begin(), summed.end()));
            ASSERT_EQ(tiled->at(element), std::vector(scaled.begin(), scaled.end()));
        }
    }
}

TEST(Laws, CompositionIsOneAfterTheOther) {
    std::vector<Layout> all = small_layouts();
    int composed = 0, bijective = 0;
    for (const Layout& a : all) {
        for (std::size_t n = composed % 13; n < all.size(); n += 293) {
            const Layout& b = all[n];
            auto made = compose(a, b);
            if (!made) continue;
            ++composed;
            ASSERT_EQ(made->shape(), b.shape());
            for (std::int64_t element = 0; element < b.size(); ++element) {
                std::set<Location> places;
                for (const Location& between : b.at(element))
                    for (const Location& place : a.at(between[Axis::m])) places.insert(place);
                ASSERT_EQ(made->at(element), std::vector(places.begin(), places.end()))
                    << to_string(a) << " o " << to_string(b);
            }
        }
        // With the identity on either side it must always succeed.
        auto identity = *Layout::make({{{a.size(), 1, Axis::m}}});
        auto right = compose(a, identity);
        ASSERT_TRUE(right) << to_string(a);
        EXPECT_TRUE(*equal(*right, a));
        ++bijective;
    }
    EXPECT_GT(composed, 500);
    EXPECT_GT(bijective, 1000);
}

TEST(Laws, CompositionRefusesWhatIsNoLayout) {
    auto message = [](std::string_view a, std::string_view b) {
        auto made = compose(parse(a), parse(b));
        return made ? to_string(*made) : made.error().front().message;
    };
    EXPECT_EQ(message("S[(4,8):(1@laneid,4@laneid)]", "S[(8,4):(1,8)]"), "S[(8,4):(4@laneid,1@laneid)]");
    EXPECT_EQ(message("S[(4,6):(100,1)]", "S[8:3]"), "S[((4,2)):((100,3))]");
    EXPECT_EQ(message("S[(4,6):(100,1)]", "S[6:4]"),
              "6:4 of the inner layout does not divide the outer layout's digits");
    EXPECT_EQ(message("S[(2,2):(100,1)]", "S[(2,2):(1,1)]"),
              "the inner layout's sums carry over the outer layout's digit 2:1@m");
    EXPECT_EQ(message("S[4:1]", "S[5:1]"), "the inner layout reaches elements 0 to 4, the outer has 4");
    EXPECT_EQ(message("S[4:1]", "S[4:1@laneid]"),
              "the inner layout must give element numbers on m alone, found laneid");
}

TEST(Laws, SlicesAreTheRegion) {
    int sliced = 0, refused = 0;
    std::vector<Layout> all = small_layouts();
    for (std::size_t n = 0; n < all.size(); n += 3) {
        const Layout& layout = all[n];
        std::vector<std::int64_t> shape = layout.shape();
        if (shape.size() != 1) continue;
        for (std::int64_t begin = 0; begin < shape[0]; ++begin) {
            for (std::int64_t extent = 1; extent <= shape[0] - begin; ++extent) {
                auto made = slice(layout, std::span(&begin, 1), std::span(&extent, 1));
                if (!made) {
                    ++refused;
                    continue;
                }
                ++sliced;
                ASSERT_EQ(made->size(), extent);
                for (std::int64_t i = 0; i < extent; ++i)
                    ASSERT_EQ(made->at(i), layout.at(begin + i)) << to_string(layout) << " " << begin << " " << extent;
            }
        }
    }
    EXPECT_GT(sliced, refused);
    // A region of whole rows and columns, and one that wraps in its middle: digits (0,2) (0,3) (1,0) (1,1).
    std::int64_t b[] = {2, 0}, e[] = {2, 4}, middle[] = {2}, four[] = {4}, three[] = {3}, far[] = {9};
    EXPECT_EQ(to_string(*slice(parse("S[(4,8):(8,1)]"), b, e)), "S[(2,4):(8,1)] + O[16]");
    EXPECT_EQ(to_string(*slice(parse("S[((2,4)):((100,1))]"), middle, four)), "S[((2,2)):((98,1))] + O[2]");
    EXPECT_FALSE(slice(parse("S[((2,4)):((100@laneid,1))]"), middle, four));
    EXPECT_FALSE(slice(parse("S[((2,4)):((100,1))]"), middle, three));
    EXPECT_FALSE(slice(parse("S[8:1]"), far, three));
    EXPECT_FALSE(slice(parse("S[8:1]"), three, far));
}

TEST(Laws, UnpackingSplitsElementsAndPackingUndoesIt) {
    std::vector<Layout> all = small_layouts();
    for (std::size_t n = 0; n < all.size(); n += 5) {
        const Layout& layout = all[n];
        for (std::int64_t count : {1, 2, 3}) {
            for (Axis axis : {Axis::m, Axis::laneid}) {
                auto fine = unpack(layout, count, axis);
                ASSERT_TRUE(fine);
                ASSERT_EQ(fine->size(), layout.size() * count);
                Location one;
                one[axis] = 1;
                for (std::int64_t element = 0; element < layout.size(); ++element) {
                    std::vector<Location> coarse = layout.at(element);
                    for (Location& place : coarse) place[axis] *= count;
                    for (std::int64_t i = 0; i < count; ++i)
                        ASSERT_EQ(fine->at(element * count + i), shifted(coarse, one, i)) << to_string(layout);
                }
                auto back = pack(*fine, count, axis);
                ASSERT_TRUE(back) << to_string(*fine);
                EXPECT_TRUE(*equal(*back, layout)) << to_string(layout);
            }
        }
    }
    EXPECT_FALSE(pack(parse("S[(4,2):(1,4)]"), 2));
    EXPECT_FALSE(pack(parse("S[(4,2):(3,1)]"), 2));
    EXPECT_FALSE(pack(parse("S[(4,2):(2,1)] + O[1]"), 2));
    EXPECT_FALSE(pack(parse("S[8:1]"), 0));
    EXPECT_FALSE(unpack(parse("S[8:1]"), 0));
}

TEST(Laws, InverseLeadsEveryPlaceBack) {
    int inverted = 0;
    for (const Layout& layout : small_layouts()) {
        auto made = inverse(layout);
        bool one_to_one = !*find_alias(layout);
        if (!made) continue;
        ++inverted;
        ASSERT_TRUE(one_to_one) << to_string(layout);
        for (std::int64_t element = 0; element < layout.size(); ++element) {
            for (const Location& place : layout.at(element)) {
                std::vector<std::int64_t> coordinate;
                for (Axis axis : made->axes) coordinate.push_back(place[axis]);
                if (coordinate.empty()) coordinate.push_back(0);
                auto back = made->layout.evaluate(coordinate);
                ASSERT_TRUE(back) << to_string(layout);
                ASSERT_EQ(back->size(), 1u);
                ASSERT_EQ(back->front()[Axis::m], element) << to_string(layout);
            }
        }
    }
    EXPECT_GT(inverted, 20);
    auto fragment = inverse(parse("S[(2,8,4,2):(2@reg,4@laneid,1@laneid,1@reg)]"));
    ASSERT_TRUE(fragment);
    EXPECT_EQ(fragment->axes, (std::vector{Axis::laneid, Axis::reg}));
    EXPECT_EQ(to_string(fragment->layout), "S[((8,4),(2,2)):((8,2),(64,1))]");
    EXPECT_EQ(to_string(inverse(parse("S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]"))->layout),
              "S[((4,32),(4,4)):((0,4),(128,1))]");
    EXPECT_FALSE(inverse(parse("S[4:2]")));
    EXPECT_FALSE(inverse(parse("S[4:1] + O[1]")));
    EXPECT_FALSE(inverse(parse("S[(2,2):(0,1)]")));
}

TEST(Laws, ElementsAtALocation) {
    Layout layout = parse("S[(2,4):(2@laneid,1@laneid)]");
    Location at;
    at[Axis::laneid] = 2;
    EXPECT_EQ(*elements_at(layout, at), (std::vector<std::int64_t>{2, 4}));
    at[Axis::m] = 1;
    EXPECT_TRUE(elements_at(layout, at)->empty());
}

TEST(Laws, SubstitutionAndRestriction) {
    // Thread tx = 32·warpid + laneid.
    Layout layout = parse("S[(4,8,4,2):(1@warpid,4@laneid,1@laneid,1@reg)]");
    auto tx = substitute(*substitute(layout, Axis::warpid, 32, Axis::tx), Axis::laneid, 1, Axis::tx);
    ASSERT_TRUE(tx);
    EXPECT_EQ(to_string(canonical(*tx)), "S[(128,2):(1@tx,1@reg)]");
    EXPECT_EQ(to_string(only(layout, AxisKind::thread)), "S[(4,8,4,2):(1@warpid,4@laneid,1@laneid,0@reg)]");
    EXPECT_EQ(to_string(canonical(only(layout, AxisKind::storage))), "S[(128,2):(0,1@reg)]");
}

}  // namespace
}  // namespace tilepath::layout
