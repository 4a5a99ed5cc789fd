// mbarriers as kernels use them: PTX ISA 9.7.13.15. (The counts themselves: tests/machine.)
#include <gmock/gmock.h>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* declare =
    ".shared .align 8 .b64 bar; .shared .align 8 .b64 other; mov.u32 %r1, bar; mov.u32 %r2, other;\n";

/// What one thread writes to the words of p0.
std::vector<std::uint32_t> results_of(const std::string& body, std::size_t count) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(64);
    gpu.run_clean(compile(declare + body), blocks(1, 1), out);
    return {out, out + count};
}

/// Tests parity 0 and 1 and puts both answers into the next word.
std::string look(int word) {
    return fmt::format(
        "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0; mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 1;\n"
        "selp.u32 %r50, 1, 0, %p1; selp.u32 %r51, 2, 0, %p2; or.b32 %r50, %r50, %r51; st.global.u32 [%q0+{}], %r50;\n",
        4 * word);
}

// A fresh barrier has completed the phase of parity 1; from then on each completion turns the answer round.
TEST(MbarrierKernel, PhasesTurnTheParityRound) {
    EXPECT_THAT(results_of("mbarrier.init.shared.b64 [%r1], 2;" + look(0) + "mbarrier.arrive.shared.b64 _, [%r1];" +
                               look(1) + "mbarrier.arrive.shared.b64 _, [%r1];" + look(2) +
                               "mbarrier.arrive.shared.b64 _, [%r1], 2;" + look(3),
                           4),
                ElementsAre(2, 2, 1, 2));
}

// Recorded on an H200: complete_tx 16, arrive (not complete), expect_tx 16 (complete).
TEST(MbarrierKernel, BytesAndArrivalsBothCount) {
    EXPECT_THAT(results_of("mbarrier.init.shared.b64 [%r1], 1;"
                           "mbarrier.complete_tx.shared.b64 [%r1], 16; mbarrier.arrive.shared.b64 _, [%r1];" +
                               look(0) + "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 16;" + look(1) +
                               "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 100;" + look(2) +
                               "mbarrier.complete_tx.shared.b64 [%r1], 60;" + look(3) +
                               "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r1], 40;" + look(4),
                           5),
                ElementsAre(2, 1, 1, 1, 2));
}

// As CUTLASS's tutorials 02 and 05 do: only one warp moves the barrier on, and all wait for each phase by its parity.
TEST(MbarrierKernel, WhoWaitsForEachPhaseKeepsUpWithTheWarpThatCompletesThem) {
    const std::string body = R"(
        mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r5, 0;
        @%p0 mbarrier.init.shared.b64 [%r1], 1;
        bar.sync 0;
        again:
        @%p0 mbarrier.arrive.shared.b64 _, [%r1];
        and.b32 %r6, %r5, 1;
        wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r6; @!%p1 bra wait;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 9; @%p2 bra again;
        shl.b32 %r7, %r0, 2; cvt.u64.u32 %q1, %r7; add.u64 %q1, %q0, %q1; st.global.u32 [%q1], %r5;)";
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late}) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(128);
        LaunchOptions options;
        options.copies = policy;
        const LaunchReport report = gpu.run(compile(declare + body), blocks(1, 128), options, out);
        if (report.deadlock) ADD_FAILURE() << to_string(*report.deadlock);
        EXPECT_THAT(std::vector(out, out + 128), ::testing::Each(9u));
    }
}

TEST(MbarrierKernel, DropsCountForLaterPhases) {
    EXPECT_THAT(
        results_of("mbarrier.init.shared.b64 [%r1], 3; mbarrier.arrive_drop.shared.b64 _, [%r1], 2;" + look(0) +
                       "mbarrier.arrive.shared.b64 _, [%r1];" + look(1) + "mbarrier.arrive.shared.b64 _, [%r1];" +
                       look(2) + "mbarrier.arrive_drop.expect_tx.shared.b64 _, [%r1], 8;" + look(3) +
                       "mbarrier.complete_tx.shared.b64 [%r1], 8;" + look(4),
                   5),
        ElementsAre(2, 1, 2, 2, 1));
}

