// What the families of bulk copies share.
#pragma once
#include "isa/atomic_names.h"
#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {

/// Sources of a bulk_copy operation before its coordinates; what is none stays out.
struct BulkOperands {
    Operand destination, source, bytes;
    std::vector<Operand> coordinates, offsets;
};

/// Adds the operands that all forms have under the same names: mbar, mask, policy.
void emit_bulk(Lowering& to, const Bound& in, program::Bulk bulk, const BulkOperands& operands);

}  // namespace tilepath::isa
