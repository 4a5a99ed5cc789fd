#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"

namespace tilepath::host {

class TomlTable;

/// What a kernel computes, for the checks: which element of which buffer is D[m, n], A[m, k], B[n, k], and the scale
/// factors of blocks along k.
struct GemmTable {
    /// One dimension of a buffer: `m`, `n`, `k`, another name (a batch), or one of them divided, `k/32`.
    struct Index {
        std::string name;
        std::int64_t divisor = 1;
    };
    struct Operand {
        std::string role;  ///< d, a, b, c, sfa, sfb
        std::string buffer;
        std::vector<Index> index;
        std::optional<Place> place;
    };
    std::vector<Operand> operands;
};

/// `m`, `batch`, `k/32`; nothing if it is none.
std::optional<GemmTable::Index> parse_index(const std::string& text);
/// The index names that an operand must have once, in any order, besides those of a batch.
std::vector<std::string_view> needed_indices(std::string_view role);

/// Reads `[gemm]`; d, a and b must be there.
GemmTable read_gemm_table(TomlTable& table);

}  // namespace tilepath::host