TEST(MbarrierKernel, StatesTellPendingCounts) {
    EXPECT_THAT(results_of(R"(mbarrier.init.shared.b64 [%r1], 7;
        mbarrier.arrive.noComplete.shared.b64 %q1, [%r1], 3; mbarrier.pending_count.b64 %r3, %q1;
        mbarrier.arrive.noComplete.release.cta.shared.b64 %q2, [%r1], 1; mbarrier.pending_count.b64 %r4, %q2;
        st.global.u32 [%q0], %r3; st.global.u32 [%q0+4], %r4;
        mbarrier.arrive.relaxed.cta.shared.b64 %q3, [%r1], 3;
        mbarrier.test_wait.relaxed.cta.shared.b64 %p1, [%r1], %q3; selp.u32 %r5, 1, 0, %p1;
        st.global.u32 [%q0+8], %r5;)",
                           3),
                ElementsAre(7, 4, 1));
}

TEST(MbarrierKernel, InvalidatedBytesCanBecomeAnother) {
    EXPECT_THAT(results_of("mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.shared.b64 _, [%r1];" + look(0) +
                               "mbarrier.inval.shared.b64 [%r1]; mbarrier.init.shared.b64 [%r1], 1;" + look(1),
                           2),
                ElementsAre(1, 2));
    // So can bytes that other data has overwritten.
    EXPECT_THAT(results_of("mbarrier.init.shared.b64 [%r1], 1; st.shared.b64 [%r1], 5; "
                           "mbarrier.init.shared.b64 [%r1], 1;" +
                               look(0),
                           1),
                ElementsAre(2));
}

// A try with a limit gives up when the time has passed and nothing else can run; without one it gives up too.
TEST(MbarrierKernel, TriesGiveUp) {
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(4);
    gpu.run_clean(compile(std::string(declare) + R"(mbarrier.init.shared.b64 [%r1], 1;
        mov.u64 %q1, %globaltimer;
        mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0, 5000;
        mov.u64 %q2, %globaltimer; sub.u64 %q3, %q2, %q1; st.global.u64 [%q0], %q3;
        selp.u64 %q4, 1, 0, %p1; st.global.u64 [%q0+8], %q4;
        mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
        selp.u64 %q4, 1, 2, %p1; st.global.u64 [%q0+16], %q4;)"),
                  blocks(1, 1), out);
    EXPECT_GE(out[0], 5000u);
    EXPECT_LT(out[0], 6000u);
    EXPECT_EQ(out[1], 0u);
    EXPECT_EQ(out[2], 2u);
}

// A consumer that waits takes no turns until its phase completes.
TEST(MbarrierKernel, WaitersSleep) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(1);
    LaunchOptions options;
    options.seed = 1;  // short turns, many of them
    const LaunchReport report = gpu.run(compile(std::string(declare) + R"(
        mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra ready; mbarrier.init.shared.b64 [%r1], 1;
    ready:
        bar.sync 0; setp.ge.u32 %p1, %r0, 32; @%p1 bra consumer;
        mov.u32 %r3, 0;
    work:
        st.shared.u32 [%r2], %r3; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 20000; @%p2 bra work;
        setp.eq.u32 %p3, %r0, 0; @%p3 mbarrier.arrive.shared.b64 _, [%r1];
        bra done;
    consumer:
    wait:
        mbarrier.try_wait.parity.shared.b64 %p4, [%r1], 0; @!%p4 bra wait;
        st.global.u32 [%q0], 1;
    done:)"),
                                        blocks(1, 64), options, out);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(*out, 1u);
    EXPECT_LT(report.operations, 4u * 20000 + 60);
}

// The kernel's own limit of time, by a clock, passes although its tries would wait for ever.
TEST(MbarrierKernel, AKernelsOwnTimeLimitEndsItsTries) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(1);
    gpu.run_clean(compile(std::string(declare) + R"(mbarrier.init.shared.b64 [%r1], 1; mov.u64 %q1, %clock64;
    wait:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @%p1 bra done;
        mov.u64 %q2, %clock64; sub.u64 %q3, %q2, %q1; setp.lt.u64 %p2, %q3, 30000000000; @%p2 bra wait;
        st.global.u32 [%q0], 5;
    done:)"),
                  blocks(1, 1), out);
    EXPECT_EQ(*out, 5u);
}

