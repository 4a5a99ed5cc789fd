// The launches of the GEMMs of kernels/blackwell (tcgen05.mma) and kernels/blackwell_rtx (mma.sync with block scales).
#include "host/gemm_tma.h"
#include "kernels/blackwell/gemm_config.h"
#include "kernels/blackwell_rtx/gemm_config.h"

namespace tilepath::host {

Result<GemmJob> blackwell_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob job) {
    const kernels::blackwell::GemmConfig config =
        kernels::blackwell::gemm_config(kernel.input, kernel.input_b, kernel.scale, kernel.form);
    TmaGemm gemm = TmaGemm::of(config);
    const bool a_k_major = kernel.a == 't', b_k_major = kernel.b == 'n';
    gemm.a_box_outer = a_k_major ? config.cta_m : config.cta_k();
    gemm.b_box_outer = b_k_major ? config.load_n() : config.cta_k();
    gemm.d_box_outer = config.slab_m;
    gemm.small_atoms_a = !a_k_major && config.element_bits == 32;
    gemm.small_atoms_b = !b_k_major && config.element_bits == 32;
    gemm.spread_a = kernels::blackwell::is_spread(config.kind, kernel.input);
    gemm.spread_b = kernels::blackwell::is_spread(config.kind, kernel.input_b);
    gemm.scale_atoms = config.scale_atoms();
    gemm.instruction = number::Instruction::tcgen05_mma;
    return tma_gemm_job(kernel, problem, std::move(job), gemm);
}

Result<GemmJob> blackwell_rtx_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob job) {
    const kernels::blackwell_rtx::GemmConfig config = kernels::blackwell_rtx::gemm_config(kernel.input, kernel.scale);
    TmaGemm gemm = TmaGemm::of(config);
    gemm.a_box_outer = config.cta_m;
    gemm.b_box_outer = config.cta_n;
    gemm.d_box_outer = config.slab_m;
    gemm.scale_atoms = config.scale_atoms();
    gemm.instruction = number::Instruction::mma_sync;
    return tma_gemm_job(kernel, problem, std::move(job), gemm);
}

}  // namespace tilepath::host
