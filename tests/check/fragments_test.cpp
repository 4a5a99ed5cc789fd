// Operands that lie in registers: wmma's tiles, sparse A, scale factors that selectors pick, registers kept in local
// memory. Each kernel of one warp is proven right, and wrong when one thing is changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/checked_launch.h"

namespace tilepath::check {
namespace {

using testing::HasSubstr;

/// A kernel whose `body` may use %rd1 to %rd5, the buffers A, B, D, SFA and SFB; %r1, the lane; %r2, the lane's group
/// of four; %r3, its place in it.
Checked check(const std::string& target, const std::string& body, const std::string& tables) {
    const std::string ptx = ".version 8.7\n.target " + target + R"(
.address_size 64
.visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 d, .param .u64 sfa, .param .u64 sfb)
{
    .reg .b16 %h<4>;
    .reg .b32 %r<64>;
    .reg .f32 %f<32>;
    .reg .b64 %rd<32>;
    .local .align 16 .b8 kept[64];
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [d];
    ld.param.u64 %rd4, [sfa];
    ld.param.u64 %rd5, [sfb];
    mov.u32 %r1, %laneid;
    shr.u32 %r2, %r1, 2;
    and.b32 %r3, %r1, 3;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
)" + body + "    ret;\n}\n";
    return checked(ptx,
                   "module = \"kernel.ptx\"\ngrid = [1]\nblock = [32]\n"
                   "arg = [{ buffer = \"A\" }, { buffer = \"B\" }, { buffer = \"D\" }, "
                   "{ buffer = \"SFA\" }, { buffer = \"SFB\" }]\n" +
                       tables);
}

void expect_proven(const Checked& checked, std::uint64_t elements) {
    EXPECT_TRUE(checked.findings.empty()) << to_string(checked.findings[0]);
    EXPECT_EQ(checked.operands.proven, 1u);
    EXPECT_EQ(checked.operands.disproven + checked.operands.unknown, 0u);
    EXPECT_EQ(checked.results.proven, elements);
    EXPECT_EQ(checked.results.unknown + checked.results.disproven, 0u);
}

void expect_wrong(const Checked& checked, const std::string& instruction, const std::string& fact) {
    ASSERT_EQ(checked.findings.size(), 1u);
    EXPECT_THAT(checked.findings[0].place.operation, HasSubstr(instruction));
    EXPECT_THAT(to_string(checked.findings[0]), HasSubstr(fact));
    EXPECT_EQ(checked.operands.disproven, 1u);
}

std::string tables(const std::string& type, int m, int n, int k, const std::string& a_index = "k", int divisor = 1) {
    return fmt::format(R"(
[buffer]
A = {{ dtype = "{0}", shape = [{1}, {4}], init = {{ random = "normal", seed = 1 }} }}
B = {{ dtype = "{0}", shape = [{2}, {3}], init = {{ random = "normal", seed = 2 }} }}
D = {{ dtype = "f32", shape = [{1}, {2}] }}
SFA = {{ dtype = "ue8m0", shape = [{1}, 1], init = {{ random = "normal", seed = 3 }} }}
SFB = {{ dtype = "ue8m0", shape = [{2}, 1], init = {{ random = "normal", seed = 4 }} }}
[gemm]
d = {{ buffer = "D", index = ["m", "n"] }}
a = {{ buffer = "A", index = ["m", "{5}"] }}
b = {{ buffer = "B", index = ["n", "k"] }}
)",
                       type, m, n, k, k / divisor, a_index);
}

TEST(Wmma, TilesAreFollowed) {
    const auto with = [](const std::string& b_layout) {
        return check("sm_80",
                     fmt::format(R"(
    mov.b32 %r10, 16;
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}}, [%rd1], %r10;
    wmma.load.b.sync.aligned.{0}.m16n16k16.global.f16 {{%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37}}, [%rd2], %r10;
    wmma.mma.sync.aligned.row.{0}.m16n16k16.f32.f32 {{%f11, %f12, %f13, %f14, %f15, %f16, %f17, %f18}},
        {{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}}, {{%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37}},
        {{%f1, %f2, %f3, %f4, %f1, %f2, %f3, %f4}};
    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd3], {{%f11, %f12, %f13, %f14, %f15, %f16, %f17, %f18}}, %r10;
)",
                                 b_layout),
                     tables("f16", 16, 16, 16));
    };
    expect_proven(with("col"), 256);
    expect_wrong(with("row"), "wmma.mma", "of the instruction's B: expected B[");
}

