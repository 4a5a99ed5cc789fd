// Clusters: launches, special registers, mapa and getctarank, the barrier of the cluster, st.async and red.async.
#include "kernel.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;

LaunchShape clusters(std::uint32_t grid, std::uint32_t cluster, std::uint32_t threads) {
    return {{grid, 1, 1}, {threads, 1, 1}, {cluster, 1, 1}, 0};
}

/// Runs under every policy and several orders of warps: `expect` looks at the results of each.
template <class Expect>
void run_in_every_order(const program::Program& program, const LaunchShape& shape, std::size_t words, Expect expect) {
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        for (const std::optional<std::uint64_t> seed : {std::optional<std::uint64_t>{}, {1}, {2}, {77}}) {
            SCOPED_TRACE(fmt::format("policy {}, seed {}", static_cast<int>(policy), seed.value_or(0)));
            Device gpu;
            auto* out = gpu.buffer<std::uint32_t>(words);
            LaunchOptions options;
            options.copies = policy;
            options.seed = seed;
            const LaunchReport report = gpu.run(program, shape, options, out);
            if (report.fault) FAIL() << to_string(*report.fault);
            if (report.deadlock) FAIL() << to_string(*report.deadlock);
            expect(out);
        }
    }
}

// A grid of 4 × 6 × 2 in clusters of 2 × 3 × 1: PTX ISA 10.11 to 10.17.
TEST(Cluster, SpecialRegisters) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(48 * 16);
    const program::Program program = compile(R"(
        mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.z;
        mad.lo.u32 %r3, %r2, 6, %r1; mad.lo.u32 %r3, %r3, 4, %r0; mul.wide.u32 %q1, %r3, 64; add.u64 %q0, %q0, %q1;
        mov.u32 %r4, %clusterid.x; mov.u32 %r5, %clusterid.y; mov.u32 %r6, %clusterid.z;
        st.global.u32 [%q0], %r4; st.global.u32 [%q0+4], %r5; st.global.u32 [%q0+8], %r6;
        mov.u32 %r4, %nclusterid.x; mov.u32 %r5, %nclusterid.y; mov.u32 %r6, %nclusterid.z;
        st.global.u32 [%q0+12], %r4; st.global.u32 [%q0+16], %r5; st.global.u32 [%q0+20], %r6;
        mov.u32 %r4, %cluster_ctaid.x; mov.u32 %r5, %cluster_ctaid.y; mov.u32 %r6, %cluster_ctaid.z;
        st.global.u32 [%q0+24], %r4; st.global.u32 [%q0+28], %r5; st.global.u32 [%q0+32], %r6;
        mov.u32 %r4, %cluster_nctaid.x; mov.u32 %r5, %cluster_nctaid.y; mov.u32 %r6, %cluster_nctaid.z;
        st.global.u32 [%q0+36], %r4; st.global.u32 [%q0+40], %r5; st.global.u32 [%q0+44], %r6;
        mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %cluster_nctarank;
        st.global.u32 [%q0+48], %r4; st.global.u32 [%q0+52], %r5;
        mov.pred %p0, %is_explicit_cluster; selp.u32 %r6, 1, 0, %p0; st.global.u32 [%q0+56], %r6;)");
    const auto expect = [&](std::uint32_t cx, std::uint32_t cy, std::uint32_t is_explicit) {
        for (std::uint32_t z = 0; z < 2; ++z)
            for (std::uint32_t y = 0; y < 6; ++y)
                for (std::uint32_t x = 0; x < 4; ++x) {
                    const std::vector<std::uint32_t> found(out + ((z * 6 + y) * 4 + x) * 16,
                                                           out + ((z * 6 + y) * 4 + x) * 16 + 15);
                    EXPECT_EQ(found,
                              (std::vector<std::uint32_t>{x / cx, y / cy, z, 4 / cx, 6 / cy, 2, x % cx, y % cy, 0, cx,
                                                          cy, 1, x % cx + cx * (y % cy), cx * cy, is_explicit}));
                }
    };
    gpu.run_clean(program, {{4, 6, 2}, {1, 1, 1}, {2, 3, 1}, 0}, out);
    expect(2, 3, 1);
    gpu.run_clean(program, {{4, 6, 2}, {1, 1, 1}, {1, 1, 1}, 0}, out);
    expect(1, 1, 0);
}

