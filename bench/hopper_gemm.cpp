// The Hopper GEMM of kernels/ in tilepath, on all processors, against OpenBLAS SGEMM on as many threads, in one run.
// hopper_gemm [SIZE]: 2048 unless told.
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "host/gemm.h"

extern "C" void openblas_set_num_threads(int);

namespace {

using Clock = std::chrono::steady_clock;

template <class Run>
double seconds(Run run) {
    const auto begin = Clock::now();
    run();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

double sgemm(int n) {
    static std::vector<float> a(static_cast<std::size_t>(n) * n, 1.5f), b(a), c(a);
    return seconds([&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    });
}

}  // namespace

int main(int argc, char** argv) {
    using namespace tilepath;
    const int n = argc > 1 ? std::atoi(argv[1]) : 2048;
    const auto threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    openblas_set_num_threads(threads);
    const auto job = host::gemm_job(*host::gemm_kernel_named("hopper_f16_tn"), {.m = n, .n = n, .k = n}, "sm_90a");
    if (!job) {
        fmt::print(stderr, "{}", to_string(job.error()));
        return 1;
    }
    // The two take turns, so that other load of the machine falls on both.
    std::vector<double> ratios;
    fmt::print("hopper_f16_tn on sm_90a, {0}×{0}×{0}, {1} threads\n{2:>12} {3:>14} {4:>8}\n", n, threads, "SGEMM s",
               "tilepath s", "ratio");
    sgemm(n);
    for (int round = 0; round < 3; ++round) {
        const double blas = sgemm(n);
        Result<host::Outcome> outcome = fail("not run");
        const double own = seconds([&] { outcome = host::run_on_cpu(job->job, {}); });
        if (!outcome || !outcome->ok()) {
            fmt::print(stderr, "the kernel did not run\n");
            return 1;
        }
        ratios.push_back(blas / own);
        fmt::print("{:12.3f} {:14.3f} {:8.3f}\n", blas, own, ratios.back());
    }
    std::ranges::sort(ratios);
    fmt::print("ratio hopper_gemm_f16_{}_of_openblas_sgemm {:.3f}\n", n, ratios[ratios.size() / 2]);
}
