// What a missing proxy fence changes where copies land late, and what each fence mends.
#include <gmock/gmock.h>

#include <numeric>

#include "tensors.h"

namespace tilepath::exec {
namespace {

using ::testing::HasSubstr;

LaunchOptions late() {
    LaunchOptions options;
    options.copies = machine::CopyPolicy::late;
    return options;
}

/// One thread writes 7 to p1, `fence`, and a bulk copy brings p1 to p0 through shared memory.
std::string written_then_copied(const std::string& fence) {
    return R"(
    .shared .align 128 .b8 tile[16];
    .shared .align 8 .b64 full;
    mov.u32 %r1, tile; mov.u32 %r2, full; mov.u32 %r3, 7;
    mbarrier.init.shared.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    st.global.u32 [%q1], %r3; atom.global.add.u32 %r4, [%q1+4], 3;
)" + fence +
           R"(
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q1], 16, [%r2];
again:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
    @!%p1 bra again;
    ld.shared.v2.u32 {%r5, %r6}, [%r1]; st.global.v2.u32 [%q0], {%r5, %r6};
)";
}

TEST(GlobalProxyFence, WithoutItACopyReadsWhatWasThereBefore) {
    const auto result = [](const std::string& fence, const LaunchOptions& options) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(2);
        auto* in = gpu.buffer<std::uint32_t>(4);
        std::fill(in, in + 4, 100u);
        const LaunchReport report = run_with_maps(gpu, compile_with_maps(written_then_copied(fence), 0, 2),
                                                  blocks(1, 1), options, {}, {out, in});
        EXPECT_TRUE(report.ok());
        EXPECT_EQ(in[0], 7u);
        EXPECT_EQ(in[1], 103u);
        return std::pair(out[0], out[1]);
    };
    const std::pair<std::uint32_t, std::uint32_t> before{100, 100}, after{7, 103};
    EXPECT_EQ(result("", {}), after);
    EXPECT_EQ(result("", late()), before);
    EXPECT_EQ(result("fence.proxy.async.shared::cta;", late()), before);
    EXPECT_EQ(result("fence.acq_rel.gpu;", late()), before);
    EXPECT_EQ(result("fence.proxy.async.global;", late()), after);
    EXPECT_EQ(result("fence.proxy.async;", late()), after);
}

/// p0 holds a map of p1; the kernel makes it one of p2, and loads 16 bytes through it into p3.
std::string changed_then_loaded(const std::string& change) {
    return R"(
    .shared .align 128 .b8 tile[16];
    .shared .align 128 .b8 copy[128];
    .shared .align 8 .b64 full;
    mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;
    mov.u32 %r1, tile; mov.u32 %r2, full; mov.u32 %r3, 0; mov.u32 %r9, copy;
    mul.lo.u32 %r10, %r0, 4; add.u32 %r11, %r9, %r10; cvt.u64.u32 %q9, %r10; add.u64 %q9, %q0, %q9;
    ld.global.u32 %r12, [%q9]; st.shared.u32 [%r11], %r12; bar.warp.sync 0xffffffff;
)" + change +
           R"(
    @!%p0 bra done;
    mbarrier.init.shared.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;
    cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%q0, {%r3}], [%r2];
again:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
    @!%p1 bra again;
    ld.shared.u32 %r5, [%r1]; st.global.u32 [%q3], %r5;
done:
)";
}

TEST(TensorMapFence, ACopySeesAChangedMapOnlyOnceItIsReleasedAndAcquired) {
    const auto result = [](const std::string& change, const LaunchOptions& options) {
        Device gpu;
        auto* map = gpu.buffer<std::uint8_t>(128);
        auto* first = gpu.buffer<std::uint32_t>(4);
        auto* second = gpu.buffer<std::uint32_t>(4);
        auto* out = gpu.buffer<std::uint32_t>(1);
        std::fill(first, first + 4, 1u), std::fill(second, second + 4, 2u);
        machine::TensorMap of_first;
        of_first.type = machine::TensorType::u32;
        of_first.address = reinterpret_cast<std::uintptr_t>(first);
        of_first.dims[0] = of_first.box[0] = 4;
        const auto bytes = machine::encode(of_first);
        std::memcpy(map, bytes.data(), bytes.size());
        const LaunchReport report = run_with_maps(gpu, compile_with_maps(changed_then_loaded(change), 0, 4),
                                                  blocks(1, 32), options, {}, {map, first, second, out});
        EXPECT_TRUE(report.ok());
        return *out;
    };
    const std::string replace = "@%p0 tensormap.replace.tile.global_address.global.b1024.b64 [%q0], %q2;\n",
                      release = "fence.proxy.tensormap::generic.release.gpu;\n",
                      acquire = "fence.proxy.tensormap::generic.acquire.gpu [%q0], 128;\n",
                      in_shared =
                          "@%p0 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r9], %q2;\n"
                          "bar.warp.sync 0xffffffff;\n"
                          "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
                          "aligned [%q0], [%r9], 128;\n";
    EXPECT_EQ(result(replace, {}), 2u);
    EXPECT_EQ(result(replace, late()), 1u);
    EXPECT_EQ(result(replace + acquire, late()), 1u);  // nothing was released
    EXPECT_EQ(result(replace + release, late()), 1u);
    EXPECT_EQ(result(replace + release + acquire, late()), 2u);
    EXPECT_EQ(result(in_shared, late()), 1u);
    EXPECT_EQ(result(in_shared + acquire, late()), 2u);
}

