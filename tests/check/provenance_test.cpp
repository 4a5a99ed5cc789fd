// One tile by TMA and wgmma (examples/wgmma_tile), one by tcgen05.mma (examples/tcgen05_tile), right and with one thing
// changed: what the check of every element's place says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "check/checked_launch.h"

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

Checked check(const std::vector<Change>& changes, bool with_table = true, const std::string& example = "wgmma_tile") {
    const std::filesystem::path examples = std::filesystem::path(TILEPATH_TEST_DIR) / ".." / "examples";
    std::string ptx = text_of(examples / (example + ".ptx")), toml = text_of(examples / (example + ".toml"));
    for (const Change& change : changes) {
        std::string& text = change.in == "ptx" ? ptx : toml;
        text = replaced(std::move(text), change.from, change.to);
    }
    return checked(ptx, replaced(std::move(toml), example + ".ptx", "kernel.ptx"), with_table);
}

TEST(Provenance, EveryElementOfARightKernelIsProven) {
    const Checked checked = check({});
    EXPECT_TRUE(checked.findings.empty());
    EXPECT_EQ(checked.operands.proven, 16u);  // four wgmma, four warps
    EXPECT_EQ(checked.operands.disproven + checked.operands.unknown, 0u);
    EXPECT_EQ(checked.results.proven, 64u * 64);
    EXPECT_EQ(checked.results.disproven + checked.results.unknown, 0u);
}

/// A in four registers, 40 fragments of B behind it in 80 more, all held at once: what is remembered of A's registers
/// must not give way to what is remembered of B's.
TEST(Provenance, ManyFragmentsAtOnceAreKeptApart) {
    constexpr int fragments = 40;
    std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 d)
{
    .reg .b32 %r<128>;
    .reg .f32 %f<8>;
    .reg .b64 %q<16>;
    ld.param.u64 %q1, [a]; ld.param.u64 %q2, [b]; ld.param.u64 %q3, [d];
    mov.u32 %r120, %tid.x;
    shr.u32 %r121, %r120, 2; and.b32 %r122, %r120, 3;
    mad.lo.u32 %r123, %r121, 32, 0; mad.lo.u32 %r123, %r122, 4, %r123;
    cvt.u64.u32 %q4, %r123; add.s64 %q1, %q1, %q4; add.s64 %q2, %q2, %q4;
    mul.lo.u32 %r124, %r121, 1280; mad.lo.u32 %r124, %r122, 8, %r124;
    cvt.u64.u32 %q5, %r124; add.s64 %q3, %q3, %q5;
    ld.global.u32 %r1, [%q1]; ld.global.u32 %r2, [%q1+256];
    ld.global.u32 %r3, [%q1+16]; ld.global.u32 %r4, [%q1+272];
)";
    for (int i = 0; i < fragments; ++i)
        ptx += fmt::format("    ld.global.u32 %r{}, [%q2+{}]; ld.global.u32 %r{}, [%q2+{}];\n", 5 + 2 * i, 256 * i,
                           6 + 2 * i, 256 * i + 16);
    for (int i = 0; i < fragments; ++i)
        ptx += fmt::format(
            "    mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
            "    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f1, %f2, %f3, %f4}}, {{%r1, %r2, %r3, %r4}}, "
            "{{%r{}, %r{}}}, {{%f1, %f2, %f3, %f4}};\n"
            "    st.global.v2.f32 [%q3+{}], {{%f1, %f2}}; st.global.v2.f32 [%q3+{}], {{%f3, %f4}};\n",
            5 + 2 * i, 6 + 2 * i, 32 * i, 32 * i + 10240);
    const Checked found = checked(ptx + "    ret;\n}\n", R"(
module = "kernel.ptx"
arg = [{ buffer = "A" }, { buffer = "B" }, { buffer = "D" }]
grid = [1]
block = [32]
buffer.A = { dtype = "f16", shape = [16, 16], init = { random = "normal", seed = 1 } }
buffer.B = { dtype = "f16", shape = [320, 16], init = { random = "normal", seed = 2 } }
buffer.D = { dtype = "f32", shape = [16, 320] }
[gemm]
a = { buffer = "A", index = ["m", "k"] }
b = { buffer = "B", index = ["n", "k"] }
d = { buffer = "D", index = ["m", "n"] }
)");
    EXPECT_TRUE(found.findings.empty());
    EXPECT_EQ(found.operands.proven, std::uint64_t{fragments});
    EXPECT_EQ(found.results.proven, 16u * 320);
}

