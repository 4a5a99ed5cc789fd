// `tilepath check` and `tilepath gemm --check`: exit status, what is written where, and that it is the same every time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/examples.h"

namespace tilepath::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(GemmCheck, WritesEveryFormForEachGeneration) {
    const Folder folder;
    const Finished done = folder.shell(
        "tilepath gemm --check -m 64 -n 64 -k 64 --json --sarif out.sarif --html out.html --trace out.trace");
    EXPECT_EQ(done.status, 0) << done.out << done.err;
    const json gemms = json::parse(done.out);
    ASSERT_EQ(gemms.size(), 4u);
    const json runs = json::parse(folder.read("out.sarif")).at("runs");
    ASSERT_EQ(runs.size(), 4u);
    EXPECT_EQ(runs[1].at("automationDetails").at("id"), "hopper_f16_tn on sm_90a");
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(runs[i].at("results").size(), gemms[i].at("findings").size());
    EXPECT_THAT(folder.read("out.html"), HasSubstr("blackwell_f16_tn on sm_100a: no finding"));
    std::set<std::string> processes;
    const json trace = json::parse(folder.read("out.trace"));
    for (const json& event : trace.at("traceEvents"))
        if (event.at("name") == "process_name") processes.insert(event.at("args").at("name"));
    EXPECT_THAT(processes, testing::IsSupersetOf({"gemm_f16_tn on sm_80: CTA 0", "hopper_f16_tn on sm_90a: CTA 0",
                                                  "blackwell_f16_tn on sm_100a: CTA 0"}));
}

TEST(GemmCheck, SuppressesAndKnowsABaseline) {
    const Folder folder;
    // The plain kernel reads A by columns: its accesses do not coalesce.
    const std::string gemm = "tilepath gemm --arch sm_80 --check --simt --dtype f32 -m 40 -n 40 -k 40 ";
    const Finished first = folder.shell(gemm + "--json > known.json; echo $?");
    const json found = json::parse(folder.read("known.json")).at("findings");
    if (found.empty()) {
        EXPECT_EQ(first.out, "0\n");
    } else {
        EXPECT_EQ(first.out, "1\n");
    }
    const Finished again = folder.shell(gemm + "--baseline known.json");
    EXPECT_EQ(again.status, 0) << again.out;
    folder.write("none", "race * *\n");
    const Finished suppressed = folder.shell(gemm + "--baseline known.json --suppress none");
    EXPECT_THAT(suppressed.out, HasSubstr("none:1: suppresses nothing"));
}

TEST(GemmCheck, AsksForCheckWhereItsOptionsAreGiven) {
    const Folder folder;
    const Finished done = folder.shell("tilepath gemm --html out.html -m 16 -n 16 -k 16");
    EXPECT_EQ(done.status, 2);
    EXPECT_THAT(done.err, HasSubstr("give --check too"));
}

// Every example, twice, with other numbers of threads: the same bytes.
TEST(Check, SaysTheSameEveryTime) {
    const Examples folder;
    std::vector<std::string> files{"transpose.toml", "wrong_tile.toml", "tcgen05_tile.toml"};
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "checks"))
        if (entry.path().extension() == ".toml") files.push_back("checks/" + entry.path().filename().string());
    EXPECT_GE(files.size(), 12u);
    for (const std::string& file : files) {
        const std::string check = "tilepath check " + file + " --json --schedule 3 --threads ";
        const Finished first = folder.shell(check + "1"), again = folder.shell(check + "4");
        EXPECT_LT(first.status, 4) << file << first.err;
        EXPECT_EQ(first.status, again.status) << file;
        EXPECT_EQ(first.out, again.out) << file;
        EXPECT_FALSE(json::parse(first.out).at("exit_status").is_null());
    }
}

