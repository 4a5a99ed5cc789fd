// What an instruction reads and writes: registers, immediates, special registers, vectors.
#include "isa/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace tilepath::isa {

using ptx::OperandKind;

std::string Lowering::describe(const ptx::Operand& operand) const {
    const std::string_view text = module_.text(operand.span);
    const ptx::Symbol* symbol = operand.kind == OperandKind::identifier ? module_.symbol(operand) : nullptr;
    if (!symbol) return fmt::format("'{}'", text);
    switch (symbol->kind) {
        case ptx::SymbolKind::reg:
            return fmt::format("the .{} register '{}'", ptx::word(module_.variable(*symbol).type), text);
        case ptx::SymbolKind::special: return fmt::format("the special register '{}'", text);
        case ptx::SymbolKind::variable:
            return fmt::format("the variable '{}' in .{}", text, ptx::word(module_.variable(*symbol).space));
        case ptx::SymbolKind::param: return fmt::format("the parameter '{}'", text);
        case ptx::SymbolKind::function: return fmt::format("the function '{}'", text);
        case ptx::SymbolKind::alias: return fmt::format("the alias '{}'", text);
        case ptx::SymbolKind::label: return fmt::format("the label '{}'", text);
        case ptx::SymbolKind::prototype: return fmt::format("the .callprototype '{}'", text);
        case ptx::SymbolKind::targets:
            return fmt::format("the .{} list '{}'",
                               module_.targets[symbol->node].calls ? "calltargets" : "branchtargets", text);
    }
    return {};
}

/// What may stand before and after a register's name: `!` with predicates, `.x` to `.w` with vectors.
void Lowering::check_selection(const ptx::Operand& operand, DataType declared) {
    const std::string_view text = module_.text(operand.span);
    if (operand.minus)
        error(operand.span,
              fmt::format("'{}' takes no negated register; found '{}'", module_.opcode(bound_->instruction()), text),
              "negate it with neg first");
    if (operand.not_ && declared != DataType::pred)
        error(operand.span,
              fmt::format("'!' goes with a predicate; '{}' has a .{} register", text, program::traits(declared).name),
              "invert its bits with not first");
    if (operand.component == ptx::Component::none) return;
    const std::uint32_t elements = module_.variable(*module_.symbol(operand)).vector;
    const auto component =
        static_cast<std::uint32_t>(operand.component) - static_cast<std::uint32_t>(ptx::Component::x);
    if (operand.component < ptx::Component::x || operand.component > ptx::Component::w || component >= elements ||
        elements == 1)
        error(operand.span, elements == 1 ? fmt::format("'{}' takes a part of a register that is no vector", text)
                                          : fmt::format("'{}': the vector has {} elements", text, elements));
}

Operand Lowering::register_operand(const ptx::Operand& operand, DataType type, bool wider) {
    ptx::Id number = module_.register_number(operand);
    TILEPATH_ASSERT(number != ptx::none, "an identifier resolved to a register without a number");
    DataType declared = out_.registers[number].type;
    Operand result = Operand::reg(number);
    result.negated = operand.not_;
    check_selection(operand, declared);
    if (type == DataType::none) return result;
    bool is_predicate = declared == DataType::pred, wants_predicate = type == DataType::pred;
    bool fits = is_predicate == wants_predicate &&
                (is_predicate || program::bits(declared) == program::bits(type) ||
                 (wider && program::bits(declared) > program::bits(type)) ||
                 // Sub-byte and byte types live in registers of 16 or 32 bits: the manual has no narrower arithmetic.
                 (program::bits(type) <= 8 && program::bits(declared) <= 32 && type != DataType::e2m1x2));
    if (!fits)
        error(operand.span,
              fmt::format("'{}' is a .{} register; '{}' expects {} .{} here", module_.text(operand.span),
                          program::traits(declared).name, module_.opcode(bound_->instruction()),
                          wider ? "at least" : "a", program::traits(type).name),
              "declare the register with that width, or convert with cvt");
    return result;
}

Operand Lowering::read_any(const ptx::Operand& operand, DataType type, bool wider) {
    switch (operand.kind) {
        case OperandKind::immediate: return immediate_operand(operand, type);
        case OperandKind::identifier: {
            const ptx::Symbol* symbol = module_.symbol(operand);
            TILEPATH_ASSERT(symbol, "an identifier that resolve left without a symbol");
            switch (symbol->kind) {
                case ptx::SymbolKind::reg: return with_offset(register_operand(operand, type, wider), operand);
                case ptx::SymbolKind::special: return special_register(operand, type, wider);
                case ptx::SymbolKind::variable:
                case ptx::SymbolKind::param:
                case ptx::SymbolKind::function:
                case ptx::SymbolKind::alias: return address_as_value(operand, type);
                case ptx::SymbolKind::label:
                case ptx::SymbolKind::prototype:
                case ptx::SymbolKind::targets: break;
            }
            error(operand.span, fmt::format("expected a register or a value, found {}", describe(operand)));
            return constant(0, DataType::u32);
        }
        case OperandKind::indexed: return address_as_value(operand, type);
        case OperandKind::sink:
        case OperandKind::address:
        case OperandKind::tensor_address:
        case OperandKind::vector:
        case OperandKind::list:
        case OperandKind::pair: break;
    }
    error(operand.span, fmt::format("expected a register or a value, found {}", describe(operand)));
    return constant(0, type == DataType::none ? DataType::u32 : type);
}

