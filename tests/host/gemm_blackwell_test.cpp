// Every GEMM of kernels/blackwell and kernels/blackwell_rtx, under each policy of when asynchronous operations land,
// against the scalar reference: every element of D from the inputs, in the kernel's order of k, to the bit.
#include <gtest/gtest.h>

#include <bit>

#include "host/compare.h"
#include "host/gemm.h"

namespace tilepath::host {
namespace {

using Generation = GemmKernel::Generation;

const char* arch_of(const GemmKernel& kernel) {
    return kernel.generation == Generation::blackwell ? "sm_100a" : "sm_120a";
}

/// Ragged in m, n and k. One cluster takes several tiles, so that both accumulators and every stage come again.
std::vector<GemmCase> cases(const GemmKernel& kernel) {
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    using kernels::GemmType;
    const auto in_groups = [&](GemmType type) {  // of 128, as their tensor maps have them
        return kernel.module.ends_with("narrow") && kernels::element_bits(type) < 8;
    };
    if (in_groups(kernel.input) || in_groups(kernel.input_b))
        return {
            {.m = 200, .n = 300, .k = 128, .clusters = 1, .seed = 3},
            {.m = 80, .n = 48, .k = 640, .batch = 2, .clusters = 1, .alpha = bits(0.5f), .beta = bits(-2), .seed = 5},
            {.m = 1, .n = 1, .k = 128, .seed = 7}};
    return {{.m = 200, .n = 300, .k = 100, .clusters = 1, .seed = 3},
            {.m = 70, .n = 40, .k = 530, .batch = 2, .clusters = 1, .alpha = bits(0.5f), .beta = bits(-2), .seed = 5},
            {.m = 1, .n = 1, .k = 2, .seed = 7}};
}

class BlackwellGemm : public testing::TestWithParam<std::string> {};

TEST_P(BlackwellGemm, EqualsTheReferenceWheneverOperationsLand) {
    const GemmKernel* const kernel = gemm_kernel_named(GetParam());
    ASSERT_NE(kernel, nullptr);
    for (const GemmCase& problem : cases(*kernel)) {
        SCOPED_TRACE(testing::Message() << problem.m << "x" << problem.n << "x" << problem.k);
        const auto job = gemm_job(*kernel, problem, arch_of(*kernel));
        ASSERT_TRUE(job) << to_string(job.error());
        const auto expected = gemm_reference(*job);
        ASSERT_TRUE(expected) << to_string(expected.error());
        const Buffer& d = job->job.buffers[gemm_d];
        for (const auto policy : {machine::CopyPolicy::eager, machine::CopyPolicy::late, machine::CopyPolicy::random}) {
            SCOPED_TRACE(static_cast<int>(policy));
            exec::LaunchOptions options;
            options.copies = policy;
            if (policy == machine::CopyPolicy::random) options.seed = 11;
            const auto outcome = run_on_cpu(job->job, options);
            ASSERT_TRUE(outcome) << to_string(outcome.error());
            const exec::LaunchReport& report = outcome->reports.front();
            ASSERT_TRUE(report.ok()) << (report.fault ? exec::to_string(*report.fault)
                                                      : exec::to_string(*report.deadlock));
            const Difference difference = compare(d, outcome->buffers[gemm_d], *expected);
            ASSERT_EQ(difference.different, 0u) << to_string(d, difference);
        }
    }
}

std::vector<std::string> entries() {
    std::vector<std::string> out;
    for (const GemmKernel& kernel : gemm_kernels())
        if (kernel.generation == Generation::blackwell || kernel.generation == Generation::blackwell_rtx)
            out.emplace_back(kernel.name);
    return out;
}

INSTANTIATE_TEST_SUITE_P(Entries, BlackwellGemm, testing::ValuesIn(entries()),
                         [](const auto& each) { return each.param; });

TEST(BlackwellGemmJobs, SayWhatTensorMapsCannotHold) {
    const GemmKernel& fp4 = *gemm_kernel_named("blackwell_nvf4_tn");
    const auto odd = gemm_job(fp4, {.m = 8, .n = 8, .k = 33}, "sm_100a");
    ASSERT_FALSE(odd);
    EXPECT_NE(to_string(odd.error()).find("an even K, found 33"), std::string::npos);
    const auto ragged = gemm_job(*gemm_kernel_named("blackwell_e4m3_e2m1_tn"), {.m = 8, .n = 8, .k = 96}, "sm_100a");
    ASSERT_FALSE(ragged);
    EXPECT_NE(to_string(ragged.error()).find("a multiple of 128 in a row: expected such a K, found 96"),
              std::string::npos);
    const auto empty = gemm_job(*gemm_kernel_named("blackwell_f16_tn"), {.m = 8, .n = 8, .k = 0}, "sm_100a");
    ASSERT_FALSE(empty);
    EXPECT_NE(to_string(empty.error()).find("K of at least 1"), std::string::npos);
}

}  // namespace
}  // namespace tilepath::host
