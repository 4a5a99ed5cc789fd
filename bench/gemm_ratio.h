// A GEMM of kernels/ in tilepath, on all processors, against OpenBLAS SGEMM on as many threads, in one run.
#pragma once
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "host/gemm.h"

extern "C" void openblas_set_num_threads(int);

namespace tilepath::bench {

template <class Run>
double seconds(Run run) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double sgemm(int n) {
    const std::size_t elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    static std::vector<float> a(elements, 1.5f), b(elements, 1.5f), c(elements);
    return seconds([&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    });
}

/// Prints the rounds and `ratio NAME_SIZE_of_openblas_sgemm VALUE`, the median; false if the kernel did not run. One
/// size in a process.
inline bool gemm_ratio(std::string_view entry, const std::string& arch, std::string_view name, int n) {
    const auto threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    openblas_set_num_threads(threads);
    const auto job = host::gemm_job(*host::gemm_kernel_named(entry), {.m = n, .n = n, .k = n}, arch);
    if (!job) {
        fmt::print(stderr, "{}", to_string(job.error()));
        return false;
    }
    // The two take turns, so that other load of the machine falls on both.
    std::vector<double> ratios;
    fmt::print("{1} on {2}, {0}×{0}×{0}, {3} threads\n{4:>12} {5:>14} {6:>8}\n", n, entry, arch, threads, "SGEMM s",
               "tilepath s", "ratio");
    sgemm(n);
    for (int round = 0; round < 3; ++round) {
        const double blas = sgemm(n);
        Result<host::Outcome> outcome = fail("not run");
        const double own = seconds([&] { outcome = host::run_on_cpu(job->job, {}); });
        if (!outcome || !outcome->ok()) {
            fmt::print(stderr, "the kernel did not run\n");
            return false;
        }
        ratios.push_back(blas / own);
        fmt::print("{:12.3f} {:14.3f} {:8.3f}\n", blas, own, ratios.back());
    }
    std::ranges::sort(ratios);
    fmt::print("ratio {}_{}_of_openblas_sgemm {:.3f}\n", name, n, ratios[ratios.size() / 2]);
    return true;
}

}  // namespace tilepath::bench
