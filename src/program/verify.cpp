#include "program/verify.h"

#include <fmt/format.h>

#include "program/async_registers.h"
#include "program/print.h"

namespace tilepath::program {
namespace {

bool ends_block(const MicroOp& op) { return traits(op.op).scope == Scope::control && op.op != Op::call; }

class Verifier {
  public:
    Verifier(const Program& program, const Function& function, std::vector<std::string>& out)
        : program_(program), function_(function), out_(out) {}

    void run() {
        std::uint32_t next = 0;
        for (const Block& block : function_.blocks) {
            if (block.first != next || block.last < block.first || block.last > function_.ops.size()) wrong("blocks do not follow one another");
            next = block.last;
            for (std::uint32_t i = block.first; i < block.last && i < function_.ops.size(); ++i) check(function_.ops[i], i + 1 == block.last);
            check_successors(block);
        }
        if (next != function_.ops.size()) wrong("operations behind the last block");
        if (out_.empty())
            for (const std::string& missing : missing_async_uses(function_)) wrong(missing);
    }

  private:
    void wrong(const std::string& what) { out_.push_back(fmt::format("{}: {}", function_.name, what)); }
    void wrong(const MicroOp& op, const std::string& what) {
        out_.push_back(fmt::format("{}: '{}': {}", function_.name, traits(op.op).name, what));
    }

    void check(const MicroOp& op, bool last) {
        const OpTraits& row = traits(op.op);
        if (ends_block(op) && !last) wrong(op, "control moves in the middle of a block");
        if (op.first_operand + op.destinations + op.sources > function_.operands.size()) return wrong(op, "operands out of range");
        if (row.destinations >= 0 && op.destinations != row.destinations) wrong(op, fmt::format("{} destinations", op.destinations));
        if (row.sources >= 0 && op.sources != row.sources) wrong(op, fmt::format("{} sources", op.sources));
        if (op.instruction >= function_.instructions.size()) wrong(op, "no instruction");
        check(op, op.guard);
        if (op.guard.kind != Operand::Kind::none && !is_predicate(op.guard)) wrong(op, "the guard is no predicate");
        for (Operand operand : function_.destinations(op)) {
            check(op, operand);
            if (operand.kind == Operand::Kind::constant) wrong(op, "writes a constant");
        }
        for (Operand operand : function_.sources(op)) check(op, operand);
        const bool table_fits = (op.op != Op::brx || op.detail < function_.branch_tables.size()) &&
                                (op.op != Op::call || op.detail < function_.calls.size()) &&
                                (op.op != Op::bulk_copy || op.detail < function_.bulks.size()) &&
                                ((op.op != Op::tcgen05_ld && op.op != Op::tcgen05_st) || op.detail < function_.tmem_transfers.size()) &&
                                (op.op != Op::tcgen05_cp || op.detail < function_.tmem_copies.size()) &&
                                (op.op != Op::tcgen05_mma || op.detail < function_.tcgen05_mmas.size()) &&
                                ((op.op != Op::mma && op.op != Op::wgmma && op.op != Op::wmma_load && op.op != Op::wmma_store) || op.detail < function_.mmas.size());
        if (!table_fits) wrong(op, "its table has no such row");
    }

    bool is_predicate(Operand operand) const {
        return operand.kind == Operand::Kind::reg ? function_.registers[operand.index].type == DataType::pred
                                                  : function_.constants[operand.index].width == 1;
    }

    void check(const MicroOp& op, Operand operand) {
        if (operand.kind == Operand::Kind::reg && operand.index >= function_.registers.size()) wrong(op, "no such register");
        if (operand.kind == Operand::Kind::constant && operand.index >= function_.constants.size()) return wrong(op, "no such constant");
        if (operand.kind == Operand::Kind::constant) {
            const Constant& constant = function_.constants[operand.index];
            if (constant.kind == Constant::Kind::global_symbol && constant.symbol >= program_.variables.size()) wrong(op, "no such variable");
            if (constant.kind == Constant::Kind::function && constant.symbol >= program_.functions.size()) wrong(op, "no such function");
        }
    }

    void check_successors(const Block& block) {
        for (BlockId to : block.successors)
            if (to >= function_.blocks.size()) wrong("a successor that is no block");
        if (block.first == block.last) return;
        const MicroOp& op = function_.ops[block.last - 1];
        const std::size_t more = op.guard.kind == Operand::Kind::none ? 0 : 1;
        std::size_t expected = !ends_block(op) ? 1 : op.op == Op::bra ? 1 + more : op.op == Op::brx ? block.successors.size() : more;
        if (block.successors.size() != expected) wrong(op, fmt::format("{} successors, expected {}", block.successors.size(), expected));
    }

    const Program& program_;
    const Function& function_;
    std::vector<std::string>& out_;
};

}  // namespace

std::vector<std::string> verify(const Program& program) {
    std::vector<std::string> out;
    for (const Function& function : program.functions) Verifier(program, function, out).run();
    return out;
}

}  // namespace tilepath::program
