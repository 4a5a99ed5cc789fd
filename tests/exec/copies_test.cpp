// cp.async under its three completion policies.
#include <numeric>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;

/// Two groups of copies, then `wait`; writes what each thread then finds in shared memory.
std::string two_groups(const std::string& wait) {
    return R"(
        .shared .align 16 .b8 tile[1024];
        mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;
        cvt.u64.u32 %q2, %r1; add.u64 %q2, %q1, %q2;
        st.shared.u32 [%r2], 1111; st.shared.u32 [%r2+512], 2222;
        cp.async.cg.shared.global [%r2], [%q2], 16;
        cp.async.commit_group;
        cp.async.ca.shared.global [%r2+512], [%q2+512], 16;
        cp.async.commit_group;
)" + wait + R"(
        ld.shared.u32 %r4, [%r2]; ld.shared.u32 %r5, [%r2+512];
        mul.wide.u32 %q3, %r0, 8; add.u64 %q3, %q0, %q3;
        st.global.v2.u32 [%q3], {%r4, %r5};)";
}

struct Seen {
    bool first = true, second = true;  ///< every thread saw what was copied
};

Seen run(const std::string& wait, CopyPolicy policy, std::uint64_t seed = 1) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(64);
    auto* in = gpu.buffer<std::uint32_t>(256);
    std::iota(in, in + 256, 5000u);
    LaunchOptions options;
    options.copies = policy;
    options.seed = seed;
    const LaunchReport report = gpu.run(compile(two_groups(wait), 2), blocks(1, 32), options, out, in);
    EXPECT_TRUE(report.ok());
    Seen seen;
    for (std::uint32_t i = 0; i < 32; ++i) {
        EXPECT_TRUE(out[2 * i] == 5000 + 4 * i || out[2 * i] == 1111u);
        seen.first = seen.first && out[2 * i] == 5000 + 4 * i;
        seen.second = seen.second && out[2 * i + 1] == 5128 + 4 * i;
    }
    return seen;
}

TEST(CopyAsync, AWaitSeesItsGroups) {
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        for (std::uint64_t seed = 1; seed < 6; ++seed) {
            for (const char* wait : {"cp.async.wait_group 0;", "cp.async.wait_all;"}) {
                const Seen seen = run(wait, policy, seed);
                EXPECT_TRUE(seen.first && seen.second);
            }
            EXPECT_TRUE(run("cp.async.wait_group 1;", policy, seed).first);
        }
    }
}

// Planted: no wait at all, or one that covers too little. `eager` does not notice, `late` always does.
TEST(CopyAsync, AForgottenWaitShowsUnderLate) {
    EXPECT_TRUE(run("", CopyPolicy::eager).second);
    EXPECT_FALSE(run("", CopyPolicy::late).first);
    EXPECT_FALSE(run("", CopyPolicy::late).second);
    EXPECT_TRUE(run("cp.async.wait_group 1;", CopyPolicy::late).first);
    EXPECT_FALSE(run("cp.async.wait_group 1;", CopyPolicy::late).second);
}

TEST(CopyAsync, AForgottenWaitShowsUnderSomeSeed) {
    bool noticed = false;
    for (std::uint64_t seed = 1; seed < 20; ++seed) noticed = noticed || !run("", CopyPolicy::random, seed).second;
    EXPECT_TRUE(noticed);
}

// The source is read at landing: a kernel that overwrites it too soon copies the new value.
TEST(CopyAsync, TheSourceIsReadWhenItLands) {
    for (const bool late : {false, true}) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(1);
        auto* in = gpu.buffer<std::uint32_t>(4);
        in[0] = 7;
        LaunchOptions options;
        options.copies = late ? CopyPolicy::late : CopyPolicy::eager;
        EXPECT_TRUE(gpu.run(compile(R"(
            .shared .align 16 .b8 tile[16];
            mov.u32 %r1, tile;
            cp.async.ca.shared.global [%r1], [%q1], 4;
            st.global.u32 [%q1], 8;
            cp.async.wait_all;
            ld.shared.u32 %r2, [%r1]; st.global.u32 [%q0], %r2;)",
                                    2),
                            blocks(1, 1), options, out, in)
                        .ok());
        EXPECT_EQ(*out, late ? 8u : 7u);
    }
}

TEST(CopyAsync, ShortSourcesAreFilledWithZeros) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(4 * 17);
    auto* in = gpu.buffer<std::uint8_t>(272);
    for (int i = 0; i < 272; ++i) in[i] = static_cast<std::uint8_t>(i + 1);
    // Thread t copies t of 16 bytes. Thread 0 reads none, wherever its source may be.
    gpu.run_clean(compile(R"(
        .shared .align 16 .b8 tile[272];
        mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;
        cvt.u64.u32 %q2, %r1; add.u64 %q3, %q1, %q2;
        setp.eq.u32 %p0, %r0, 0; @%p0 mov.u64 %q3, 16;
        cp.async.cg.shared.global [%r2], [%q3], 16, %r0;
        cp.async.wait_all;
        ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];
        add.u64 %q4, %q0, %q2; st.global.v4.u32 [%q4], {%r4, %r5, %r6, %r7};)",
                          2),
                  blocks(1, 17), out, in);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(out);
    for (int t = 0; t <= 16; ++t)
        for (int i = 0; i < 16; ++i) EXPECT_EQ(bytes[16 * t + i], i < t ? in[16 * t + i] : 0) << t << " " << i;
}

