#include "gemm.cuh"

#define TILEPATH_GEMM_ENTRY TILEPATH_GEMM_MMA_ENTRY
#define TILEPATH_GEMM_F16
#include "gemm_entries.inc"
