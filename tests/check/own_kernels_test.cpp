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

void expect_no_finding(const Folder& folder, bool with_product) {
    int kernels = 0;
    for (const host::GemmKernel& kernel : host::gemm_kernels()) {
        if (kernel.generation != folder.generation) continue;
        SCOPED_TRACE(kernel.name);
        const int extent = kernel.simt || !with_product ? 128 : 256;
        auto job = host::gemm_job(kernel, {.m = extent, .n = extent, .k = 128}, folder.arch);
        ASSERT_TRUE(job) << to_string(job.error());
        Checks checks;
        exec::LaunchOptions options;
        options.seed = 1;
        options.observer = &checks;
        const auto outcome = host::run_on_cpu(job->job, options, [&](std::span<const machine::Address> addresses) {
            if (with_product) checks.expect(product_of(*job, addresses));
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

TEST_P(OwnKernels, HaveNoFinding) { expect_no_finding(GetParam(), true); }
/// What can be said without knowing the product concerns operands in shared memory.
TEST_P(OwnKernels, HaveNoneWhereNobodySaysWhatTheyCompute) { expect_no_finding(GetParam(), false); }

INSTANTIATE_TEST_SUITE_P(Folders, OwnKernels,
                         testing::Values(Folder{Generation::ampere, "sm_80", "ampere"},
                                         Folder{Generation::hopper, "sm_90a", "hopper"},
                                         Folder{Generation::blackwell, "sm_100a", "blackwell"},
                                         Folder{Generation::blackwell_rtx, "sm_120a", "blackwell_rtx"}),
                         [](const auto& folder) { return std::string(folder.param.name); });

}  // namespace
}  // namespace tilepath::check
