// The lowerings that most families use: one micro-operation, operands as the form has them.
#pragma once
#include <fmt/format.h>

#include <deque>
#include <string>

#include "isa/families.h"
#include "isa/lowering.h"

namespace tilepath::isa {

/// Syntax lines that are put together; they live as long as the forms.
inline std::string_view keep(std::string text) {
    static std::deque<std::string> lines;
    return lines.emplace_back(std::move(text));
}

/// The operation has its destination's type.
template <Op op>
void lower_plain(Lowering& to, const Bound&) {
    to.simple(op);
}

/// The operation has the type of the form's `.type`, whatever its destination's is.
template <Op op>
void lower_typed(Lowering& to, const Bound& in) {
    to.simple(op, in.type());
}

/// An error if the operand is a literal.
inline void require_register(Lowering& to, const ptx::Operand& operand) {
    if (operand.kind == ptx::OperandKind::immediate)
        to.error(operand.span, fmt::format("expected a register, found '{}'", to.module().text(operand.span)),
                 "move the value into a register first");
}

/// An error if the module's version or target is too old for something that no form says.
inline bool available(Lowering& to, Span span, std::string_view what, Needs needs) {
    const ptx::Module& module = to.module();
    const Target target = target_named(module.architecture()).value_or(Target{});
    if (meets(needs, static_cast<int>(module.version_major), static_cast<int>(module.version_minor), target))
        return true;
    to.error(span,
             fmt::format("{} needs {}; the module says .version {}.{}, .target {}", what, to_string(needs),
                         module.version_major, module.version_minor, module.architecture()),
             "raise .version or .target, or use an older form");
    return false;
}

/// base + offset as one operand, for instructions with two addresses: MicroOp::immediate is the first one's offset.
inline Operand whole_address(Lowering& to, const Address& address) {
    if (address.offset == 0) return address.base;
    const bool wide =
        address.base.kind != Operand::Kind::reg || program::bits(to.out().registers[address.base.index].type) == 64;
    const DataType type = wide ? DataType::u64 : DataType::u32;
    Operand sum = to.temporary(type);
    to.emit(Op::add, type, {sum}, {address.base, to.constant(static_cast<std::uint64_t>(address.offset), type)})
        .flags = {};
    return sum;
}

}  // namespace tilepath::isa
