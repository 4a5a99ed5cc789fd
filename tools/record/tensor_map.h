// Tensor maps as recordings describe them, made by the driver.
#pragma once

#include <cuda.h>

#include "../../tests/exec/recorded_tensor_map.h"

namespace tilepath::recorded {

inline CUresult encode(CUtensorMap& into, const TensorMap& map, CUdeviceptr at) {
    const auto type = static_cast<CUtensorMapDataType>(map.type);
    const auto rank = static_cast<cuuint32_t>(map.rank());
    void* address = reinterpret_cast<void*>(at);
    const std::vector<cuuint64_t> dims(map.dims.begin(), map.dims.end());
    std::vector<cuuint64_t> strides(map.strides.begin(), map.strides.end());
    strides.push_back(0);  // of rank 1 there is none, but the driver refuses a null pointer
    const auto interleave = static_cast<CUtensorMapInterleave>(map.interleave);
    const auto swizzle = static_cast<CUtensorMapSwizzle>(map.swizzle);
    const auto fill = static_cast<CUtensorMapFloatOOBfill>(map.fill);
    if (map.im2col())
        return cuTensorMapEncodeIm2col(&into, type, rank, address, dims.data(), strides.data(), map.lower.data(),
                                       map.upper.data(), map.channels, map.pixels, map.steps.data(), interleave,
                                       swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    return cuTensorMapEncodeTiled(&into, type, rank, address, dims.data(), strides.data(), map.box.data(),
                                  map.steps.data(), interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
}

}  // namespace tilepath::recorded
