#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "atom/matrix_descriptor.h"
#include "atom/shared_operand.h"
#include "base/result.h"

namespace tilepath::atom {

/// tcgen05's 64-bit description of an operand in shared memory (PTX ISA 9.7.16.4.1). Bits 0-13 start, 16-29 leading,
/// 32-45 stride, each (bytes & 0x3FFFF) >> 4; 46-48 the constant 0b001; 49-51 base offset; 52 leading offset is an
/// address (sm_103a); 61-63 swizzle (0 none, 1 128B with 32-byte atoms, 2 128B, 4 64B, 6 32B).
struct Tcgen05Descriptor {
    std::uint32_t start_bytes = 0;    ///< of the shared-memory window, a multiple of 16 below 2^18
    std::uint32_t leading_bytes = 0;  ///< leading_dimension_byte_offset, or an address if `leading_is_address`
    std::uint32_t stride_bytes = 0;   ///< stride_dimension_byte_offset
    int version = 1;                  ///< bits 46-48
    int base_offset = 0;              ///< phase of the swizzle pattern, in its 128-byte rows
    bool leading_is_address = false;  ///< bit 52
    int swizzle_bits = 0;             ///< bits 61-63, as they are
    std::uint64_t reserved = 0;       ///< the bits that no field names, as found

    /// Nothing for the values 3, 5 and 7.
    std::optional<layout::SwizzleMode> swizzle() const;
    friend bool operator==(const Tcgen05Descriptor&, const Tcgen05Descriptor&) = default;
};

Tcgen05Descriptor decode_tcgen05_descriptor(std::uint64_t bits);
/// An error for a field that its bits cannot hold.
Result<std::uint64_t> encode(const Tcgen05Descriptor& descriptor);
/// The descriptor of a tile's operand at an address.
Result<Tcgen05Descriptor> tcgen05_descriptor(const SharedOperand& operand, std::uint32_t start_bytes);

/// What is wrong or doubtful with the descriptor for this use; empty if nothing. Major-ness by type: tcgen05_paths.h.
Diagnostics validate(const Tcgen05Descriptor& descriptor, const SharedOperand& operand);
/// A part of an operand along K, in a buffer of its own.
struct OperandPart {
    int first_k = 0;
    std::uint32_t start_bytes = 0;
    SharedOperand operand;
};
/// Where the operand lies: in one part, or in two if the leading offset is an address (bit 52) and its 48 bytes of K
/// leave the start address' line of 128 bytes. What leaves it lies at that address, in rows as the first part's. An
/// error where swizzle bits are no mode, or a rule of PTX ISA 9.7.16.3.1.2 is broken.
Result<std::vector<OperandPart>> described_parts(const Tcgen05Descriptor& descriptor, OperandMajor major,
                                                 int element_bits, int mn, int k, bool padded = false);
/// The operand that it describes; an error where the swizzle bits are none, or the leading offset is an address.
Result<SharedOperand> described(const Tcgen05Descriptor& descriptor, OperandMajor major, int element_bits, int mn,
                                int k, bool padded = false);

std::vector<FieldText> fields(const Tcgen05Descriptor& descriptor);

}  // namespace tilepath::atom
