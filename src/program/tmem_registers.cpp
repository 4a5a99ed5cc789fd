#include "program/tmem_registers.h"

#include <algorithm>

#include "program/uses.h"

namespace tilepath::program {
namespace {

/// By register: whether a load on some path has yet to write it, or a store to read it.
struct Pending {
    std::vector<bool> loaded, stored;

    explicit Pending(std::size_t registers) : loaded(registers), stored(registers) {}

    bool join(const Pending& other) {
        bool changed = false;
        for (auto [mine, theirs] : {std::pair{&loaded, &other.loaded}, {&stored, &other.stored}})
            for (std::size_t r = 0; r < mine->size(); ++r)
                if ((*theirs)[r] && !(*mine)[r]) (*mine)[r] = changed = true;
        return changed;
    }
    void settle(RegisterId r) { loaded[r] = stored[r] = false; }
    std::vector<RegisterId> all() const {
        std::vector<RegisterId> some;
        for (RegisterId r = 0; r < loaded.size(); ++r)
            if (loaded[r] || stored[r]) some.push_back(r);
        return some;
    }
};

bool moves(const MicroOp& op) { return op.op == Op::tcgen05_ld || op.op == Op::tcgen05_st; }

std::vector<bool>& completed_by(const MicroOp& wait, Pending& pending) {
    return wait.variant == 0 ? pending.loaded : pending.stored;
}

/// The registers whose transfers must land before the operation; all of them where it goes out of sight.
std::vector<RegisterId> touched(const Function& function, const MicroOp& op, const Pending& pending) {
    if (op.op == Op::call || op.op == Op::ret || op.op == Op::exit || op.op == Op::trap) return pending.all();
    std::vector<RegisterId> some;
    for_each_use(function, op, [&](RegisterId r) {
        if (pending.loaded[r]) some.push_back(r);
    });
    for_each_def(function, op, [&](RegisterId r) {
        if (pending.loaded[r] || pending.stored[r]) some.push_back(r);
    });
    std::ranges::sort(some);
    some.erase(std::ranges::unique(some).begin(), some.end());
    return some;
}

/// Lanes that leave the kernel need no registers; those that a guard keeps still do.
bool leaves(const Function& function, const MicroOp& op) {
    return op.op == Op::exit || op.op == Op::trap || (op.op == Op::ret && function.entry);
}

void apply(const Function& function, const MicroOp& op, Pending& pending) {
    if (leaves(function, op)) return;
    if (op.op != Op::tcgen05_wait)
        for (RegisterId r : touched(function, op, pending)) pending.settle(r);
    if (op.op == Op::tcgen05_ld) {
        for_each_def(function, op, [&](RegisterId r) { pending.loaded[r] = true; });
    } else if (op.op == Op::tcgen05_st) {
        for (Operand source : function.sources(op).subspan(1))
            if (source.kind == Operand::Kind::reg) pending.stored[source.index] = true;
    } else if (op.op == Op::tcgen05_wait && op.guard.kind == Operand::Kind::none) {
        std::vector<bool>& done = completed_by(op, pending);
        done.assign(done.size(), false);
    }
}

std::vector<Pending> entry_states(const Function& function) {
    std::vector<Pending> in(function.blocks.size(), Pending(function.registers.size()));
    std::vector<bool> due(function.blocks.size(), true);
    for (bool again = true; again;) {
        again = false;
        for (std::size_t b = 0; b < function.blocks.size(); ++b) {
            if (!due[b]) continue;
            due[b] = false;
            Pending pending = in[b];
            for (std::uint32_t i = function.blocks[b].first; i < function.blocks[b].last; ++i)
                apply(function, function.ops[i], pending);
            for (BlockId next : function.blocks[b].successors)
                if (in[next].join(pending)) due[next] = true, again = again || next <= b;
        }
    }
    return in;
}

void set_sources(Function& function, MicroOp& op, const std::vector<RegisterId>& registers) {
    op.first_operand = static_cast<std::uint32_t>(function.operands.size());
    op.destinations = 0;
    op.sources = static_cast<std::uint16_t>(registers.size());
    for (RegisterId r : registers) function.operands.push_back(Operand::reg(r));
}

MicroOp settle_before(Function& function, const MicroOp& op, const std::vector<RegisterId>& registers) {
    MicroOp settle;
    settle.op = Op::tcgen05_settle;
    settle.instruction = op.instruction;
    settle.variant = leaves(function, op) ? 1 : 0;
    set_sources(function, settle, registers);
    return settle;
}

}  // namespace

void complete_tmem_registers(Function& function) {
    if (std::ranges::none_of(function.ops, moves)) return;
    std::vector<Pending> in = entry_states(function);
    std::vector<MicroOp> ops;
    ops.reserve(function.ops.size());
    for (std::size_t b = 0; b < function.blocks.size(); ++b) {
        Block& block = function.blocks[b];
        const auto first = static_cast<std::uint32_t>(ops.size());
        Pending& pending = in[b];
        for (std::uint32_t i = block.first; i < block.last; ++i) {
            MicroOp op = function.ops[i];
            if (const auto due = touched(function, op, pending); !due.empty())
                ops.push_back(settle_before(function, op, due));
            if (op.op == Op::tcgen05_wait) {
                std::vector<RegisterId> done;
                const std::vector<bool>& completed = completed_by(op, pending);
                for (RegisterId r = 0; r < completed.size(); ++r)
                    if (completed[r]) done.push_back(r);
                set_sources(function, op, done);
            }
            apply(function, op, pending);
            ops.push_back(op);
        }
        block.first = first;
        block.last = static_cast<std::uint32_t>(ops.size());
    }
    function.ops = std::move(ops);
}

}  // namespace tilepath::program
