// The same for asynchronous operations: cp.async, bulk copies, wgmma, mbarriers, proxies, tensor maps.
#include "small_kernel.h"

namespace tilepath::check {
namespace {

using testing::HasSubstr;

/// %r10 = tile + 16 · thread, %r11 that of the other warp's thread, %rd3 = buffer + 16 · thread.
const std::string sixteen = R"(
    mad.lo.u32 %r10, %r1, 16, %r2;
    xor.b32 %r11, %r1, 32;
    mad.lo.u32 %r11, %r11, 16, %r2;
    mul.wide.u32 %rd2, %r1, 16;
    add.s64 %rd3, %rd1, %rd2;
)";

TEST(CpAsync, IsWaitedForByWhoReads) {
    const auto with = [](const std::string& between, const std::string& address = "%r10") {
        return sixteen + "    cp.async.cg.shared.global [%r10], [%rd3], 16;\n" + between +
               "    ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [" + address + "];\n";
    };
    expect_one(findings_of(with("    cp.async.commit_group;\n")), "read-too-early", "ld.shared.v4", "wait_group");
    expect_one(findings_of(with("    cp.async.wait_group 0;\n")), "read-too-early", "ld.shared.v4", "commit_group");
    expect_none(findings_of(with("    cp.async.commit_group;\n    cp.async.wait_group 0;\n")));
    expect_none(findings_of(with("    cp.async.wait_all;\n")));
    expect_none(findings_of(with("    cp.async.wait_all;\n    bar.sync 0;\n", "%r11")));
    // The barrier without the wait, and the wait without the barrier.
    expect_one(findings_of(with("    cp.async.commit_group;\n    bar.sync 0;\n", "%r11")), "read-too-early",
               "ld.shared.v4", "a barrier");
    const auto unordered = findings_of(with("    cp.async.wait_all;\n", "%r11"));
    ASSERT_FALSE(unordered.empty());
    EXPECT_THAT(listing(unordered), HasSubstr("a barrier"));
}

TEST(CpAsync, TheNewestGroupStaysPending) {
    const auto with = [](int keep) {
        return sixteen + fmt::format(
                             "    cp.async.cg.shared.global [%r10], [%rd3], 16;\n    cp.async.commit_group;\n"
                             "    cp.async.cg.shared.global [%r10+4096], [%rd3], 16;\n    cp.async.commit_group;\n"
                             "    cp.async.wait_group {};\n    ld.shared.v4.u32 {{%r12, %r13, %r14, %r15}}, "
                             "[%r10+4096];\n    ld.shared.v4.u32 "
                             "{{%r12, %r13, %r14, %r15}}, [%r10];\n",
                             keep);
    };
    expect_one(findings_of(with(1)), "read-too-early", "[%r10+4096]", "wait_group");
    expect_none(findings_of(with(0)));
}

TEST(CpAsync, ArrivesOnAnMbarrier) {
    const auto with = [](const std::string& wait) {
        return "    @%p1 mbarrier.init.shared.b64 [%r3], 64;\n    bar.sync 0;\n" + sixteen +
               "    cp.async.cg.shared.global [%r10], [%rd3], 16;\n"
               "    cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];\n" +
               wait + "    ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];\n";
    };
    expect_none(findings_of(with("W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n    @!%p3 bra W;\n")));
    // Parity 1 passes at once: it is that of the phase before the first.
    const auto found = findings_of(with("W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 1;\n    @!%p3 bra W;\n"),
                                   {.copies = machine::CopyPolicy::late, .faults = true});
    ASSERT_FALSE(found.empty());
    EXPECT_THAT(listing(found), HasSubstr("ld.shared.v4"));
}

const std::string one_barrier = R"(
    @%p1 mbarrier.init.shared.b64 [%r3], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
)";
const std::string wait_for_it = "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n    @!%p3 bra W;\n";
const std::string load_it = R"(
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 1024;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 1024, [%r3];
)";
const std::string read_it = "    mad.lo.u32 %r10, %r1, 4, %r2;\n    ld.shared.u32 %r12, [%r10];\n";

TEST(BulkCopies, AreWaitedForOnTheirMbarrier) {
    expect_none(findings_of(one_barrier + load_it + wait_for_it + read_it));
    for (const auto policy : {machine::CopyPolicy::eager, machine::CopyPolicy::late}) {
        const auto found =
            findings_of(one_barrier + load_it + "    bar.sync 0;\n" + read_it, {.copies = policy, .faults = true});
        expect_one(found, "read-too-early", "ld.shared.u32", "mbarrier.try_wait");
        EXPECT_THAT(listing(found), HasSubstr("the warp has waited for no phase"));
    }
    // One warp waits, and only a barrier tells the other.
    const std::string first_waits = "    @!%p2 bra BEHIND;\n" + wait_for_it + "BEHIND:\n";
    expect_none(findings_of(one_barrier + load_it + first_waits + "    bar.sync 0;\n" + read_it));
    const auto found = findings_of(one_barrier + load_it + first_waits + read_it);
    ASSERT_FALSE(found.empty());
    EXPECT_THAT(listing(found), HasSubstr("warp 1"));
}

