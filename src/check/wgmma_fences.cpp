#include "check/wgmma_fences.h"

#include <algorithm>

#include "program/uses.h"

namespace tilepath::check {
namespace {

using program::MicroOp;
using program::Op;
using program::Operand;
using program::RegisterId;

/// By register that some wgmma uses: what has accessed it since the last fence; and whether there has been a fence.
struct State {
    std::vector<const MicroOp*> touched;
    bool reached = false, fenced = true;

    bool join(const State& other) {
        bool changed = !reached || (fenced && !other.fenced);
        reached = true;
        fenced = fenced && other.fenced;
        for (std::size_t r = 0; r < touched.size(); ++r)
            if (touched[r] == nullptr && other.touched[r] != nullptr) touched[r] = other.touched[r], changed = true;
        return changed;
    }
};

class Walk {
  public:
    explicit Walk(const program::Function& function) : function_(function), used_(function.registers.size()) {
        for (const MicroOp& op : function.ops)
            if (op.op == Op::wgmma) each_register(op, [&](RegisterId r) { used_[r] = true; });
    }

    std::vector<UnfencedWgmma> run() {
        State nothing;
        nothing.touched.resize(used_.size());
        std::vector<State> in(function_.blocks.size(), nothing);
        in[0].reached = true, in[0].fenced = false;
        std::vector<bool> due(in.size());
        due[0] = true;
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t b = 0; b < in.size(); ++b) {
                if (!due[b]) continue;
                due[b] = false;
                State state = in[b];
                walk(b, state, false);
                for (const program::BlockId next : function_.blocks[b].successors)
                    if (in[next].join(state)) due[next] = true, changed = true;
            }
        }
        for (std::size_t b = 0; b < in.size(); ++b)
            if (in[b].reached) walk(b, in[b], true);
        return std::move(found_);
    }

  private:
    /// Accumulators, and A in registers: 32 bits wide, which descriptors are not.
    template <class Visit>
    void each_register(const MicroOp& op, Visit visit) const {
        for (const Operand d : function_.destinations(op))
            if (d.kind == Operand::Kind::reg) visit(d.index);
        for (const Operand source : function_.sources(op))
            if (source.kind == Operand::Kind::reg && program::bits(function_.registers[source.index].type) == 32)
                visit(source.index);
    }

    /// From register to register: compilers rename that way, and ptxas makes such copies vanish.
    bool copies(const MicroOp& op) const {
        return op.op == Op::mov && function_.sources(op)[0].kind == Operand::Kind::reg;
    }

    void walk(std::size_t block, State& state, bool tell) {
        for (std::uint32_t i = function_.blocks[block].first; i < function_.blocks[block].last; ++i) {
            const MicroOp& op = function_.ops[i];
            if (op.op == Op::wgmma_fence) {
                state.fenced = true;
                std::ranges::fill(state.touched, nullptr);
            } else if (op.op == Op::wgmma) {
                if (tell) judge(op, state);
                state.fenced = true;  // told once
            } else if (op.op != Op::wgmma_wait && op.op != Op::wgmma_settle && !copies(op)) {
                const auto touch = [&](RegisterId r) {
                    if (used_[r]) state.touched[r] = &op;
                };
                program::for_each_use(function_, op, touch);
                program::for_each_def(function_, op, touch);
            }
        }
    }

    void judge(const MicroOp& op, const State& state) {
        const MicroOp* by = nullptr;
        each_register(op, [&](RegisterId r) { by = by == nullptr ? state.touched[r] : by; });
        if (by != nullptr || !state.fenced) found_.push_back({&op, by});
    }

    const program::Function& function_;
    std::vector<bool> used_;
    std::vector<UnfencedWgmma> found_;
};

}  // namespace

std::vector<UnfencedWgmma> unfenced_wgmmas(const program::Function& function) { return Walk(function).run(); }

}  // namespace tilepath::check
