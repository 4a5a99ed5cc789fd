// cp.async.bulk and cp.reduce.async.bulk of bytes in a row; tensormap.replace.
#include <numeric>

#include "tensors.h"

namespace tilepath::exec {
namespace {

/// 256 bytes from p1 into shared memory, added to p0.
const std::string through_shared = R"(
    .shared .align 128 .b8 tile[256];
    .shared .align 8 .b64 full;
    mov.u32 %r1, tile; mov.u32 %r2, full;
    mbarrier.init.shared.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q1], 256, [%r2];
again:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
    @!%p1 bra again;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%q0], [%r1], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    cp.async.bulk.wait_group 0;
)";

TEST(BulkCopy, LoadsAndReducesUnderEveryPolicy) {
    const program::Program program = compile_with_maps(through_shared, 0, 2);
    for (const LaunchOptions& options : every_policy()) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(64);
        auto* in = gpu.buffer<std::uint32_t>(64);
        std::fill(out, out + 64, 0x3F800000u);  // 1.0
        std::fill(in, in + 64, 0x40000000u);    // 2.0
        // Subnormals are kept (recorded on an H200).
        out[0] = in[0] = 1;
        ASSERT_TRUE(run_with_maps(gpu, program, blocks(1, 1), options, {}, {out, in}).ok());
        EXPECT_EQ(out[0], 2u);
        for (int i = 1; i < 64; ++i) EXPECT_EQ(out[i], 0x40400000u) << i;
    }
}

TEST(BulkCopy, MistakesAreFaultsThatNameTheRule) {
    const std::pair<const char*, const char*> mistakes[] = {
        {"mov.u32 %r3, 24; cp.async.bulk.global.shared::cta.bulk_group [%q0], [%r1], %r3;",
         "a multiple of 16 bytes, found 24"},
        {"cp.async.bulk.global.shared::cta.bulk_group [%q0+8], [%r1], 16;",
         "a bulk copy's address here is a multiple of 16"},
        {"cp.async.bulk.global.shared::cta.bulk_group [%q0], [%r1], 512;",
         "the copy reaches past the end of the allocation"},
    };
    for (const auto& [copy, message] : mistakes) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(64);
        const program::Program program =
            compile_with_maps(std::string(".shared .align 128 .b8 tile[1024]; mov.u32 %r1, tile;\n") + copy, 0, 1);
        const LaunchReport report = run_with_maps(gpu, program, blocks(1, 1), {}, {}, {out});
        ASSERT_TRUE(report.fault) << copy;
        EXPECT_NE(to_string(*report.fault).find(message), std::string::npos) << to_string(*report.fault);
    }
}

/// A load into a CTA whose threads have all left: late, it has nowhere to go.
TEST(BulkCopy, ALoadIntoAnExitedCtaIsAFault) {
    const std::string body = through_shared.substr(0, through_shared.find("again:"));
    const program::Program program = compile_with_maps(body, 0, 2);
    Device gpu;
    auto* buffer = gpu.buffer<std::uint32_t>(64);
    LaunchOptions options;
    options.copies = machine::CopyPolicy::late;
    const LaunchReport report = run_with_maps(gpu, program, blocks(1, 1), options, {}, {buffer, buffer});
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::exited_cta);
}

}  // namespace
}  // namespace tilepath::exec
