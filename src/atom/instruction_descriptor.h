#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "atom/tcgen05_descriptor.h"
#include "atom/tcgen05_mma.h"
#include "base/result.h"

namespace tilepath::atom {

/// The 32-bit instruction descriptor of tcgen05.mma: its fields, of every kind. PTX ISA 9.7.16.4.2. What a kind has not
/// is 0.
///
///   all         2 sparse, 7-9 type of A, 10-12 type of B, 13, 14 negate, 15, 16 MN-major, 17-22 N/8
///   f16 … i8    0-1 sparsity selector, 3 saturate (i8), 4-5 type of D, 24-28 M/16, 30-31 .ws: largest shift
///   mx…         4-5 SFB_ID, 23 scale type (1: ue8m0), 27-28 M/128, 29-30 SFA_ID, 31 k of 96 (mxf4, mxf4nvf4)
struct InstructionDescriptor {
    Tcgen05Kind kind = Tcgen05Kind::f16;
    int sparsity_selector = 0;
    bool sparse = false;
    bool saturate = false;
    int d_type = 0, a_type = 0, b_type = 0;
    bool negate_a = false, negate_b = false;
    bool transpose_a = false, transpose_b = false;  ///< MN-major
    int m = 0, n = 0;
    int max_shift = 0;  ///< .ws: columns of B that a column shift may reach: 0, 8, 16 or 32
    int sfa_id = 0, sfb_id = 0;
    bool ue8m0 = false;  ///< scale type; ue4m3 otherwise
    bool k96 = false;
    std::uint32_t reserved = 0;  ///< the bits that no field of the kind names, as found

    friend bool operator==(const InstructionDescriptor&, const InstructionDescriptor&) = default;
};

InstructionDescriptor decode_instruction_descriptor(std::uint32_t bits, Tcgen05Kind kind);
/// An error for a field that its bits cannot hold or that the kind does not have.
Result<std::uint32_t> encode(const InstructionDescriptor& descriptor);

/// The descriptor of an instruction; scale ids 0, ue8m0.
InstructionDescriptor instruction_descriptor(const Tcgen05Mma& mma, OperandMajor a = OperandMajor::k,
                                             OperandMajor b = OperandMajor::k);
/// The instruction that a descriptor describes with these qualifiers, or everything that is wrong with it.
Result<Tcgen05Mma> described(const InstructionDescriptor& descriptor, int cta_group, bool weight_stationary);

std::vector<FieldText> fields(const InstructionDescriptor& descriptor);

}  // namespace tilepath::atom
