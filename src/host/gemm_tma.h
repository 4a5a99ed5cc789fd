// What the GEMM jobs have in common whose kernels read and write through tensor maps: Hopper's and Blackwell's.
#pragma once
#include "host/gemm_jobs.h"
#include "kernels/tma_gemm.h"

namespace tilepath::host {

/// What a kernel asks of its launch and its tensor maps; the words are those of its gemm_config.h.
struct TmaGemm {
    int cta_m = 0, cta_n = 0, cluster_m = 1, cta_k = 0, threads = 0, dynamic_shared_bytes = 0;
    int a_box_outer = 0, b_box_outer = 0, d_box_outer = 0;  ///< rows of a box; a row fills 128 bytes
    bool small_atoms_a = false, small_atoms_b = false;      ///< the 128B swizzle of 32-byte atoms
    bool spread_a = false, spread_b = false;                ///< 4 and 6 bits that take a byte in shared memory
    int scale_atoms = 0;  ///< that a stage holds of each operand's scales; 0: no scales
    number::Instruction instruction{};

    /// The part that every generation's GemmConfig says alike.
    template <class Config>
    static TmaGemm of(const Config& config) {
        TmaGemm out;
        out.cta_m = config.cta_m, out.cta_n = config.cta_n, out.cluster_m = config.cluster_m;
        out.cta_k = config.cta_k(), out.threads = config.threads();
        out.dynamic_shared_bytes = config.dynamic_shared_bytes();
        return out;
    }
};

Result<GemmJob> tma_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob job, const TmaGemm& gemm);

}  // namespace tilepath::host
