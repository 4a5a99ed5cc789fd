#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "atom/tcgen05_descriptor.h"
#include "base/result.h"

namespace tilepath::atom {

/// The 64-bit zero-column mask descriptor of tcgen05.mma.ws: which columns of B count as zeros. PTX ISA 9.7.16.4.3.
/// Bits 0-31 four start counts, 32-35 four first values, 39 whether there is a mask at all, 40-47 skip span, 48-55 use
/// span, 56-61 column shift. Runs of used columns (use span + 1 zeros of the mask) and zeroed ones (skip span + 1 ones)
/// alternate, as in the manual's worked examples; its descriptions of the two spans say it the other way round. A start
/// count that would drop the first run leaves one column of it: the manual does not say; a public model of sm_100 has
/// it so.
struct ZeroColumnMask {
    std::array<int, 4> start_counts{};  ///< columns of the pattern that each part of the mask skips
    std::array<bool, 4> first{};        ///< the mask's value in the part's first run
    bool generates = false;             ///< bit 39; without it every column is used
    int skip_span = 0, use_span = 0;
    int column_shift = 0;
    std::uint64_t reserved = 0;

    friend bool operator==(const ZeroColumnMask&, const ZeroColumnMask&) = default;
};

ZeroColumnMask decode_zero_column_mask(std::uint64_t bits);
Result<std::uint64_t> encode(const ZeroColumnMask& mask);

/// Per column of B, whether it counts as zero; one part per 128/M. An error unless m is 32, 64 or 128 and n its .ws
/// form's, or for a shift beyond 16 (M = 32) or 32 columns.
Result<std::vector<bool>> zeroed_columns(const ZeroColumnMask& mask, int m, int n);

std::vector<FieldText> fields(const ZeroColumnMask& mask);

}  // namespace tilepath::atom
