// What the GEMM jobs of all generations have in common; each generation's file fills in its own launch.
#pragma once
#include "host/gemm.h"
#include "kernels/inputs.h"

namespace tilepath::host {

/// A buffer of so many elements, poisoned.
Buffer gemm_buffer(std::string name, kernels::GemmType type, std::int64_t elements);
/// One that holds kernels/inputs.h's elements of that operand.
Buffer gemm_input(std::string name, kernels::GemmType type, std::int64_t elements, std::uint64_t seed,
                  kernels::InputOperand operand);
/// So many bytes of scale factors.
Buffer gemm_scales(std::string name, kernels::BlockScale scale, std::int64_t bytes, std::uint64_t seed,
                   kernels::InputOperand operand);

Result<GemmJob> ampere_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob job);
Result<GemmJob> hopper_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob job);
Result<GemmJob> blackwell_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob job);
Result<GemmJob> blackwell_rtx_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob job);

}  // namespace tilepath::host
