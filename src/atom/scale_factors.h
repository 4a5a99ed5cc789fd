#pragma once
#include <string_view>
#include <vector>

#include "atom/block_scale.h"
#include "base/result.h"
#include "layout/layout.h"

namespace tilepath::atom {

/// On what it rests that the factors of k of 96 go on in the next cell.
inline constexpr std::string_view wrapping_factors =
    "CuTe's map; how the factors of k of 96 wrap into the next cell is inferred from CUTLASS' main loop";

/// Factors from `first` on that one layout places: (row, factor - first) to TLane, TCol, bit.
struct FactorRun {
    int first = 0;
    layout::Layout layout;
};

/// The scale factors of a block-scaled tcgen05.mma in Tensor Memory: of a row (of A; a column of B) and a k block. Four
/// blocks fill a 32-bit cell; the factor of block q of row r lies in byte q mod 4 of lane r mod 32 and of the same lane
/// of the three other warps' windows, column r/32 + G (q/4), G = rows/32. PTX ISA 9.7.16.10.7.2, 9.7.16.10.7.3 draw it;
/// the map is CuTe's and TVM's. Factors of k of 96 that wrap into the next cell are inferred from CUTLASS' main loop of
/// sm_103, which counts q on by 3 or 6 from one instruction to the next.
struct ScaleFactors {
    int rows = 128;
    int factors = 1;       ///< that one instruction reads
    int id = 0;            ///< SFA_ID or SFB_ID: the byte of the first
    bool split = false;    ///< SFB of cta_group::2 with M = 128: columns of each half of N in one half of the lanes
    layout::Layout whole;  ///< (row, q): all four blocks of a cell; eight, of two cells, for 3X and 6X
    std::vector<FactorRun> runs;  ///< q = id + factor, cut where a cell ends
    std::string_view evidence;    ///< of what no text settles; empty where all is settled

    /// All places of one factor.
    std::vector<layout::Location> at(int row, int factor) const;
};

/// What reads the factors: SFA of 128 rows per CTA, SFB of N (rounded up to 128 rows of factors as CUTLASS allocates
/// them).
Result<ScaleFactors> scale_factors(ScaleVector vector, int rows, int id, bool split = false);

/// (row, factor) to m in bytes of the 512-byte piece that tcgen05.cp.32x128b.warpx4 brings there: 128 rows × 4 factors,
/// byte 16 (row mod 32) + 4 (row/32) + factor.
layout::Layout scale_factor_source();

}  // namespace tilepath::atom
