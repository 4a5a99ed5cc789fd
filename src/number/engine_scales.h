// Block scales into the engine's form.
#pragma once
#include "number/engine.h"
#include "number/engine_kernels.h"

namespace tilepath::number::engine {

/// The scales of a block's rows; those of row r begin at `scales.data` + r · stride, `per_row` each.
struct ScaleRows {
    BlockScales scales;
    int rows, per_row;
    Format format;
};

/// Whether one of them is a NaN.
bool any_nan(const ScaleRows& scales);

/// mxf4, mxf4nvf4: into `words` (A's or B's so many per row and group) of a block of `block` rows; groups without a
/// scale, as rows that do not exist, get none and count as zero. Returns whether one is a NaN.
bool fill_fp4_scales(const ScaleRows& scales, int groups_per_scale, int groups, int block, int words,
                     std::int32_t* out);

/// mxf8f6f4, groups of `group` elements: exponents[scale][row]. All values of a group whose scale is a NaN become NaN.
void fill_exponents(const ScaleRows& scales, int group, int block, std::int32_t* exponents, float* values);

}  // namespace tilepath::number::engine
