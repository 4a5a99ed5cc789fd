#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "cli/commands.h"

namespace tilepath::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

struct Ran {
    int status = -1;
    std::string out, err;
};

/// `tilepath dot ARGUMENTS FILE`, the file holding `lines`.
Ran run(const std::string& arguments, const std::string& lines) {
    const std::string path = testing::TempDir() + "/tilepath_dot_lines_" +
                             testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt";
    std::ofstream(path) << lines;
    CLI::App program;
    Ran ran;
    add_dot(program, ran.status);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
        program.parse("dot " + arguments + " " + path);
    } catch (const CLI::ParseError& e) {
        ran.status = e.get_exit_code();
    }
    std::fflush(stdout);
    ran.out = testing::internal::GetCapturedStdout();
    ran.err = testing::internal::GetCapturedStderr();
    return ran;
}

const std::string ampere = "--arch sm_80 --instruction mma.sync --types f16,f16,f32";

TEST(Dot, PrintsTheResultOfThreeColumns) {
    const Ran ran = run(ampere, "3c003c00 3c004000 3f800000\n\n# a comment\n3c00 bc00 0000000A\n");
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.out, "40800000\nbf800000\n");
}

TEST(Dot, ComparesTheFourthColumn) {
    const Ran same = run(ampere, "3c003c00 3c004000 3f800000 40800000\n");
    EXPECT_EQ(same.status, 0);
    EXPECT_EQ(same.out, "1 compared, 0 different\n");
    const Ran different = run(ampere, "3c003c00 3c004000 3f800000 40800000\n3c00 3c00 00000000 3f800001\n");
    EXPECT_EQ(different.status, 1);
    EXPECT_THAT(different.out, HasSubstr("line 2: computed 3f800000, expected 3f800001"));
    EXPECT_THAT(different.out, HasSubstr("largest exponent 0, least bit kept 2^-24"));
    EXPECT_THAT(different.out, EndsWith("2 compared, 1 different\n"));
}

TEST(Dot, ExplainsNoMoreDifferencesThanAsked) {
    std::string lines;
    for (int i = 0; i < 5; ++i) lines += "3c00 3c00 00000000 00000000\n";
    const Ran ran = run(ampere + " --show 2", lines);
    EXPECT_THAT(ran.out, HasSubstr("line 2:"));
    EXPECT_THAT(ran.out, Not(HasSubstr("line 3:")));
    EXPECT_THAT(ran.out, EndsWith("5 compared, 5 different\n"));
}

TEST(Dot, TheDeviceDecides) {
    // 2^24 + 1 in two groups of 8 on sm_80, in one of 16 on sm_90 with another 1.
    const std::string line =
        "6c003c0000000000000000000000000000000000000000003c00000000000000 "
        "6c003c0000000000000000000000000000000000000000003c00000000000000 00000000\n";
    EXPECT_EQ(run(ampere, line).out, "4b800000\n");
    EXPECT_EQ(run("--arch sm_90a --types f16,f16,f32", line).out, "4b800001\n");
    EXPECT_EQ(run("--arch sm_90a --instruction wgmma --types f16,f16,f32", line).out, "4b800001\n");
}

TEST(Dot, ScaledTypesHaveScaleColumns) {
    const std::string ones(64, '2');
    const std::string fp4 = "--arch sm_100a --instruction tcgen05.mma --types e2m1,e2m1,f32 ";
    EXPECT_EQ(run(fp4 + "--scales ue8m0,32", ones + " " + ones + " 00000000 807f 7f7e\n").out, "42a00000\n");
    EXPECT_EQ(run(fp4 + "--scales ue4m3", ones + " " + ones + " 00000000 38383838 38383838 42800000\n").out,
              "1 compared, 0 different\n");
    EXPECT_EQ(run("--arch sm_120a --types e4m3,e5m2,f32 --scales ue8m0", "38 3c 00000000 89 7f\n").out, "44800000\n");
    const Ran few = run(fp4 + "--scales ue4m3", ones + " " + ones + " 00000000 3838 38383838\n");
    EXPECT_EQ(few.status, 2);
    EXPECT_THAT(few.err, HasSubstr("64 elements in blocks of 16: expected 4 scales, found 2"));
}

