#pragma once
#include "exec/decoded.h"

namespace tilepath::exec {

/// What the lanes of one shfl, vote, match, redux or elect bring, and what they get. `members`: those that execute it
/// with the same membermask.
struct Exchange {
    LaneMask members = 0;
    alignas(64) std::uint32_t a[warp_lanes], b[warp_lanes], c[warp_lanes];
    alignas(64) std::uint64_t wide[warp_lanes];  ///< match.b64
    LaneMask predicate = 0;
    // results
    alignas(64) std::uint32_t d[warp_lanes];
    LaneMask p = 0;
};

/// Computes the results of all members (PTX ISA 9.7.9.6 shfl, 9.7.13.8 vote, match, activemask, redux, elect).
void exchange(const program::MicroOp& op, Exchange& lanes);

}  // namespace tilepath::exec
