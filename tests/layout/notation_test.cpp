#include "layout/notation.h"

#include <gtest/gtest.h>

#include <string>

namespace tilepath::layout {
namespace {

TEST(Notation, PrintsWhatItReads) {
    for (std::string text : {
             "S[8:1]",
             "S[1:0]",
             "S[(8,4,2):(4@laneid,1@laneid,1@reg)]",
             "S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]",
             "S[((4,2)):((2,1))]",
             "S[(8,(4,2)):(4@laneid,(1@laneid,16@bit))] + R[(2,2):(64@TLane,32@TLane)] + O[3@laneid,-2]",
             "S[(2,2):(-1,0)]",
         }) {
        auto layout = parse_layout(text);
        ASSERT_TRUE(layout) << to_string(layout.error());
        EXPECT_EQ(to_string(*layout), text);
    }
}

TEST(Notation, ReadsOtherSpellings) {
    auto same = [](std::string_view text, std::string_view printed) {
        auto layout = parse_layout(text);
        ASSERT_TRUE(layout) << to_string(layout.error());
        EXPECT_EQ(to_string(*layout), printed);
    };
    same(" S[ ( 8 , 2 ) : ( 1@m , 8@m ) ]+O[ 1 , 2@laneid ]+R[2:4] ", "S[(8,2):(1,8)] + R[2:4] + O[2@laneid,1]");
    same("S[(8,(2,(3,1))):(1,(2,(3,4)))]", "S[(8,(2,3,1)):(1,(2,3,4))]");
    same("S[8:1@bx]", "S[8:1@ctaid_x]");
    same("S[(8):(1)]", "S[8:1]");
    same("S[8:1] + O[0]", "S[8:1]");
    same("S[8:1] + R[(2,(2,2)):(1,(2,4))]", "S[8:1] + R[(2,2,2):(1,2,4)]");
}

struct Bad {
    std::string text;
    unsigned column;
    std::string message;
};

TEST(Notation, BadTextPointsAtTheCharacter) {
    for (const Bad& bad : {
             Bad{"", 1, "expected a layout S[extents:strides], found the end of the text"},
             Bad{"T[8:1]", 1, "expected a layout S[extents:strides], found 'T'"},
             Bad{"S[8:1", 6, "expected ']', found the end of the text"},
             Bad{"S[8]", 4, "expected ':' between extents and strides, found ']'"},
             Bad{"S[(8,):(1)]", 6, "expected an extent, found ')'"},
             Bad{"S[(8,4):(1,x)]", 12, "expected a stride, found 'x'"},
             Bad{"S[8:1@lane]", 7, "unknown axis 'lane'"},
             Bad{"S[8:1@]", 7, "expected an axis after '@', found ']'"},
             Bad{"S[(8,4):1]", 9,
                 "the strides must be grouped as the extents: expected a group of 2, found one number"},
             Bad{"S[(8,4):(1,(2,3))]", 12,
                 "the strides must be grouped as the extents: expected one number, found a group of 2"},
             Bad{"S[(8,0):(1,1)]", 6, "expected an extent of at least 1, found 0"},
             Bad{"S[-2:1]", 3, "expected an extent of at least 1, found -2"},
             Bad{"S[99999999999999999999:1]", 3, "expected an extent within 62 bits"},
             Bad{"S[(4000000000,4000000000):(1,1)]", 1, "the extents' product leaves 62 bits"},
             Bad{"S[4000000000:4000000000]", 1, "4000000000:4000000000@m reaches beyond 62 bits"},
             Bad{"S[8:1] + S[8:1]", 10, "expected R[…] or O[…], each at most once, found 'S'"},
             Bad{"S[8:1] + R[2:1] + R[2:1]", 19, "expected R[…] or O[…], each at most once, found 'R'"},
             Bad{"S[8:1] + O[(1,2)]", 12, "expected an offset such as 1@laneid, found a group"},
             Bad{"S[8:1] x", 8, "expected the end of the text, found 'x'"},
             Bad{std::string("S[8:1\x01]"), 6, "expected ']', found byte 0x01"},
         }) {
        auto layout = parse_layout(bad.text);
        ASSERT_FALSE(layout) << bad.text;
        const Diagnostic& first = layout.error().front();
        EXPECT_EQ(first.message, bad.message) << bad.text;
        ASSERT_TRUE(first.place) << bad.text;
        EXPECT_EQ(first.place->column, bad.column) << bad.text;
    }
    EXPECT_FALSE(parse_layout("S[" + std::string(100000, '(')));
}

}  // namespace
}  // namespace tilepath::layout
