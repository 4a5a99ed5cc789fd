// `tilepath layout`, run as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace tilepath::cli {
namespace {

using testing::HasSubstr;

/// mma.m16n8k16's C and D.
const std::string fragment = "'S[((2,8),(4,2)):((2@reg,4@laneid),(1@laneid,1@reg))]' ";

std::string answer(const std::string& arguments, int status = 0) {
    const Finished ran = Folder().shell("tilepath layout " + arguments);
    EXPECT_EQ(ran.status, status) << arguments << "\n" << ran.out << ran.err;
    return status == 2 ? ran.err : ran.out;
}

TEST(LayoutCommand, SaysWhatALayoutIs) {
    const std::string text = answer(fragment);
    EXPECT_THAT(text, HasSubstr("laneid          0 to 31, span 32"));
    EXPECT_THAT(text, HasSubstr("injective       yes"));
    EXPECT_THAT(text, HasSubstr("covers its box  yes"));
    EXPECT_THAT(answer("'S[(2,2):(1,1)]'"), HasSubstr("injective       no: (0,1) and (1,0) share m=1"));
    EXPECT_THAT(answer("'S[4:2]'"), HasSubstr("covers its box  no: nothing at m=1"));
    EXPECT_THAT(answer("'S[4:-1]'"), HasSubstr("m               -3 to 0, span 4"));
}

TEST(LayoutCommand, EvaluatesBothWays) {
    EXPECT_THAT(answer(fragment + "--at 8,3 --at '(1,0)'"), HasSubstr("(8,3)    laneid=1 reg=3\n(1,0)    laneid=4\n"));
    EXPECT_THAT(answer(fragment + "--shape 128 --at 67"), HasSubstr("laneid=1 reg=3"));
    EXPECT_THAT(answer(fragment + "--inverse laneid=1,reg=3"), HasSubstr("(8,3)        67"));
    EXPECT_THAT(answer(fragment + "--inverse"), HasSubstr("S[((8,4),(2,2)):((8,2),(64,1))]"));
    EXPECT_THAT(answer("'Sw<3,3,3> o 0 o (8,64):(64,1)' --inverse m=72"), HasSubstr("(1,0)        64"));
    EXPECT_THAT(answer("'S[4:2]' --inverse m=1"), HasSubstr("nothing lies at m=1"));
    EXPECT_THAT(answer("'S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]' --at 1,5,3"),
                HasSubstr("TLane=5 TCol=7 | TLane=37 TCol=7 | TLane=69 TCol=7 | TLane=101 TCol=7"));
}

TEST(LayoutCommand, ComparesByEvaluation) {
    EXPECT_THAT(answer("'S[(8,(2,4)):(1,(64,8))]' --equal '(8,(4,2)):(1,(8,64))'"), HasSubstr("equal  yes"));
    EXPECT_THAT(answer(fragment + "--equal 'bits[laneid: (0,2) (0,4) (1,0) (2,0) (4,0); reg: (0,1) (8,0)] -> (16,8)'"),
                HasSubstr("equal  yes"));
    EXPECT_THAT(answer("'(8,64):(64,1)' --equal 'Sw<3,3,3> o 0 o (8,64):(64,1)'", 1),
                HasSubstr("equal  no: (1,0) lies at m=64 and at m=72"));
    EXPECT_THAT(answer("4:1 --equal 8:1", 1), HasSubstr("equal  no: 4 elements and 8"));
}

TEST(LayoutCommand, WritesOtherNotationsAndFormulae) {
    const std::string text = answer(fragment + "--cute --bits --formula");
    EXPECT_THAT(text, HasSubstr("((8,2),(2,4)):((4@laneid,2@reg),(1@reg,1@laneid))"));
    EXPECT_THAT(text, HasSubstr("bits[laneid: (0,2) (0,4) (1,0) (2,0) (4,0); reg: (0,1) (8,0)] -> (16,8)"));
    EXPECT_THAT(
        text,
        HasSubstr(
            "lane = 4*(i%8) + j/2\nreg = 2*(i/8) + j%2\nand back\ni = lane/4 + 8*(reg/2)\nj = 2*(lane%4) + reg%2\n"));
    EXPECT_THAT(answer("'Sw<3,4,3> o 64 o 8:128' --formula"), HasSubstr("then m = m ^ (m >> 7 & 7) << 4"));
    EXPECT_THAT(answer("'Sw<2,4,-3> o 0 o 8:16' --formula"), HasSubstr("then m = m ^ (m >> 4 & 3) << 7"));
}

TEST(LayoutCommand, DrawsPicturesAndJson) {
    const Folder folder;
    ASSERT_EQ(folder.shell("tilepath layout " + fragment + "--svg a.svg --html a.html --json > a.json").status, 0);
    const std::string svg = folder.read("a.svg"), html = folder.read("a.html");
    EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
    EXPECT_THAT(svg, HasSubstr(">T1 r3</text>"));
    EXPECT_THAT(html, HasSubstr("layout(8,3): lane 1, register 3"));
    const auto json = nlohmann::json::parse(folder.read("a.json"));
    EXPECT_EQ(json["matrix"]["cells"][8][3], "T1 r3");
    EXPECT_EQ(json["held"]["cells"][1][3], "8,3");
    EXPECT_EQ(folder.shell("tilepath layout " + fragment + "--svg nowhere/a.svg").status, 2);
}

TEST(LayoutCommand, BadInputIsNamed) {
    EXPECT_THAT(answer("'S[8:1@lanid]'", 2), HasSubstr("layout:1:7: error: unknown axis 'lanid'"));
    EXPECT_THAT(answer(fragment + "--at 16,0", 2), HasSubstr("16"));
    EXPECT_THAT(answer(fragment + "--at 1", 2), HasSubstr("error"));
    EXPECT_THAT(answer(fragment + "--at 1,x", 2), HasSubstr("--at:1:3"));
    EXPECT_THAT(answer(fragment + "--shape 16,9", 2), HasSubstr("expected a shape of 128 elements"));
    EXPECT_THAT(answer(fragment + "--inverse lane=1", 2), HasSubstr("expected an axis, found 'lane'"));
    EXPECT_THAT(answer("'S[4:1] + R[2:4]' --cute", 2), HasSubstr("CuTe's notation has no replicas"));
    EXPECT_THAT(answer("'S[3:1]' --bits", 2), HasSubstr("powers of two"));
    EXPECT_THAT(answer("'S[(1024,1024):(1024,1)]' --table", 2), HasSubstr("at most 65536 elements"));
    EXPECT_THAT(answer("'S[2:1000000]' --table", 2), HasSubstr("too far apart to draw"));
}

}  // namespace
}  // namespace tilepath::cli
