// Where variables lie, and what an address operand points at.
#include "isa/lowering.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "isa/program_builder.h"

namespace tilepath::isa {

using program::Constant;

Operand Lowering::symbol_address(const ptx::Operand& operand, const ptx::Symbol& symbol, DataType type, Space& space) {
    const std::uint64_t offset = operand.bits;
    // An operation of 32 bits takes the low half of an address: rows hold as many bits as their readers expect.
    const auto width = static_cast<std::uint8_t>(type == DataType::none ? 64 : program::register_bits(type));
    Constant constant{Constant::Kind::value, width, 0, offset, 0};
    if (symbol.kind == ptx::SymbolKind::function || symbol.kind == ptx::SymbolKind::alias) {
        std::int32_t index = builder_.function_index(symbol.node);
        if (index < 0)
            error(operand.span, fmt::format("'{}' has no body, so it has no address", module_.name(operand.name)));
        constant.kind = Constant::Kind::function;
        constant.symbol = static_cast<std::uint32_t>(std::max(index, 0));
        return Operand::constant(add_constant(constant));
    }
    const ptx::Variable& variable = module_.variable(symbol);
    switch (variable.space) {
        case ptx::Space::global:
        case ptx::Space::const_:
            space = variable.space == ptx::Space::global ? Space::global : Space::constant;
            constant.kind = Constant::Kind::global_symbol;
            constant.symbol = builder_.variable_index(symbol.node);
            break;
        case ptx::Space::shared: {
            space = Space::shared;
            if (!builder_.is_dynamic_shared(variable)) {
                constant.bits += builder_.shared_offset(symbol.node);
                break;
            }
            // Its place is known when all static variables are: a constant of its own, mended at the end.
            out_.constants.push_back(constant);
            auto index = static_cast<std::uint32_t>(out_.constants.size() - 1);
            builder_.note_dynamic_shared(builder_.current_function(), index, variable);
            return Operand::constant(index);
        }
        case ptx::Space::param:
        case ptx::Space::local: {
            const bool launch_parameter = in_entry() && variable.space == ptx::Space::param &&
                                          symbol.function != ptx::none && symbol.node >= function_.parameters.first &&
                                          symbol.node < function_.parameters.first + function_.parameters.count;
            space = launch_parameter ? Space::param : Space::local;
            constant.kind = launch_parameter ? Constant::Kind::value : Constant::Kind::frame;
            bool found = false;
            auto look = [&](const std::vector<program::FrameVariable>& list) {
                for (const program::FrameVariable& place : list)
                    if (!found && place.symbol == operand.symbol) constant.bits += place.offset, found = true;
            };
            look(out_.parameters), look(out_.results), look(out_.locals);
            TILEPATH_ASSERT(found, "a parameter or local variable without a place in the frame");
            break;
        }
        case ptx::Space::none:
        case ptx::Space::reg:
        case ptx::Space::sreg:
        case ptx::Space::tex:
            error(operand.span, fmt::format("'{}' lies in .{}, which tilepath does not support",
                                            module_.name(operand.name), ptx::word(variable.space)));
            break;
    }
    return Operand::constant(add_constant(constant));
}

Address Lowering::address(const ptx::Operand& operand, Space space) {
    if (operand.kind != ptx::OperandKind::address) {
        error(operand.span, fmt::format("expected an address, found '{}'", module_.text(operand.span)),
              "write [register+offset]");
        return {constant(0, DataType::u64), 0, space};
    }
    if (operand.name == ptx::none) return {constant(operand.bits, DataType::u64), 0, space};
    const ptx::Symbol* symbol = module_.symbol(operand);
    TILEPATH_ASSERT(symbol, "an address base that resolve left without a symbol");
    if (symbol->kind == ptx::SymbolKind::reg) {
        Operand base = register_operand(operand, DataType::none, false);
        int width = program::bits(out_.registers[base.index].type);
        if (width != 32 && width != 64)
            error(operand.span,
                  fmt::format("an address register has 32 or 64 bits; '{}' has {}", module_.text(operand.span), width));
        // Parameters of a .func lie in its frame, whatever register points there.
        if (space == Space::param && !in_entry()) space = Space::local;
        return {base, operand.offset(), space};
    }
    Space own = space;
    Operand base = symbol_address(operand, *symbol, DataType::none, own);
    const bool same = own == space || space == Space::generic || (space == Space::param && own == Space::local) ||
                      (space == Space::shared_cluster && own == Space::shared);
    if (!same)
        error(operand.span, fmt::format("'{}' lies in .{}; the instruction addresses .{}", module_.name(operand.name),
                                        program::name(own), program::name(space)));
    return {base, 0, own};
}

}  // namespace tilepath::isa
