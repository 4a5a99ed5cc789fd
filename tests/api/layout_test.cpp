#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tilepath/tilepath.h>

namespace tilepath {
namespace {

using testing::HasSubstr;

TEST(Layout, EvaluatesPrintsAndCompares) {
    // Rows of a warp's 8×8 accumulator: lane 4 row + column / 2, register column % 2.
    const Layout layout = Layout::parse("S[(8,(4,2)):(4@laneid,(1@laneid,1@reg))]").value();
    EXPECT_EQ(layout.size(), 64);
    EXPECT_EQ(layout.shape(), (std::vector<std::int64_t>{8, 8}));
    const auto places = layout.at({3, 5});
    ASSERT_TRUE(places) << to_string(places.error());
    ASSERT_EQ(places->size(), 1u);
    EXPECT_EQ((*places)[0]["laneid"], 14);
    EXPECT_EQ((*places)[0]["reg"], 1);
    EXPECT_EQ((*places)[0]["bit"], 0);
    EXPECT_EQ(*layout.at({29}, {64}), *places);
    EXPECT_TRUE(equal(layout, Layout::parse(to_string(layout)).value()).value());
    EXPECT_TRUE(equal(layout, Layout::parse("bits[laneid: (0,2) (0,4) (1,0) (2,0) (4,0); reg: (0,1)] -> (8,8)").value()).value());
    EXPECT_FALSE(equal(layout, Layout::parse("S[(8,(4,2)):(4@laneid,(1@reg,1@laneid))]").value()).value());
}

TEST(Layout, ReplicasAndSwizzles) {
    const auto copies = Layout::parse("S[4:1@reg] + R[2:16@laneid]").value().at({1});
    ASSERT_TRUE(copies);
    ASSERT_EQ(copies->size(), 2u);
    EXPECT_EQ((*copies)[1], (Location{{{"laneid", 16}, {"reg", 1}}}));
    // CuTe's notation: row 1, column 0 of 64-element rows, chunks of 8 XORed with the row's low bits.
    EXPECT_EQ(Layout::parse("Sw<3,3,3> o 0 o (8,64):(64,1)").value().at({1, 0}).value()[0]["m"], 64 + 8);
}

TEST(Layout, ErrorsPointAtTheCharacter) {
    const auto cut = Layout::parse("S[(8,4):(1@lan");
    ASSERT_FALSE(cut);
    EXPECT_THAT(to_string(cut.error()), HasSubstr("^"));
    EXPECT_FALSE(Layout::parse(""));
    EXPECT_FALSE(Layout::parse("bits["));
    const Layout layout = Layout::parse("S[(2,2):(1,2)]").value();
    EXPECT_FALSE(layout.at({2, 0}));
    EXPECT_FALSE(layout.at({0}));
    EXPECT_FALSE(layout.at({0, 0}, {2, 3}));
}

// PTX ISA, figures of mma.m16n8k16 (f16): row = groupID (+ 8), column = 2 threadID_in_group + (i & 1) (+ 8).
TEST(Atom, WhoHoldsWhich) {
    const auto atom = mma_sync("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    ASSERT_TRUE(atom) << to_string(atom.error());
    EXPECT_EQ(atom->name, "m16n8k16.row.col.f32.f16.f16.f32");
    EXPECT_EQ(std::tuple(atom->m, atom->n, atom->k, atom->minimum_sm), std::tuple(16, 8, 16, 80));
    EXPECT_EQ(std::tuple(atom->a.rows, atom->a.columns, atom->a.registers), std::tuple(16, 16, 4));
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 8; ++i) {
            const Element element{lane / 4 + (i % 4 >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
            const RegisterPlace place{lane, i / 2, i % 2 * 16};
            EXPECT_THAT(atom->a.holders(element), testing::ElementsAre(place));
            EXPECT_EQ(atom->a.held({lane, i / 2, i % 2 * 16 + 9}), element);
        }
    }
    EXPECT_EQ(atom->d.held({5, 3, 0}), (Element{9, 3}));
    EXPECT_EQ(atom->b.held({5, 1, 16}), (Element{11, 1}));
    EXPECT_EQ(atom->a.type, "f16");
    EXPECT_EQ(atom->d.type, "f32");
    EXPECT_TRUE(atom->a.holders({16, 0}).empty());
    EXPECT_FALSE(atom->a.held({32, 0, 0}));
    EXPECT_FALSE(atom->a.held({0, 4, 0}));
}

TEST(Atom, NamesLeadBack) {
    const std::vector<std::string> names = mma_sync_names();
    EXPECT_GT(names.size(), 50u);
    for (const std::string& name : names) {
        const auto atom = mma_sync(name);
        ASSERT_TRUE(atom) << name << to_string(atom.error());
        EXPECT_EQ(atom->name, name);
    }
}

TEST(Atom, ErrorsNameTheRule) {
    auto error = [](std::string_view name) {
        const auto atom = mma_sync(name);
        return atom ? std::string("fine") : to_string(atom.error());
    };
    EXPECT_THAT(error("m16n8k16.row.col.f32.f16.f16"), HasSubstr("expected four types, found 3"));
    EXPECT_THAT(error("m16n8k16.f32.f16.f16.f32"), HasSubstr("expected two layouts, row or col, found 0"));
    EXPECT_THAT(error("row.col.f32.f16.f16.f32"), HasSubstr("expected a shape such as m16n8k16"));
    EXPECT_THAT(error("m16n8k16.row.col.f32.f17.f16.f32"), HasSubstr("'f17' is no shape, layout, type or kind"));
    EXPECT_THAT(error("m99999999999n8k16.row.col.f32.f16.f16.f32"), HasSubstr("is no shape"));
    EXPECT_NE(error("m16n8k17.row.col.f32.f16.f16.f32"), "fine");
    EXPECT_NE(error(""), "fine");
}

}  // namespace
}  // namespace tilepath
