// Tensor Memory: what passes between tcgen05 operations, loads and stores, and between threads.
#include "small_kernel.h"

namespace tilepath::check {
namespace {

using testing::HasSubstr;

/// %r20: 32 columns of Tensor Memory, at the warp's lanes %r21; %rd5, %rd6: descriptors of A, 128 by 16 of f16 zeros,
/// and B, 8 by 16, which the async proxy sees; %r22: the instruction's descriptor; an mbarrier of one arrival at [%r3].
const std::string begin = R"(
    @%p1 mbarrier.init.shared.b64 [%r3], 1;
    add.u32 %r10, %r3, 32;
    @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r10], 32;
    mad.lo.u32 %r11, %r1, 16, %r2;
    mov.u32 %r12, 0;
    st.shared.v4.u32 [%r11], {%r12, %r12, %r12, %r12};
    st.shared.v4.u32 [%r11+2048], {%r12, %r12, %r12, %r12};
    st.shared.v4.u32 [%r11+4096], {%r12, %r12, %r12, %r12};
    st.shared.v4.u32 [%r11+6144], {%r12, %r12, %r12, %r12};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    ld.shared.u32 %r20, [%r3+32];
    shl.b32 %r21, %r4, 21;
    add.u32 %r21, %r21, %r20;
    shr.u32 %r10, %r2, 4;
    cvt.u64.u32 %rd5, %r10;
    or.b64 %rd5, %rd5, 0x0000401000080000;
    add.s64 %rd6, %rd5, 256;
    mov.u32 %r22, 0x08020010;
    setp.ne.u32 %p5, %r12, 0;
)";
const std::string multiply = "    @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r20], %rd5, %rd6, %r22, %p5;\n";
const std::string add =
    "    setp.eq.u32 %p6, %r12, 0;\n    @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r20], %rd5, %rd6, %r22, "
    "%p6;\n";
const std::string commit = "    @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];\n";
const std::string wait = "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n    @!%p3 bra W;\n";
const std::string load = "    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r23}, [%r21];\n";
const std::string loaded = "    tcgen05.wait::ld.sync.aligned;\n";
const std::string store =
    "    tcgen05.st.sync.aligned.32x32b.x8.b32 [%r21], {%r12, %r12, %r12, %r12, %r12, %r12, %r12, %r12};\n";
const std::string stored = "    tcgen05.wait::st.sync.aligned;\n";
const std::string before = "    tcgen05.fence::before_thread_sync;\n",
                  after = "    tcgen05.fence::after_thread_sync;\n";
const std::string meet = "    bar.sync 0;\n";
const std::string end = before + meet + after + "    @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 32;\n";
const SmallLaunch four{.warps = 4, .target = "sm_100a"};

TEST(TensorMemory, IsReadBehindTheCommit) {
    expect_none(findings_of(begin + multiply + commit + wait + after + load + loaded + end, four));
    const auto early = findings_of(begin + multiply + load + loaded + commit + wait + end, four);
    ASSERT_FALSE(early.empty());
    EXPECT_THAT(listing(early), HasSubstr("read-too-early"));
    EXPECT_THAT(listing(early), HasSubstr("tcgen05.commit"));
    expect_one(findings_of(begin + multiply + commit + wait + load + loaded + end, four), "tensor-fence", "tcgen05.ld",
               "after_thread_sync");
}

TEST(TensorMemory, IsFreedBehindTheWait) {
    expect_one(findings_of(begin + multiply + commit + wait + after + load + end, four), "overwritten-too-soon",
               "tcgen05.dealloc", "tcgen05.wait::ld");
}

TEST(TensorMemory, IsUsedAgainBehindTheWait) {
    // By the warp itself, and by the product of another thread.
    const auto again = [](const std::string& between) {
        return begin + store + stored + load + between + store + stored + loaded + end;
    };
    expect_none(findings_of(again(loaded), four));
    expect_one(findings_of(again(""), four), "overwritten-too-soon", "tcgen05.st", "tcgen05.wait::ld");
    const auto handed = [](const std::string& between) {
        return begin + store + stored + load + between + before + meet + after + add + commit + wait + after + load +
               loaded + end;
    };
    expect_none(findings_of(handed(loaded), four));
    expect_one(findings_of(handed(""), four), "overwritten-too-soon", "tcgen05.mma", "tcgen05.wait::ld");
}

TEST(TensorMemory, IsHandedToTheMultiply) {
    const std::string then = add + commit + wait + after + load + loaded + end;
    expect_none(findings_of(begin + store + stored + before + meet + after + then, four));
    expect_one(findings_of(begin + store + before + meet + after + then, four), "overwritten-too-soon", "tcgen05.mma",
               "tcgen05.wait::st");
    expect_one(findings_of(begin + store + stored + meet + after + then, four), "tensor-fence", "tcgen05.mma",
               "before_thread_sync");
    expect_one(findings_of(begin + store + stored + before + meet + then, four), "tensor-fence", "tcgen05.mma",
               "after_thread_sync");
}

