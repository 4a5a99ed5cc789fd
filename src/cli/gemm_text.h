#pragma once
#include <string>

#include "host/gemm.h"

namespace tilepath::cli {

/// How the kernel cuts the product: CTA tile, warp tile, MMA atom, steps along k. Lines, each ended.
std::string gemm_tiling(const host::GemmKernel& kernel, const host::GemmJob& gemm);

/// What lane 5 holds of each operand that lies in registers; empty without Tensor Cores.
std::string gemm_fragment(const host::GemmKernel& kernel);

}  // namespace tilepath::cli
