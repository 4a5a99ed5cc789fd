#include "isa/lowering.h"

#include <fmt/format.h>

#include <bit>

#include "base/assert.h"
#include "isa/program_builder.h"
#include "isa/special_registers.h"

namespace tilepath::isa {
namespace {

using program::Constant;
using ptx::OperandKind;

DataType data_type(ptx::Type type) { return program::type_named(ptx::word(type)).value_or(DataType::none); }

/// The width that a register of this type has in the frame.
int register_bits(DataType type) {
    int bits = program::bits(type);
    return type == DataType::pred ? 1 : bits <= 32 ? 32 : bits;
}

}  // namespace

Lowering::Lowering(ProgramBuilder& builder, const ptx::Module& module, const ptx::Function& function, program::Function& out)
    : builder_(builder), module_(module), function_(function), out_(out) {
    out_.registers.resize(function.register_count, {DataType::b32, {}});
    for (const ptx::Statement& statement : module.body(function)) {
        if (statement.kind != ptx::StatementKind::variable) continue;
        const ptx::Variable& variable = module.variables[statement.index];
        if (variable.space != ptx::Space::reg) continue;
        std::uint32_t first = module.symbols[variable.symbol].number;
        for (std::uint32_t i = 0; i < variable.count * variable.vector; ++i)
            out_.registers[first + i] = {data_type(variable.type), {}};
    }
}

void Lowering::error(Span span, std::string message, std::string note) {
    Diagnostic out{Severity::error, std::move(message), module_.place(span), {}};
    if (!note.empty()) out.notes.push_back(std::move(note));
    builder_.diagnostics().push_back(std::move(out));
}

void Lowering::instruction(const Bound& bound) {
    bound_ = &bound;
    out_.instructions.push_back({bound.instruction().span, builder_.location(bound.instruction().location)});
    bound.form().family->lower(*this, bound);
    bound_ = nullptr;
}

// ---- constants and temporaries

std::uint32_t Lowering::add_constant(const Constant& constant) {
    // Most are small values that repeat: address offsets, masks, zero.
    bool plain = constant.kind == Constant::Kind::value && constant.high_bits == 0;
    if (plain) {
        auto [at, fresh] = value_constants_.try_emplace({constant.width, constant.bits},
                                                        static_cast<std::uint32_t>(out_.constants.size()));
        if (!fresh) return at->second;
    } else {
        for (std::uint32_t i = 0; i < out_.constants.size(); ++i)
            if (out_.constants[i] == constant) return i;
    }
    out_.constants.push_back(constant);
    return static_cast<std::uint32_t>(out_.constants.size() - 1);
}

Operand Lowering::constant(std::uint64_t bits, DataType type) {
    int width = register_bits(type);
    std::uint64_t kept = program::bits(type) >= 64 ? bits : bits & ((std::uint64_t(1) << std::max(1, program::bits(type))) - 1);
    Constant value{Constant::Kind::value, static_cast<std::uint8_t>(width), 0, kept, 0};
    // A 128-bit immediate is an integer, sign-extended.
    if (width == 128) value.high_bits = static_cast<std::int64_t>(bits) < 0 ? ~std::uint64_t(0) : 0;
    return Operand::constant(add_constant(value));
}

Operand Lowering::predicate_constant(bool value) { return constant(value, DataType::pred); }

Operand Lowering::temporary(DataType type) {
    out_.registers.push_back({type, {}});
    return Operand::reg(static_cast<std::uint32_t>(out_.registers.size() - 1));
}

Operand Lowering::carry_flag() {
    if (carry_ < 0) carry_ = temporary(DataType::pred).index;
    return Operand::reg(static_cast<std::uint32_t>(carry_));
}

// ---- operands

Operand Lowering::register_operand(const ptx::Operand& operand, DataType type, bool wider) {
    ptx::Id number = module_.register_number(operand);
    TILEPATH_ASSERT(number != ptx::none, "an identifier resolved to a register without a number");
    DataType declared = out_.registers[number].type;
    Operand result = Operand::reg(number);
    result.negated = operand.not_;
    if (type == DataType::none) return result;
    bool is_predicate = declared == DataType::pred, wants_predicate = type == DataType::pred;
    bool fits = is_predicate == wants_predicate &&
                (is_predicate || program::bits(declared) == program::bits(type) ||
                 (wider && program::bits(declared) > program::bits(type)) ||
                 // Sub-byte and byte types live in registers of 16 or 32 bits: the manual has no narrower arithmetic.
                 (program::bits(type) <= 8 && program::bits(declared) <= 32));
    if (!fits)
        error(operand.span,
              fmt::format("'{}' is a .{} register; '{}' expects {} .{} here", module_.text(operand.span), program::traits(declared).name,
                          module_.opcode(bound_->instruction()), wider ? "at least" : "a", program::traits(type).name),
              "declare the register with that width, or convert with cvt");
    return result;
}

Operand Lowering::special_register(const ptx::Operand& operand) {
    // The component is part of the name: %tid.x.
    std::string text{module_.name(operand.name)};
    if (operand.component != ptx::Component::none) text += "." + std::string(ptx::word(operand.component));
    auto special = special_register_named(text);
    if (!special) {
        error(operand.span, fmt::format("'{}' is not a special register that tilepath supports", text),
              operand.component == ptx::Component::none ? "a vector register needs a component: %tid.x" : "");
        return constant(0, DataType::u32);
    }
    Operand into = temporary(special->type);
    MicroOp& op = emit(Op::special, special->type, {into}, {});
    op.variant = static_cast<std::uint8_t>(special->id);
    op.immediate = special->index;
    return into;
}

Operand Lowering::symbol_address(const ptx::Operand& operand, const ptx::Symbol& symbol, DataType type, Space& space) {
    const std::uint64_t offset = operand.bits;
    // An operation of 32 bits takes the low half of an address: rows hold as many bits as their readers expect.
    const auto width = static_cast<std::uint8_t>(type == DataType::none ? 64 : register_bits(type));
    Constant constant{Constant::Kind::value, width, 0, offset, 0};
    if (symbol.kind == ptx::SymbolKind::function || symbol.kind == ptx::SymbolKind::alias) {
        std::int32_t index = builder_.function_index(symbol.node);
        if (index < 0) error(operand.span, fmt::format("'{}' has no body, so it has no address", module_.name(operand.name)));
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
            const bool launch_parameter = in_entry() && variable.space == ptx::Space::param && symbol.function != ptx::none &&
                                          symbol.node >= function_.parameters.first &&
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
            error(operand.span, fmt::format("'{}' lies in .{}, which tilepath does not support", module_.name(operand.name),
                                            ptx::word(variable.space)));
            break;
    }
    return Operand::constant(add_constant(constant));
}

Operand Lowering::read_any(const ptx::Operand& operand, DataType type, bool wider) {
    switch (operand.kind) {
        case OperandKind::immediate: {
            std::uint64_t bits = operand.bits;
            using ptx::ImmediateKind;
            if (program::is_float(type)) {
                if (operand.immediate == ImmediateKind::f64 && program::bits(type) == 32)
                    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
                else if (operand.immediate == ImmediateKind::f32 && program::bits(type) == 64)
                    bits = std::bit_cast<std::uint64_t>(double(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
            }
            return constant(bits, type);
        }
        case OperandKind::identifier: {
            const ptx::Symbol* symbol = module_.symbol(operand);
            TILEPATH_ASSERT(symbol, "an identifier that resolve left without a symbol");
            switch (symbol->kind) {
                case ptx::SymbolKind::reg: return register_operand(operand, type, wider);
                case ptx::SymbolKind::special: return special_register(operand);
                case ptx::SymbolKind::variable:
                case ptx::SymbolKind::param:
                case ptx::SymbolKind::function:
                case ptx::SymbolKind::alias: {
                    Space space{};
                    return symbol_address(operand, *symbol, type, space);
                }
                case ptx::SymbolKind::label:
                case ptx::SymbolKind::prototype:
                case ptx::SymbolKind::targets: break;
            }
            error(operand.span, fmt::format("expected a register or a value, found the label '{}'", module_.text(operand.span)));
            return constant(0, DataType::u32);
        }
        case OperandKind::sink:
        case OperandKind::address:
        case OperandKind::tensor_address:
        case OperandKind::indexed:
        case OperandKind::vector:
        case OperandKind::list:
        case OperandKind::pair: break;
    }
    error(operand.span, fmt::format("expected a register or a value, found '{}'", module_.text(operand.span)));
    return constant(0, type == DataType::none ? DataType::u32 : type);
}

Operand Lowering::write_any(const ptx::Operand& operand, DataType type, bool wider) {
    if (operand.kind == OperandKind::sink) return Operand::none();
    const ptx::Symbol* symbol = operand.kind == OperandKind::identifier ? module_.symbol(operand) : nullptr;
    if (symbol && symbol->kind == ptx::SymbolKind::reg) return register_operand(operand, type, wider);
    error(operand.span, fmt::format("expected a register to write, found '{}'", module_.text(operand.span)));
    return Operand::none();
}

Operand Lowering::read(const ptx::Operand& operand, DataType type) { return read_any(operand, type, false); }
Operand Lowering::read_wider(const ptx::Operand& operand, DataType type) { return read_any(operand, type, true); }
Operand Lowering::write(const ptx::Operand& operand, DataType type) { return write_any(operand, type, false); }
Operand Lowering::write_wider(const ptx::Operand& operand, DataType type) { return write_any(operand, type, true); }

Operand Lowering::read_predicate(const ptx::Operand& operand) {
    if (operand.kind == OperandKind::immediate) {
        bool value = operand.bits != 0;
        return predicate_constant(operand.not_ ? !value : value);
    }
    return read(operand, DataType::pred);
}

std::vector<Operand> Lowering::parts(const ptx::Operand& operand, DataType type, bool wider, bool writes) {
    std::vector<Operand> out;
    auto one = [&](const ptx::Operand& part) {
        out.push_back(writes ? write_any(part, type, wider) : read_any(part, type, wider));
    };
    if (operand.kind == OperandKind::vector)
        for (const ptx::Operand& part : module_.children(operand)) one(part);
    else if (const ptx::Symbol* symbol = module_.symbol(operand);
             operand.kind == OperandKind::identifier && operand.component == ptx::Component::none && symbol &&
             symbol->kind == ptx::SymbolKind::reg && module_.variable(*symbol).vector > 1) {
        // A whole `.v4` register: its elements follow one another.
        Operand first = Operand::reg(module_.register_number(operand));
        for (std::uint32_t i = 0; i < module_.variable(*symbol).vector; ++i) out.push_back(Operand::reg(first.index + i));
    } else
        one(operand);
    return out;
}

std::vector<Operand> Lowering::read_vector(const ptx::Operand& operand, DataType type) { return parts(operand, type, false, false); }
std::vector<Operand> Lowering::write_vector(const ptx::Operand& operand, DataType type) { return parts(operand, type, false, true); }
std::vector<Operand> Lowering::read_vector_wider(const ptx::Operand& operand, DataType type) {
    return parts(operand, type, true, false);
}
std::vector<Operand> Lowering::write_vector_wider(const ptx::Operand& operand, DataType type) {
    return parts(operand, type, true, true);
}

Address Lowering::address(const ptx::Operand& operand, Space space) {
    if (operand.kind != OperandKind::address) {
        error(operand.span, fmt::format("expected an address, found '{}'", module_.text(operand.span)), "write [register+offset]");
        return {constant(0, DataType::u64), 0, space};
    }
    if (operand.name == ptx::none) return {constant(operand.bits, DataType::u64), 0, space};
    const ptx::Symbol* symbol = module_.symbol(operand);
    TILEPATH_ASSERT(symbol, "an address base that resolve left without a symbol");
    if (symbol->kind == ptx::SymbolKind::reg) {
        Operand base = register_operand(operand, DataType::none, false);
        int width = program::bits(out_.registers[base.index].type);
        if (width != 32 && width != 64)
            error(operand.span, fmt::format("an address register has 32 or 64 bits; '{}' has {}", module_.text(operand.span), width));
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

std::int64_t Lowering::immediate(const ptx::Operand& operand, std::string_view what) {
    if (operand.kind == OperandKind::immediate && operand.immediate != ptx::ImmediateKind::f32 &&
        operand.immediate != ptx::ImmediateKind::f64)
        return static_cast<std::int64_t>(operand.bits);
    error(operand.span, fmt::format("{} must be an integer constant, found '{}'", what, module_.text(operand.span)));
    return 0;
}

Operand Lowering::low_part(Operand operand, DataType type) {
    if (operand.kind != Operand::Kind::reg || program::bits(type) > 32) return operand;
    const DataType declared = out_.registers[operand.index].type;
    if (program::bits(declared) <= 32) return operand;
    // Rows of 64 bits are no pair of rows of 32: the low halves have to be taken out.
    std::vector<Operand> halves(static_cast<std::size_t>(program::bits(declared) / 32), Operand::none());
    halves.front() = temporary(DataType::b32);
    MicroOp& out = emit(Op::unpack, DataType::b32, halves, std::span(&operand, 1));
    out.source_type = program::bits(declared) == 64 ? DataType::b64 : DataType::b128;
    out.flags = {};
    return halves.front();
}

// ---- emitting

MicroOp& Lowering::emit(Op op, DataType type, std::span<const Operand> destinations, std::span<const Operand> sources) {
    MicroOp out;
    out.op = op;
    out.type = type;
    out.destinations = static_cast<std::uint16_t>(destinations.size());
    out.sources = static_cast<std::uint16_t>(sources.size());
    // Reading a guard appends nothing, so the operands stay in one run.
    if (bound_) {
        out.flags = bound_->flags();
        out.rounding = bound_->rounding();
        if (ptx::Id guard = bound_->instruction().guard; guard != ptx::none) out.guard = read_predicate(module_.operands[guard]);
        out.instruction = static_cast<std::uint32_t>(out_.instructions.size() - 1);
    }
    out.first_operand = static_cast<std::uint32_t>(out_.operands.size());
    out_.operands.insert(out_.operands.end(), destinations.begin(), destinations.end());
    out_.operands.insert(out_.operands.end(), sources.begin(), sources.end());
    out_.ops.push_back(out);
    return out_.ops.back();
}

MicroOp& Lowering::simple(Op op) { return simple(op, bound_->operand_type(0)); }

MicroOp& Lowering::simple(Op op, DataType type) {
    Operand destination = write(bound_->operand(0), bound_->operand_type(0));
    std::vector<Operand> sources;
    for (std::size_t i = 1; i < bound_->operand_count(); ++i) sources.push_back(read(bound_->operand(i), bound_->operand_type(i)));
    return emit(op, type, std::span(&destination, 1), sources);
}

}  // namespace tilepath::isa
