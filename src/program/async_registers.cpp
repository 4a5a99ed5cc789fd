#include "program/async_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "program/tmem_registers.h"
#include "program/uses.h"

namespace tilepath::program {
namespace {

/// How many groups have been committed since a register was last given to a wgmma; of several paths the fewest.
using Age = std::uint8_t;
constexpr Age free_again = 0xFF, oldest = 0xFE;

/// By register: as D, and as A or metadata.
struct State {
    std::vector<Age> written, read;

    explicit State(std::size_t registers) : written(registers, free_again), read(registers, free_again) {}

    bool join(const State& other) {
        bool changed = false;
        for (auto [mine, theirs] : {std::pair{&written, &other.written}, {&read, &other.read}})
            for (std::size_t r = 0; r < mine->size(); ++r)
                if ((*theirs)[r] < (*mine)[r]) (*mine)[r] = (*theirs)[r], changed = true;
        return changed;
    }
    void clear() {
        std::ranges::fill(written, free_again);
        std::ranges::fill(read, free_again);
    }
    template <class Visit>
    void each(Visit visit) {
        for (std::vector<Age>* ages : {&written, &read})
            for (Age& age : *ages)
                if (age != free_again) visit(age);
    }
    bool on_the_way(RegisterId r) const { return written[r] != free_again || read[r] != free_again; }
    bool empty() const {
        for (RegisterId r = 0; r < written.size(); ++r)
            if (on_the_way(r)) return false;
        return true;
    }
    std::vector<Operand> operands() const {
        std::vector<Operand> all;
        for (RegisterId r = 0; r < written.size(); ++r)
            if (on_the_way(r)) all.push_back(Operand::reg(r));
        return all;
    }
};

bool is_wgmma(const MicroOp& op) { return op.op == Op::wgmma; }

bool completes(const MicroOp& wait, Age age) { return age != free_again && age > wait.immediate; }

/// The registers that the wait makes free.
std::vector<Operand> completed(const MicroOp& wait, const State& state) {
    std::vector<Operand> all;
    for (RegisterId r = 0; r < state.written.size(); ++r)
        if (completes(wait, state.written[r]) || completes(wait, state.read[r])) all.push_back(Operand::reg(r));
    return all;
}

void apply(const Function& function, const MicroOp& op, State& state) {
    if (op.op == Op::wgmma) {
        for (Operand d : function.destinations(op))
            if (d.kind == Operand::Kind::reg) state.written[d.index] = 0;
        // Descriptors and scale-d are read when the operation is issued; of D, which may stand here too, the row above
        // tells.
        for (Operand source : function.sources(op))
            if (source.kind == Operand::Kind::reg && bits(function.registers[source.index].type) == 32)
                state.read[source.index] = 0;
    } else if (op.op == Op::wgmma_commit) {
        state.each([](Age& age) { age = std::min<Age>(static_cast<Age>(age + 1), oldest); });
    } else if (op.op == Op::wgmma_wait) {
        state.each([&](Age& age) {
            if (completes(op, age)) age = free_again;
        });
    }
}

/// What is on the way at the beginning of each block.
std::vector<State> entry_states(const Function& function) {
    std::vector<State> in(function.blocks.size(), State(function.registers.size()));
    std::vector<bool> due(function.blocks.size(), true);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t b = 0; b < function.blocks.size(); ++b) {
            if (!due[b]) continue;
            due[b] = false;
            State state = in[b];
            const Block& block = function.blocks[b];
            for (std::uint32_t i = block.first; i < block.last; ++i) apply(function, function.ops[i], state);
            for (BlockId next : block.successors)
                if (in[next].join(state)) due[next] = true, changed = changed || next <= b;
        }
    }
    return in;
}

/// Whether the operation needs a wgmma_settle before it, and which.
std::optional<Settle> settles(const Function& function, const MicroOp& op, const State& state) {
    if (op.op == Op::wgmma || op.op == Op::wgmma_wait || op.op == Op::wgmma_settle) return {};
    const bool leaves = op.op == Op::exit || op.op == Op::ret || op.op == Op::trap;
    if (leaves && function.entry && !state.empty()) return Settle::mark;
    if ((op.op == Op::call || op.op == Op::ret) && !state.empty()) return Settle::land;
    std::optional<Settle> needed;
    const auto touch = [&](bool touched) {
        if (touched) needed = op.op == Op::mov ? Settle::land : Settle::early;
    };
    for_each_use(function, op, [&](RegisterId r) { touch(state.written[r] != free_again); });
    if (needed == Settle::land) return needed;
    for_each_def(function, op, [&](RegisterId r) {
        if (state.on_the_way(r)) needed = Settle::early;
    });
    return needed;
}

/// The operation's operands become these sources.
void append_sources(Function& function, MicroOp& op, const std::vector<Operand>& sources) {
    const auto first = static_cast<std::uint32_t>(function.operands.size());
    function.operands.insert(function.operands.end(), sources.begin(), sources.end());
    op.first_operand = first;
    op.destinations = 0;
    op.sources = static_cast<std::uint16_t>(sources.size());
}

}  // namespace

void complete_async_registers(Function& function) {
    complete_tmem_registers(function);
    if (std::ranges::none_of(function.ops, is_wgmma)) return;
    std::vector<State> in = entry_states(function);
    std::vector<MicroOp> ops;
    ops.reserve(function.ops.size());
    for (std::size_t b = 0; b < function.blocks.size(); ++b) {
        Block& block = function.blocks[b];
        const auto first = static_cast<std::uint32_t>(ops.size());
        State& state = in[b];
        bool settled_early = false;
        for (std::uint32_t i = block.first; i < block.last; ++i) {
            MicroOp op = function.ops[i];
            const std::optional<Settle> how = settles(function, op, state);
            if (how && !(how == Settle::early && settled_early)) {
                MicroOp settle;
                settle.op = Op::wgmma_settle;
                settle.instruction = op.instruction;
                settle.variant = static_cast<std::uint8_t>(*how);
                append_sources(function, settle, state.operands());
                ops.push_back(settle);
                if (how == Settle::land) state.clear();
                settled_early = true;
            }
            if (op.op == Op::wgmma) settled_early = false;
            if (op.op == Op::wgmma_wait) append_sources(function, op, completed(op, state));
            apply(function, op, state);
            ops.push_back(op);
        }
        block.first = first;
        block.last = static_cast<std::uint32_t>(ops.size());
    }
    function.ops = std::move(ops);
}

std::vector<std::string> missing_async_uses(const Function& function) {
    std::vector<std::string> missing;
    if (std::ranges::none_of(function.ops, is_wgmma)) return missing;
    std::vector<State> in = entry_states(function);
    for (std::size_t b = 0; b < function.blocks.size(); ++b) {
        State& state = in[b];
        for (std::uint32_t i = function.blocks[b].first; i < function.blocks[b].last; ++i) {
            const MicroOp& op = function.ops[i];
            const bool lands = op.op == Op::wgmma_settle && op.variant == static_cast<std::uint8_t>(Settle::land);
            if (op.op == Op::wgmma_wait) {
                const auto named = function.sources(op);
                for (Operand r : completed(op, state))
                    if (std::ranges::find(named, r) == named.end())
                        missing.push_back(fmt::format("r{} is free after a wait that does not name it", r.index));
            }
            if (lands) state.clear();
            apply(function, op, state);
        }
    }
    return missing;
}

}  // namespace tilepath::program
