// One tile by TMA and wgmma (examples/wgmma_tile), one by tcgen05.mma (examples/tcgen05_tile), right and with one thing
// changed: what the check of every element's place says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "check/provenance/product_of.h"
#include "check/provenance/provenance.h"
#include "host/launch_file.h"

namespace tilepath::check {
namespace {

using testing::HasSubstr;

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
}

/// Every occurrence; there is one.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size(), ++count)
        text.replace(at, from.size(), to);
    EXPECT_GT(count, 0u) << from;
    return text;
}

struct Change {
    std::string in, from, to;  ///< in: ptx or toml
};

struct Checked {
    std::vector<Finding> findings;
    Provenance::Counts operands, results;
};

Checked check(const std::vector<Change>& changes, bool with_table = true, const std::string& example = "wgmma_tile") {
    const std::filesystem::path examples = std::filesystem::path(TILEPATH_TEST_DIR) / ".." / "examples";
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("tilepath_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    for (const std::string kind : {"ptx", "toml"}) {
        std::string text = text_of(examples / (example + "." + kind));
        for (const Change& change : changes)
            if (change.in == kind) text = replaced(std::move(text), change.from, change.to);
        std::ofstream(folder / (example + "." + kind)) << text;
    }
    auto file = host::read_launch_file((folder / (example + ".toml")).string());
    EXPECT_TRUE(file) << (file ? "" : to_string(file.error()));
    auto job = host::prepare(*file);
    EXPECT_TRUE(job) << (job ? "" : to_string(job.error()));
    std::filesystem::remove_all(folder);
    if (!job) return {};
    Checks checks;
    exec::LaunchOptions options;
    options.observer = &checks;
    const auto outcome = host::run_on_cpu(*job, options, [&](std::span<const machine::Address> addresses) {
        if (auto product = product_of(*job, addresses); product && with_table) checks.expect(std::move(*product));
    });
    EXPECT_TRUE(outcome && outcome->ok());
    Checked out;
    for (const Finding& finding : checks.findings(*job->launches[0].program))
        if (finding.check == "provenance") out.findings.push_back(finding);
    out.operands = checks.provenance().counts(), out.results = checks.provenance().results();
    return out;
}

TEST(Provenance, EveryElementOfARightKernelIsProven) {
    const Checked checked = check({});
    EXPECT_TRUE(checked.findings.empty());
    EXPECT_EQ(checked.operands.proven, 16u);  // four wgmma, four warps
    EXPECT_EQ(checked.operands.disproven + checked.operands.unknown, 0u);
    EXPECT_EQ(checked.results.proven, 64u * 64);
    EXPECT_EQ(checked.results.disproven + checked.results.unknown, 0u);
}

struct Bug {
    std::string name;
    Change change;
    const char *message, *fact, *advice;
};

void expect_found(const Checked& checked, const Bug& bug) {
    ASSERT_FALSE(checked.findings.empty());
    const Finding& first = checked.findings.front();
    EXPECT_THAT(first.message, HasSubstr(bug.message));
    EXPECT_THAT(testing::PrintToString(first.facts), HasSubstr(bug.fact));
    EXPECT_THAT(first.advice, HasSubstr(bug.advice));
}

class WrongTile : public testing::TestWithParam<Bug> {};

