// The GEMMs of kernels/, run on this CPU as sm_90, against what an H200 made of the same inputs
// (tests/vectors/gemm_h200.txt): the hash of every byte of D. TILEPATH_WHOLE_REPLAY=1 runs every recorded case,
// otherwise those of few multiply-adds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "host/gemm.h"

namespace tilepath::host {
namespace {

struct Recorded {
    GemmCase problem;
    std::uint64_t hash = 0;
    std::string line;
};

/// The recorded cases by entry.
std::map<std::string, std::vector<Recorded>> recorded() {
    std::ifstream file(TILEPATH_TEST_DIR "/vectors/gemm_h200.txt");
    std::map<std::string, std::vector<Recorded>> out;
    for (std::string text; std::getline(file, text);) {
        if (text.empty() || text.starts_with('#')) continue;
        Recorded one;
        std::string entry;
        std::istringstream words(text);
        words >> entry >> one.problem.m >> one.problem.n >> one.problem.k >> one.problem.pad >> one.problem.offset >>
            std::hex >> one.problem.alpha >> one.problem.beta >> std::dec >> one.problem.seed >> std::hex >> one.hash;
        one.line = text;
        if (words) out[entry].push_back(one);
    }
    return out;
}

/// What a run costs: CTA tiles of 128×128 elements, each in full, times K.
std::int64_t cost(const GemmCase& problem) {
    return std::int64_t{(problem.m + 127) / 128} * ((problem.n + 127) / 128) * (problem.k + 64);
}

class GemmReplay : public testing::TestWithParam<std::string> {};

TEST_P(GemmReplay, EqualsTheHardware) {
    static const auto all = recorded();
    ASSERT_TRUE(all.contains(GetParam())) << "no case was recorded";
    const GemmKernel* const kernel = gemm_kernel_named(GetParam());
    ASSERT_NE(kernel, nullptr);
    const bool whole = std::getenv("TILEPATH_WHOLE_REPLAY") != nullptr;
    int ran = 0;
    for (const Recorded& one : all.at(GetParam())) {
        if (!whole && cost(one.problem) > 400) continue;
        SCOPED_TRACE(one.line);
        const auto job = gemm_job(*kernel, one.problem, "sm_90");
        ASSERT_TRUE(job) << to_string(job.error());
        const auto outcome = run_on_cpu(job->job, {});
        ASSERT_TRUE(outcome) << to_string(outcome.error());
        const exec::LaunchReport& report = outcome->reports.front();
        ASSERT_TRUE(report.ok()) << (report.fault ? exec::to_string(*report.fault) : exec::to_string(*report.deadlock));
        EXPECT_EQ(fnv1a(outcome->buffers[gemm_d]), one.hash);
        ++ran;
    }
    EXPECT_GE(ran, 10);
}

std::vector<std::string> entries() {
    std::vector<std::string> out;
    for (const GemmKernel& kernel : gemm_kernels())
        if (kernel.generation == GemmKernel::Generation::ampere) out.emplace_back(kernel.name);
    return out;
}

INSTANTIATE_TEST_SUITE_P(Entries, GemmReplay, testing::ValuesIn(entries()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace tilepath::host