TEST(Dot, OtherKinds) {
    EXPECT_EQ(run("--arch sm_80 --types s8,u8,s32", "ff01 ff02 00000005\n").out, "ffffff08\n");
    EXPECT_EQ(run("--arch sm_80 --types s8,s8,s32 --satfinite", "7f 7f 7fffffff\n").out, "7fffffff\n");
    EXPECT_EQ(run("--arch sm_80 --types b1,b1,s32", "f0 80 00000001\n").out, "00000002\n");
    EXPECT_EQ(run("--arch sm_80 --types b1,b1,s32 --xor", "f0 80 00000001\n").out, "00000004\n");
    EXPECT_EQ(
        run("--arch sm_90 --types f64,f64,f64 --rounding rp", "3ff0000000000000 3ff0000000000000 3ca0000000000000\n")
            .out,
        "3ff0000000000001\n");
    EXPECT_EQ(
        run("--arch sm_90 --instruction wgmma --types e4m3,e4m3,f32 --without-c", "38 38 3f800000 3f800000\n").out,
        "1 compared, 0 different\n");
    EXPECT_THAT(run(ampere + " --json", "3c00 3c00 00000000 00000000\n").out, HasSubstr("\"computed\": \"3f800000\""));
}

TEST(Dot, BadLinesNameLineAndColumn) {
    const Ran ran =
        run(ampere, "3c00 3c0g 00000000\n3c00 3c003c00 00000000\n1 2\n3c00 3c00 0\n3c00 3c00 00000000 1 2\n");
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(":1:9: error: expected hexadecimal digits, found 'g'"));
    EXPECT_THAT(ran.err, HasSubstr(":2:6: error: a has 1 elements and b 2"));
    EXPECT_THAT(ran.err, HasSubstr(":3:3: error: expected 3 columns (a b c) and perhaps the result, found 2"));
    EXPECT_THAT(ran.err, HasSubstr(":4:11: error: f32 takes 8 digits an element"));
    EXPECT_THAT(ran.err, HasSubstr(":5:22: error: expected 3 columns"));
    std::string binary;
    for (int i = 0; i < 1000; ++i) binary += "\x01\xff\x80\n";
    EXPECT_THAT(run(ampere, binary).err, HasSubstr("980 further lines are wrong"));
    EXPECT_THAT(run("--arch sm_120a --types e3m2,e3m2,f32", "7f 00 00000000\n").err, HasSubstr("e3m2 has 6 bits"));
}

TEST(Dot, BadOptionsSayWhatExists) {
    EXPECT_THAT(run("--arch sm_42 --types f16,f16,f32", "").err, HasSubstr("unknown device 'sm_42'"));
    EXPECT_THAT(run("--arch sm_80 --types f16,f16", "").err, HasSubstr("expected three types A,B,D"));
    EXPECT_THAT(run("--arch sm_80 --types f16,f61,f32", "").err, HasSubstr("unknown type 'f61'"));
    EXPECT_THAT(run("--arch sm_80 --instruction hmma --types f16,f16,f32", "").err,
                HasSubstr("unknown instruction 'hmma'"));
    EXPECT_THAT(run("--arch sm_80 --types e4m3,e4m3,f32", "").err, HasSubstr("no arithmetic is known"));
    EXPECT_THAT(run("--arch sm_100 --instruction tcgen05.mma --types e2m1,e2m1,f32 --scales ue8m0,8", "").err,
                HasSubstr("expected ue8m0 or ue4m3, then ,16 or ,32"));
    EXPECT_EQ(run(ampere + " /nowhere/at/all", "").status, 109) << "one FILE only";
}

TEST(Dot, AMissingFileIsBadInput) {
    CLI::App program;
    int status = -1;
    add_dot(program, status);
    testing::internal::CaptureStderr();
    program.parse("dot " + ampere + " /nowhere/at/all");
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cannot read /nowhere/at/all"));
    EXPECT_EQ(status, 2);
}

TEST(Dot, PublishedVectors) {
    const std::filesystem::path folder = std::filesystem::path(TILEPATH_TEST_DIR) / "../../shared/vectors";
    if (!std::filesystem::exists(folder))
        GTEST_SKIP() << "the published vectors are not beside the project (../shared/vectors)";
    for (const auto& [arguments, file] :
         {std::pair{"--arch sm_80 --types f16,f16,f16", "a100_f16_f16.txt"},
          {"--arch sm_89 --types e4m3,e4m3,f32", "l40s_e4m3_f32.txt"},
          {"--arch sm_90 --types tf32,tf32,f32", "h200_tf32_f32.txt"},
          {"--arch sm_90 --instruction wgmma --types e5m2,e5m2,f32 --without-c", "h200_e5m2_f32.txt"},
          {"--arch sm_100 --types e5m2,e5m2,f16", "b200_e5m2_f16.txt"}}) {
        std::ifstream in(folder / file);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        const Ran ran = run(arguments, text);
        EXPECT_EQ(ran.out, "3000 compared, 0 different\n") << file;
        EXPECT_EQ(ran.status, 0);
    }
    std::ifstream in(folder / "h200_f16_f32.txt");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_THAT(run(ampere, text).out, EndsWith("3000 compared, 1048 different\n")) << "an H200 is no A100";
}

}  // namespace
}  // namespace tilepath::cli
