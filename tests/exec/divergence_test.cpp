// Lanes that part and meet again, and lanes, warps and CTAs that wait for one another.
#include "kernel.h"

namespace tilepath::exec {
namespace {

constexpr const char* own_slot = R"(
    mov.u32 %r0, %tid.x; mov.u32 %r60, %ctaid.x; mov.u32 %r61, %ntid.x;
    mad.lo.u32 %r62, %r60, %r61, %r0;
    mul.wide.u32 %q10, %r62, 4; add.u64 %q10, %q0, %q10;
)";

TEST(Divergence, BothSidesOfAnIfMeetAtAShuffle) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    const auto program = compile(std::string(own_slot) + R"(
        and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0;
        @%p0 bra even;
        mul.lo.u32 %r2, %r0, 100;
        bra both;
    even:
        add.u32 %r2, %r0, 7;
    both:
        shfl.sync.bfly.b32 %r3, %r2, 1, 31, 0xFFFFFFFF;
        st.global.u32 [%q10], %r3;)");
    gpu.run_clean(program, blocks(1, 32), out);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? (i + 1) * 100 : i - 1 + 7) << i;
}

TEST(Divergence, LoopsOfDifferentLengthMeetBehindTheLoop) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    // activemask behind the loop is that of all lanes, because lanes that leave early wait.
    const auto program = compile(std::string(own_slot) + R"(
        mov.u32 %r1, 0;
    again:
        add.u32 %r1, %r1, 1;
        setp.le.u32 %p0, %r1, %r0;
        @%p0 bra again;
        activemask.b32 %r2;
        st.global.u32 [%q10], %r2;)");
    gpu.run_clean(program, blocks(1, 32), out);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 0xFFFFFFFFu) << i;
}

// Two blocks that branch into each other, entered at both: no loop header dominates the loop.
TEST(Divergence, IrreducibleFlow) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(64);
    const auto program = compile(std::string(own_slot) + R"(
        mov.u32 %r1, %r0; mov.u32 %r2, 0;
        and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 0;
        @%p0 bra second;
    first:
        setp.eq.u32 %p1, %r1, 0; @%p1 bra done;
        sub.u32 %r1, %r1, 1; add.u32 %r2, %r2, 3;
    second:
        setp.eq.u32 %p1, %r1, 0; @%p1 bra done;
        sub.u32 %r1, %r1, 1; add.u32 %r2, %r2, 5;
        bra first;
    done:
        st.global.u32 [%q10], %r2;)");
    gpu.run_clean(program, blocks(1, 64), out);
    for (std::uint32_t i = 0; i < 64; ++i) {
        const std::uint32_t larger = (i + 1) / 2, smaller = i / 2;  // odd lanes begin with 3, even ones with 5
        EXPECT_EQ(out[i], i % 2 == 1 ? 3 * larger + 5 * smaller : 5 * larger + 3 * smaller) << i;
    }
}

TEST(Divergence, IndexedBranches) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    const auto program = compile(std::string(own_slot) + R"(
        rem.u32 %r1, %r0, 3;
    targets: .branchtargets zero, one, two;
        brx.idx %r1, targets;
    zero: mov.u32 %r2, 10; bra done;
    one: mov.u32 %r2, 11; bra done;
    two: mov.u32 %r2, 12;
    done:
        shfl.sync.idx.b32 %r3, %r2, 2, 31, 0xFFFFFFFF;
        add.u32 %r2, %r2, %r3;
        st.global.u32 [%q10], %r2;)");
    gpu.run_clean(program, blocks(1, 32), out);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 10 + i % 3 + 12) << i;
}

TEST(Divergence, LanesThatExitedDoNotCount) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(128);
    // Lanes 20 … 31 of each warp exit; the others vote, meet at the barrier of the CTA and shuffle.
    const auto program = compile(std::string(own_slot) + R"(
        mov.u32 %r1, %laneid; setp.ge.u32 %p0, %r1, 20;
        @%p0 exit;
        vote.sync.ballot.b32 %r2, 1, 0xFFFFFFFF;
        bar.sync 0;
        shfl.sync.idx.b32 %r3, %r2, 0, 31, 0xFFFFFFFF;
        st.global.u32 [%q10], %r3;)");
    gpu.run_clean(program, blocks(1, 128), out);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(out[i], i % 32 < 20 ? 0x000FFFFFu : 0u) << i;
}

constexpr const char* locked_increment = R"(
    spin:
        atom.global.cas.b32 %r1, [%q0], 0, 1;
        setp.ne.u32 %p0, %r1, 0;
        @%p0 bra spin;
        ld.volatile.global.u32 %r2, [%q0+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%q0+4], %r2;
        membar.gl;
        atom.global.exch.b32 %r1, [%q0], 0;
)";

