#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "host/job.h"
#include "kernels/ampere/gemm_config.h"

namespace tilepath::host {

/// One product to compute with a GEMM entry of kernels/. Inputs are those of kernels/inputs.h, so that a result can be
/// compared with what a GPU made of the same case.
struct GemmCase {
    int m = 0, n = 0, k = 0;
    int pad = 0;                                ///< elements by which every leading dimension exceeds the contiguous extent
    int offset = 0;                             ///< elements before A and B in their buffers
    std::uint32_t alpha = 0x3F800000, beta = 0; ///< bits of the f32 (s8: the s32)
    std::uint64_t seed = 1;
};

/// Called now and then with what is done and what there is to do.
using Progress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// Index of D in the job's buffers; A, B, C come before it, bias after.
inline constexpr std::size_t gemm_d = 3;

/// The launch of `entry` over the case: buffers A, B, C, D, bias.
Result<Job> gemm_job(const kernels::GemmEntry& entry, const GemmCase& problem, const std::string& arch);

/// What D must hold to the last bit on that device: every element by the scalar reference of number/, in the kernel's own
/// order of k, then the kernel's epilogue.
Result<std::vector<std::uint8_t>> gemm_reference(const kernels::GemmEntry& entry, const GemmCase& problem, const Job& job,
                                                 const Progress& progress = {});

/// FNV-1a, 64 bits: what recordings keep of a result.
std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes);

}  // namespace tilepath::host
