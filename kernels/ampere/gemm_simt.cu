#include "gemm_simt.cuh"

#define TILEPATH_GEMM_ENTRY TILEPATH_GEMM_SIMT_ENTRY
#define TILEPATH_GEMM_SIMT
#include "gemm_entries.inc"
