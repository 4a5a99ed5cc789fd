// The Hopper GEMM of kernels/ in tilepath. hopper_gemm [SIZE]: 2048 unless told.
#include <cstdlib>

#include "gemm_ratio.h"

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 2048;
    return tilepath::bench::gemm_ratio("hopper_f16_tn", "sm_90a", "hopper_gemm_f16", n) ? 0 : 1;
}
