#include "gemm.cuh"

#define TILEPATH_HOPPER_ENTRY TILEPATH_HOPPER_LAUNCHED_ENTRY
#define TILEPATH_HOPPER_F16
#include "gemm_entries.inc"