TEST(BulkCopies, OverwriteOnlyWhatHasBeenRead) {
    // The second load goes to the same memory: warp 1 has to say that it has read the first.
    const auto with = [](const std::string& between) {
        return one_barrier +
               "    @%p1 mbarrier.init.shared.b64 [%r3+8], 1;\n    @%p1 fence.proxy.async.shared::cta;\n    bar.sync "
               "0;\n" +
               load_it + wait_for_it + read_it + between + R"(
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3+8], 1024;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 1024, [%r3+8];
)";
    };
    const std::string last = "X: mbarrier.try_wait.parity.shared.b64 %p3, [%r3+8], 0;\n    @!%p3 bra X;\n";
    const auto found = findings_of(with("") + last);
    ASSERT_FALSE(found.empty());
    // Warp 0 reads before the copy is issued; warp 1 has not run by then, and reads what the second copy brings.
    EXPECT_THAT(listing(found), HasSubstr("lanes of one warp"));
    EXPECT_THAT(listing(found), HasSubstr("then CTA 0, warp 1"));
    expect_none(findings_of(with("    bar.sync 0;\n") + last));
}

TEST(BulkCopies, ExpectedBytesAreThoseCopied) {
    const auto with = [](int bytes) {
        return one_barrier + fmt::format("    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], {};\n", bytes) +
               "    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 1024, "
               "[%r3];\n" +
               wait_for_it + read_it;
    };
    expect_none(findings_of(with(1024)));
    const auto found = findings_of(with(2048), {.faults = true});
    expect_one(found, "expected-bytes", "expect_tx", "1024 bytes");
    EXPECT_THAT(found[0].facts.back(), HasSubstr("2048 bytes expected, 1024 copied"));
}

TEST(BulkCopies, StoresReadTheirSourceUntilTheirGroupIsWaitedFor) {
    const auto with = [](const std::string& wait, const std::string& fence = "    fence.proxy.async.shared::cta;\n") {
        return "    mad.lo.u32 %r10, %r1, 4, %r2;\n    st.shared.u32 [%r10], %r1;\n" + fence + "    bar.sync 0;\n" + R"(
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;
)" + wait +
               "    bar.sync 0;\n    st.shared.u32 [%r10], %r4;\n    @%p1 cp.async.bulk.commit_group;\n    @%p1 "
               "cp.async.bulk.wait_group 0;\n";
    };
    const std::string waits = "    @%p1 cp.async.bulk.commit_group;\n    @%p1 cp.async.bulk.wait_group.read 0;\n";
    expect_none(findings_of(with(waits)));
    expect_one(findings_of(with("    @%p1 cp.async.bulk.commit_group;\n")), "overwritten-too-soon", "st.shared.u32",
               "wait_group.read");
    expect_one(findings_of(with("    @%p1 cp.async.bulk.wait_group.read 0;\n")), "overwritten-too-soon",
               "st.shared.u32", "commit_group");
    expect_one(findings_of(with(waits, "")), "proxy-fence", "cp.async.bulk.global", "fence.proxy.async");
    // The fence by the thread that copies, behind the barrier, lies on the path too.
    expect_none(
        findings_of("    mad.lo.u32 %r10, %r1, 4, %r2;\n    st.shared.u32 [%r10], %r1;\n    bar.sync 0;\n    @%p1 "
                    "fence.proxy.async;\n    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;\n"
                    "    @%p1 cp.async.bulk.commit_group;\n    @%p1 cp.async.bulk.wait_group 0;\n"));
}

TEST(BulkCopies, OfSeveralLanesToOnePlaceAreTheSame) {
    const auto with = [](const std::string& source) {
        return "    mad.lo.u32 %r10, %r1, 16, %r2;\n    st.shared.v4.u32 [%r10], {%r1, %r1, %r1, %r1};\n    "
               "fence.proxy.async;\n    bar.sync 0;\n    @%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [" +
               source + "], 16;\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n";
    };
    expect_none(findings_of(with("%r2")));
    expect_one(findings_of(with("%r10")), "overwritten-too-soon", "cp.async.bulk.global", "wait_group");
}

