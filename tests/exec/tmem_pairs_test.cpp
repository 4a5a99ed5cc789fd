// tcgen05 with .cta_group::2: what a pair of CTAs allocates, copies and multiplies together.
#include "tmem_kernel.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;

TEST(TmemPairs, AllocateAndFreeTogether) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(4);
    // The CTA of rank 1 comes late to both.
    const std::string body = "mov.u32 %r7, %cluster_ctarank; setp.eq.u32 %p3, %r7, 1; @%p3 nanosleep.u32 500;\n" +
                             alloc(128, "result", 2) +
                             "ld.shared.u32 %r5, [result]; mov.u32 %r8, %ctaid.x; mul.wide.u32 %q10, %r8, 4;\n"
                             "add.u64 %q10, %q0, %q10; st.global.u32 [%q10], %r5;\n"
                             "barrier.cluster.arrive; barrier.cluster.wait;\n" +
                             dealloc("%r5", 128, 2) + "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n";
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        std::fill_n(out, 4, ~0u);
        const LaunchReport report = gpu.run(tmem_program(body), pair_of_ctas(32, 4), with_policy(policy), out);
        EXPECT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
        for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], 0u);
    }
}

TEST(TmemPairs, OneAloneWaitsForItsPeer) {
    Device gpu("sm_100");
    const std::string body = "mov.u32 %r7, %cluster_ctarank; setp.eq.u32 %p3, %r7, 1; @%p3 bra over;\n" +
                             alloc(128, "result", 2) + "over: barrier.cluster.arrive; barrier.cluster.wait;\n";
    const LaunchReport report = gpu.run(tmem_program(body, 0), pair_of_ctas(32, 2), {});
    ASSERT_TRUE(report.deadlock);
    EXPECT_NE(to_string(*report.deadlock).find("waits for a warp of the peer CTA, rank 1 of the cluster"),
              std::string::npos)
        << to_string(*report.deadlock);
}

TEST(TmemPairs, MustAgree) {
    Device gpu("sm_100");
    const std::string body =
        "mov.u32 %r7, %cluster_ctarank; mov.u32 %r20, 64; shr.u32 %r20, %r20, %r7;\n"
        "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [result], %r20;\n";
    const LaunchReport report = gpu.run(tmem_program(body, 0), pair_of_ctas(32, 2), {});
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::tensor_memory_allocation);
    EXPECT_NE(report.fault->message.find("both CTAs of the pair must do the same"), std::string::npos);
}

TEST(TmemPairs, NeedAnEvenCluster) {
    const Fault fault = tmem_fault(alloc(32, "result", 2));
    EXPECT_EQ(fault.kind, FaultKind::cta_group);
    EXPECT_EQ(
        fault.message,
        ".cta_group::2 works on a pair of CTAs whose ranks differ in the last bit; the cluster has 1 CTA: launch it "
        "with an even cluster size");
}

const std::string commit_both =
    "@%p8 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [done], %h2;\n";
/// %q0 becomes the CTA's own part of the buffer.
std::string own_words(int bytes) {
    return fmt::format("mov.u32 %r52, %ctaid.x; mul.wide.u32 %q11, %r52, {}; add.u64 %q0, %q0, %q11;\n", bytes);
}

/// The even CTA's thread copies in both, each from its own shared memory, and tells both.
TEST(TmemPairs, ACopyWorksInBothCtas) {
    const std::string body =
        begin_done + fill_tiles + describe_tiles(128, 256, 0) +
        "mov.u32 %r50, %cluster_ctarank; add.u32 %r51, %r50, 700; @%p0 st.shared.u32 [tiles], %r51;\n"
        "fence.proxy.async; setp.eq.and.u32 %p8, %r50, 0, %p0;\n" +
        meet_cluster + "@%p8 tcgen05.cp.cta_group::2.128x128b [%r3], %q20;\n mov.u16 %h2, 3;\n" + commit_both +
        wait_done(0, "copied") +
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r4]; tcgen05.wait::ld.sync.aligned;\n" + own_words(512) +
        give_registers(1) + meet_cluster;
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        Device gpu("sm_100");
        auto* out = gpu.buffer<std::uint32_t>(256);
        const LaunchReport report = gpu.run(tmem_program(".reg .b16 %h<8>;\n" + with_columns(32, body, 2)),
                                            pair_of_ctas(128), with_policy(policy), out);
        ASSERT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
        EXPECT_EQ(out[0], 700u);
        EXPECT_EQ(out[128], 701u);
        EXPECT_EQ(out[128 + 5], 3u * 20 + 1);
    }
}

/// M = 256: each CTA has 128 rows of A and of D, and eight of the sixteen rows of B.
TEST(TmemPairs, AProductWritesBothCtas) {
    const std::string values =
        "mov.u32 %r50, %cluster_ctarank; shl.b32 %r51, %r50, 7; add.u32 %r60, %r60, %r51;\n"
        "shl.b32 %r51, %r50, 3; add.u32 %r61, %r61, %r51; setp.eq.and.u32 %p8, %r50, 0, %p0;\n";
    const std::string body = begin_done + make_operands(values) + "mov.u32 %r30, 0x10040010; mov.u16 %h2, 3;\n" +
                             meet_cluster + "@%p8 tcgen05.mma.cta_group::2.kind::f16 [%r3], %q20, %q21, %r30, %p6;\n" +
                             commit_both + wait_done(0, "multiplied") + "tcgen05.ld.sync.aligned.32x32b.x16.b32 " +
                             vector_of(16) + ", [%r4]; tcgen05.wait::ld.sync.aligned;\n" + own_words(128 * 16 * 4) +
                             give_registers(16) + meet_cluster;
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        Device gpu("sm_100");
        auto* out = gpu.buffer<float>(256 * 16);
        const LaunchReport report = gpu.run(tmem_program(".reg .b16 %h<8>;\n" + with_columns(32, body, 2)),
                                            pair_of_ctas(128), with_policy(policy), out);
        ASSERT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
        for (int m = 0; m < 256; ++m)
            for (int n = 0; n < 16; ++n) EXPECT_EQ(out[m * 16 + n], static_cast<float>(m * (n + 1))) << m << ", " << n;
    }
}

/// The peer leaves while a product of both is on its way: under `late` it always is.
TEST(TmemPairs, ThePeerMustStay) {
    const std::string body = "mov.u32 %r50, %cluster_ctarank; setp.eq.and.u32 %p8, %r50, 0, %p0; mov.u16 %h2, 3;\n" +
                             fill_tiles + describe_tiles(128, 256, 0) + meet_cluster +
                             "@%p8 tcgen05.cp.cta_group::2.128x128b [%r3], %q20;\n";
    Device gpu("sm_100");
    const LaunchReport report = gpu.run(tmem_program(".reg .b16 %h<8>;\n" + with_columns(32, body, 2), 0),
                                        pair_of_ctas(128), with_policy(CopyPolicy::late));
    ASSERT_TRUE(report.fault);
    EXPECT_TRUE(report.fault->kind == FaultKind::exited_cta || report.fault->kind == FaultKind::tensor_memory_access)
        << to_string(*report.fault);
}

}  // namespace
}  // namespace tilepath::exec
