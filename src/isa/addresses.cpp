// Where variables lie, and what an address operand points at.
#include "isa/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "isa/program_builder.h"
#include "isa/spaces.h"

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
            constant.kind = Constant::Kind::shared;
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

/// A variable's address as a source: in mov and cvta only, and calls pass it on.
Operand Lowering::address_as_value(const ptx::Operand& operand, DataType type) {
    const std::string_view opcode = module_.opcode(bound_->instruction());
    const ptx::Operand* named = &operand;
    ptx::Operand element;
    if (operand.kind == ptx::OperandKind::indexed) {
        const ptx::Operand &array = module_.children(operand)[0], &index = module_.children(operand)[1];
        if (index.kind != ptx::OperandKind::immediate) {
            error(operand.span,
                  fmt::format("the address of '{}' is known only when the kernel runs", module_.text(operand.span)),
                  "index with a constant, or add to the array's address");
            return constant(0, type);
        }
        element = element_of_array(array, static_cast<std::int64_t>(index.bits));
        named = &element;
    }
    const ptx::Symbol* symbol = module_.symbol(*named);
    if (!symbol) return constant(0, type);
    static constexpr std::string_view taking[] = {"mov", "cvta", "call", "mapa", "getctarank"};
    if (std::ranges::find(taking, opcode) == std::end(taking) || bound_->has("to")) {
        error(operand.span, fmt::format("'{}' takes no address of a symbol; found {}", opcode, describe(operand)),
              "move the address into a register first");
        return constant(0, type);
    }
    if (program::is_float(type) || type == DataType::pred)
        error(operand.span,
              fmt::format("an address is no .{}; found {}", program::traits(type).name, describe(operand)));
    if (operand.component != ptx::Component::none || operand.minus || operand.not_)
        error(operand.span, fmt::format("expected an address, found '{}'", module_.text(operand.span)));
    const Space wanted = opcode == "cvta" ? space_named(bound_->word("space")) : Space::generic;
    Space own{};
    const Operand address = symbol_address(*named, *symbol, type, own);
    const bool same = wanted == Space::generic || own == wanted ||
                      (wanted == Space::shared_cluster && own == Space::shared) ||
                      (wanted == Space::param && own == Space::local && !in_entry());
    if (!same)
        error(operand.span, fmt::format("'{}' lies in .{}; the instruction converts from .{}",
                                        module_.name(named->name), program::name(own), program::name(wanted)));
    return address;
}

/// `a[2]` (PTX ISA 6.4.2): as `a` with the byte offset of the element. Elements are counted, not bytes (recorded on an
/// H200).
ptx::Operand Lowering::element_of_array(const ptx::Operand& array, std::int64_t index) {
    ptx::Operand out = array;
    const ptx::Symbol* symbol = module_.symbol(array);
    if (!symbol || (symbol->kind != ptx::SymbolKind::variable && symbol->kind != ptx::SymbolKind::param) ||
        module_.variable(*symbol).space == ptx::Space::reg ||
        module_.dimensions_of(module_.variable(*symbol)).size() > 1) {
        error(array.span, fmt::format("expected an array of one dimension, found {}", describe(array)));
        out.symbol = ptx::none;
        return out;
    }
    const ptx::Variable& variable = module_.variable(*symbol);
    const std::int64_t bytes = program::bytes(program::type_named(ptx::word(variable.type)).value_or(DataType::b8)) *
                               static_cast<std::int64_t>(variable.vector);
    out.bits += static_cast<std::uint64_t>(index * bytes);
    return out;
}

Address Lowering::indexed_address(const ptx::Operand& operand, Space space) {
    const ptx::Operand &array = module_.children(operand)[0], &index = module_.children(operand)[1];
    const bool fixed = index.kind == ptx::OperandKind::immediate;
    const ptx::Operand element =
        element_of_array(array, fixed ? static_cast<std::int64_t>(index.bits) : index.offset());
    const ptx::Symbol* symbol = module_.symbol(element);
    if (!symbol) return {constant(0, DataType::u64), 0, space};
    Address out = symbol_place(element, *symbol, space);
    if (fixed) return out;
    ptx::Operand plain = index;
    plain.bits = 0;
    const Operand number = read(plain, DataType::b32);
    const bool is_signed = number.kind == Operand::Kind::reg && program::is_signed(out_.registers[number.index].type);
    const DataType narrow = is_signed ? DataType::s32 : DataType::u32;
    const Operand bytes = temporary(DataType::u64), sum = temporary(DataType::u64);
    const std::uint64_t size = element_of_array(array, 1).bits - element_of_array(array, 0).bits;
    MicroOp& scale = emit(Op::mul, narrow, {bytes}, {number, constant(size, narrow)});
    scale.flags = {};
    scale.variant = static_cast<std::uint8_t>(program::MulHalf::wide);
    emit(Op::add, DataType::u64, {sum}, {out.base, bytes}).flags = {};
    out.base = sum;
    return out;
}

Address Lowering::address(const ptx::Operand& operand, Space space) {
    if (operand.kind == ptx::OperandKind::indexed) return indexed_address(operand, space);
    if (operand.kind != ptx::OperandKind::address) {
        error(operand.span, fmt::format("expected an address, found '{}'", module_.text(operand.span)),
              "write [register+offset]");
        return {constant(0, DataType::u64), 0, space};
    }
    if (operand.name == ptx::none) {
        if (space != Space::local)
            error(operand.span,
                  fmt::format("only local memory has addresses that are known before: found '{}'",
                              module_.text(operand.span)),
                  "put the address into a register");
        return {constant(operand.bits, DataType::u64), 0, space};
    }
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
    return symbol_place(operand, *symbol, space);
}

/// Where a symbol lies, for an instruction that addresses `space`.
Address Lowering::symbol_place(const ptx::Operand& operand, const ptx::Symbol& symbol, Space space) {
    Space own = space;
    const bool is_param = (symbol.kind == ptx::SymbolKind::variable || symbol.kind == ptx::SymbolKind::param) &&
                          module_.variable(symbol).space == ptx::Space::param;
    Operand base = symbol_address(operand, symbol, DataType::none, own);
    const bool same = own == space || (space == Space::generic && own != Space::param) ||
                      (space == Space::param && own == Space::local && is_param) ||
                      (space == Space::shared_cluster && own == Space::shared);
    if (!same)
        error(operand.span, fmt::format("'{}' lies in .{}; the instruction addresses .{}", module_.name(operand.name),
                                        program::name(own), program::name(space)));
    return {base, 0, own};
}

}  // namespace tilepath::isa
