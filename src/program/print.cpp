#include "program/print.h"

#include <fmt/format.h>

#include "base/assert.h"

namespace tilepath::program {
namespace {

std::string_view name(number::Rounding rounding) {
    using enum number::Rounding;
    switch (rounding) {
        case rn: return "rn";
        case rz: return "rz";
        case rm: return "rm";
        case rp: return "rp";
        case rna: return "rna";
        case rs: return "rs";
    }
    TILEPATH_ASSERT(false, "a Rounding outside its enum");
}

std::string print(const Function& function, Operand operand) {
    std::string not_ = operand.negated ? "!" : "";
    switch (operand.kind) {
        case Operand::Kind::none: return "_";
        case Operand::Kind::reg:
            return fmt::format("{}{}{}", not_, function.registers[operand.index].type == DataType::pred ? 'p' : 'r', operand.index);
        case Operand::Kind::constant: break;
    }
    const Constant& constant = function.constants[operand.index];
    switch (constant.kind) {
        case Constant::Kind::value: return fmt::format("{}{:#x}", not_, constant.bits);
        case Constant::Kind::global_symbol: return fmt::format("variable{}+{}", constant.symbol, constant.bits);
        case Constant::Kind::shared: return fmt::format("shared+{:#x}", constant.bits);
        case Constant::Kind::frame: return fmt::format("frame+{}", constant.bits);
        case Constant::Kind::function: return fmt::format("function{}", constant.symbol);
    }
    TILEPATH_ASSERT(false, "a Constant outside its enum");
}

std::string print(Flags flags) {
    std::string out;
    auto add = [&](bool set, const char* text) {
        if (set) out += text;
    };
    add(flags.ftz, ".ftz"), add(flags.sat, ".sat"), add(flags.satfinite, ".satfinite"), add(flags.relu, ".relu");
    add(flags.approx, ".approx"), add(flags.full, ".full"), add(flags.nan, ".nan"), add(flags.xorsign_abs, ".xorsign_abs");
    add(flags.carry_in, ".carry_in"), add(flags.carry_out, ".carry_out"), add(flags.aligned, ".aligned");
    return out;
}

}  // namespace

std::string print(const Function& function, const MicroOp& op) {
    const OpTraits& row = traits(op.op);
    std::string out;
    if (op.guard.kind != Operand::Kind::none) out += "@" + print(function, op.guard) + " ";
    out += row.name;
    if (row.memory != MemoryEffect::none && row.memory != MemoryEffect::fence) out += fmt::format(".{}", name(op.space));
    if (op.type != DataType::none) out += fmt::format(".{}", traits(op.type).name);
    if (op.source_type != DataType::none) out += fmt::format(".{}", traits(op.source_type).name);
    if (op.flags.rounded) out += fmt::format(".{}{}", name(op.rounding), op.flags.integer_rounding ? "i" : "");
    out += print(op.flags);
    if (op.vector > 1) out += fmt::format(".v{}", op.vector);
    if (op.variant) out += fmt::format(".variant{}", op.variant);
    const char* separator = " ";
    for (Operand operand : function.destinations(op)) out += separator + print(function, operand), separator = ", ";
    if (op.destinations && op.sources) separator = " <- ";
    for (Operand operand : function.sources(op)) out += separator + print(function, operand), separator = ", ";
    if (op.immediate) out += fmt::format(" [{}]", op.immediate);
    return out;
}

std::string print(const Function& function) {
    std::string out = fmt::format("{} {}: {} registers in {} rows, {} predicates in {} masks\n", function.entry ? "entry" : "func",
                                  function.name, function.registers.size(), function.slots.rows, function.registers.size(),
                                  function.slots.predicates);
    for (std::size_t b = 0; b < function.blocks.size(); ++b) {
        const Block& block = function.blocks[b];
        out += fmt::format("block {} ->", b);
        for (BlockId to : block.successors) out += fmt::format(" {}", to);
        out += '\n';
        for (std::uint32_t i = block.first; i < block.last; ++i) out += "    " + print(function, function.ops[i]) + "\n";
    }
    return out;
}

}  // namespace tilepath::program
