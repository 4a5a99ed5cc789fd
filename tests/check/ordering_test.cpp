// Nothing is read too early, nothing is overwritten too soon: warps, lanes, clusters and their own locks.
#include "check/ordering.h"
#include "small_kernel.h"

namespace tilepath::check {
namespace {

using testing::HasSubstr;

/// %r10 = tile + 4 · thread; %r11 = that of the other warp's thread.
const std::string own_and_other = R"(
    mad.lo.u32 %r10, %r1, 4, %r2;
    xor.b32 %r11, %r1, 32;
    mad.lo.u32 %r11, %r11, 4, %r2;
)";

TEST(Races, TwoWarpsMeetInSharedMemory) {
    const auto with = [](const std::string& between) {
        return own_and_other + "    st.shared.u32 [%r10], %r1;\n" + between + "    ld.shared.u32 %r12, [%r11];\n";
    };
    const auto found = findings_of(with(""));
    // Each warp reads before or after the other writes: one pair of instructions in both orders.
    ASSERT_FALSE(found.empty());
    for (const Finding& each : found) EXPECT_EQ(each.check, "race");
    EXPECT_THAT(listing(found), HasSubstr("ld.shared.u32"));
    EXPECT_THAT(listing(found), HasSubstr("st.shared.u32"));
    EXPECT_THAT(found[0].advice, HasSubstr("bar.sync"));
    expect_none(findings_of(with("    bar.sync 0;\n")));
    expect_none(findings_of(with("    barrier.sync 1, 64;\n")));
}

TEST(Races, AFastWarpOverwritesWhatASlowOneReads) {
    const auto loop = [](const std::string& behind) {
        return own_and_other +
               "    mov.u32 %r12, 0;\nLOOP:\n    st.shared.u32 [%r10], %r12;\n    bar.sync 0;\n    ld.shared.u32 %r13, "
               "[%r11];\n" +
               behind + "    add.u32 %r12, %r12, 1;\n    setp.lt.u32 %p3, %r12, 3;\n    @%p3 bra LOOP;\n";
    };
    const auto found = findings_of(loop(""));
    expect_one(found, "race", "ld.shared.u32", "bar.sync");
    EXPECT_THAT(listing(found), HasSubstr("st.shared.u32"));
    expect_none(findings_of(loop("    bar.sync 0;\n")));
}

TEST(Races, LanesOfAWarp) {
    const auto with = [](const std::string& between) {
        return "    mad.lo.u32 %r10, %r1, 4, %r2;\n    xor.b32 %r11, %r1, 1;\n    mad.lo.u32 %r11, %r11, 4, %r2;\n"
               "    st.shared.u32 [%r10], %r1;\n" +
               between + "    ld.shared.u32 %r12, [%r11];\n";
    };
    expect_one(findings_of(with(""), {.warps = 1}), "race", "ld.shared.u32", "__syncwarp");
    expect_none(findings_of(with("    bar.warp.sync 0xffffffff;\n"), {.warps = 1}));
}

TEST(Races, HalvesOfAWordAreNoRace) {
    // Warp 0 writes the low halves, warp 1 the high ones; each reads its own.
    expect_none(findings_of(R"(
    shl.b32 %r10, %r4, 1;
    mad.lo.u32 %r10, %r6, 4, %r10;
    add.u32 %r10, %r10, %r2;
    cvt.u16.u32 %h1, %r1;
    st.shared.u16 [%r10], %h1;
    ld.shared.u16 %h2, [%r10];
)"));
    const auto found = findings_of(R"(
    mad.lo.u32 %r10, %r6, 4, %r2;
    cvt.u16.u32 %h1, %r1;
    st.shared.u16 [%r10], %h1;
)");
    expect_one(found, "race", "st.shared.u16", "bar.sync");
}

TEST(Races, CtasMeetInGlobalMemory) {
    const std::string write = "    @%p1 st.global.u32 [%rd1], %r5;\n";
    expect_one(findings_of(write, {.ctas = 2}), "race", "st.global.u32", "release");
    expect_none(findings_of("    @%p1 red.global.add.u32 [%rd1], %r5;\n", {.ctas = 2}));
}

/// CTA 0 writes data and says so by a flag; CTA 1 waits for the flag and reads.
std::string handed_over(const std::string& say, const std::string& look, const std::string& then = "") {
    return R"(
    setp.ne.u32 %p3, %r5, 0;
    @%p3 bra READER;
    st.global.u32 [%rd1+4096], 7;
    mov.u32 %r20, 1;
)" + say + R"(
    ret;
READER:
)" + look + R"(
    setp.eq.u32 %p4, %r21, 0;
    @%p4 bra READER;
)" + then + R"(
    ld.global.u32 %r22, [%rd1+4096];
)";
}

TEST(Races, KernelsOwnFlagsOrder) {
    const SmallLaunch two{.warps = 1, .ctas = 2};
    const std::string one = "    setp.ne.u32 %p5, %r6, 0;\n    @%p5 ret;\n";
    const auto run = [&](const std::string& say, const std::string& look, const std::string& then = "") {
        return findings_of(one + handed_over(say, look, then), two);
    };
    expect_none(run("st.release.gpu.global.u32 [%rd1], %r20;", "ld.acquire.gpu.global.u32 %r21, [%rd1];"));
    expect_none(run("red.release.gpu.global.add.u32 [%rd1], %r20;", "ld.acquire.gpu.global.u32 %r21, [%rd1];"));
    expect_none(run("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1], %r20;",
                    "ld.relaxed.gpu.global.u32 %r21, [%rd1];", "fence.acq_rel.gpu;"));
    expect_none(
        run("membar.gl; st.volatile.global.u32 [%rd1], %r20;", "ld.volatile.global.u32 %r21, [%rd1];", "membar.gl;"));
    expect_none(
        run("membar.gl; atom.global.exch.b32 %r23, [%rd1], %r20;", "atom.acquire.gpu.global.add.u32 %r21, [%rd1], 0;"));
    expect_one(run("st.relaxed.gpu.global.u32 [%rd1], %r20;", "ld.acquire.gpu.global.u32 %r21, [%rd1];"), "race",
               "ld.global.u32", "release");
    expect_one(run("st.release.gpu.global.u32 [%rd1], %r20;", "ld.relaxed.gpu.global.u32 %r21, [%rd1];"), "race",
               "ld.global.u32", "acquire");
}

TEST(Races, ClustersMeetInDistributedSharedMemory) {
    const auto with = [](const std::string& between) {
        return R"(
    mov.u32 %r10, %cluster_ctarank;
    xor.b32 %r10, %r10, 1;
    mapa.shared::cluster.u32 %r11, %r2, %r10;
    @%p1 st.shared::cluster.u32 [%r11], %r5;
)" + between + R"(
    @%p1 ld.shared.u32 %r12, [%r2];
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
)";
    };
    const SmallLaunch pair{.warps = 1, .ctas = 2, .cluster = 2};
    const auto found = findings_of(with(""), pair);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].check, "race");
    EXPECT_THAT(found[0].advice, HasSubstr("barrier.cluster"));
    expect_none(
        findings_of(with("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"), pair));
}

