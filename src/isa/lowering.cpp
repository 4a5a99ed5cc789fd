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

/// Of the i-th register that a declaration makes: `%r<9>` names %r0 to %r8, a vector's parts are v.x, v.y, …
std::string register_name(const ptx::Module& module, const ptx::Variable& variable, std::uint32_t i) {
    std::string name(module.name(variable.name));
    if (variable.parameterised) name += std::to_string(i / variable.vector);
    if (variable.vector > 1) name += std::string(".") + "xyzw"[i % variable.vector];
    return name;
}

}  // namespace

Lowering::Lowering(ProgramBuilder& builder, const ptx::Module& module, const ptx::Function& function,
                   program::Function& out)
    : builder_(builder), module_(module), function_(function), out_(out) {
    out_.registers.resize(function.register_count, {DataType::b32, {}});
    for (const ptx::Statement& statement : module.body(function)) {
        if (statement.kind != ptx::StatementKind::variable) continue;
        const ptx::Variable& variable = module.variables[statement.index];
        if (variable.space != ptx::Space::reg) continue;
        std::uint32_t first = module.symbols[variable.symbol].number;
        for (std::uint32_t i = 0; i < variable.count * variable.vector; ++i)
            out_.registers[first + i] = {data_type(variable.type), register_name(module, variable, i)};
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
    int width = program::register_bits(type);
    std::uint64_t kept =
        program::bits(type) >= 64 ? bits : bits & ((std::uint64_t(1) << std::max(1, program::bits(type))) - 1);
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
        out.order = bound_->order();
        out.scope = bound_->scope();
        if (ptx::Id guard = bound_->instruction().guard; guard != ptx::none)
            out.guard = read_predicate(module_.operands[guard]);
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
    for (std::size_t i = 1; i < bound_->operand_count(); ++i)
        sources.push_back(read(bound_->operand(i), bound_->operand_type(i)));
    return emit(op, type, std::span(&destination, 1), sources);
}

}  // namespace tilepath::isa
