// Every GEMM of kernels/ under the checks: no finding, and at most 16 bytes of shadow memory a byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "check/finding.h"
#include "check/provenance/product_of.h"
#include "host/gemm.h"

namespace tilepath::check {
namespace {

using Generation = host::GemmKernel::Generation;
struct Folder {
    Generation generation;
    const char *arch, *name;
};
class OwnKernels : public testing::TestWithParam<Folder> {};

TEST_P(OwnKernels, HaveNoFinding) {
    int kernels = 0;
    for (const host::GemmKernel& kernel : host::gemm_kernels()) {
        if (kernel.generation != GetParam().generation) continue;
        SCOPED_TRACE(kernel.name);
        const int extent = kernel.simt ? 128 : 256;
        auto job = host::gemm_job(kernel, {.m = extent, .n = extent, .k = extent / 2}, GetParam().arch);
        ASSERT_TRUE(job) << to_string(job.error());
        Checks checks;
        exec::LaunchOptions options;
        options.seed = 1;
        options.observer = &checks;
        const auto outcome = host::run_on_cpu(job->job, options, [&](std::span<const machine::Address> addresses) {
            checks.expect(product_of(*job, addresses));
        });
        ASSERT_TRUE(outcome) << to_string(outcome.error());
        EXPECT_TRUE(outcome->ok());
        for (const Finding& each : checks.findings(*job->job.launches[0].program))
            ADD_FAILURE() << each.check << ": " << each.message << " (line " << each.place.ptx.line << ')';
        const auto [followed, shadow] = checks.shadow_size();
        EXPECT_LE(shadow, 16 * followed);
        EXPECT_GE(shadow, 3 * followed);  // each cell of four bytes takes 12 for who has accessed it alone
        ++kernels;
    }
    EXPECT_GT(kernels, 0);
}

INSTANTIATE_TEST_SUITE_P(Folders, OwnKernels,
                         testing::Values(Folder{Generation::ampere, "sm_80", "ampere"},
                                         Folder{Generation::hopper, "sm_90a", "hopper"},
                                         Folder{Generation::blackwell, "sm_100a", "blackwell"},
                                         Folder{Generation::blackwell_rtx, "sm_120a", "blackwell_rtx"}),
                         [](const auto& folder) { return std::string(folder.param.name); });

}  // namespace
}  // namespace tilepath::check
