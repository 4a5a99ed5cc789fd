// Small kernels with one bug, on which exactly the expected finding appears, and their corrected twins, on which none
// does.
#include "check/small_kernel.h"

namespace tilepath::check {
namespace {

using testing::HasSubstr;

/// Of a kernel of one warp.
std::vector<Finding> findings_of_warp(const std::string& body) {
    SmallLaunch how;
    how.warps = 1, how.target = "sm_80";
    return findings_of(body, how);
}

/// %rd3 = %rd1 + %r1 · pitch + offset.
std::string address(int pitch, int offset = 0) {
    return fmt::format("    mul.wide.u32 %rd2, %r1, {};\n    add.s64 %rd3, %rd1, %rd2;\n    add.s64 %rd3, %rd3, {};\n",
                       pitch, offset);
}
/// %r3 = the shared address of lane · pitch.
std::string shared(int pitch) { return fmt::format("    mad.lo.u32 %r3, %r1, {}, %r2;\n", pitch); }

TEST(Coalescing, ARowPerLane) {
    expect_one(findings_of_warp(address(512) + "    ld.global.f32 %f1, [%rd3];\n"), "coalescing", "ld.global.f32",
               "4 bytes apart, not 512");
    EXPECT_TRUE(findings_of_warp(address(4) + "    ld.global.f32 %f1, [%rd3];\n").empty());
}
TEST(Coalescing, StoresAndAtomicsToo) {
    expect_one(findings_of_warp(address(256) + "    st.global.u32 [%rd3], %r1;\n"), "coalescing", "st.global.u32",
               "not 256");
    expect_one(findings_of_warp(address(256) + "    red.global.add.u32 [%rd3], %r1;\n"), "coalescing", "red.global",
               "not 256");
}
TEST(Coalescing, FieldsOfARecordWantAVector) {
    expect_one(findings_of_warp(address(16) + "    ld.global.f32 %f1, [%rd3+4];\n"), "coalescing", "ld.global.f32",
               "exchange");
    expect_one(findings_of_warp(address(16) + "    ld.global.f32 %f1, [%rd3];\n"), "coalescing", "ld.global.f32",
               "one vector access of 16 bytes");
    EXPECT_TRUE(findings_of_warp(address(16) + "    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];\n").empty());
}
TEST(Coalescing, MisalignedRows) {
    // Four rows of eight lanes each, 4 bytes behind a sector's begin: two sectors a row instead of one.
    const std::string rows =
        "    shr.u32 %r4, %r1, 3;\n    and.b32 %r5, %r1, 7;\n    mul.lo.u32 %r6, %r4, 1024;\n"
        "    mad.lo.u32 %r6, %r5, 4, %r6;\n    cvt.u64.u32 %rd2, %r6;\n    add.s64 %rd3, %rd1, %rd2;\n";
    EXPECT_EQ(findings_of_warp(rows + "    ld.global.f32 %f1, [%rd3+4];\n").size(), 1u);
    EXPECT_TRUE(findings_of_warp(rows + "    ld.global.f32 %f1, [%rd3];\n").empty());
}
TEST(Coalescing, AsynchronousCopies) {
    const auto copy = [](int pitch) {
        return address(pitch) + shared(16) +
               "    cp.async.cg.shared.global [%r3], [%rd3], 16;\n    cp.async.wait_all;\n";
    };
    expect_one(findings_of_warp(copy(1024)), "coalescing", "cp.async.cg", "16 bytes apart, not 1024");
    EXPECT_TRUE(findings_of_warp(copy(16)).empty());
}

TEST(BankConflicts, AColumnOfATile) {
    const auto column = [](int pitch) { return shared(pitch) + "    st.shared.u32 [%r3], %r1;\n"; };
    const auto found = findings_of_warp(column(128));
    expect_one(found, "bank-conflicts", "st.shared.u32", "swizzle");
    EXPECT_THAT(found[0].message, HasSubstr("32 times"));
    EXPECT_TRUE(findings_of_warp(column(132)).empty());
}
TEST(BankConflicts, LdmatrixWithoutItsSwizzle) {
    const std::string load = "    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r3];\n";
    const auto found = findings_of_warp(shared(128) + load);
    expect_one(found, "bank-conflicts", "ldmatrix", "the 128B swizzle, Sw<3,4,3>");
    EXPECT_THAT(found[0].facts.at(1), HasSubstr("serves 8 words"));
    EXPECT_TRUE(findings_of_warp(shared(128) +
                                 "    and.b32 %r4, %r1, 7;\n    shl.b32 %r4, %r4, 4;\n    xor.b32 %r3, %r3, %r4;\n" +
                                 load)
                    .empty());
    EXPECT_TRUE(findings_of_warp(shared(144) + load).empty());
}
TEST(BankConflicts, StmatrixWithoutItsPadding) {
    const auto store = [](int pitch) {
        SmallLaunch how;
        how.warps = 1;
        return findings_of(
            shared(pitch) + "    stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], {%r1, %r1, %r1, %r1};\n", how);
    };
    const auto found = store(128);
    expect_one(found, "bank-conflicts", "stmatrix", "the 128B swizzle, Sw<3,4,3>");
    EXPECT_THAT(found[0].message, HasSubstr("8 times"));
    EXPECT_TRUE(store(144).empty());
}
TEST(BankConflicts, TheSwizzleServesAllThatMeetInTheBuffer) {
    // Written by rows, read by columns: the swizzle must leave the rows free of conflicts.
    const auto found = findings_of_warp("    mad.lo.u32 %r4, %r1, 4, %r2;\n    st.shared.u32 [%r4], %r1;\n" +
                                        shared(128) + "    ld.shared.u32 %r5, [%r3];\n");
    expect_one(found, "bank-conflicts", "ld.shared.u32", "frees all 2 instructions that touch this memory");
}
TEST(BankConflicts, BroadcastsAreFree) {
    EXPECT_TRUE(findings_of_warp("    ld.shared.u32 %r5, [%r2];\n").empty());
    EXPECT_TRUE(
        findings_of_warp("    and.b32 %r4, %r1, 3;\n    mad.lo.u32 %r3, %r4, 4, %r2;\n    ld.shared.u32 %r5, [%r3];\n")
            .empty());
}

TEST(Findings, TheWorstComesFirst) {
    const auto found = findings_of_warp(address(64) + "    ld.global.f32 %f1, [%rd3];\n" + address(512) +
                                        "    ld.global.v2.f32 {%f1, %f2}, [%rd3];\n" + shared(128) +
                                        "    st.shared.u32 [%r3], %r1;\n");
    ASSERT_EQ(found.size(), 3u);
    EXPECT_GE(found[0].weight, found[1].weight);
    EXPECT_GE(found[1].weight, found[2].weight);
    EXPECT_THAT(to_string(found[0]), HasSubstr("finding (bank-conflicts)"));
}

}  // namespace
}  // namespace tilepath::check
