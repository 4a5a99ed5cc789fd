#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "layout/layout.h"

namespace tilepath::atom {

/// tcgen05.shift: in each of the four windows of 32 lanes, 31 rows of 32 bytes move down by one lane; the last row
/// stays. Lanes count from the address, which must be a multiple of 32; windows behind lane 127 are not there. PTX ISA
/// 9.7.16.9.3; sm_100a, sm_103a, sm_110a, no family target (ptxas 13.0).
struct TmemShift {
    std::string name;  ///< `tcgen05.shift.cta_group::1.down`
    int cta_group = 1;
    layout::Layout source, destination;  ///< (row of 4 × 31, 32-bit column of 8) to TLane, TCol
    std::string_view evidence;           ///< of the direction and of the windows
};
Result<TmemShift> tmem_shift(int cta_group);

}  // namespace tilepath::atom