// All CTAs arrive on the mbarrier of rank 0; generic addresses and shared::cluster ones do the same.
TEST(MbarrierKernel, RemoteArrivals) {
    for (const std::uint32_t size : {2u, 4u, 8u, 16u}) {
        for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::random}) {
            for (const std::optional<std::uint64_t> seed : {std::optional<std::uint64_t>{}, {4}}) {
                Device gpu;
                auto* out = gpu.buffer<std::uint32_t>(64);
                LaunchOptions options;
                options.seed = seed;
                options.copies = policy;
                const LaunchReport report = gpu.run(compile(std::string(declare) + R"(
        mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, %cluster_nctarank; mul.lo.u32 %r5, %r4, 4;
        mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra ready; mbarrier.init.shared.b64 [%r1], %r5;
        mbarrier.init.shared.b64 [%r2], 1;
    ready:
        barrier.cluster.arrive; barrier.cluster.wait;
        setp.ne.u32 %p1, %r0, 0; @%p1 bra arrived;
        mapa.shared::cluster.u32 %r6, %r1, 0; cvt.u64.u32 %q1, %r1; cvta.shared.u64 %q1, %q1; mapa.u64 %q1, %q1, 0;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
        mbarrier.arrive.release.cluster.b64 _, [%q1], 2;
        mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r6], %r4;
        mbarrier.complete_tx.shared::cluster.b64 [%r6], %r4;
    arrived:
        setp.ne.u32 %p2, %r3, 0; @%p2 bra done;
    wait:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra wait;
        shl.b32 %r7, %r0, 2; cvt.u64.u32 %q2, %r7; add.u64 %q0, %q0, %q2; st.global.u32 [%q0], 3;
    done:
        barrier.cluster.arrive; barrier.cluster.wait;)"),
                                                    {{size, 1, 1}, {32, 1, 1}, {size, 1, 1}, 0}, options, out);
                if (report.fault) FAIL() << to_string(*report.fault);
                if (report.deadlock) FAIL() << to_string(*report.deadlock);
                for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 3u);
            }
        }
    }
}

struct Recorder : machine::Observer {
    std::vector<std::string> events;
    void barrier(const machine::BarrierEvent& each) override {
        static constexpr const char* names[] = {"arrive", "wait", "complete", "expect", "transfer", "init", "inval"};
        events.push_back(fmt::format("{} {} {:x} {} {}",
                                     each.cluster    ? "cluster"
                                     : each.mbarrier ? "mbarrier"
                                                     : "barrier",
                                     names[static_cast<int>(each.kind)], each.barrier, each.generation, each.bytes));
    }
};

TEST(MbarrierKernel, ObserversSeeEveryStep) {
    Device gpu;
    Recorder recorder;
    LaunchOptions options;
    options.observer = &recorder;
    auto* out = gpu.buffer<std::uint32_t>(1);
    const LaunchReport report = gpu.run(compile(std::string(declare) + R"(mbarrier.init.shared.b64 [%r1], 1;
        mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16; mbarrier.complete_tx.shared.b64 [%r1], 4;
        mbarrier.complete_tx.shared.b64 [%r1], 12; mbarrier.test_wait.parity.shared.b64 %p0, [%r1], 0;
        mbarrier.arrive.shared.b64 _, [%r1]; barrier.cluster.arrive; barrier.cluster.wait;)"),
                                        blocks(1, 1), options, out);
    ASSERT_TRUE(report.ok());
    EXPECT_THAT(recorder.events,
                ElementsAre("mbarrier init 400 0 0", "mbarrier expect 400 0 16", "mbarrier arrive 400 0 0",
                            "mbarrier transfer 400 0 4", "mbarrier complete 400 0 12", "mbarrier wait 400 1 0",
                            "mbarrier complete 400 1 0", "cluster arrive 0 0 0", "cluster wait 0 1 0"));
}

std::string fault_of(const std::string& body, std::uint32_t ctas = 1) {
    Device gpu;
    auto* buffer = gpu.buffer<std::uint32_t>(100);
    const LaunchReport report =
        gpu.run(compile(declare + body), {{ctas, 1, 1}, {1, 1, 1}, {ctas, 1, 1}, 0}, {}, buffer);
    EXPECT_TRUE(report.fault) << body;
    if (!report.fault) return "";
    return std::string(name(report.fault->kind)) + ": " + report.fault->message;
}