/// `r1+4` as a source: the sum (recorded on an H200; the manual writes it only in addresses).
Operand Lowering::with_offset(Operand value, const ptx::Operand& operand) {
    if (operand.bits == 0) return value;
    const DataType declared = out_.registers[value.index].type;
    const int width = program::bits(declared);
    if (declared == DataType::pred || width > 64 || width < 16) {
        error(operand.span, fmt::format("a .{} register takes no offset; found '{}'", program::traits(declared).name,
                                        module_.text(operand.span)));
        return value;
    }
    const DataType type = width == 16 ? DataType::u16 : width == 32 ? DataType::u32 : DataType::u64;
    const Operand sum = temporary(declared);
    emit(Op::add, type, {sum}, {value, constant(operand.bits, type)}).flags = {};
    return sum;
}

Operand Lowering::write_any(const ptx::Operand& operand, DataType type, bool wider) {
    if (operand.kind == OperandKind::sink) return Operand::none();
    if (operand.kind == OperandKind::identifier && (operand.bits != 0 || operand.minus || operand.not_)) {
        error(operand.span, fmt::format("expected a register to write, found '{}'", module_.text(operand.span)));
        return Operand::none();
    }
    const ptx::Symbol* symbol = operand.kind == OperandKind::identifier ? module_.symbol(operand) : nullptr;
    if (symbol && symbol->kind == ptx::SymbolKind::reg) return register_operand(operand, type, wider);
    error(operand.span, fmt::format("expected a register to write, found {}", describe(operand)));
    return Operand::none();
}

Operand Lowering::read(const ptx::Operand& operand, DataType type) { return read_any(operand, type, false); }
Operand Lowering::read_wider(const ptx::Operand& operand, DataType type) { return read_any(operand, type, true); }
Operand Lowering::write(const ptx::Operand& operand, DataType type) {
    check_sink(operand);
    return write_any(operand, type, false);
}
Operand Lowering::write_wider(const ptx::Operand& operand, DataType type) {
    check_sink(operand);
    return write_any(operand, type, true);
}

/// Which instructions may discard a whole result, as ptxas 13.0 has it; elements of vectors and parts of pairs always
/// may.
void Lowering::check_sink(const ptx::Operand& operand) {
    if (operand.kind != OperandKind::sink || bound_->operand(0).kind == OperandKind::pair) return;
    static constexpr std::string_view discarding[] = {"atom", "mbarrier", "setp"};
    const std::string_view opcode = module_.opcode(bound_->instruction());
    const bool may = std::find(std::begin(discarding), std::end(discarding), opcode) != std::end(discarding);
    if (!may || bound_->has("test_wait") || bound_->has("try_wait") || bound_->has("pending_count"))
        error(operand.span, fmt::format("'{}' does not discard its result: expected a register, found '_'", opcode));
}

Operand Lowering::read_predicate(const ptx::Operand& operand) {
    if (operand.kind == OperandKind::immediate) {
        immediate_operand(operand, DataType::pred);
        bool value = operand.bits != 0;
        return predicate_constant(operand.not_ ? !value : value);
    }
    return read(operand, DataType::pred);
}

/// Registers of one vector have one width; of sinks alone none is known.
void Lowering::check_elements(const ptx::Operand& operand, const std::vector<Operand>& elements) {
    std::optional<int> width;
    for (const Operand& element : elements) {
        if (element.kind != Operand::Kind::reg) continue;
        const int bits = program::bits(out_.registers[element.index].type);
        if (bits != width.value_or(bits))
            return error(operand.span, fmt::format("registers of {} and of {} bits in one vector", *width, bits));
        width = bits;
    }
    const std::span<const ptx::Operand> parts = module_.children(operand);
    if (std::ranges::all_of(parts, [](const ptx::Operand& part) { return part.kind == OperandKind::sink; }))
        error(operand.span, fmt::format("'{}' names no register", module_.text(operand.span)),
              "one element at least must be a register");
}

std::vector<Operand> Lowering::parts(const ptx::Operand& operand, DataType type, bool wider, bool writes) {
    std::vector<Operand> out;
    auto one = [&](const ptx::Operand& part) {
        out.push_back(writes ? write_any(part, type, wider) : read_any(part, type, wider));
    };
    if (operand.kind == OperandKind::vector) {
        for (const ptx::Operand& part : module_.children(operand)) one(part);
        check_elements(operand, out);
    } else if (const ptx::Symbol* symbol = module_.symbol(operand);
               operand.kind == OperandKind::identifier && operand.component == ptx::Component::none && symbol &&
               symbol->kind == ptx::SymbolKind::reg && module_.variable(*symbol).vector > 1) {
        // A whole `.v4` register: its elements follow one another.
        Operand first = Operand::reg(module_.register_number(operand));
        for (std::uint32_t i = 0; i < module_.variable(*symbol).vector; ++i)
            out.push_back(Operand::reg(first.index + i));
    } else {
        if (writes) check_sink(operand);
        one(operand);
    }
    return out;
}

std::vector<Operand> Lowering::read_vector(const ptx::Operand& operand, DataType type) {
    return parts(operand, type, false, false);
}
std::vector<Operand> Lowering::write_vector(const ptx::Operand& operand, DataType type) {
    return parts(operand, type, false, true);
}
std::vector<Operand> Lowering::read_vector_wider(const ptx::Operand& operand, DataType type) {
    return parts(operand, type, true, false);
}
std::vector<Operand> Lowering::write_vector_wider(const ptx::Operand& operand, DataType type) {
    return parts(operand, type, true, true);
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

}  // namespace tilepath::isa