/// 16 packed numbers of 4 bits arrive in 16 bytes: 8 of data, 8 that stay.
TEST(Provenance, PaddedBoxesLieAsTmaPadsThem) {
    const Checked found = checked(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry kernel(.param .align 64 .b8 map[128], .param .u64 b, .param .u64 d)
{
    .reg .pred %p<4>;
    .reg .b32 %r<64>;
    .reg .b64 %q<16>;
    .shared .align 1024 .b8 tile[2048];
    .shared .align 8 .b64 full;
    mov.b64 %q1, map; cvta.param.u64 %q1, %q1;
    ld.param.u64 %q2, [b]; ld.param.u64 %q3, [d];
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, full;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r3], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 1024;
    @%p1 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r2], [%q1, {0, 0}], [%r3];
    bar.sync 0;
W:  mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
    @!%p2 bra W;
    shr.u32 %r4, %r1, 2; and.b32 %r5, %r1, 3;         // row, quarter of 32 numbers along k
    shr.u32 %r6, %r5, 1; and.b32 %r7, %r5, 1;         // group of 16 numbers, half of it
    mad.lo.u32 %r8, %r4, 128, %r2; mad.lo.u32 %r8, %r6, 16, %r8; mad.lo.u32 %r8, %r7, 4, %r8;
    mul.lo.u32 %r9, %r4, 64; mad.lo.u32 %r9, %r5, 4, %r9;
    cvt.u64.u32 %q4, %r9; add.s64 %q2, %q2, %q4;
    mul.lo.u32 %r10, %r4, 32; mad.lo.u32 %r10, %r5, 8, %r10;
    cvt.u64.u32 %q5, %r10; add.s64 %q3, %q3, %q5;
    mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0; mov.u32 %r30, 0;
L:  ld.shared.u32 %r11, [%r8]; ld.shared.u32 %r12, [%r8+1024]; ld.global.u32 %r13, [%q2];
    mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%r20, %r21, %r22, %r23}, {%r11, %r12}, {%r13}, {%r20, %r21, %r22, %r23};
    add.u32 %r8, %r8, 32; add.s64 %q2, %q2, 16; add.u32 %r30, %r30, 1;
    setp.lt.u32 %p3, %r30, 4;
    @%p3 bra L;
    st.global.v2.u32 [%q3], {%r20, %r21}; st.global.v2.u32 [%q3+256], {%r22, %r23};
    ret;
}
)",
                                  R"(
module = "kernel.ptx"
arg = [{ tensormap = "map" }, { buffer = "B" }, { buffer = "D" }]
grid = [1]
block = [32]
buffer.A = { dtype = "s4", shape = [16, 128], init = { random = "bits", seed = 1 } }
buffer.B = { dtype = "s4", shape = [8, 128], init = { random = "bits", seed = 2 } }
buffer.D = { dtype = "s32", shape = [16, 8] }
[tensormap.map]
buffer = "A"
dtype = "16u4_align16b"
dims = [128, 16]
strides = [64]
box = [128, 16]
[gemm]
a = { buffer = "A", index = ["m", "k"] }
b = { buffer = "B", index = ["n", "k"] }
d = { buffer = "D", index = ["m", "n"] }
)");
    EXPECT_TRUE(found.findings.empty());
    EXPECT_EQ(found.operands.proven, 4u);
    EXPECT_EQ(found.results.proven, 16u * 8);
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
