#include "../quantize.cuh"

TILEPATH_QUANTIZE_ENTRY(quantize_mxf8, e4m3, mx)
TILEPATH_QUANTIZE_ENTRY(quantize_mxf4, e2m1, mx)
TILEPATH_QUANTIZE_ENTRY(quantize_nvf4, e2m1, nv)