TEST(MbarrierFence, ACopyDoesNotSeeAnInitialisationThatNothingHasShown) {
    const auto fault = [](const std::string& fence, const LaunchOptions& options) {
        std::string body = written_then_copied("fence.proxy.async.global;");
        const std::string usual = "fence.mbarrier_init.release.cluster;";
        body.replace(body.find(usual), usual.size(), fence);
        Device gpu;
        auto* buffer = gpu.buffer<std::uint32_t>(4);
        const LaunchReport report =
            run_with_maps(gpu, compile_with_maps(body, 0, 2), blocks(1, 1), options, {}, {buffer, buffer});
        EXPECT_FALSE(report.deadlock);
        return report.fault ? to_string(*report.fault) : std::string();
    };
    EXPECT_THAT(fault("", late()),
                HasSubstr("the asynchronous copy does not see that the mbarrier has been initialised "
                          "(line 14): no fence.mbarrier_init"));
    EXPECT_EQ(fault("", {}), "");
    EXPECT_EQ(fault("fence.mbarrier_init.release.cluster;", late()), "");
    EXPECT_EQ(fault("fence.proxy.async.shared::cta;", late()), "");
    EXPECT_EQ(fault("fence.proxy.async;", late()), "");
    EXPECT_THAT(fault("fence.proxy.async.global;", late()), HasSubstr("does not see"));
    EXPECT_THAT(fault("fence.acq_rel.cluster;", late()), HasSubstr("does not see"));
}

/// Rank 1 arrives on rank 0's mbarrier.
TEST(MbarrierFence, AnotherCtaSeesItAfterAFenceOrABarrierThatReleases) {
    const auto fault = [](const std::string& fence, const std::string& arrive) {
        const program::Program program = compile(R"(
            .shared .align 8 .b64 full;
            mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, full;
            @!%p0 bra meet;
            mbarrier.init.shared.b64 [%r1], 1;
        )" + fence + "\nmeet:\n" + arrive + R"(
            barrier.cluster.wait;
            @%p0 bra leave;
            mapa.shared::cluster.u32 %r2, %r1, 0;
            mbarrier.arrive.shared::cluster.b64 _, [%r2];
        leave:
            barrier.cluster.arrive.relaxed; barrier.cluster.wait;
        )",
                                                 0, "", "sm_90a");
        Device gpu;
        const LaunchReport report = gpu.run(program, {{2, 1, 1}, {1, 1, 1}, {2, 1, 1}, 0}, late());
        return report.fault ? to_string(*report.fault) : std::string();
    };
    EXPECT_EQ(fault("", "barrier.cluster.arrive;"), "");
    EXPECT_EQ(fault("", "barrier.cluster.arrive.release;"), "");
    EXPECT_EQ(fault("fence.mbarrier_init.release.cluster;", "barrier.cluster.arrive.relaxed;"), "");
    EXPECT_THAT(fault("", "barrier.cluster.arrive.relaxed;"), HasSubstr("other CTAs do not see"));
}

/// Observers are told of every fence's kind, of maps that change, and of mbarriers that begin and end.
TEST(ProxyEvents, NameFencesMapsAndMbarriers) {
    struct Recorder : machine::Observer {
        std::vector<program::FenceKind> fences;
        std::vector<bool> released;
        std::vector<machine::BarrierEvent::Kind> barriers;
        machine::Address acquired = 0;
        void fence(const machine::Fence& event) override {
            fences.push_back(static_cast<program::FenceKind>(event.site.op->variant));
            if (event.map != 0) acquired = event.map;
        }
        void tensor_map(const machine::TensorMapEvent& event) override { released.push_back(event.copies); }
        void barrier(const machine::BarrierEvent& event) override { barriers.push_back(event.kind); }
    } recorder;
    const program::Program program = compile_with_maps(R"(
        .shared .align 8 .b64 full; mov.u32 %r2, full;
        mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; mbarrier.inval.shared.b64 [%r2];
        tensormap.replace.tile.rank.global.b1024.b32 [%q0], 1;
        fence.proxy.tensormap::generic.release.cta; fence.proxy.tensormap::generic.acquire.cta [%q0], 128;
        fence.proxy.async.global;
    )",
                                                       0, 1);
    Device gpu;
    auto* map = gpu.buffer<std::uint8_t>(128);
    const auto bytes = machine::encode({});
    std::memcpy(map, bytes.data(), bytes.size());
    LaunchOptions options;
    options.observer = &recorder;
    ASSERT_TRUE(run_with_maps(gpu, program, blocks(1, 1), options, {}, {map}).ok());
    using enum program::FenceKind;
    EXPECT_EQ(recorder.fences, (std::vector{mbarrier_init, tensormap_release, tensormap_acquire, proxy_async_global}));
    EXPECT_EQ(recorder.released, std::vector{false});
    EXPECT_EQ(recorder.acquired, reinterpret_cast<std::uintptr_t>(map));
    EXPECT_EQ(recorder.barriers, (std::vector{machine::BarrierEvent::Kind::init, machine::BarrierEvent::Kind::inval}));
}

}  // namespace
}  // namespace tilepath::exec
