// Launches that cannot go on: found, and explained.
#include <gmock/gmock.h>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using ::testing::HasSubstr;

Deadlock deadlock_of(const std::string& body, LaunchShape shape, LaunchOptions options = {}) {
    Device gpu;
    auto* buffer = gpu.buffer<std::uint32_t>(100);
    const LaunchReport report = gpu.run(compile(body), shape, options, buffer);
    if (report.fault) ADD_FAILURE() << to_string(*report.fault);
    EXPECT_TRUE(report.deadlock) << "no deadlock";
    return report.deadlock.value_or(Deadlock{});
}

TEST(Deadlock, AWarpMissesTheBarrier) {
    const Deadlock deadlock = deadlock_of(R"(
        mov.u32 %r0, %tid.x; shr.u32 %r0, %r0, 5; setp.eq.u32 %p0, %r0, 2;
        @%p0 bra other;
        bar.sync 1, 128;
        bra done;
    other:
        bar.sync 2, 64;
    done:)",
                                          blocks(1, 128));
    EXPECT_FALSE(deadlock.timed_out);
    ASSERT_EQ(deadlock.groups.size(), 4u);
    const std::string text = to_string(deadlock);
    EXPECT_THAT(text, HasSubstr("waits at barrier 1 (phase 0): 96 of 128 threads have arrived; not there: warp 2"));
    EXPECT_THAT(text, HasSubstr("waits at barrier 2 (phase 0): 32 of 64 threads"));
    EXPECT_THAT(text, HasSubstr("bar.sync 2, 64;"));
}

TEST(Deadlock, AFlagThatNobodySets) {
    const Deadlock deadlock = deadlock_of(R"(
    wait:
        ld.volatile.global.u32 %r1, [%q0]; setp.eq.u32 %p0, %r1, 0;
        @%p0 bra wait;)",
                                          blocks(2, 64));
    ASSERT_EQ(deadlock.groups.size(), 4u);
    EXPECT_THAT(deadlock.groups[0].waits_for, HasSubstr("polls"));
}

TEST(Deadlock, PollsWithSleepAndCompareAndSwap) {
    EXPECT_EQ(deadlock_of(R"(
        st.global.u32 [%q0], 1; bar.sync 0;
    wait:
        atom.global.cas.b32 %r1, [%q0], 0, 1; setp.ne.u32 %p0, %r1, 0;
        nanosleep.u32 200;
        @%p0 bra wait;)",
                          blocks(1, 64))
                  .groups.size(),
              2u);
    EXPECT_GE(deadlock_of(R"(
    wait:
        atom.global.exch.b32 %r1, [%q0], 1; setp.ne.u32 %p0, %r1, 0;
        @%p0 bra wait;)",
                          blocks(1, 32))
                  .groups.size(),
              1u);
}

TEST(Deadlock, AnEmptyEndlessLoop) { EXPECT_EQ(deadlock_of("l: bra l;", blocks(1, 32)).groups.size(), 1u); }

TEST(Deadlock, ALoopAroundALoop) {
    EXPECT_EQ(deadlock_of(R"(
    outer:
        mov.u32 %r1, 0;
    inner:
        add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 20; @%p0 bra inner;
        ld.volatile.global.u32 %r2, [%q0]; setp.eq.u32 %p0, %r2, 0; @%p0 bra outer;)",
                          blocks(1, 32))
                  .groups.size(),
              1u);
}

TEST(Deadlock, AShuffleWithoutItsPartner) {
    const Deadlock deadlock = deadlock_of(R"(
        mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 16;
        @%p0 bra low;
        bar.warp.sync 0xFFFFFFFF;
        bra done;
    low:
        shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xFFFFFFFF;
    done:)",
                                          blocks(1, 32));
    ASSERT_EQ(deadlock.groups.size(), 2u);
    EXPECT_THAT(deadlock.groups[0].waits_for, HasSubstr("other lanes of the warp"));
}

TEST(Deadlock, AnMbarrierThatIsOneArrivalShort) {
    const Deadlock deadlock = deadlock_of(R"(
        .shared .align 8 .b64 bar; mov.u32 %r1, bar; mov.u32 %r0, %tid.x;
        setp.ne.u32 %p0, %r0, 0; @%p0 bra ready;
        mbarrier.init.shared.b64 [%r1], 33;
    ready:
        bar.sync 0;
        mbarrier.arrive.shared.b64 %q1, [%r1];
    wait:
        mbarrier.try_wait.shared.b64 %p1, [%r1], %q1;
        @!%p1 bra wait;)",
                                          blocks(1, 32));
    ASSERT_GE(deadlock.groups.size(), 1u);
    EXPECT_THAT(to_string(deadlock), HasSubstr("1 of 33 arrivals"));
}

