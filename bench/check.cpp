// What the checks cost: the GEMMs of kernels/ run plainly, on all processors, and run with every check, which is one
// thread's work. check [SIZE]: 1024 unless told. The ratio is to be at most 8.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "check/finding.h"
#include "host/gemm.h"

namespace {

using Clock = std::chrono::steady_clock;
using namespace tilepath;

double seconds(const host::Job& job, const exec::LaunchOptions& options) {
    const auto begin = Clock::now();
    const auto outcome = host::run_on_cpu(job, options);
    const double out = std::chrono::duration<double>(Clock::now() - begin).count();
    return outcome && outcome->ok() ? out : -1;
}

}  // namespace

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1024;
    fmt::print("{0}×{0}×{0}\n{1:>20} {2:>10} {3:>10} {4:>8}\n", n, "kernel", "run s", "check s", "ratio");
    for (const auto& [kernel, arch] :
         {std::pair{"gemm_f16_tn", "sm_80"}, {"hopper_f16_tn", "sm_90a"}, {"blackwell_f16_tn", "sm_100a"}}) {
        const auto job = host::gemm_job(*host::gemm_kernel_named(kernel), {.m = n, .n = n, .k = n}, arch);
        if (!job) {
            fmt::print(stderr, "{}", to_string(job.error()));
            return 1;
        }
        std::vector<double> ratios;
        for (int round = 0; round < 3; ++round) {
            const double plain = seconds(job->job, {});
            check::Checks checks;
            exec::LaunchOptions options;
            options.observer = &checks;
            const double checked = seconds(job->job, options);
            if (plain < 0 || checked < 0) {
                fmt::print(stderr, "{} did not run\n", kernel);
                return 1;
            }
            ratios.push_back(checked / plain);
            fmt::print("{:>20} {:10.3f} {:10.3f} {:8.2f}\n", kernel, plain, checked, ratios.back());
        }
        std::ranges::sort(ratios);
        fmt::print("ratio check_of_run_{}_{} {:.2f}\n", kernel, n, ratios[1]);
    }
}
