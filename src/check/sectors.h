#pragma once
#include "check/warp_access.h"

namespace tilepath::check {

/// What a warp's access of global memory moves. Memory is moved in sectors of 32 bytes, four of which are a line (CUDA
/// C++ Best Practices Guide, "Coalesced Access to Global Memory").
struct SectorCount {
    std::uint32_t sectors = 0, lines = 0;                ///< touched
    std::uint32_t fewest_sectors = 0, fewest_lines = 0;  ///< that could hold the bytes asked for
};
SectorCount count_sectors(const WarpAccess& access);

}  // namespace tilepath::check