TEST(Cluster, MapaAndGetctarank) {
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(4 * 8);
    gpu.run_clean(compile(R"(
        .shared .b32 here[4];
        mov.u32 %r0, %ctaid.x; mul.wide.u32 %q1, %r0, 64; add.u64 %q0, %q0, %q1;
        mov.u32 %r1, here; mapa.shared::cluster.u32 %r2, %r1, 3; cvt.u64.u32 %q2, %r2; st.global.u64 [%q0], %q2;
        mov.u64 %q3, here; cvta.shared.u64 %q3, %q3; mapa.u64 %q4, %q3, 1; sub.u64 %q5, %q4, %q3;
        st.global.u64 [%q0+8], %q5;
        mapa.shared::cluster.u64 %q6, here+8, %r0; st.global.u64 [%q0+16], %q6;
        getctarank.shared::cluster.u32 %r3, %r2; getctarank.u64 %r4, %q4; getctarank.shared::cluster.u32 %r5, here;
        getctarank.shared::cluster.u64 %r6, here+4;
        st.global.u32 [%q0+24], %r3; st.global.u32 [%q0+28], %r4; st.global.u32 [%q0+32], %r5;
        st.global.u32 [%q0+36], %r6;
        isspacep.shared::cta %p0, %q4; isspacep.shared::cluster %p1, %q4; isspacep.shared::cta %p2, %q3;
        selp.u32 %r7, 1, 0, %p0; selp.u32 %r8, 2, 0, %p1; selp.u32 %r9, 4, 0, %p2;
        or.b32 %r7, %r7, %r8; or.b32 %r7, %r7, %r9; st.global.u32 [%q0+40], %r7;)"),
                  clusters(4, 4, 1), out);
    for (std::uint64_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(out[8 * rank], 0x03000400u);
        EXPECT_EQ(out[8 * rank + 1], (1 - rank) << 24);
        EXPECT_EQ(out[8 * rank + 2], rank << 24 | 0x408);
        EXPECT_EQ(out[8 * rank + 3], std::uint64_t{1} << 32 | 3);
        EXPECT_EQ(out[8 * rank + 4], rank << 32 | rank);
        EXPECT_EQ(out[8 * rank + 5], rank == 1 ? 7u : 6u);  // of a peer's address shared::cta is false
    }
}

class OfSize : public testing::TestWithParam<std::uint32_t> {};

// Each CTA reads all others' data between two barriers of the cluster.
TEST_P(OfSize, BarriersOrderSharedMemory) {
    const std::uint32_t size = GetParam();
    for (const std::string aligned : {"", ".aligned"}) {
        const program::Program program = compile(R"(
            .shared .b32 data[64];
            mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, data;
            shl.b32 %r4, %r0, 2; add.u32 %r5, %r3, %r4; mov.u32 %r9, 0; mov.u32 %r12, 0;
        round:
            add.u32 %r6, %r1, %r12; mad.lo.u32 %r6, %r6, 64, %r0; st.shared.u32 [%r5], %r6;
            barrier.cluster.arrive)" + aligned + R"(;
            barrier.cluster.wait)" + aligned + R"(;
            mov.u32 %r7, 0;
        sum:
            mapa.shared::cluster.u32 %r8, %r5, %r7; ld.shared::cluster.u32 %r10, [%r8]; add.u32 %r9, %r9, %r10;
            add.u32 %r7, %r7, 1; setp.lt.u32 %p0, %r7, %r2; @%p0 bra sum;
            barrier.cluster.arrive.release)" + aligned +
                                                 R"(;
            barrier.cluster.wait.acquire)" + aligned +
                                                 R"(;
            add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r12, 3; @%p1 bra round;
            mov.u32 %r11, %ctaid.x; mad.lo.u32 %r11, %r11, 64, %r0; mul.wide.u32 %q1, %r11, 4; add.u64 %q0, %q0, %q1;
            st.global.u32 [%q0], %r9;)");
        run_in_every_order(program, clusters(2 * size, size, 64), 128 * size, [&](const std::uint32_t* out) {
            for (std::uint32_t i = 0; i < 128 * size; ++i) {
                std::uint32_t sum = 0;
                for (std::uint32_t round = 0; round < 3; ++round)
                    for (std::uint32_t rank = 0; rank < size; ++rank) sum += 64 * (rank + round) + i % 64;
                ASSERT_EQ(out[i], sum) << i;
            }
        });
    }
}

