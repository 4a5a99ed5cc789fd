#include "gemm.cuh"

#define TILEPATH_RTX_ENTRY TILEPATH_RTX_LAUNCHED_SCALED_ENTRY
#define TILEPATH_RTX_SCALED
#include "gemm_entries.inc"