TEST(Clusters, ACtaStaysUntilOthersAreThrough) {
    const auto with = [](const std::string& end) {
        return R"(
    mov.u32 %r10, %cluster_ctarank;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    setp.ne.u32 %p3, %r10, 0;
    mov.u32 %r13, 0;
    mapa.shared::cluster.u32 %r11, %r2, %r13;
    and.pred %p3, %p3, %p3;
    @%p3 ld.shared::cluster.u32 %r12, [%r11];
)" + end;
    };
    const SmallLaunch pair{.warps = 1, .ctas = 2, .cluster = 2, .faults = true};
    expect_one(findings_of(with("    @!%p3 nanosleep.u32 100000;\n"), pair), "cluster-exit", "ld.shared::cluster",
               "barrier.cluster");
    expect_none(findings_of(with("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"), pair));
}

TEST(Shadow, TakesAtMostSixteenBytesAByte) {
    // 16 KiB of shared memory written and read by both warps, 32 KiB of global memory read.
    const std::string body = R"(
    mov.u32 %r10, 0;
    mad.lo.u32 %r11, %r1, 4, %r2;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
LOOP:
    ld.global.u32 %r12, [%rd3];
    ld.global.u32 %r13, [%rd3+256];
    st.shared.u32 [%r11], %r12;
    ld.shared.u32 %r13, [%r11];
    add.u32 %r11, %r11, 256;
    add.s64 %rd3, %rd3, 512;
    bar.sync 0;
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, 64;
    @%p3 bra LOOP;
)";
    Ordering ordering;
    expect_none(findings_of(body, {.also = &ordering}));
    constexpr std::size_t touched = 32768 + 64 + 1024 + 32768;  // all of the CTA's shared memory, and what is read
    EXPECT_LE(ordering.shadow_bytes(), 16 * touched);
    EXPECT_GE(ordering.shadow_bytes(), touched);
}

TEST(Reports, AreTheSameForTheSameRun) {
    const std::string body = own_and_other +
                             "    st.shared.u32 [%r10], %r1;\n    ld.shared.u32 %r12, [%r11];\n"
                             "    st.global.u32 [%rd1], %r1;\n    red.global.add.u32 [%rd1+8], %r1;\n";
    const std::string first = listing(findings_of(body, {.ctas = 3}));
    EXPECT_THAT(first, HasSubstr("race"));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(listing(findings_of(body, {.ctas = 3})), first);
}

}  // namespace
}  // namespace tilepath::check
