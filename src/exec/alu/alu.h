// exec/alu/: the bodies of operations of lane scope without memory effect. alu/vector/ is compiled once per vector
// unit.
#pragma once
#include <span>

#include "exec/decoded.h"

namespace tilepath::exec::alu {

/// The bodies for one vector unit.
struct Target {
    const char* name;
    LaneFunction (*choose)(const program::MicroOp& op);
};

/// Those that this processor can run, the best last; the first is what every processor of the architecture can run.
std::span<const Target> targets();

#define TILEPATH_TARGET(name)                        \
    namespace name {                                 \
    LaneFunction choose(const program::MicroOp& op); \
    }
TILEPATH_TARGET(baseline)
TILEPATH_TARGET(avx2)
TILEPATH_TARGET(avx512)
#undef TILEPATH_TARGET

}  // namespace tilepath::exec::alu
