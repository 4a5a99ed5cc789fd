#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "atom/shared_operand.h"
#include "base/result.h"

namespace tilepath::atom {

/// wgmma's 64-bit description of an operand in shared memory (PTX ISA 9.7.15.5.1.2). Bits 0-13 start, 16-29 leading,
/// 32-45 stride, each (bytes & 0x3FFFF) >> 4; 49-51 base offset; 62-63 swizzle (0 none, 1 128B, 2 64B, 3 32B).
struct MatrixDescriptor {
    std::uint32_t start_bytes = 0;    ///< of the shared-memory window, a multiple of 16 below 2^18
    std::uint32_t leading_bytes = 0;  ///< leading_dimension_byte_offset
    std::uint32_t stride_bytes = 0;   ///< stride_dimension_byte_offset
    int base_offset = 0;              ///< phase of the swizzle pattern, in its 128-byte rows
    layout::SwizzleMode swizzle = layout::SwizzleMode::none;
    std::uint64_t reserved = 0;  ///< the bits that no field names, as found

    friend bool operator==(const MatrixDescriptor&, const MatrixDescriptor&) = default;
};

MatrixDescriptor decode_matrix_descriptor(std::uint64_t bits);
/// An error for a field that its bits cannot hold, or a mode that wgmma does not have.
Result<std::uint64_t> encode(const MatrixDescriptor& descriptor);

/// What is wrong or doubtful with the descriptor for this use; errors and warnings, empty if nothing.
/// `operand` says what the instruction reads: its mn, k, major and element bits.
Diagnostics validate(const MatrixDescriptor& descriptor, const SharedOperand& operand);

/// The operand that the descriptor describes, read as `major` with these sizes.
SharedOperand described(const MatrixDescriptor& descriptor, OperandMajor major, int element_bits, int mn, int k);

/// The shared-memory byte address of element (mn, k); bit within it for elements under 8 bits.
struct OperandPlace {
    std::uint64_t address = 0;
    int bit = 0;
};
/// All elements, row-major in (mn, k).
Result<std::vector<OperandPlace>> operand_places(const MatrixDescriptor& descriptor, const SharedOperand& operand);

/// One field of a descriptor in words.
struct FieldText {
    std::string bits, name, value;
};
std::vector<FieldText> fields(const MatrixDescriptor& descriptor);

}  // namespace tilepath::atom