TEST(CopyAsync, AWarpThatReadsNothingGetsZeros) {
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(1);
        LaunchOptions options;
        options.seed = 1, options.copies = policy;
        *out = 5;
        EXPECT_TRUE(gpu.run(compile(R"(
            .shared .align 16 .b8 tile[16];
            mov.u32 %r2, tile; mov.u64 %q3, 0; mov.u32 %r3, 0;
            st.shared.u32 [%r2], 7;
            cp.async.ca.shared.global [%r2], [%q3], 4, %r3;
            cp.async.wait_all;
            ld.shared.u32 %r4, [%r2]; st.global.u32 [%q0], %r4;)"),
                            blocks(1, 1), options, out)
                        .ok());
        EXPECT_EQ(*out, 0u);
    }
}

TEST(CopyAsync, AnIgnoredSourceGivesZeros) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    gpu.run_clean(compile(R"(
        .shared .align 16 .b8 tile[128];
        mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;
        cvt.u64.u32 %q2, %r1; add.u64 %q3, %q1, %q2;
        and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 1;
        cp.async.ca.shared.global [%r2], [%q3], 4, %p0;
        cp.async.wait_all;
        ld.shared.u32 %r4, [%r2]; add.u64 %q4, %q0, %q2; st.global.u32 [%q4], %r4;)",
                          2),
                  blocks(1, 32), out, [&] {
                      auto* in = gpu.buffer<std::uint32_t>(32);
                      std::fill_n(in, 32, 9u);
                      return in;
                  }());
    for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 ? 0u : 9u);
}

TEST(CopyAsync, FaultsAreFoundAtIssue) {
    const auto fault = [](const std::string& line) {
        Device gpu;
        auto* in = gpu.buffer<std::uint8_t>(64, "in");
        LaunchOptions options;
        options.copies = CopyPolicy::late;
        const LaunchReport report =
            gpu.run(compile(".shared .align 16 .b8 tile[64]; mov.u32 %r1, tile; mov.u32 %r2, 17;" + line), blocks(1, 1),
                    options, in);
        EXPECT_TRUE(report.fault) << line;
        return report.fault ? report.fault->kind : FaultKind::trap;
    };
    EXPECT_EQ(fault("cp.async.cg.shared.global [%r1], [%q0+64], 16;"), FaultKind::out_of_bounds);
    EXPECT_EQ(fault("cp.async.cg.shared.global [%r1+64], [%q0], 16;"), FaultKind::out_of_bounds);
    EXPECT_EQ(fault("cp.async.cg.shared.global [%r1+8], [%q0], 16;"), FaultKind::misaligned);
    EXPECT_EQ(fault("cp.async.cg.shared.global [%r1], [%q0+8], 16;"), FaultKind::misaligned);
    EXPECT_EQ(fault("cp.async.cg.shared.global [%r1], [%q0], 16, %r2;"), FaultKind::out_of_bounds);
}

// A pipeline as real kernels write it: the mbarrier completes when every thread's copies have landed.
TEST(CopyAsync, ArrivesOnAnMbarrier) {
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        for (const bool noinc : {false, true}) {
            Device gpu;
            auto* out = gpu.buffer<std::uint32_t>(64);
            auto* in = gpu.buffer<std::uint32_t>(64);
            std::iota(in, in + 64, 300u);
            LaunchOptions options;
            options.copies = policy;
            options.seed = 5;
            // Without .noinc the arrival is one more, and each thread arrives itself too.
            const std::string arrive =
                noinc ? "cp.async.mbarrier.arrive.noinc.shared.b64 [%r3]; mov.u64 %q5, 0;"
                      : "cp.async.mbarrier.arrive.shared.b64 [%r3]; mbarrier.arrive.shared.b64 %q5, [%r3];";
            const std::string wait = noinc ? "mbarrier.test_wait.parity.shared.b64 %p1, [%r3], 0;"
                                           : "mbarrier.test_wait.shared.b64 %p1, [%r3], %q5;";
            const LaunchReport report = gpu.run(compile(R"(
                .shared .align 8 .b64 bar; .shared .align 16 .b32 tile[64];
                mov.u32 %r3, bar; mov.u32 %r0, %tid.x;
                setp.ne.u32 %p0, %r0, 0; @%p0 bra ready;
                mbarrier.init.shared.b64 [%r3], 64;
            ready:
                bar.sync 0;
                shl.b32 %r1, %r0, 2; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1; cvt.u64.u32 %q2, %r1; add.u64 %q3, %q1, %q2;
                cp.async.ca.shared.global [%r2], [%q3], 4;
                )" + arrive + R"(
            wait:
                )" + wait + R"(
                @!%p1 bra wait;
                xor.b32 %r4, %r1, 252; mov.u32 %r5, tile; add.u32 %r5, %r5, %r4;
                ld.shared.u32 %r6, [%r5]; add.u64 %q4, %q0, %q2; st.global.u32 [%q4], %r6;)",
                                                        2),
                                                blocks(1, 64), options, out, in);
            if (report.deadlock) ADD_FAILURE() << to_string(*report.deadlock);
            if (report.fault) ADD_FAILURE() << to_string(*report.fault);
            for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 300 + (i ^ 63)) << i;
        }
    }
}

}  // namespace
}  // namespace tilepath::exec