TEST(BulkCopies, WhatTheyWriteIsReadBehindTheWait) {
    const auto with = [](const std::string& wait) {
        return "    mad.lo.u32 %r10, %r1, 4, %r2;\n    st.shared.u32 [%r10], %r1;\n    fence.proxy.async;\n    "
               "bar.sync 0;\n"
               "    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;\n    @%p1 "
               "cp.async.bulk.commit_group;\n    @%p1 cp.async.bulk.wait_group" +
               wait +
               " 0;\n    bar.sync 0;\n    mul.wide.u32 %rd2, %r1, 4;\n    add.s64 %rd3, %rd1, %rd2;\n"
               "    ld.global.u32 %r12, [%rd3];\n";
    };
    expect_none(findings_of(with("")));
    expect_one(findings_of(with(".read")), "read-too-early", "ld.global.u32", "without .read");
}

/// clusterlaunchcontrol.try_cancel: 16 bytes by the async proxy, counted on an mbarrier.
TEST(ClusterLaunch, AnswersAreReadBehindTheirMbarrier) {
    const auto with = [](int bytes, const std::string& behind) {
        return findings_of(
            one_barrier +
                fmt::format("    @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r3], {};\n    @%p1 "
                            "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
                            "[%r2], [%r3];\n",
                            bytes) +
                behind,
            {.faults = bytes != 16, .target = "sm_100a"});
    };
    const std::string wait = "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n    @!%p3 bra W;\n",
                      read = "    ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r2];\n";
    expect_none(with(16, wait + read));
    const auto early = with(16, read + wait);
    ASSERT_FALSE(early.empty());
    EXPECT_EQ(early[0].check, "read-too-early");
    EXPECT_THAT(early[0].place.operation, HasSubstr("ld.shared.v4"));
    EXPECT_THAT(listing(with(32, wait + read)), HasSubstr("expected-bytes"));
}

TEST(Mbarriers, AreVisibleBeforeTheyAreUsed) {
    const std::string use =
        "    mbarrier.arrive.shared.b64 %rd5, [%r3];\n"
        "W: mbarrier.try_wait.shared.b64 %p3, [%r3], %rd5;\n    @!%p3 bra W;\n";
    expect_none(findings_of("    @%p1 mbarrier.init.shared.b64 [%r3], 64;\n    bar.sync 0;\n" + use));
    const auto found = findings_of("    @%p1 mbarrier.init.shared.b64 [%r3], 64;\n" + use);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].check, "mbarrier-init");
}

TEST(Mbarriers, AreInvalidatedWhenAllAreThrough) {
    const auto with = [](const std::string& meet) {
        return "    @%p1 mbarrier.init.shared.b64 [%r3], 64;\n    bar.sync 0;\n    mbarrier.arrive.shared.b64 %rd5, "
               "[%r3];\n"
               "W: mbarrier.try_wait.shared.b64 %p3, [%r3], %rd5;\n    @!%p3 bra W;\n" +
               meet + "    @%p1 mbarrier.inval.shared.b64 [%r3];\n";
    };
    expect_none(findings_of(with("    bar.sync 0;\n")));
    expect_one(findings_of(with("    @%p2 nanosleep.u32 100000;\n")), "mbarrier-inval", "mbarrier.inval", "a barrier");
}

TEST(Mbarriers, AreShownToTheAsyncProxy) {
    const std::string init = "    @%p1 mbarrier.init.shared.b64 [%r3], 1;\n", meet = "    bar.sync 0;\n";
    for (const char* fence : {"fence.mbarrier_init.release.cluster", "fence.proxy.async"})
        expect_none(findings_of(init + "    @%p1 " + fence + ";\n" + meet + load_it + wait_for_it + read_it));
    expect_one(findings_of(init + meet + load_it + wait_for_it + read_it), "mbarrier-init", "cp.async.bulk",
               "fence.mbarrier_init");
}

TEST(Mbarriers, AreInvalidatedWhenTheirBytesHaveCome) {
    const auto found = findings_of(
        "    @%p1 mbarrier.init.shared.b64 [%r3], 1;\n    @%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r3], 128;\n"
        "    @%p1 mbarrier.inval.shared.b64 [%r3];\n");
    expect_one(found, "mbarrier-inval", "mbarrier.inval", "a wait for that phase");
}

TEST(BulkCopies, ReadTheirSourceBeforeTheCtaEnds) {
    const auto with = [](const std::string& end) {
        return "    mad.lo.u32 %r10, %r1, 4, %r2;\n    st.shared.u32 [%r10], %r1;\n    fence.proxy.async;\n    "
               "bar.sync 0;\n"
               "    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;\n"
               "    @%p1 cp.async.bulk.commit_group;\n" +
               end;
    };
    const auto found = findings_of(with(""));
    expect_one(found, "bulk-exit", "cp.async.bulk.global", "wait_group.read");
    EXPECT_EQ(found.at(0).severity, Severity::note);
    expect_none(findings_of(with("    @%p1 cp.async.bulk.wait_group.read 0;\n")));
}

