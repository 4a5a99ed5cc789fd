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

using Recordings = std::map<std::string, std::vector<Recorded>>;

/// The recorded cases by entry. `read` takes what stands between K and alpha.
template <class Read>
Recordings recorded(const char* file_name, Read read) {
    std::ifstream file(std::string(TILEPATH_TEST_DIR "/vectors/") + file_name);
    Recordings out;
    for (std::string text; std::getline(file, text);) {
        if (text.empty() || text.starts_with('#')) continue;
        Recorded one;
        std::string entry;
        std::istringstream words(text);
        words >> entry >> one.problem.m >> one.problem.n >> one.problem.k;
        read(words, one.problem);
        words >> std::hex >> one.problem.alpha >> one.problem.beta >> std::dec >> one.problem.seed >> std::hex >>
            one.hash;
        one.line = text;
        EXPECT_TRUE(words) << text;
        out[entry].push_back(one);
    }
    return out;
}

Recordings recorded(GemmKernel::Generation generation) {
    if (generation == GemmKernel::Generation::ampere)
        return recorded("gemm_h200.txt", [](std::istream& in, GemmCase& c) { in >> c.pad >> c.offset; });
    return recorded("gemm_hopper_h200.txt", [](std::istream& in, GemmCase& c) {
        in >> c.batch;
        c.clusters = 2;  // as the recorder launches
    });
}

/// What a run costs: CTA tiles of 128×128 elements, each in full, times K.
std::int64_t cost(const GemmCase& problem) {
    return std::int64_t{(problem.m + 127) / 128} * ((problem.n + 127) / 128) * (problem.k + 64) * problem.batch;
}

bool whole_replay() { return std::getenv("TILEPATH_WHOLE_REPLAY") != nullptr; }

void run_and_compare(const GemmKernel& kernel, const Recorded& one, const char* arch,
                     const exec::LaunchOptions& options) {
    SCOPED_TRACE(one.line);
    const auto job = gemm_job(kernel, one.problem, arch);
    ASSERT_TRUE(job) << to_string(job.error());
    const auto outcome = run_on_cpu(job->job, options);
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    const exec::LaunchReport& report = outcome->reports.front();
    ASSERT_TRUE(report.ok()) << (report.fault ? exec::to_string(*report.fault) : exec::to_string(*report.deadlock));
    EXPECT_EQ(fnv1a(outcome->buffers[gemm_d]), one.hash);
}

class GemmReplay : public testing::TestWithParam<std::string> {};

TEST_P(GemmReplay, EqualsTheHardware) {
    const GemmKernel* const kernel = gemm_kernel_named(GetParam());
    ASSERT_NE(kernel, nullptr);
    static const Recordings all[] = {recorded(GemmKernel::Generation::ampere),
                                     recorded(GemmKernel::Generation::hopper)};
    const bool ampere = kernel->generation == GemmKernel::Generation::ampere;
    const Recordings& mine = all[ampere ? 0 : 1];
    ASSERT_TRUE(mine.contains(GetParam())) << "no case was recorded";
    int ran = 0;
    for (const Recorded& one : mine.at(GetParam())) {
        if (!whole_replay() && cost(one.problem) > 400) continue;
        run_and_compare(*kernel, one, ampere ? "sm_90" : "sm_90a", {});
        ++ran;
    }
    EXPECT_GE(ran, 10);
}

// A right kernel gives the same bits whenever its asynchronous operations land.
TEST_P(GemmReplay, WheneverOperationsLand) {
    const GemmKernel* const kernel = gemm_kernel_named(GetParam());
    ASSERT_NE(kernel, nullptr);
    if (kernel->generation != GemmKernel::Generation::hopper) return;
    static const Recordings all = recorded(GemmKernel::Generation::hopper);
    int ran = 0;
    for (const Recorded& one : all.at(GetParam())) {
        if (cost(one.problem) > 300) continue;
        if (!whole_replay() && ++ran > 3) break;
        exec::LaunchOptions options;
        options.copies = machine::CopyPolicy::late;
        run_and_compare(*kernel, one, "sm_90a", options);
        options.copies = machine::CopyPolicy::random;
        options.seed = 7;
        run_and_compare(*kernel, one, "sm_90a", options);
    }
}

std::vector<std::string> entries() {
    std::vector<std::string> out;
    for (const GemmKernel& kernel : gemm_kernels())  // no Blackwell GPU has recorded its own
        if (kernel.generation == GemmKernel::Generation::ampere || kernel.generation == GemmKernel::Generation::hopper)
            out.emplace_back(kernel.name);
    return out;
}

INSTANTIATE_TEST_SUITE_P(Entries, GemmReplay, testing::ValuesIn(entries()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace tilepath::host
