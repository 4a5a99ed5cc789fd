// Blackwell GEMMs of kernels/ in tilepath. blackwell_gemm [SIZE]: 2048 unless told.
#include <cstdlib>

#include "gemm_ratio.h"

int main(int argc, char** argv) {
    using tilepath::bench::gemm_ratio;
    const int n = argc > 1 ? std::atoi(argv[1]) : 2048;
    const bool f16 = gemm_ratio("blackwell_f16_tn", "sm_100a", "blackwell_gemm_f16", n);
    const bool mxf8 = gemm_ratio("blackwell_mxf8_tn", "sm_100a", "blackwell_gemm_mxf8", n);
    const bool nvf4 = gemm_ratio("blackwell_nvf4_tn", "sm_100a", "blackwell_gemm_nvf4", n);
    return f16 && mxf8 && nvf4 ? 0 : 1;
}