TEST(MbarrierKernel, MisuseIsCalledByItsName) {
    const std::string init = "mbarrier.init.shared.b64 [%r1], 1;";
    // Shared memory begins with anything, as on a GPU: no bits of it make an mbarrier.
    for (const char* use : {"mbarrier.arrive.shared.b64 _, [%r1];", "mbarrier.expect_tx.shared.b64 [%r1], 4;",
                            "mbarrier.test_wait.parity.shared.b64 %p0, [%r1], 0;", "mbarrier.inval.shared.b64 [%r1];",
                            "cp.async.mbarrier.arrive.shared.b64 [%r1];"}) {
        EXPECT_EQ(fault_of(use), "mbarrier: no mbarrier was initialised there") << use;
        EXPECT_EQ(fault_of(init + "mbarrier.inval.shared.b64 [%r1];" + use),
                  "mbarrier: no mbarrier was initialised there");
        EXPECT_EQ(fault_of(init + "st.shared.b32 [%r1], 0x777;" + use),
                  "mbarrier: something other than an mbarrier operation has written to the mbarrier");
    }
    EXPECT_THAT(fault_of(init + "mbarrier.arrive.shared.b64 _, [%r1], 2;"),
                HasSubstr("more threads arrive than the 1 that are pending"));
    EXPECT_THAT(fault_of("mov.u32 %r3, 1048576; mbarrier.init.shared.b64 [%r1], %r3;"),
                HasSubstr("an mbarrier expects 1 to 1048575 arrivals; found 1048576"));
    EXPECT_THAT(
        fault_of(init + "mbarrier.expect_tx.shared.b64 [%r1], 1048575; mbarrier.expect_tx.shared.b64 [%r1], 1;"),
        HasSubstr("the transaction count, 1048575 bytes before, leaves its range of ±(2^20 - 1)"));
    EXPECT_THAT(fault_of(init + "mbarrier.init.shared.b64 [%r1], 1;"),
                HasSubstr("a live mbarrier is initialised again; the first time was in line"));
    EXPECT_THAT(fault_of(init + "mbarrier.arrive.noComplete.shared.b64 %q1, [%r1], 1;"),
                HasSubstr("an arrival with .noComplete would complete the phase"));
    EXPECT_THAT(fault_of("mbarrier.arrive.b64 _, [%q0];"), HasSubstr("an mbarrier lies in shared memory"));
    EXPECT_THAT(fault_of("mbarrier.arrive.shared.b64 _, [%r1+4];"), HasSubstr("misaligned"));
}

TEST(MbarrierKernel, WhatIsNotDoneToAPeersMbarrier) {
    const std::string peer = R"(mbarrier.init.shared.b64 [%r1], 2; barrier.cluster.arrive; barrier.cluster.wait;
        mov.u32 %r3, %cluster_ctarank; xor.b32 %r3, %r3, 1; cvt.u64.u32 %q1, %r1; cvta.shared.u64 %q1, %q1;
        mapa.u64 %q1, %q1, %r3;)";
    EXPECT_THAT(fault_of(peer + "mbarrier.test_wait.parity.b64 %p0, [%q1], 0;", 2),
                HasSubstr("this is done to mbarriers of the own CTA only"));
    EXPECT_THAT(fault_of(peer + "mbarrier.inval.b64 [%q1];", 2),
                HasSubstr("this is done to mbarriers of the own CTA only"));
    EXPECT_THAT(fault_of(peer + "mbarrier.arrive.b64 %q2, [%q1];", 2),
                HasSubstr("an arrival on another CTA's mbarrier returns no state"));
    EXPECT_THAT(fault_of("mbarrier.init.shared.b64 [%r1], 1; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 "
                         "%r3, %cluster_ctarank; setp.eq.u32 %p0, %r3, 1; @%p0 exit; nanosleep.u32 9999; "
                         "mapa.shared::cluster.u32 %r4, %r1, 1; mbarrier.arrive.shared::cluster.b64 _, [%r4];",
                         2),
                HasSubstr("exited CTA"));
}

}  // namespace
}  // namespace tilepath::exec
