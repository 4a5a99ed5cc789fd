#include "gemm.cuh"

#define TILEPATH_RTX_ENTRY TILEPATH_RTX_LAUNCHED_ENTRY
#define TILEPATH_RTX_FP8
#include "gemm_entries.inc"
