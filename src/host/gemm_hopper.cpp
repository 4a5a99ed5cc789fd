// The launch of a GEMM of kernels/hopper.
#include "host/gemm_tma.h"
#include "kernels/hopper/gemm_config.h"

namespace tilepath::host {

Result<GemmJob> hopper_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob job) {
    TmaGemm gemm = TmaGemm::of(kernels::hopper::gemm_config(kernel.input));
    gemm.a_box_outer = kernel.a == 't' ? 128 : 64;
    gemm.b_box_outer = kernel.b == 'n' ? 128 : 64;
    gemm.d_box_outer = 64;
    gemm.instruction = number::Instruction::wgmma;
    return tma_gemm_job(kernel, problem, std::move(job), gemm);
}

}  // namespace tilepath::host
