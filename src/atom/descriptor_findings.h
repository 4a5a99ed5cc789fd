#pragma once
#include <cstdint>
#include <string>

#include "atom/bit_field.h"
#include "atom/shared_operand.h"
#include "base/result.h"

namespace tilepath::atom {

/// What wgmma's matrix descriptor and tcgen05's shared-memory descriptor share.
Diagnostic finding(Severity severity, std::string message, std::string note = {});
/// An offset or an address in its field, as bytes / 16.
Result<std::uint64_t> put_bytes(std::string_view name, std::uint32_t bytes, BitField field);
/// Warnings where a start address begins amid its swizzle pattern, or two elements lie at one place; errors where the
/// operand has no layout.
void add_operand_findings(Diagnostics& all, const SharedOperand& operand, std::uint32_t start_bytes, int base_offset);

}  // namespace tilepath::atom