// Two kernels of one launch file: each finding names its own kernel and line.
TEST(Check, NamesTheLinesOfEachKernel) {
    const Examples folder;
    folder.write("checks/two.toml",
                 "module = \"ordering.ptx\"\n"
                 "[[launch]]\nentry = \"race\"\ngrid = [1]\nblock = [64]\n[[launch.arg]]\nbuffer = \"buffer\"\n"
                 "[[launch]]\nentry = \"proxy_fence\"\ngrid = [1]\nblock = [64]\n[[launch.arg]]\nbuffer = \"buffer\"\n"
                 "[buffer.buffer]\ndtype = \"u32\"\nshape = [1024]\ninit = { iota = true }\n");
    const auto lines_of = [&](const std::string& file) {
        const Finished done = folder.shell("tilepath check checks/" + file + " --json");
        EXPECT_EQ(done.status, 1) << done.err;
        std::map<std::string, std::pair<int, std::string>> out;
        const json result = json::parse(done.out);
        for (const json& each : result.at("findings"))
            out[each.at("function")] = {each.at("line"), each.at("instruction")};
        return out;
    };
    const auto both = lines_of("two.toml");
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both.at("race"), lines_of("race.toml").at("race"));
    EXPECT_EQ(both.at("proxy_fence"), lines_of("proxy_fence.toml").at("proxy_fence"));
}

// The page of a wrong tile: each step a box, what was written beside what is read, the broken one marked.
TEST(CheckPage, ShowsTheWayOfATile) {
    const Examples folder;
    const auto page_of = [&](const std::string& file, int status) {
        const Finished done = folder.shell("tilepath check " + file + " --html page.html");
        EXPECT_EQ(done.status, status) << done.out << done.err;
        return folder.read("page.html");
    };
    const std::string wrong = page_of("wrong_tile.toml", 1);
    for (const char* part :
         {"broken: wgmma_tile.ptx:48", "3 more instructions like it, in lines 54, 60, 66", "operand A: elements of A",
          "operand B: elements of B", "global memory: A", "TMA copies a box, swizzle none", "wgmma_tile.ptx:34",
          "shared memory: what was written", "<b>what is read</b><em>broken here</em>",
          "start 0x400, LBO 16, SBO 1024, base offset 0, swizzle 128B", "A as the instruction takes it",
          "class=\"mark\"", "What was under way when"})
        EXPECT_THAT(wrong, HasSubstr(part));
    // Row 1 of A is read where 128B has its first 16 bytes, 0x490; TMA without a swizzle has put A[1, 8] there.
    EXPECT_THAT(wrong, HasSubstr(">1,0</text>"));
    EXPECT_THAT(wrong, testing::Not(HasSubstr("<script")));
    const std::string right = page_of("wgmma_tile.toml", 0);
    EXPECT_THAT(right, HasSubstr("verified: wgmma_tile.ptx:48"));
    EXPECT_THAT(right, HasSubstr("TMA copies a box, swizzle 128B"));
    EXPECT_THAT(right, HasSubstr("proven right 64, wrong 0, unknown 0"));
    EXPECT_THAT(right, testing::Not(HasSubstr("broken here")));
    const std::string tensor = page_of("tcgen05_tile.toml", 0);
    for (const char* part : {"verified: tcgen05_tile.ptx:60", "loads into registers", "tcgen05.ld.sync", "st.global"})
        EXPECT_THAT(tensor, HasSubstr(part));
}

TEST(CheckPage, ShowsThePathsOfAllGenerations) {
    const Folder folder;
    const Finished done = folder.shell("tilepath gemm --check -m 128 -n 128 -k 64 --html page.html");
    EXPECT_EQ(done.status, 0) << done.out << done.err;
    const std::string page = folder.read("page.html");
    for (const char* part : {"cp.async.cg.shared.global", "ldmatrix.sync", "mma.sync", "wgmma.mma_async", "tcgen05.mma",
                             "tcgen05.ld", "TMA copies a box, swizzle 128B"})
        EXPECT_THAT(page, HasSubstr(part));
    EXPECT_THAT(page, testing::Not(HasSubstr("broken here")));
}

TEST(CheckText, FoldsWhatIsAlikeAndTellsAFaultOnce) {
    const Examples folder;
    const Finished wrong = folder.shell("tilepath check wrong_tile.toml");
    EXPECT_THAT(wrong.out, HasSubstr("and 3 like it: wgmma_tile.ptx:54, 60, 66\n4 findings\n"));
    EXPECT_THAT(wrong.out, HasSubstr("{%d0, … %d31}, %rd2, %rd3, 0, 1, 1, 0, 0;\n")) << "long lists are cut";
    const Finished stuck = folder.shell("tilepath check checks/expected_bytes.toml");
    EXPECT_EQ(stuck.status, 3);
    EXPECT_EQ(stuck.err, "");
    EXPECT_THAT(stuck.out, HasSubstr("2 findings: 1 expected-bytes, 1 deadlock\n"));
}

}  // namespace
}  // namespace tilepath::cli