// sm_90 holds 132 × 2 CTAs of 1,024 threads: the last CTA, for which all others wait, never enters.
TEST(Deadlock, TheDeviceIsFull) {
    const Deadlock deadlock = deadlock_of(R"(
        mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 264; @%p0 bra last;
    wait:
        ld.volatile.global.u32 %r1, [%q0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra wait;
        ret;
    last:
        st.volatile.global.u32 [%q0], 1;)",
                                          blocks(265, 1024));
    EXPECT_EQ(deadlock.resident_ctas, 264u);
    EXPECT_EQ(deadlock.waiting_ctas, 1u);
    EXPECT_THAT(to_string(deadlock), HasSubstr("1 have not been entered"));
}

TEST(Deadlock, OneCtaLessFits) {
    Device gpu;
    auto* flag = gpu.buffer<std::uint32_t>(1);
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 263; @%p0 bra last;
    wait:
        ld.volatile.global.u32 %r1, [%q0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra wait;
        ret;
    last:
        st.volatile.global.u32 [%q0], 1;)"),
                  blocks(264, 1024), flag);
    EXPECT_EQ(*flag, 1u);
}

// None of these loops only polls, though their registers repeat: each changes something that is no register of its own.
TEST(Deadlock, LoopsThatLookLikePolls) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(4);
    // A counter in local memory; identical calls; a partner at a barrier who counts.
    gpu.run_clean(compile(R"(
        .local .b32 counter; .shared .b32 flag; mov.u32 %r0, %tid.x;
        st.local.u32 [counter], 0;
    again:
        ld.local.u32 %r1, [counter]; add.u32 %r1, %r1, 1; st.local.u32 [counter], %r1;
        setp.lt.u32 %p0, %r1, 5000; @%p0 bra again;
        mov.u32 %r2, 0;
    calls:
        call f, (); add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 300; @%p0 bra calls;
        st.shared.u32 [flag], 0; bar.sync 0;
        setp.ge.u32 %p0, %r0, 32; @%p0 bra counts;
    polls:
        bar.sync 1; ld.volatile.shared.u32 %r3, [flag]; setp.eq.u32 %p1, %r3, 0; @%p1 bra polls;
        st.global.u32 [%q0], %r1; st.global.u32 [%q0+4], %r2; st.global.u32 [%q0+8], %r3;
        ret;
    counts:
        mov.u32 %r4, 0;
    count:
        bar.sync 1; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 400; @%p1 bra count;
        st.volatile.shared.u32 [flag], 1; bar.sync 1;)",
                          1, R"(.func f() { .reg .b32 %i; .reg .pred %p; mov.u32 %i, 0;
        again: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 70; @%p bra again; ret; })"),
                  blocks(1, 64), out);
    EXPECT_EQ(out[0], 5000u);
    EXPECT_EQ(out[1], 300u);
    EXPECT_EQ(out[2], 1u);
}

TEST(Deadlock, TimeLimit) {
    LaunchOptions options;
    options.timeout = std::chrono::milliseconds(50);
    // It counts, so that it is no poll.
    const Deadlock deadlock =
        deadlock_of("l: add.u64 %q1, %q1, 1; st.global.u64 [%q0], %q1; bra l;", blocks(3, 32), options);
    EXPECT_TRUE(deadlock.timed_out);
    EXPECT_THAT(to_string(deadlock), HasSubstr("time limit"));
}

// A kernel's own time limit passes, for virtual time moves when nothing else does.
TEST(Deadlock, TheKernelsOwnTimeLimitComesFirst) {
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(2);
    gpu.run_clean(compile(R"(
        mov.u64 %q1, %clock64;
    wait:
        ld.volatile.global.u32 %r1, [%q0]; setp.ne.u32 %p0, %r1, 0; @%p0 bra done;
        mov.u64 %q2, %clock64; sub.u64 %q3, %q2, %q1;
        setp.lt.u64 %p1, %q3, 20000000000;
        @%p1 bra wait;
        st.global.u64 [%q0+8], %q3;
    done:)"),
                  blocks(1, 32), out);
    EXPECT_GE(out[1], 20'000'000'000u);
}

TEST(Deadlock, SleepersAreWokenByTime) {
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(1);
    gpu.run_clean(compile(R"(
        mov.u64 %q1, %globaltimer; nanosleep.u32 500000; mov.u64 %q2, %globaltimer;
        sub.u64 %q3, %q2, %q1; st.global.u64 [%q0], %q3;)"),
                  blocks(1, 1), out);
    EXPECT_GE(*out, 500'000u);
    EXPECT_LT(*out, 600'000u);
}

}  // namespace
}  // namespace tilepath::exec
