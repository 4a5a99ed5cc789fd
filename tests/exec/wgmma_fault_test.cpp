// What a warpgroup can do wrong: named, with its place.
#include <gmock/gmock.h>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using ::testing::HasSubstr;

constexpr const char* product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %q4, %q5, ";

/// A kernel in which warp 0 and the others go ways of their own; %q4, %q5: descriptors of 64 × 16 and 8 × 16 elements.
std::string kernel(const std::string& all, const std::string& first = "", const std::string& others = "") {
    return R"(
        .shared .align 128 .b8 tile[8192];
        mov.u32 %r0, %tid.x; mov.u32 %r3, tile; shr.u32 %r1, %r0, 5; and.b32 %r2, %r0, 31; setp.eq.u32 %p0, %r1, 0; setp.lt.u32 %p1, %r2, 9;
        mov.u64 %q4, 0x0000001000080040; mov.u64 %q5, 0x00000010000800C0;
)" + all + "\n@%p0 bra first;\n" +
           others + "\nbra done;\nfirst:\n" + first +
           "\ndone:\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;";
}

LaunchReport run(const std::string& body, std::uint32_t threads = 128) {
    Device gpu;
    return gpu.run(compile(body, 1, "", "sm_90a"), blocks(1, threads), {}, gpu.buffer<std::uint32_t>(64));
}

std::string fault_of(const std::string& body, FaultKind kind, std::uint32_t threads = 128) {
    const LaunchReport report = run(body, threads);
    if (!report.fault) {
        ADD_FAILURE() << "no fault";
        return {};
    }
    EXPECT_EQ(report.fault->kind, kind);
    return to_string(*report.fault);
}

const std::string multiply = std::string(product) + "1, 1, 1, 0, 0;";

TEST(WgmmaFault, NoneInARightKernel) { EXPECT_TRUE(run(kernel(multiply)).ok()); }

TEST(WgmmaFault, AWarpgroupIs128Threads) {
    EXPECT_THAT(fault_of(kernel(multiply), FaultKind::diverged, 96), HasSubstr("four whole warps, 128 threads"));
    EXPECT_THAT(fault_of(kernel(multiply), FaultKind::diverged, 120), HasSubstr("lanes 24-31 of warp 3"));
}

TEST(WgmmaFault, LanesThatHaveLeft) {
    EXPECT_THAT(fault_of(kernel("@%p0 exit;\n" + multiply), FaultKind::diverged), HasSubstr("lanes 0-31 of warp 0"));
    // One that leaves after the others have begun.
    EXPECT_THAT(fault_of(kernel("", "bar.sync 1, 128; exit;", multiply + " bar.sync 1, 128;"), FaultKind::diverged),
                HasSubstr("exit before they execute the wgmma"));
}

TEST(WgmmaFault, LanesThatGoElsewhere) {
    const std::string text =
        fault_of(kernel("@%p1 bra wait;\n" + multiply + "\nbra go_on;\nwait: bar.warp.sync 0xFFFFFFFF;\ngo_on:"),
                 FaultKind::diverged);
    EXPECT_THAT(text, HasSubstr("every live lane of the warp must execute this together"));
}

TEST(WgmmaFault, AnotherOperationInOneWarp) {
    EXPECT_THAT(fault_of(kernel("", multiply, multiply), FaultKind::diverged),
                HasSubstr("all warps of the warpgroup must execute the same wgmma"));
}

TEST(WgmmaFault, DescriptorsThatDiffer) {
    EXPECT_THAT(fault_of(kernel("@%p1 add.u64 %q5, %q5, 1;\n" + multiply), FaultKind::diverged),
                HasSubstr("B's matrix descriptor must be the same in all lanes"));
    EXPECT_THAT(fault_of(kernel("@%p0 add.u64 %q4, %q4, 1;\n" + multiply), FaultKind::diverged),
                HasSubstr("A's matrix descriptor must be the same in all warps of the warpgroup"));
}

TEST(WgmmaFault, ScaleDThatDiffers) {
    EXPECT_THAT(fault_of(kernel(std::string(product) + "%p1, 1, 1, 0, 0;"), FaultKind::diverged),
                HasSubstr("scale-d must be the same in all lanes"));
}

TEST(WgmmaFault, DescriptorsThatLeaveSharedMemory) {
    // From 0 on: the first kilobyte is reserved. From 2^18 - 16 on: the row's second half lies beyond what exists.
    for (const char* descriptor : {"0x0000001000080000", "0x0000001000083FFF"}) {
        const std::string text =
            fault_of(kernel(fmt::format("mov.u64 %q5, {};\n", descriptor) + multiply), FaultKind::out_of_bounds);
        EXPECT_THAT(text, HasSubstr("B's matrix descriptor"));
        EXPECT_THAT(text, HasSubstr("of shared memory; the CTA has"));
    }
}

TEST(WgmmaFault, ADeadlockNamesTheWarpsThatDoNotCome) {
    const LaunchReport report = run(kernel(
        "", "bar.sync 1, 128;", multiply + " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"));
    ASSERT_TRUE(report.deadlock);
    EXPECT_THAT(to_string(*report.deadlock), HasSubstr("waits for wgmma operations that warps 0 of the warpgroup"));
}

// Each operation is told by each warp; D is there when it is.
TEST(WgmmaEvents, EachWarpTellsEachOperation) {
    struct Counter : machine::Observer {
        void multiply(const machine::Multiply& event) override {
            ++count;
            warps |= 1u << event.site.warp;
            EXPECT_EQ(event.mma->n, 8);
            EXPECT_EQ(event.site.lanes, 0xFFFFFFFFu);
        }
        int count = 0;
        std::uint32_t warps = 0;
    } counter;
    Device gpu;
    LaunchOptions options;
    options.observer = &counter;
    const auto program = compile(kernel(multiply + multiply), 1, "", "sm_90a");
    EXPECT_TRUE(gpu.run(program, blocks(1, 256), options, gpu.buffer<std::uint32_t>(64)).ok());
    EXPECT_EQ(counter.count, 16);
    EXPECT_EQ(counter.warps, 0xFFu);
}

}  // namespace
}  // namespace tilepath::exec
