// The control-flow half of Lowering: jumps, calls, and the cut into blocks.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "isa/lowering.h"
#include "isa/program_builder.h"

namespace tilepath::isa {

using program::Block;
using program::BlockId;
using program::Call;

void Lowering::label(std::uint32_t number) { label_at_[number] = static_cast<std::uint32_t>(out_.ops.size()); }

void Lowering::end_block(std::vector<std::uint32_t> labels) {
    jumps_.push_back({static_cast<std::uint32_t>(out_.ops.size() - 1), std::move(labels)});
}

void Lowering::branch(const ptx::Operand& operand) {
    const ptx::Symbol* symbol = operand.kind == ptx::OperandKind::identifier ? module_.symbol(operand) : nullptr;
    if (!symbol || symbol->kind != ptx::SymbolKind::label) {
        error(operand.span, fmt::format("expected a label to branch to, found {}", describe(operand)),
              symbol && symbol->kind == ptx::SymbolKind::reg
                  ? "brx.idx goes to one of several labels, an indirect call to the function in a register"
                  : "");
        return;
    }
    emit(Op::bra, DataType::none, {}, {});
    end_block({symbol->number});
}

void Lowering::branch_indexed(const ptx::Operand& index, const ptx::Operand& operand) {
    const ptx::Symbol* symbol = operand.kind == ptx::OperandKind::identifier ? module_.symbol(operand) : nullptr;
    if (!symbol || symbol->kind != ptx::SymbolKind::targets || module_.targets[symbol->node].calls) {
        error(operand.span, fmt::format("expected the label of a .branchtargets list, found {}", describe(operand)));
        return;
    }
    std::vector<std::uint32_t> labels;
    for (const ptx::Operand& target : module_.operands_in(module_.targets[symbol->node].targets))
        if (const ptx::Symbol* label = module_.symbol(target); label && label->kind == ptx::SymbolKind::label)
            labels.push_back(label->number);
    Operand source = read(index, DataType::u32);
    MicroOp& op = emit(Op::brx, DataType::u32, {}, {source});
    op.detail = static_cast<std::uint32_t>(out_.branch_tables.size());
    out_.branch_tables.emplace_back();
    end_block(std::move(labels));
}

void Lowering::leave(Op op) {
    emit(op, DataType::none, {}, {});
    end_block({});
}

}  // namespace tilepath::isa
