#pragma once
#include "host/gemm.h"

namespace tilepath::cli {

// What gemm_text.h tells of every generation's kernel, of kernels/blackwell.

std::string blackwell_tiling(const host::GemmKernel& kernel, const host::GemmJob& gemm);
/// Where the accumulator lies in Tensor Memory, and whose lanes a warp of the epilogue reads.
std::string blackwell_fragment(const host::GemmKernel& kernel);

}  // namespace tilepath::cli