// Every CTA sends 4 words per thread to its right neighbour and waits for those that come to itself.
TEST_P(OfSize, AsynchronousStoresCompleteOnTheNeighboursMbarrier) {
    const std::uint32_t size = GetParam();
    const program::Program program = compile(R"(
        .shared .align 16 .b32 data[128]; .shared .align 8 .b64 bar;
        mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;
        add.u32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2; mov.u32 %r4, bar; mov.u32 %r5, data;
        setp.ne.u32 %p0, %r0, 0; @%p0 bra ready;
        mbarrier.init.shared.b64 [%r4], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 512;
    ready:
        barrier.cluster.arrive.relaxed; barrier.cluster.wait;
        mapa.shared::cluster.u32 %r6, %r4, %r3; mapa.shared::cluster.u32 %r7, %r5, %r3;
        shl.b32 %r8, %r0, 4; add.u32 %r7, %r7, %r8;
        mov.u32 %r9, %ctaid.x; mad.lo.u32 %r10, %r9, 1000, %r0; add.u32 %r11, %r10, 100; add.u32 %r12, %r10, 200;
        add.u32 %r13, %r10, 300;
        st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r7], {%r10, %r11, %r12, %r13}, [%r6];
        mov.u32 %r10, 0; mov.u32 %r11, 0;
    wait:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;
        @!%p1 bra wait;
        add.u32 %r14, %r5, %r8; ld.shared.v4.u32 {%r15, %r16, %r17, %r18}, [%r14];
        mad.lo.u32 %r19, %r9, 32, %r0; mul.wide.u32 %q1, %r19, 16; add.u64 %q0, %q0, %q1;
        st.global.v4.u32 [%q0], {%r15, %r16, %r17, %r18};
        barrier.cluster.arrive; barrier.cluster.wait;)");
    run_in_every_order(program, clusters(2 * size, size, 32), 256 * size, [&](const std::uint32_t* out) {
        for (std::uint32_t cta = 0; cta < 2 * size; ++cta) {
            const std::uint32_t left = cta / size * size + (cta + size - 1) % size;
            for (std::uint32_t i = 0; i < 128; ++i)
                ASSERT_EQ(out[cta * 128 + i], left * 1000 + i / 4 + i % 4 * 100) << "CTA " << cta << ", word " << i;
        }
    });
}

// 8 CTAs are portable, 16 need the kernel's consent on a GPU (PTX ISA 2.2.2).
INSTANTIATE_TEST_SUITE_P(Cluster, OfSize, testing::Values(2u, 4u, 8u, 16u));

