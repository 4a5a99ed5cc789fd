#pragma once
#include <cstdint>

#include "exec/code.h"

namespace tilepath::exec {

/// Who executed an operation on an mbarrier.
struct MbarrierUse {
    const LoadedFunction* function = nullptr;  ///< null: nobody has
    const Code* code = nullptr;
    std::uint32_t rank = 0, warp = 0;
    LaneMask lanes = 0;
    std::uint64_t phase = 0;  ///< the mbarrier's, before the operation
};

/// What is known of a live mbarrier besides its bytes.
struct MbarrierRecord {
    std::uint32_t offset = 0;    ///< in its CTA's shared memory
    std::uint64_t word = 0;      ///< its bytes after the last operation: others mean that something has overwritten it
    std::uint64_t phase = 0;     ///< phases completed
    bool async_visible = false;  ///< a fence has shown the initialisation to the async proxy
    bool cluster_visible = false;  ///< a fence or the cluster's barrier has shown it to the other CTAs
    MbarrierUse initialised, arrived, expected, completed;  ///< the last of each; completed: complete_tx
};

}  // namespace tilepath::exec
