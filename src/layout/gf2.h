#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tilepath::layout {

/// Linear algebra over bits: vectors are 64-bit words, + is XOR. A set of columns is a matrix whose column i is the
/// image of unit vector i; at most 64 columns.
class ColumnSpace {
  public:
    explicit ColumnSpace(std::span<const std::uint64_t> columns);

    int rank() const { return static_cast<int>(pivots_.size()); }
    /// Which columns XOR to `target` (bit i: column i); nothing if none do.
    std::optional<std::uint64_t> solve(std::uint64_t target) const;
    /// A basis of the sets of columns that XOR to 0.
    const std::vector<std::uint64_t>& kernel() const { return kernel_; }

  private:
    struct Pivot {
        std::uint64_t vector;   ///< reduced: its highest bit is no other pivot's highest
        std::uint64_t columns;  ///< that make it
    };
    std::vector<Pivot> pivots_;  ///< highest bits descending
    std::vector<std::uint64_t> kernel_;
};

}  // namespace tilepath::layout