// PTX ISA 9.7.13.7: inc and dec wrap at b; and, or, xor of b32; min and max of both signs; add of 32 and 64 bits.
TEST(Cluster, AsynchronousReductions) {
    struct Case {
        const char* op;
        const char* type;
        std::uint64_t before, operand, after;  // after 32 threads have applied it
    };
    const Case cases[] = {{"inc", "u32", 5, 9, 7},  // 5 6 7 8 9 0 … : 32 steps from 5 modulo 10
                          {"dec", "u32", 5, 9, 3},
                          {"min", "s32", 7, 0xFFFFFFFE, 0xFFFFFFFE},
                          {"min", "u32", 7, 0xFFFFFFFE, 7},
                          {"max", "s32", 7, 0xFFFFFFFE, 7},
                          {"max", "u32", 7, 0xFFFFFFFE, 0xFFFFFFFE},
                          {"and", "b32", 0xF0F0, 0x3333, 0x3030},
                          {"or", "b32", 0xF0F0, 0x3333, 0xF3F3},
                          {"xor", "b32", 0xF0F0, 0x3333, 0xF0F0},
                          {"add", "u32", 0xFFFFFFFF, 1, 31},
                          {"add", "s32", 10, 0xFFFFFFFF, 0xFFFFFFEA},
                          {"add", "u64", 0xFFFFFFFF, 1, 0x10000001F},
                          {"add", "s64", 5, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFE5}};
    for (const Case& each : cases) {
        const bool wide = std::string_view(each.type).ends_with("64");
        const program::Program program = compile(fmt::format(
            R"(
        .shared .align 8 .b64 data; .shared .align 8 .b64 bar;
        mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, bar; mov.u32 %r4, data;
        setp.ne.u32 %p0, %r0, 0; @%p0 bra ready;
        mov.b64 %q1, {0}; st.shared.b64 [data], %q1;
        mbarrier.init.shared.b64 [%r3], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r3], {1};
    ready:
        barrier.cluster.arrive; barrier.cluster.wait;
        mapa.shared::cluster.u32 %r5, %r3, %r2; mapa.shared::cluster.u32 %r6, %r4, %r2;
        mov.b64 %q2, {2}; cvt.u32.u64 %r7, %q2;
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{3}.{4} [%r6], {5}, [%r5];
    wait:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0; @!%p1 bra wait;
        ld.shared.b64 %q3, [data]; mul.wide.u32 %q4, %r1, 8; add.u64 %q0, %q0, %q4; st.global.b64 [%q0], %q3;
        barrier.cluster.arrive; barrier.cluster.wait;)",
            each.before, wide ? 256 : 128, each.operand, each.op, each.type, wide ? "%q2" : "%r7"));
        SCOPED_TRACE(fmt::format("{}.{}", each.op, each.type));
        run_in_every_order(program, clusters(2, 2, 32), 4, [&](const std::uint32_t* out) {
            std::uint64_t found[2];
            std::memcpy(found, out, sizeof found);
            EXPECT_EQ(found[0], each.after);
            EXPECT_EQ(found[1], each.after);
        });
    }
}

TEST(Cluster, ExitedThreadsDoNotHoldTheBarrierUp) {
    // CTA 1 exits at once, of CTA 0 only two warps stay.
    const program::Program program = compile(R"(
        mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 1; @%p0 exit;
        mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 48; @%p1 exit;
        barrier.cluster.arrive; barrier.cluster.wait;
        mul.wide.u32 %q1, %r0, 4; add.u64 %q0, %q0, %q1; st.global.u32 [%q0], 9;)");
    run_in_every_order(program, clusters(2, 2, 96), 96, [](const std::uint32_t* out) {
        for (int i = 0; i < 96; ++i) EXPECT_EQ(out[i], i < 48 ? 9u : 0u);
    });
}

// PTX ISA 11.7.1: a launch that names no cluster gets that of the directive; 11.8.1: its grid counts clusters.
TEST(Cluster, DirectivesGiveTheLaunchItsClusters) {
    for (const bool clusters_in_grid : {false, true}) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(16);
        const program::Program program = compile_module(fmt::format(
            R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 1 .reqnctapercluster 2 {} {{
    .reg .b32 %a, %b; .reg .b64 %q, %w; .reg .pred %p;
    ld.param.u64 %q, [p]; mov.u32 %a, %ctaid.x; mul.wide.u32 %w, %a, 4; add.u64 %q, %q, %w;
    mov.u32 %a, %cluster_ctarank; mov.u32 %b, %clusterid.x; mad.lo.u32 %a, %b, 10, %a;
    mov.pred %p, %is_explicit_cluster; @%p add.u32 %a, %a, 100; st.global.u32 [%q], %a; ret; }})",
            clusters_in_grid ? ".blocksareclusters" : ""));
        gpu.run_clean(program, blocks(4, 1), out);
        for (std::uint32_t i = 0; i < 16; ++i)
            EXPECT_EQ(out[i], i < (clusters_in_grid ? 8u : 4u) ? 100 + i / 2 * 10 + i % 2 : 0u) << i;
    }
}

}  // namespace
}  // namespace tilepath::exec
