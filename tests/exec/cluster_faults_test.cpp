// Clusters misused: their barrier, st.async, setmaxnreg, launches that no device takes.
#include <gmock/gmock.h>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using ::testing::HasSubstr;

Fault fault_of(const std::string& body, std::uint32_t threads = 32) {
    Device gpu;
    auto* buffer = gpu.buffer<std::uint32_t>(100);
    const LaunchReport report =
        gpu.run(compile(body, 1, "", "sm_90a"), {{2, 1, 1}, {threads, 1, 1}, {2, 1, 1}, 0}, {}, buffer);
    EXPECT_TRUE(report.fault) << body;
    return report.fault.value_or(Fault{});
}

TEST(Cluster, MisuseOfTheBarrier) {
    const Fault twice = fault_of("barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;");
    EXPECT_EQ(twice.kind, FaultKind::barrier);
    EXPECT_THAT(twice.message, HasSubstr("arrives twice before phase 0 completes"));
    EXPECT_THAT(fault_of("barrier.cluster.wait;").message, HasSubstr("has not arrived before"));
    EXPECT_EQ(fault_of("mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 7; @%p0 bra a; barrier.cluster.arrive.aligned; "
                       "bra b; a: barrier.cluster.arrive.aligned; b: barrier.cluster.wait;")
                  .kind,
              FaultKind::diverged);
}

/// PTX ISA 9.7.13.3: without .aligned the threads of a warp may come one by one; with it, all come together.
TEST(Cluster, DivergedWarpsAtTheBarrier) {
    const auto report = [](const std::string& aligned) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(64);
        const LaunchReport result = gpu.run(compile(fmt::format(R"(
            mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; setp.lt.u32 %p0, %r0, 16; @%p0 bra first;
            barrier.cluster.arrive{0}; barrier.cluster.wait{0}; bra done;
        first:
            barrier.cluster.arrive{0}; barrier.cluster.wait{0};
        done:
            mad.lo.u32 %r2, %r1, 32, %r0; mul.wide.u32 %q1, %r2, 4; add.u64 %q1, %q0, %q1; st.global.u32 [%q1], 1;)",
                                                                aligned),
                                                    1, "", "sm_90a"),
                                            {{2, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0}, {}, out);
        if (result.ok()) {
            EXPECT_EQ(std::count(out, out + 64, 1u), 64);
        }
        return result;
    };
    EXPECT_TRUE(report("").ok());
    const LaunchReport aligned = report(".aligned");
    ASSERT_TRUE(aligned.fault);
    EXPECT_EQ(aligned.fault->kind, FaultKind::diverged);
}

TEST(Cluster, StoresNameWhatIsWrong) {
    constexpr const char* declare = R"(.shared .align 8 .b64 bar; .shared .b32 data;
        mov.u32 %r1, bar; mov.u32 %r2, data; mapa.shared::cluster.u32 %r3, %r1, 1; mapa.shared::cluster.u32 %r4, %r2, 0;
        mapa.shared::cluster.u32 %r5, %r2, 1;)";
    const Fault elsewhere =
        fault_of(std::string(declare) +
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4], 1, [%r3]; barrier.cluster.arrive;");
    EXPECT_THAT(elsewhere.message, HasSubstr("in the CTA of rank 0, but its mbarrier in that of rank 1"));
    const Fault none =
        fault_of(std::string(declare) + "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], 1, [%r3];");
    EXPECT_THAT(none.message, HasSubstr("no mbarrier was initialised there"));
}

TEST(Cluster, AWarpgroupChangesItsRegistersTogether) {
    Device gpu;
    auto* buffer = gpu.buffer<std::uint32_t>(1);
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 128; @%p0 bra consumer;
        setmaxnreg.dec.sync.aligned.u32 40; bra done;
    consumer:
        setmaxnreg.inc.sync.aligned.u32 232;
    done:)",
                          1, "", "sm_90a"),
                  {{1, 1, 1}, {256, 1, 1}, {1, 1, 1}, 0}, buffer);
    const Fault fault = fault_of(
        "mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 64; @%p0 bra other; setmaxnreg.dec.sync.aligned.u32 40; bra done; "
        "other: setmaxnreg.dec.sync.aligned.u32 48; done:",
        128);
    EXPECT_EQ(fault.kind, FaultKind::diverged);
    EXPECT_THAT(fault.message, HasSubstr("another warp has executed setmaxnreg.dec 4"));
    const Fault absent = fault_of(
        "mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 96; @%p0 bra done; setmaxnreg.inc.sync.aligned.u32 232; done:",
        128);
    EXPECT_EQ(absent.kind, FaultKind::diverged);
    EXPECT_THAT(absent.message, HasSubstr("warp 3 has ended without"));
    EXPECT_EQ(absent.place.operation, "setmaxnreg.inc.sync.aligned.u32 232;");
    gpu.run_clean(compile("mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 96; @%p0 bra done; "
                          "setmaxnreg.dec.sync.aligned.u32 40; done:",
                          1, "", "sm_90a"),
                  {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0}, buffer);
}

TEST(Cluster, LaunchesOfSizesThatNoDeviceHas) {
    Device gpu;
    const auto refusal = [&](const machine::Dim3& cluster, const std::string& directive = "") {
        const program::Program program = compile_module(
            ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k() " + directive + " { ret; }");
        const auto report = gpu.try_launch(program, {{64, 64, 1}, {32, 1, 1}, cluster, 0}, {});
        return report ? std::string() : to_string(report.error());
    };
    EXPECT_EQ(refusal({16, 1, 1}), "");
    EXPECT_EQ(refusal({4, 4, 1}), "");
    EXPECT_THAT(refusal({32, 1, 1}), HasSubstr("cluster: expected at most 16 CTAs, found (32, 1, 1) = 32"));
    EXPECT_THAT(refusal({4, 1, 1}, ".maxclusterrank 2"), HasSubstr("allows 2 CTAs (.maxclusterrank), found 4"));
    EXPECT_THAT(refusal({4, 1, 1}, ".reqnctapercluster 2"), HasSubstr("demands (2, 1, 1)"));
    EXPECT_THAT(refusal({1, 1, 1}, ".explicitcluster"), HasSubstr("demands that its launch names a cluster"));
    EXPECT_EQ(refusal({2, 1, 1}, ".explicitcluster"), "");
    EXPECT_EQ(refusal({1, 1, 1}, ".explicitcluster .reqnctapercluster 2"), "");
    Device old("sm_80");
    const auto report =
        old.try_launch(compile("", 0, "", "sm_80"), {{4, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0}, LaunchOptions{});
    ASSERT_FALSE(report);
    EXPECT_THAT(to_string(report.error()), HasSubstr("sm_80 has no clusters"));
}

}  // namespace
}  // namespace tilepath::exec
