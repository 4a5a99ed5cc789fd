#include "gemm.cuh"

#define TILEPATH_GEMM_ENTRY TILEPATH_GEMM_MMA_ENTRY
#define TILEPATH_GEMM_S8
#include "gemm_entries.inc"