TEST_P(WrongTile, IsFoundAndExplained) { expect_found(check({GetParam().change}), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Bugs, WrongTile,
    testing::Values(Bug{"TensorMapWithoutSwizzle",
                        {"toml", "swizzle = \"128B\"", "swizzle = \"none\""},
                        "tile with swizzle none, the descriptor reads it with 128B",
                        "row 1 of the instruction's A: expected A[1, 0 to 15], "
                        "found A[1, 8 to 15]",
                        "its tensor map: swizzle 128B in place of none"},
                    Bug{"DescriptorWith64B",
                        {"ptx", "%rd2, 0x4000004000010000", "%rd2, 0x8000004000010000"},
                        "TMA wrote A's tile with swizzle 128B, the descriptor reads it with 64B",
                        "swizzle 64B",
                        "A: one field makes it right, its descriptor: swizzle 128B in place of 64B"},
                    Bug{"StrideOffsetOfHalfTheRows",
                        {"ptx", "%rd3, 0x4000004000010000", "%rd3, 0x4000002000010000"},
                        "the elements of B",
                        "row 8 of the instruction's B is the same bytes as row 4: B[4, 0 to 15]",
                        "SBO 1024 bytes in place of 512"},
                    Bug{"OtherMajorness",
                        {"ptx", "%rd3, 1, 1, 1, 0, 0;", "%rd3, 1, 1, 1, 0, 1;"},
                        "the elements of B",
                        "instruction's B",
                        "the other major-ness"},
                    Bug{"StepAlongKTooLong",
                        {"ptx", "%rd2, %rd2, 2;", "%rd2, %rd2, 4;"},
                        "equal k",
                        "expected",
                        "its descriptor: a start address 32 bytes before"},
                    Bug{"RowsOfDExchanged",
                        {"ptx", "mad.wide.u32 %rd4, %r7, 256", "xor.b32 %r7, %r7, 1; mad.wide.u32 %rd4, %r7, 256"},
                        "writes elements of D to places of others",
                        "gets the product of row",
                        "compare the addresses of the epilogue"}),
    [](const auto& each) { return each.param.name; });

TEST(Provenance, ThroughTensorMemoryToo) {
    const Checked checked = check({}, true, "tcgen05_tile");
    EXPECT_TRUE(checked.findings.empty());
    EXPECT_EQ(checked.operands.proven, 4u);
    EXPECT_EQ(checked.operands.disproven + checked.operands.unknown, 0u);
    EXPECT_EQ(checked.results.proven, 128u * 64);
    EXPECT_EQ(checked.results.disproven + checked.results.unknown, 0u);
}

class WrongTensorTile : public testing::TestWithParam<Bug> {};

TEST_P(WrongTensorTile, IsFoundAndExplained) {
    expect_found(check({GetParam().change}, true, "tcgen05_tile"), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, WrongTensorTile,
    testing::Values(Bug{"DescriptorWith64B",
                        {"ptx", "%rd3, 0x4000404000010000", "%rd3, 0x8000404000010000"},
                        "TMA wrote B's tile with swizzle 128B, the descriptor reads it with 64B",
                        "swizzle 64B",
                        "B: one field makes it right, its descriptor: swizzle 128B in place of 64B"},
                    Bug{"StrideOffsetInBytes",
                        {"ptx", "%rd2, 0x4000404000010000", "%rd2, 0x4000402000010000"},
                        "the elements of A",
                        "row 8 of the instruction's A is the same bytes as row 4",
                        "SBO 1024 bytes in place of 512"},
                    Bug{"InstructionDescriptorSaysMnMajor",
                        {"ptx", "%r10, 0x08100010", "%r10, 0x08110010"},
                        "the elements of B",
                        "of the instruction's B",
                        "the other major-ness"},
                    Bug{"LanesOfTheWarpsExchanged",
                        {"ptx", "mad.wide.u32 %rd4, %r0, 256", "xor.b32 %r0, %r0, 1; mad.wide.u32 %rd4, %r0, 256"},
                        "writes elements of D to places of others",
                        "gets the product of row",
                        "epilogue"},
                    Bug{"ColumnsOfDShifted",
                        {"ptx", "[%r6+32]", "[%r6+0]"},
                        "writes elements of D to places of others",
                        "D[0, 32] gets the product of row 0 of A and column 0 of B",
                        "epilogue"}),
    [](const auto& each) { return each.param.name; });

TEST(Provenance, AProductThatLacksAStepIsNoProduct) {
    // The first step starts from zero, so the one before it is lost.
    const Checked checked = check({{"ptx", "%rd2, %rd3, 1, 1, 1, 0, 0;", "%rd2, %rd3, 0, 1, 1, 0, 0;"}});
    ASSERT_EQ(checked.findings.size(), 1u);
    EXPECT_THAT(checked.findings[0].facts[0], HasSubstr("D[0, 0] lacks some k: it holds those from 48 to 63"));
}

TEST(Provenance, AStepThatIsTakenTwice) {
    const Checked checked =
        check({{"ptx", "add.u64 %rd2, %rd2, 2;  // 32 bytes along k\n    add.u64 %rd3, %rd3, 2;", ""}});
    ASSERT_FALSE(checked.findings.empty());
    EXPECT_THAT(checked.findings[0].message, HasSubstr("k from 0 to 15 is added a second time"));
}

TEST(Provenance, WithoutATableWhatIsReadMustHaveBeenWrittenSo) {
    EXPECT_TRUE(check({}, false).findings.empty());
    const Checked swizzle = check({{"toml", "swizzle = \"128B\"", "swizzle = \"none\""}}, false);
    ASSERT_FALSE(swizzle.findings.empty());
    EXPECT_THAT(swizzle.findings[0].message, HasSubstr("with swizzle none, the descriptor reads it with 128B"));
    const Change larger{"ptx", ".b8 b[8192];", ".b8 b[16384];"};
    EXPECT_TRUE(check({larger}, false).findings.empty());
    const Checked beside =
        check({larger, {"ptx", "shr.u32 %r6, %r2, 4;", "add.u32 %r6, %r2, 4096; shr.u32 %r6, %r6, 4;"}}, false);
    ASSERT_FALSE(beside.findings.empty());
    EXPECT_THAT(beside.findings[0].message, HasSubstr("elements of B are bytes that nobody has written"));
}

/// Two batches of 2^16 are 2^32 matrices: more rows than can be told apart, not none.
TEST(Product, CountsBatchesBeyond32Bits) {
    host::Job job;
    job.gemm.emplace();
    const auto add = [&](const std::string& role, std::vector<std::string> index, std::vector<std::int64_t> shape) {
        host::Buffer buffer;
        buffer.name = role, buffer.dtype = *host::dtype_named("u8"), buffer.shape = std::move(shape);
        job.buffers.push_back(std::move(buffer));
        host::GemmTable::Operand operand;
        operand.role = operand.buffer = role;
        for (std::string& name : index) operand.index.push_back({std::move(name), 1});
        job.gemm->operands.push_back(std::move(operand));
    };
    add("d", {"m", "n", "x"}, {1, 1, 65536});
    add("a", {"m", "k", "y"}, {1, 1, 65536});
    add("b", {"n", "k"}, {1, 1});
    const std::vector<machine::Address> addresses(3, 4096);
    EXPECT_FALSE(product_of(job, addresses));
    job.buffers[1].shape[2] = job.buffers[0].shape[2] = 2;
    EXPECT_EQ(product_of(job, addresses)->batch, 4u);
}

}  // namespace
}  // namespace tilepath::check