TEST(Divergence, SpinLocksBetweenLanes) {
    Device gpu;
    auto* lock = gpu.buffer<std::uint32_t>(2);
    gpu.run_clean(compile(locked_increment), blocks(1, 32), lock);
    EXPECT_EQ(lock[1], 32u);
}

TEST(Divergence, SpinLocksBetweenWarpsAndCtas) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        Device gpu;
        auto* lock = gpu.buffer<std::uint32_t>(2);
        LaunchOptions options;
        if (seed > 0) options.seed = seed;
        options.threads = 4;
        const LaunchReport report = gpu.run(compile(locked_increment), blocks(7, 96), options, lock);
        EXPECT_TRUE(report.ok());
        EXPECT_EQ(lock[1], 7 * 96u) << "seed " << seed;
    }
}

// The lane that waits comes first in the code, so that without fairness it would keep the one it waits for from
// running.
TEST(Divergence, ALaneWaitsForAnother) {
    Device gpu;
    auto* flag = gpu.buffer<std::uint32_t>(2);
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0;
        @%p0 bra producer;
    wait:
        ld.volatile.global.u32 %r1, [%q0]; setp.eq.u32 %p1, %r1, 0;
        @%p1 bra wait;
        st.global.u32 [%q0+4], %r1;
        bra done;
    producer:
        setp.ne.u32 %p0, %r0, 17; @%p0 bra done;
        st.volatile.global.u32 [%q0], 42;
    done:)"),
                  blocks(1, 32), flag);
    EXPECT_EQ(flag[1], 42u);
}

TEST(Divergence, CtasWaitForCtasThatComeLater) {
    for (const bool seeded : {false, true}) {
        Device gpu;
        auto* flags = gpu.buffer<std::uint32_t>(41);
        LaunchOptions options;
        if (seeded) options.seed = 3;
        // CTA i waits for CTA i + 1; the last one begins.
        const LaunchReport report = gpu.run(compile(R"(
            mov.u32 %r0, %ctaid.x; mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q0, %q1;
            setp.eq.u32 %p0, %r0, 39; @%p0 bra free;
        wait:
            ld.acquire.gpu.global.u32 %r1, [%q1+4]; setp.eq.u32 %p1, %r1, 0;
            nanosleep.u32 100;
            @%p1 bra wait;
            add.u32 %r1, %r1, 1; st.release.gpu.global.u32 [%q1], %r1;
            ret;
        free:
            st.release.gpu.global.u32 [%q1], 1;)"),
                                            blocks(40, 1), options, flags);
        if (report.deadlock) ADD_FAILURE() << to_string(*report.deadlock);
        for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(flags[i], 40 - i);
    }
}

TEST(Divergence, EverySeedGivesTheSame) {
    std::vector<std::uint32_t> first;
    const auto program = compile(std::string(own_slot) + R"(
        .shared .b32 sums[8];
        mov.u32 %r1, 0; mov.u32 %r2, %r62;
    again:
        and.b32 %r3, %r2, 1; setp.eq.u32 %p0, %r3, 1;
        @%p0 mad.lo.u32 %r2, %r2, 3, 1;
        @!%p0 shr.u32 %r2, %r2, 1;
        add.u32 %r1, %r1, 1;
        setp.gt.u32 %p1, %r2, 1;
        @%p1 bra again;
        redux.sync.add.u32 %r4, %r1, 0xFFFFFFFF;
        shr.u32 %r5, %r0, 5; shl.b32 %r5, %r5, 2; mov.u32 %r6, sums; add.u32 %r6, %r6, %r5;
        st.shared.u32 [%r6], %r4;
        bar.sync 0;
        xor.b32 %r5, %r5, 4; mov.u32 %r6, sums; add.u32 %r6, %r6, %r5;
        ld.shared.u32 %r7, [%r6];
        add.u32 %r7, %r7, %r1;
        st.global.u32 [%q10], %r7;)");
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(512);
        LaunchOptions options;
        if (seed > 0) options.seed = seed;
        EXPECT_TRUE(gpu.run(program, blocks(8, 64), options, out).ok());
        const std::vector<std::uint32_t> result(out, out + 512);
        if (seed == 0) first = result;
        EXPECT_EQ(result, first) << "seed " << seed;
    }
    // Steps of 27 to 1 under 3n + 1: 111 (thread 27 of CTA 0).
    std::uint32_t warp1 = 0;
    for (std::uint32_t n = 32; n < 64; ++n) {
        std::uint32_t steps = 0, value = n;
        do value = value % 2 ? 3 * value + 1 : value / 2, ++steps;
        while (value > 1);
        warp1 += steps;
    }
    EXPECT_EQ(first[27], warp1 + 111);
}

}  // namespace
}  // namespace tilepath::exec
