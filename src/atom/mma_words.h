#pragma once
#include <cstdint>

namespace tilepath::atom {

// Words of mma.sync, which a program/ holds too.

/// `.kind` of mma.sync; `none` where PTX has no qualifier. The last three scale blocks (block_scale.h).
enum class MmaKind : std::uint8_t { none, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };

}  // namespace tilepath::atom
