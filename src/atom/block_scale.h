#pragma once
#include <cstdint>
#include <vector>

#include "atom/mma.h"

namespace tilepath::atom {

/// How many scale factors each row of A and column of B has per instruction: `.scale_vec::1X`, `2X`, `4X`.
enum class ScaleVector : std::uint8_t { x1, x2, x4 };

/// The scale operands of a block-scaled mma.sync: one register, from which byte-id and thread-id pick. PTX
/// ISA 9.7.14.3.
struct ScaleFragments {
    Fragment a;  ///< (0, row, k block): 16 × factors, ue8m0 or ue4m3 in a byte
    Fragment b;  ///< (0, k block, column): factors × 8
};

/// What `{byte-id, thread-id}` says of one operand.
struct ScaleSelector {
    int byte_id = 0;
    int thread_id = 0;
};

/// The factors of D = (A·SA)(B·SB) + C, or the rule that the choice breaks.
Result<ScaleFragments> mma_scales(MmaKind kind, ScaleVector vector, number::Format scale, ScaleSelector a,
                                  ScaleSelector b);

}  // namespace tilepath::atom