TEST(Mbarriers, HandOver) {
    const auto with = [](const std::string& arrive) {
        return "    @%p1 mbarrier.init.shared.b64 [%r3], 32;\n    bar.sync 0;\n    mad.lo.u32 %r10, %r6, 4, %r2;\n"
               "    @%p2 st.shared.u32 [%r10], %r1;\n    @%p2 " +
               arrive + ";\n    @%p2 ret;\n" + wait_for_it + "    ld.shared.u32 %r12, [%r10];\n";
    };
    expect_none(findings_of(with("mbarrier.arrive.shared.b64 _, [%r3]")));
    expect_one(findings_of(with("mbarrier.arrive.relaxed.cta.shared.b64 _, [%r3]")), "race", "ld.shared.u32",
               "mbarrier");
}

/// 64 by 8 by 16, f16: A in tile, B 4,096 bytes behind, K-major without swizzle, 8 rows of 16 bytes each 128 bytes.
const std::string descriptors = R"(
    shr.u32 %r10, %r2, 4;
    cvt.u64.u32 %rd5, %r10;
    or.b64 %rd5, %rd5, 0x0000000800400000;
    add.s64 %rd6, %rd5, 256;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    mad.lo.u32 %r11, %r1, 16, %r2;
    mov.u32 %r12, 0;
)";
const std::string fill =
    "    st.shared.v4.u32 [%r11], {%r12, %r12, %r12, %r12};\n    st.shared.v4.u32 [%r11+4096], {%r12, "
    "%r12, %r12, %r12};\n";
const std::string publish = "    fence.proxy.async.shared::cta;\n    bar.sync 0;\n";
const std::string multiply =
    "    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd5, %rd6, 1, 1, 1, "
    "0, 0;\n";
const std::string open = "    wgmma.fence.sync.aligned;\n", commit = "    wgmma.commit_group.sync.aligned;\n",
                  wait = "    wgmma.wait_group.sync.aligned 0;\n";
const std::string use = "    add.f32 %f5, %f1, %f2;\n";
const SmallLaunch warpgroup{.warps = 4};

TEST(Wgmma, ReadsWhatTheAsyncProxySees) {
    expect_none(findings_of(descriptors + fill + publish + open + multiply + commit + wait + use, warpgroup));
    const auto found =
        findings_of(descriptors + fill + "    bar.sync 0;\n" + open + multiply + commit + wait, warpgroup);
    ASSERT_FALSE(found.empty());
    for (const Finding& each : found) {
        EXPECT_EQ(each.check, "proxy-fence");
        EXPECT_THAT(each.place.operation, HasSubstr("wgmma.mma_async"));
    }
}

TEST(Wgmma, MemoryIsGivenBackBehindTheWait) {
    const std::string start = descriptors + fill + publish + open + multiply;
    const std::string again = "    bar.sync 0;\n    st.shared.v4.u32 [%r11], {%r12, %r12, %r12, %r12};\n";
    expect_none(findings_of(start + commit + wait + again, warpgroup));
    expect_one(findings_of(start + commit + again + wait, warpgroup), "overwritten-too-soon", "st.shared.v4",
               "wgmma.wait_group");
    // A wait without the commit waits for nothing.
    expect_one(findings_of(start + wait + again + commit + wait, warpgroup), "overwritten-too-soon", "st.shared.v4",
               "wgmma.commit_group");
}

TEST(Wgmma, FencesRegisters) {
    const std::string start = descriptors + fill + publish;
    expect_one(findings_of(start + multiply + commit + wait, warpgroup), "wgmma-fence", "wgmma.mma_async",
               "wgmma.fence");
    const std::string touch = "    add.f32 %f1, %f1, %f1;\n";
    expect_one(findings_of(start + open + multiply + commit + wait + touch + multiply + commit + wait, warpgroup),
               "wgmma-fence", "wgmma.mma_async", "wgmma.fence");
    expect_none(
        findings_of(start + open + multiply + commit + wait + touch + open + multiply + commit + wait, warpgroup));
    expect_none(findings_of(start + open + multiply + multiply + commit + wait, warpgroup));
}

TEST(Wgmma, RegistersAreUsedBehindTheWait) {
    expect_one(findings_of(descriptors + fill + publish + open + multiply + commit + use + wait, warpgroup),
               "wgmma-registers", "add.f32", "wgmma.wait_group");
}

}  // namespace
}  // namespace tilepath::check