/// Loads A's four registers, 16 rows of `pitch` bytes, from `bytes` · place in the group on; the third and fourth from
/// half a row on. %rd10: where.
std::string load_a(int pitch, int half) {
    return fmt::format(R"(
    mul.wide.u32 %rd10, %r2, {0};
    mul.wide.u32 %rd11, %r3, 4;
    add.s64 %rd10, %rd10, %rd11;
    add.s64 %rd10, %rd10, %rd1;
    ld.global.b32 %r20, [%rd10];
    ld.global.b32 %r21, [%rd10+{1}];
    ld.global.b32 %r22, [%rd10+{2}];
    ld.global.b32 %r23, [%rd10+{3}];
)",
                       pitch, 8 * pitch, half, 8 * pitch + half);
}
/// B's registers, 8 columns of `pitch` bytes, each `step` bytes behind the other.
std::string load_b(int pitch, int step, int registers) {
    std::string out = fmt::format(R"(
    mul.wide.u32 %rd10, %r2, {};
    mul.wide.u32 %rd11, %r3, 4;
    add.s64 %rd10, %rd10, %rd11;
    add.s64 %rd10, %rd10, %rd2;
)",
                                  pitch);
    for (int i = 0; i < registers; ++i) out += fmt::format("    ld.global.b32 %r{}, [%rd10+{}];\n", 30 + i, i * step);
    return out;
}
/// D, 16 by 8.
const std::string store_d = R"(
    mul.wide.u32 %rd10, %r1, 8;
    add.s64 %rd10, %rd10, %rd3;
    st.global.v2.f32 [%rd10], {%f11, %f12};
    st.global.v2.f32 [%rd10+256], {%f13, %f14};
)";
const std::string multiply =
    "    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f11, %f12, %f13, %f14}, {%r20, %r21, %r22, %r23}, {%r30, "
    "%r31}, {%f1, %f2, %f3, %f4};\n";

TEST(LocalMemory, KeepsWhatIsStoredThere) {
    const auto with = [](const std::string& loaded) {
        return check("sm_80",
                     load_a(32, 16) + load_b(32, 16, 2) +
                         "    st.local.v4.b32 [kept], {%r20, %r21, %r22, %r23};\n    ld.local.v4.b32 {" + loaded +
                         "}, [kept];\n" + multiply + store_d,
                     tables("f16", 16, 8, 16));
    };
    expect_proven(with("%r20, %r21, %r22, %r23"), 128);
    expect_wrong(with("%r20, %r22, %r21, %r23"), "mma.sync", "of the instruction's A: expected A[");
}

TEST(Select, OfAConstantClampsASum) {
    const std::string clamp = "    setp.gt.f32 %p1, %f11, 0f3F800000;\n    selp.f32 %f11, 0f3F800000, %f11, %p1;\n";
    expect_proven(
        check("sm_80", "    .reg .pred %p<4>;\n" + load_a(32, 16) + load_b(32, 16, 2) + multiply + clamp + store_d,
              tables("f16", 16, 8, 16)),
        128);
}

TEST(Sparse, ElementsGoWhereTheMetadataSay) {
    // Metadata 0100: the first two of four, of each row. B's k in steps of 8.
    const auto with = [](const std::string& a, unsigned metadata, const std::string& index = "k/2") {
        return check("sm_80",
                     load_a(32, 16) + load_b(64, 16, 4) + fmt::format("    mov.b32 %r40, {:#x};\n", metadata) +
                         "    mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f11, %f12, %f13, %f14}, {" + a +
                         "}, {%r30, %r31, %r32, %r33}, {%f1, %f2, %f3, %f4}, %r40, 0x0;\n" + store_d,
                     tables("f16", 16, 8, 32, index, 2));
    };
    const std::string in_order = "%r20, %r21, %r22, %r23";
    expect_proven(with(in_order, 0x44444444), 128);
    expect_proven(with(in_order, 0xEEEEEEEE), 128);  // the last two of four
    expect_wrong(with("%r20, %r22, %r21, %r23", 0x44444444), "mma.sp", "of the instruction's A: expected A[");
}

TEST(BlockScales, AreThoseThatTheSelectorsPick) {
    // Of A, thread-id 0 picks the first two lanes of each group, for rows g and g + 8; of B the first, for column g.
    const auto with = [](int wrong_row, int byte) {
        return check("sm_120a",
                     load_a(32, 16) + load_b(32, 16, 2) +
                         fmt::format(R"(
    and.b32 %r10, %r3, 1;
    xor.b32 %r10, %r10, {};
    mad.lo.u32 %r10, %r10, 8, %r2;
    cvt.u64.u32 %rd10, %r10;
    add.s64 %rd10, %rd10, %rd4;
    ld.global.u8 %r41, [%rd10];
    cvt.u64.u32 %rd10, %r2;
    add.s64 %rd10, %rd10, %rd5;
    ld.global.u8 %r42, [%rd10];
    shl.b32 %r42, %r42, {};
    mov.u16 %h1, 0;
    mov.u16 %h2, {};
    mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0
        {{%f11, %f12, %f13, %f14}}, {{%r20, %r21, %r22, %r23}}, {{%r30, %r31}}, {{%f1, %f2, %f3, %f4}},
        %r41, {{%h1, %h1}}, %r42, {{%h2, %h1}};
)",
                                     wrong_row, 8 * byte, byte) +
                         store_d,
                     tables("e4m3", 16, 8, 32) +
                         "sfa = { buffer = \"SFA\", index = [\"m\", \"k/32\"] }\n"
                         "sfb = { buffer = \"SFB\", index = [\"n\", \"k/32\"] }\n");
    };
    expect_proven(with(0, 0), 128);
    expect_proven(with(0, 2), 128);
    expect_wrong(with(1, 0), "mma.sync", "expected SFA[0, 0], found SFA[8, 0]; byte-id 0, thread-id 0");
}

}  // namespace
}  // namespace tilepath::check
