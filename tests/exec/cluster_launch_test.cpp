// clusterlaunchcontrol: CTAs that take over the work of clusters that are not launched then.
#include <gmock/gmock.h>

#include <bit>

#include "tensors.h"

namespace tilepath::exec {
namespace {

using ::testing::HasSubstr;

/// Each CTA adds 1 to p0[its number], and asks for another's number until there is none; p1 counts CTAs that began.
/// `multicast`: rank 0 asks for its whole cluster.
std::string stealing(bool multicast) {
    return fmt::format(R"(
    .shared .align 16 .b8 answer[16];
    .shared .align 8 .b64 full;
    mov.u32 %r1, answer; mov.u32 %r2, full; mov.u32 %r10, %ctaid.x; mov.u32 %r11, 0; mov.u32 %r12, %cluster_ctarank;
    mbarrier.init.shared.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive; barrier.cluster.wait;
    red.global.add.u32 [%q1], 1;
    setp.eq.u32 %p3, %r12, 0;
work:
    mul.wide.u32 %q5, %r10, 4; add.u64 %q5, %q0, %q5; red.global.add.u32 [%q5], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;
    {}
again:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], %r11;
    @!%p1 bra again;
    xor.b32 %r11, %r11, 1;
    ld.shared.b128 %x0, [%r1];
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %x0;
    @!%p2 bra finished;
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {{%r10, %r14, %r15, _}}, %x0;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r16, %x0;
    add.u32 %r10, %r16, %r12;
    add.u32 %r10, %r10, %r14; add.u32 %r10, %r10, %r15;
    fence.proxy.async.shared::cta;
    barrier.cluster.arrive; barrier.cluster.wait;
    bra work;
finished:
    barrier.cluster.arrive; barrier.cluster.wait;
)",
                       multicast
                           ? "@%p3 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
                             "multicast::cluster::all.b128 [%r1], [%r2];"
                           : "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
                             "[%r1], [%r2];");
}

void steal(bool multicast, std::uint32_t cluster, std::uint32_t grid) {
    const program::Program program = compile_with_maps(stealing(multicast), 0, 2, "sm_100a");
    for (const LaunchOptions& options : every_policy()) {
        Device gpu("sm_100a");
        auto* done = gpu.buffer<std::uint32_t>(grid);
        auto* began = gpu.buffer<std::uint32_t>(1);
        const LaunchReport report =
            run_with_maps(gpu, program, {{grid, 1, 1}, {1, 1, 1}, {cluster, 1, 1}, 0}, options, {}, {done, began});
        ASSERT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
        for (std::uint32_t i = 0; i < grid; ++i) EXPECT_EQ(done[i], 1u) << i;
        EXPECT_EQ(*began, report.ctas);
        EXPECT_EQ(report.ctas + report.cancelled, grid);
        EXPECT_GT(report.cancelled, 0u);  // this one finds work to take under every order that a seed gives
    }
}

TEST(ClusterLaunch, EveryCtasWorkIsDoneOnce) { steal(false, 1, 37); }
TEST(ClusterLaunch, AClusterTakesAWholeCluster) { steal(true, 2, 24); }

/// With several host threads too: a cluster is launched or cancelled, never both.
TEST(ClusterLaunch, OnSeveralHostThreads) {
    const program::Program program = compile_with_maps(stealing(false), 0, 2, "sm_100a");
    for (int round = 0; round < 8; ++round) {
        Device gpu("sm_100a");
        auto* done = gpu.buffer<std::uint32_t>(500);
        auto* began = gpu.buffer<std::uint32_t>(1);
        LaunchOptions options;
        options.threads = 4;
        const LaunchReport report = run_with_maps(gpu, program, blocks(500, 1), options, {}, {done, began});
        ASSERT_TRUE(report.ok());
        EXPECT_EQ(std::count(done, done + 500, 1u), 500);
        EXPECT_EQ(report.ctas + report.cancelled, 500u);
    }
}

/// Observers are told of each answer: 16 bytes in each CTA that gets it, and the mbarrier that counts them.
TEST(ClusterLaunch, ObserversAreToldOfAnswers) {
    struct Watcher : machine::Observer {
        std::vector<std::pair<machine::Address, machine::Address>> answers;
        void access(const machine::Access& each) override {
            if (each.mbarriers == nullptr) return;
            const auto lane = static_cast<std::size_t>(std::countr_zero(each.site.lanes));
            EXPECT_EQ(each.bytes, 16u);
            EXPECT_EQ(each.site.op->op, program::Op::try_cancel);
            answers.emplace_back(each.addresses[lane], each.mbarriers[lane]);
        }
    } watcher;
    const program::Program program = compile_with_maps(stealing(true), 0, 2, "sm_100a");
    Device gpu("sm_100a");
    auto* done = gpu.buffer<std::uint32_t>(24);
    auto* began = gpu.buffer<std::uint32_t>(1);
    LaunchOptions options;
    options.observer = &watcher;
    const LaunchReport report =
        run_with_maps(gpu, program, {{24, 1, 1}, {1, 1, 1}, {2, 1, 1}, 0}, options, {}, {done, began});
    ASSERT_TRUE(report.ok());
    // Each cluster of two asks until it is refused.
    ASSERT_EQ(watcher.answers.size(), 2 * (report.cancelled / 2 + report.ctas / 2));
    const auto [answer, mbarrier] = watcher.answers[1];
    EXPECT_EQ(machine::shared_rank(static_cast<std::uint32_t>(answer)), 1u);
    EXPECT_EQ(machine::shared_rank(static_cast<std::uint32_t>(mbarrier)), 1u);
}

TEST(ClusterLaunch, MistakesAreNamed) {
    const auto fault = [](const std::string& body) {
        const program::Program program = compile_with_maps(
            ".shared .align 16 .b8 answer[32]; .shared .align 8 .b64 full; mov.u32 %r1, answer; mov.u32 %r2, full;\n"
            "mbarrier.init.shared.b64 [%r2], 1;\n" +
                body,
            0, 0, "sm_100a");
        Device gpu("sm_100a");
        const LaunchReport report = run_with_maps(gpu, program, blocks(1, 1), {}, {}, {});
        return report.fault ? to_string(*report.fault) : std::string();
    };
    const std::string cancel =
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];";
    const std::string first = "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %x0;";
    EXPECT_THAT(fault("ld.shared.b128 %x0, [%r1]; " + first), HasSubstr("no answer of clusterlaunchcontrol"));
    // The only CTA finds nothing to cancel.
    EXPECT_THAT(fault(cancel + "ld.shared.b128 %x0, [%r1]; " + first), HasSubstr("no cluster has been cancelled"));
    EXPECT_THAT(fault("add.u32 %r1, %r1, 8; " + cancel), HasSubstr("a multiple of 16"));
}

}  // namespace
}  // namespace tilepath::exec
