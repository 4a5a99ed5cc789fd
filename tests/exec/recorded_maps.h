#pragma once
// A recording's tensor maps as the machine has them.
#include <algorithm>

#include "machine/tensor_map.h"
#include "recorded_tensor_map.h"

namespace tilepath::exec {

inline machine::TensorMap tensor_map(const recorded::TensorMap& from, machine::Address at) {
    machine::TensorMap map;
    map.type = static_cast<machine::TensorType>(from.type);  // both in the driver's order
    map.interleave = static_cast<machine::Interleave>(from.interleave);
    for (std::size_t mode = 0; mode < 7; ++mode)
        if (const auto swizzle = static_cast<layout::SwizzleMode>(mode);
            layout::traits(swizzle).tensor_map == from.swizzle)
            map.swizzle = swizzle;
    map.nan_fill = from.fill == 1;
    map.walk = from.im2col() ? machine::ImageWalk::im2col : machine::ImageWalk::tiled;
    map.rank = static_cast<std::uint32_t>(from.rank());
    map.address = at + from.at;
    std::copy(from.dims.begin(), from.dims.end(), map.dims.begin());
    std::copy(from.strides.begin(), from.strides.end(), map.strides.begin());
    std::copy(from.box.begin(), from.box.end(), map.box.begin());
    std::copy(from.steps.begin(), from.steps.end(), map.element_strides.begin());
    std::copy(from.lower.begin(), from.lower.end(), map.lower.begin());
    std::copy(from.upper.begin(), from.upper.end(), map.upper.begin());
    map.channels_per_pixel = from.channels, map.pixels_per_column = from.pixels;
    return map;
}

}  // namespace tilepath::exec
