// What the families of tcgen05 share.
#pragma once
#include "isa/plain.h"

namespace tilepath::isa {

/// What has Tensor Memory: PTX ISA 9.7.16, the target notes.
constexpr Needs tensor_memory = since(8, 6, 100, Suffix::tensor_memory);

constexpr std::string_view cta_groups = "group: cta_group::1 cta_group::2";
/// 1 or 2.
int cta_group(const Bound& in);

/// `[taddr]`: a register of 32 bits, a lane and a column; what is added to it counts on from there.
Address tensor_address(Lowering& to, const ptx::Operand& operand);
/// An error for a vector of literals alone, as ptxas 13.0 has it.
void require_some_register(Lowering& to, const ptx::Operand& vector, std::span<const Operand> parts);
/// `[taddr]` as one operand.
Operand whole_tensor_address(Lowering& to, const ptx::Operand& operand);

}  // namespace tilepath::isa
