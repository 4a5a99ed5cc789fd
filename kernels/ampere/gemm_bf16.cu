#include "gemm.cuh"

#define TILEPATH_GEMM_ENTRY TILEPATH_GEMM_MMA_ENTRY
#define TILEPATH_GEMM_BF16
#include "gemm_entries.inc"
