#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "atom/mma.h"

namespace tilepath::atom {

/// How many scale factors each row of A and column of B has per instruction: `.scale_vec::1X`, `2X`, `4X`. With k of 96
/// tcgen05.mma reads three (block32) or six (block16), which the manual calls equivalents of 3X and 6X.
enum class ScaleVector : std::uint8_t { x1, x2, x4, x3, x6 };

int factors_of(ScaleVector vector);
std::string_view name(ScaleVector vector);
/// `1X`, `2X`, `4X`, `3X`, `6X`.
std::optional<ScaleVector> scale_vector_named(std::string_view name);

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
