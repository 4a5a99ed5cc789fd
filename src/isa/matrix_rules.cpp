#include "isa/matrix_rules.h"

#include <fmt/format.h>

#include "atom/mma_sp.h"
#include "base/assert.h"
#include "isa/plain.h"

namespace tilepath::isa {

using program::Mma;

atom::Shape shape_named(std::string_view word) {
    atom::Shape shape;
    std::size_t at = 0;
    auto number = [&] {
        int value = 0;
        for (++at; at < word.size() && word[at] >= '0' && word[at] <= '9'; ++at) value = value * 10 + (word[at] - '0');
        return value;
    };
    shape.m = number(), shape.n = number(), shape.k = number();
    return shape;
}

number::Format number_format(DataType type) {
    auto format = number::format_named(program::traits(type).name);
    TILEPATH_ASSERT(format, "a matrix instruction has a type that number/ does not know");
    return *format;
}

DataType data_type(number::Format format) {
    auto type = program::type_named(number::traits(format).name);
    TILEPATH_ASSERT(type, "atom/ has a format that PTX does not");
    return *type;
}

void refuse(Lowering& to, const Diagnostics& diagnostics) {
    for (const Diagnostic& each : diagnostics)
        to.error(to.bound().instruction().span, each.message, each.notes.empty() ? std::string{} : each.notes.front());
}

bool has_target(Lowering& to, int minimum_sm, const std::string& name) {
    return has_target(to, since(1, 0, minimum_sm), name);
}

bool has_target(Lowering& to, Needs needs, const std::string& name) {
    return available(to, to.bound().instruction().span, fmt::format("{} {}", to.bound().form().opcode, name), needs);
}

void check_registers(Lowering& to, const ptx::Operand& operand, std::size_t found, int expected) {
    if (operand.kind == ptx::OperandKind::vector && found == static_cast<std::size_t>(expected)) return;
    to.error(
        operand.span,
        fmt::format("expected a vector of {} register{}, found {}", expected, expected == 1 ? "" : "s",
                    operand.kind == ptx::OperandKind::vector ? fmt::format("one of {}", found)
                                                             : fmt::format("'{}'", to.module().text(operand.span))));
}

namespace {

DataType register_type(const atom::Fragment& fragment) {
    return fragment.register_bits == 64 ? DataType::b64 : DataType::b32;
}

/// Literals stand only for whole elements that fill their register, and A and B take them only in .f64, as ptxas 13.0
/// has it.
bool literal_fits(const ptx::Operand& literal, DataType element) {
    using ptx::ImmediateKind;
    if (element == DataType::f64) return literal.immediate == ImmediateKind::f64;
    if (element == DataType::f32) return literal.immediate == ImmediateKind::f32;
    return element == DataType::s32 &&
           (literal.immediate == ImmediateKind::s64 || literal.immediate == ImmediateKind::u64);
}

}  // namespace

std::vector<Operand> read_fragment(Lowering& to, const ptx::Operand& operand, const atom::Fragment& fragment,
                                   DataType element) {
    if (operand.kind == ptx::OperandKind::vector)
        for (const ptx::Operand& part : to.module().children(operand))
            if (part.kind == ptx::OperandKind::immediate && !literal_fits(part, element))
                to.error(part.span, fmt::format("'{}' is no literal that a matrix of .{} takes",
                                                to.module().text(part.span), program::traits(element).name));
    std::vector<Operand> parts = to.read_vector(operand, register_type(fragment));
    check_registers(to, operand, parts.size(), fragment.registers);
    return parts;
}

std::vector<Operand> write_fragment(Lowering& to, const ptx::Operand& operand, const atom::Fragment& fragment) {
    std::vector<Operand> parts = to.write_vector(operand, register_type(fragment));
    check_registers(to, operand, parts.size(), fragment.registers);
    return parts;
}

Mma describe_mma(const Bound& in) {
    Mma mma;
    const atom::Shape shape = shape_named(in.word("shape"));
    mma.m = shape.m, mma.n = shape.n, mma.k = shape.k;
    mma.a = in.type("atype"), mma.b = in.type("btype"), mma.c = in.type("ctype"), mma.d = in.type("dtype");
    mma.a_column_major = in.word("alayout") == "col";
    mma.b_row_major = in.word("blayout") == "row";
    mma.saturate = in.has("satfinite");
    mma.rounding = in.rounding();
    const auto kind = atom::mma_kind_named(in.word("kind"));
    TILEPATH_ASSERT(kind, "a form has a kind that atom/ does not know");
    mma.kind = *kind;
    if (in.has("stype")) {
        mma.scale = in.type("stype");
        // Where no .scale_vec is written: mxf8f6f4 has one factor, mxf4 two (PTX ISA 9.7.14.5.14).
        const std::string_view vector = in.word("scale_vec");
        mma.scale_factors = vector.empty() ? (mma.kind == atom::MmaKind::mxf8f6f4 ? 1 : 2) : vector[11] - '0';
    }
    const std::string_view bit_op = in.word("bitop");
    mma.bit_op = bit_op == "and" ? Mma::BitOp::and_popc : bit_op == "xor" ? Mma::BitOp::xor_popc : Mma::BitOp::none;
    return mma;
}

void emit_mma(Lowering& to, const Bound& in, const Mma& mma, const atom::Fragment& a, const atom::Fragment& b,
              const atom::Fragment& c, const atom::Fragment& d) {
    std::vector<Operand> destinations = write_fragment(to, in["d"], d), sources;
    for (auto [name, fragment, type] : {std::tuple{"a", &a, mma.a}, {"b", &b, mma.b}, {"c", &c, mma.c}})
        for (Operand part : read_fragment(to, in[name], *fragment, type)) sources.push_back(part);
    const ptx::Operand* metadata = in.operand("metadata");
    if (metadata && metadata->kind == ptx::OperandKind::immediate)
        to.error(metadata->span,
                 fmt::format("the metadata is a register; found '{}'", to.module().text(metadata->span)));
    if (metadata) sources.push_back(to.read(*metadata, DataType::b32));
    if (mma.scale_factors > 0) append_scales(to, in, mma, sources);
    to.out().mmas.push_back(mma);
    to.emit(Op::mma, mma.d, destinations, sources).detail = static_cast<std::uint32_t>(to.out().mmas.size() - 1);
}

namespace {

atom::MmaTypes types_of(const Mma& mma) {
    return {number_format(mma.d), number_format(mma.a), number_format(mma.b), number_format(mma.c)};
}

}  // namespace

void lower_mma(Lowering& to, const Bound& in) {
    using atom::Major;
    const Mma mma = describe_mma(in);
    auto atom = atom::mma_sync({mma.m, mma.n, mma.k}, types_of(mma), mma.a_column_major ? Major::column : Major::row,
                               mma.b_row_major ? Major::row : Major::column, mma.kind);
    if (!atom) return refuse(to, atom.error());
    // With a kind the form says who has it. fp8 with f16 results or k of 16 came later than the form.
    const bool bytes = number::traits(atom->types.a).floating && number::traits(atom->types.a).bits == 8;
    if (bytes && (mma.k == 16 || mma.d == DataType::f16) && !has_target(to, since(8, 7, 89), atom->name)) return;
    if (mma.kind != atom::MmaKind::none || has_target(to, atom->minimum_sm, atom->name))
        emit_mma(to, in, mma, atom->a, atom->b, atom->c, atom->d);
}

void lower_sparse_mma(Lowering& to, const Bound& in) {
    Mma mma = describe_mma(in);
    mma.sparse = true;
    auto atom = atom::mma_sp({mma.m, mma.n, mma.k}, types_of(mma), mma.kind);
    if (!atom) return refuse(to, atom.error());
    const std::int64_t selector = to.immediate(in["selector"], "the sparsity selector");
    if (selector < 0 || selector >= atom->selectors)
        to.error(in["selector"].span,
                 fmt::format("the sparsity selector of {} is {}; found {}", atom->name,
                             atom->selectors == 1 ? "0" : fmt::format("0 to {}", atom->selectors - 1), selector));
    if (atom->ordered_metadata_only && in.word("sp") == "sp")
        to.error(in.instruction().span, fmt::format("{} exists only as mma.sp::ordered_metadata", atom->name));
    mma.selector = static_cast<int>(selector);
    const Needs needs = atom->minimum_sm >= 120 ? since(8, 7, 120, Suffix::families) : since(1, 0, atom->minimum_sm);
    if (mma.kind != atom::MmaKind::none || has_target(to, needs, atom->name))
        emit_mma(to, in, mma, atom->a, atom->b, atom->c, atom->d);
}

}  // namespace tilepath::isa
