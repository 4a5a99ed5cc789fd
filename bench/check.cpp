// What the checks cost: the GEMMs of kernels/ run plainly, on all processors, and run with every check, product and
// all. check [SIZE [KERNEL]]: 1024 and all three unless told. The ratio of the wall clock is to be at most 8, the
// shadow memory at most 16 bytes a byte of what is followed. Processor seconds are told for machines that are busy.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include "check/finding.h"
#include "check/provenance/product_of.h"
#include "host/gemm.h"

namespace {

using Clock = std::chrono::steady_clock;
using namespace tilepath;

struct Seconds {
    double wall = -1, processor = 0;
};

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Seconds run(const host::GemmJob& gemm, check::Checks* checks) {
    exec::LaunchOptions options;
    options.observer = checks;
    const host::Placed placed = [&](std::span<const machine::Address> addresses) {
        if (checks != nullptr) checks->expect(check::product_of(gemm, addresses));
    };
    const auto begin = Clock::now();
    const double processor = processor_seconds();
    const auto outcome = host::run_on_cpu(gemm.job, options, placed);
    if (checks != nullptr) checks->findings(gemm.job.programs());
    const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
    return {outcome && outcome->ok() ? wall : -1, processor_seconds() - processor};
}

}  // namespace

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1024;
    const std::string_view only = argc > 2 ? argv[2] : "";
    fmt::print("{0}×{0}×{0}\n{1:>20} {2:>10} {3:>10} {4:>8} {5:>12} {6:>12} {7:>8}\n", n, "kernel", "run s", "check s",
               "ratio", "processor s", "processor s", "ratio");
    for (const auto& [kernel, arch] :
         {std::pair{"gemm_f16_tn", "sm_80"}, {"hopper_f16_tn", "sm_90a"}, {"blackwell_f16_tn", "sm_100a"}}) {
        if (!only.empty() && only != kernel) continue;
        const auto job = host::gemm_job(*host::gemm_kernel_named(kernel), {.m = n, .n = n, .k = n}, arch);
        if (!job) {
            fmt::print(stderr, "{}", to_string(job.error()));
            return 1;
        }
        std::vector<double> ratios;
        check::Checks::ShadowSize size;
        for (int round = 0; round < 3; ++round) {
            const Seconds plain = run(*job, nullptr);
            check::Checks checks;
            const Seconds checked = run(*job, &checks);
            if (plain.wall < 0 || checked.wall < 0) {
                fmt::print(stderr, "{} did not run\n", kernel);
                return 1;
            }
            ratios.push_back(checked.wall / plain.wall);
            size = checks.shadow_size();
            fmt::print("{:>20} {:10.3f} {:10.3f} {:8.2f} {:12.3f} {:12.3f} {:8.2f}\n", kernel, plain.wall, checked.wall,
                       ratios.back(), plain.processor, checked.processor, checked.processor / plain.processor);
        }
        std::ranges::sort(ratios);
        fmt::print("ratio check_of_run_{}_{} {:.2f}\n", kernel, n, ratios[1]);
        fmt::print("ratio shadow_of_memory_{}_{} {:.2f}\n", kernel, n,
                   static_cast<double>(size.shadow) / static_cast<double>(size.followed));
    }
}