TEST(TensorMemory, IsOverwrittenBehindTheFences) {
    const std::string first = multiply + commit + wait + after + load + loaded;
    const std::string then = "    @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r20], %rd5, %rd6, %r22, %p5;\n" + commit +
                             "X: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 1;\n    @!%p3 bra X;\n" + after + end;
    expect_none(findings_of(begin + first + before + meet + after + then, four));
    expect_one(findings_of(begin + first + meet + after + then, four), "tensor-fence", "tcgen05.mma",
               "before_thread_sync");
}

/// Findings of a check that are notes: at `instruction`.
void expect_note(const std::vector<Finding>& found, const std::string& check, const std::string& instruction) {
    ASSERT_EQ(found.size(), 1u) << listing(found);
    EXPECT_EQ(found[0].check, check) << listing(found);
    EXPECT_EQ(found[0].severity, Severity::note);
    EXPECT_THAT(found[0].place.operation, HasSubstr(instruction));
}

TEST(TensorMemory, RegistersUsedWithoutAWaitAreNoted) {
    const std::string use = "    add.u32 %r24, %r23, 1;\n";
    expect_note(findings_of(begin + multiply + commit + wait + after + load + use + loaded + end, four),
                "tensor-registers", "add.u32");
    expect_none(findings_of(begin + multiply + commit + wait + after + load + loaded + use + end, four));
}

/// %rd7, %r13: 4 bytes of global and of shared memory for each thread.
const std::string own_word =
    "    mul.wide.u32 %rd7, %r1, 4;\n    add.s64 %rd7, %rd7, %rd1;\n    mad.lo.u32 %r13, %r1, 4, %r2;\n";

TEST(TensorMemory, CellsThatNobodyWroteAreLoadedNotStored) {
    const std::string take = load + loaded + own_word;
    expect_none(findings_of(begin + take + end, four));
    expect_none(
        findings_of(begin + take + "    add.f32 %f1, %f1, %f1;\n    st.global.u32 [%rd7], %r12;\n" + end, four));
    expect_none(findings_of(begin + store + stored + take + "    st.global.u32 [%rd7], %r23;\n" + end, four));
    expect_none(
        findings_of(begin + multiply + commit + wait + after + take + "    st.global.u32 [%rd7], %r23;\n" + end, four));
    const std::string advice = "the products, copies and stores put something";
    expect_one(findings_of(begin + take + "    st.global.u32 [%rd7], %r23;\n" + end, four), "provenance", "st.global",
               advice);
    expect_one(findings_of(begin + take +
                               "    st.shared.u32 [%r13], %r23;\n    ld.shared.u32 %r24, [%r13];\n"
                               "    st.global.u32 [%rd7], %r24;\n" +
                               end,
                           four),
               "provenance", "st.shared", advice);
    // Whatever it becomes on the way.
    expect_one(findings_of(begin + take +
                               "    mov.b32 %f1, %r23;\n    fma.rn.f32 %f1, %f1, 0f40000000, 0f3F800000;\n"
                               "    cvt.rn.f16x2.f32 %r24, %f1, %f1;\n    st.global.u32 [%rd7], %r24;\n" +
                               end,
                           four),
               "provenance", "st.global", advice);
    // Columns that are allocated again are as if nobody had written them.
    const std::string again =
        "    @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 32;\n"
        "    @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3+32], 32;\n";
    expect_one(findings_of(begin + store + stored + before + meet + after + again + meet + after + take +
                               "    st.global.u32 [%rd7], %r23;\n" + end,
                           four),
               "provenance", "st.global", advice);
}

TEST(TensorMemory, CellsThatNobodyWroteAreNotMultiplied) {
    expect_one(findings_of(begin + add + commit + wait + after + load + loaded + end, four), "provenance",
               "tcgen05.mma", "what was stored or copied there");
}

TEST(TensorMemory, OperandsAreSeenByTheAsyncProxy) {
    std::string without = begin;
    const std::string fence = "    fence.proxy.async.shared::cta;\n";
    without.erase(without.find(fence), fence.size());
    const auto found = findings_of(without + multiply + commit + wait + after + load + loaded + end, four);
    ASSERT_EQ(found.size(), 2u) << listing(found);  // A and B, which two stores have written
    for (const Finding& each : found) {
        EXPECT_EQ(each.check, "proxy-fence");
        EXPECT_THAT(each.place.operation, HasSubstr("tcgen05.mma"));
        EXPECT_THAT(each.advice, HasSubstr("fence.proxy.async"));
    }
    // And are not overwritten before the products are done.
    const std::string again = "    st.shared.v4.u32 [%r11], {%r12, %r12, %r12, %r12};\n";
    const auto soon = findings_of(begin + multiply + meet + again + commit + wait + after + load + loaded + end, four);
    expect_one(soon, "overwritten-too-soon", "st.shared.v4", "tcgen05.commit");
}

}  // namespace
}  // namespace tilepath::check
