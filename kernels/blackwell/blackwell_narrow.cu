#include "gemm.cuh"

#define TILEPATH_BLACKWELL_ENTRY TILEPATH_BLACKWELL_LAUNCHED_ENTRY
#define TILEPATH_BLACKWELL_NARROW
#include "gemm_entries.inc"
