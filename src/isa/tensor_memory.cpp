#include "isa/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilepath::isa {

int cta_group(const Bound& in) { return in.word("group") == "cta_group::2" ? 2 : 1; }

Address tensor_address(Lowering& to, const ptx::Operand& operand) {
    const ptx::Symbol* symbol = operand.name == ptx::none ? nullptr : to.module().symbol(operand);
    if (operand.kind != ptx::OperandKind::address || symbol == nullptr || symbol->kind != ptx::SymbolKind::reg) {
        to.error(operand.span,
                 fmt::format("expected an address in Tensor Memory, found '{}'", to.module().text(operand.span)),
                 "write [register] or [register+columns]; tcgen05.alloc stores the address of what it gives");
        return {to.constant(0, DataType::b32), 0, Space::generic};
    }
    const Address address = to.address(operand, Space::generic);
    const DataType type = to.out().registers[address.base.index].type;
    if (program::bits(type) != 32 || (program::is_float(type) && address.offset != 0))
        to.error(operand.span, fmt::format("an address in Tensor Memory is a .b32 register; '{}' is a .{}",
                                           to.module().name(operand.name), program::traits(type).name));
    return address;
}

void require_some_register(Lowering& to, const ptx::Operand& vector, std::span<const Operand> parts) {
    if (std::ranges::none_of(parts, [](Operand part) { return part.kind == Operand::Kind::reg; }))
        to.error(vector.span, fmt::format("expected registers, found '{}'", to.module().text(vector.span)),
                 "one element at least must be a register");
}

Operand whole_tensor_address(Lowering& to, const ptx::Operand& operand) {
    return whole_address(to, tensor_address(to, operand));
}

}  // namespace tilepath::isa
