#pragma once
#include <cstdint>
#include <string>

#include "base/result.h"
#include "layout/composed.h"
#include "layout/layout.h"
#include "layout/swizzle.h"

namespace tilepath::atom {

/// Which dimension of an operand runs along its rows in shared memory: K, or M for A and N for B.
enum class OperandMajor : std::uint8_t { k, mn };

/// A matrix operand in shared memory as wgmma and tcgen05 read it: 8 × 16-byte core matrices, placed by two offsets.
/// PTX ISA 9.7.15.5.1 and 9.7.16.4.
struct SharedOperand {
    OperandMajor major = OperandMajor::k;
    layout::SwizzleMode swizzle = layout::SwizzleMode::none;
    int element_bits = 16;
    int mn = 64;  ///< rows of A, columns of B
    int k = 16;
    int leading_bytes = 16;  ///< leading_dimension_byte_offset
    int stride_bytes = 0;    ///< stride_dimension_byte_offset
    bool padded =
        false;  ///< 4- and 6-bit elements, 16 to every 16 bytes, packed from the first on (PTX ISA 9.7.16.10.4.4)

    friend bool operator==(const SharedOperand&, const SharedOperand&) = default;
};

/// (mn, k) to m in bytes (and bit, for elements under 8 bits), from the descriptor's start address, before the swizzle.
///
///   major swizzle   leading offset                    stride offset
///   K     none      next 16 bytes of K                next 8 mn
///   K     32-128B   not used while K fits the swizzle's row; the second half of K where a row of 32 bytes is too short
///                   (sparse B; recorded on an H200)   next 8 mn
///   K     128B with 32-byte atoms (tcgen05): as 128B. PTX ISA 9.7.16.10.3 lets K-major operands have every mode, while
///         9.7.16.10.6 names no K-major atom of this one and CUTLASS has none: the layout is inferred from the others
///   MN    none      next 8 k                          next 16 bytes of mn
///   MN    32-128B   next swizzle row of mn            next 8 k
///   MN    128B with 32-byte atoms (tcgen05): the same, in groups of 4 k
///
/// An error where sizes are no multiples of the core matrices, or the mode is none of these.
Result<layout::Layout> operand_layout(const SharedOperand& operand);

/// Where byte `offset` (of operand_layout) lies: the swizzle takes the absolute address, less the pattern's phase.
/// a ^ ((((a >> 7) - base_offset) & mask) << 4), recorded on an H200.
std::uint64_t operand_address(const SharedOperand& operand, std::uint64_t start, int base_offset, std::uint64_t offset);

/// A whole tile of mn × k packed in atoms of the mode, mn-neighbours first, as CUTLASS packs them: the operand that its
/// first instruction's descriptor describes (all of mn, `instruction_k` of k), and how far the next step along k lies.
struct SharedTile {
    SharedOperand operand;
    int tile_k = 0;
    /// (mn, k) of the whole tile to m in bytes from a base aligned to the swizzle's pattern, before the swizzle.
    layout::Layout layout;
    int bytes = 0;
    /// Bytes to add to the start address for step `i` along k.
    int step_bytes(int i) const;
};
Result<SharedTile> shared_tile(OperandMajor major, layout::SwizzleMode swizzle, int element_bits, int mn, int k,
                               int instruction_k, bool padded = false);

}  // namespace tilepath::atom
