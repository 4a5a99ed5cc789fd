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
        error(operand.span, fmt::format("expected a label to branch to, found '{}'", module_.text(operand.span)));
        return;
    }
    emit(Op::bra, DataType::none, {}, {});
    end_block({symbol->number});
}

void Lowering::branch_indexed(const ptx::Operand& index, const ptx::Operand& operand) {
    const ptx::Symbol* symbol = operand.kind == ptx::OperandKind::identifier ? module_.symbol(operand) : nullptr;
    if (!symbol || symbol->kind != ptx::SymbolKind::targets || module_.targets[symbol->node].calls) {
        error(operand.span, fmt::format("expected the label of a .branchtargets list, found '{}'", module_.text(operand.span)));
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

// ---- calls

namespace {

Call::Builtin builtin_named(std::string_view name) {
    if (name == "vprintf") return Call::Builtin::vprintf;
    if (name == "malloc") return Call::Builtin::malloc;
    if (name == "free") return Call::Builtin::free;
    if (name == "__assertfail") return Call::Builtin::assertfail;
    return Call::Builtin::none;
}

}  // namespace

bool Lowering::describe_call_arguments(const ptx::Operand& list, std::vector<Call::Argument>& out, ptx::Range formal) {
    std::span<const ptx::Operand> actual = module_.children(list);
    std::span<const ptx::Variable> declared = module_.variables_in(formal);
    if (actual.size() != declared.size()) {
        error(list.span, fmt::format("expected {} argument{}, found {}", declared.size(), declared.size() == 1 ? "" : "s",
                                     actual.size()));
        return false;
    }
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const ptx::Symbol* symbol = actual[i].kind == ptx::OperandKind::identifier ? module_.symbol(actual[i]) : nullptr;
        Call::Argument argument;
        argument.bytes = static_cast<std::uint32_t>(ptx::size_in_bytes(module_, declared[i]));
        argument.type = program::type_named(ptx::word(declared[i].type)).value_or(DataType::b32);
        if (symbol && symbol->kind == ptx::SymbolKind::param) {
            auto place = std::find_if(out_.locals.begin(), out_.locals.end(),
                                      [&](const program::FrameVariable& v) { return v.symbol == actual[i].symbol; });
            if (place == out_.locals.end()) {
                // A function may pass its own parameters on.
                place = std::find_if(out_.parameters.begin(), out_.parameters.end(),
                                     [&](const program::FrameVariable& v) { return v.symbol == actual[i].symbol; });
                if (place == out_.parameters.end() || in_entry()) {
                    error(actual[i].span, "an argument must be a .param variable of this body, a register or a constant");
                    return false;
                }
            }
            if (place->bytes != argument.bytes) {
                error(actual[i].span, fmt::format("'{}' has {} bytes; the parameter has {}", place->name, place->bytes, argument.bytes));
                return false;
            }
            argument.frame_offset = place->offset;
        } else {
            argument.reg = read(actual[i], argument.type);
        }
        out.push_back(argument);
    }
    return true;
}

void Lowering::call(const Bound& bound) {
    const ptx::Operand& target = bound["f"];
    const ptx::Symbol* symbol = target.kind == ptx::OperandKind::identifier ? module_.symbol(target) : nullptr;
    Call call;
    ptx::Range returns{}, parameters{};
    std::vector<Operand> sources;
    if (symbol && (symbol->kind == ptx::SymbolKind::function || symbol->kind == ptx::SymbolKind::alias)) {
        ptx::Id id = symbol->kind == ptx::SymbolKind::alias
                         ? module_.symbols[module_.aliases[symbol->node].aliasee_symbol].node
                         : symbol->node;
        const ptx::Function& callee = module_.functions[id];
        returns = callee.returns, parameters = callee.parameters;
        call.callee = builder_.function_index(id);
        if (call.callee < 0) call.builtin = builtin_named(module_.name(callee.name));
        if (call.callee < 0 && call.builtin == Call::Builtin::none) {
            error(target.span, fmt::format("the function '{}' has no body in this module", module_.name(callee.name)),
                  "link the module first, or remove the call; vprintf, malloc, free and __assertfail are built in");
            return;
        }
    } else if (symbol && symbol->kind == ptx::SymbolKind::reg) {
        const ptx::Operand* list = bound.operand("t");
        const ptx::Symbol* prototype = list ? module_.symbol(*list) : nullptr;
        if (!prototype || (prototype->kind != ptx::SymbolKind::prototype && prototype->kind != ptx::SymbolKind::targets)) {
            error(bound.instruction().span, "an indirect call names its .callprototype or .calltargets last");
            return;
        }
        if (prototype->kind == ptx::SymbolKind::prototype) {
            returns = module_.prototypes[prototype->node].returns, parameters = module_.prototypes[prototype->node].parameters;
        } else {
            for (const ptx::Operand& candidate : module_.operands_in(module_.targets[prototype->node].targets))
                if (const ptx::Symbol* function = module_.symbol(candidate); function && function->kind == ptx::SymbolKind::function) {
                    returns = module_.functions[function->node].returns;
                    parameters = module_.functions[function->node].parameters;
                    call.candidates.push_back(static_cast<std::uint32_t>(std::max(0, builder_.function_index(function->node))));
                }
        }
        sources.push_back(read(target, DataType::u64));
    } else {
        error(target.span, fmt::format("expected a function or a register, found '{}'", module_.text(target.span)));
        return;
    }
    const ptx::Operand *results = bound.operand("r"), *arguments = bound.operand("a");
    if (results && !describe_call_arguments(*results, call.results, returns)) return;
    if (arguments && !describe_call_arguments(*arguments, call.arguments, parameters)) return;
    if (!arguments && parameters.count)
        error(bound.instruction().span, fmt::format("expected {} arguments, found none", parameters.count));
    MicroOp& op = emit(Op::call, DataType::none, {}, sources);
    op.detail = static_cast<std::uint32_t>(out_.calls.size());
    out_.calls.push_back(std::move(call));
}

// ---- blocks

namespace {

/// How many natural loops each block lies in.
std::vector<int> loop_depths(const std::vector<Block>& blocks) {
    std::vector<std::vector<BlockId>> predecessors(blocks.size()), tails(blocks.size());
    std::vector<char> state(blocks.size(), 0);  // 0 new, 1 on the path, 2 done
    std::vector<std::pair<BlockId, std::size_t>> path{{0, 0}};
    state[0] = 1;
    while (!path.empty()) {
        auto& [at, next] = path.back();
        if (next == blocks[at].successors.size()) {
            state[at] = 2;
            path.pop_back();
            continue;
        }
        BlockId to = blocks[at].successors[next++];
        predecessors[to].push_back(at);
        if (state[to] == 1) tails[to].push_back(at);
        else if (state[to] == 0) state[to] = 1, path.emplace_back(to, 0);
    }
    std::vector<int> depth(blocks.size(), 0);
    std::vector<BlockId> seen_in(blocks.size(), ~BlockId{0});
    for (BlockId head = 0; head < blocks.size(); ++head) {
        if (tails[head].empty()) continue;
        std::vector<BlockId> work = tails[head];
        seen_in[head] = head;
        ++depth[head];
        while (!work.empty()) {
            BlockId at = work.back();
            work.pop_back();
            if (seen_in[at] == head) continue;
            seen_in[at] = head;
            ++depth[at];
            work.insert(work.end(), predecessors[at].begin(), predecessors[at].end());
        }
    }
    return depth;
}

/// Reverse post-order in which a loop's blocks come before what follows the loop, and a block before the one that it
/// falls through to: lanes that leave a loop early wait for the others.
std::vector<BlockId> reverse_post_order(const std::vector<Block>& blocks) {
    const std::vector<int> depth = loop_depths(blocks);
    std::vector<char> seen(blocks.size(), 0);
    std::vector<BlockId> order;
    struct Step {
        BlockId at;
        std::vector<BlockId> rest;  // visited from the back: what is visited last comes first in the order
    };
    auto step = [&](BlockId at) {
        std::vector<BlockId> rest(blocks[at].successors.rbegin(), blocks[at].successors.rend());
        std::stable_sort(rest.begin(), rest.end(), [&](BlockId a, BlockId b) { return depth[a] > depth[b]; });
        return Step{at, std::move(rest)};
    };
    std::vector<Step> path;
    path.push_back(step(0));
    seen[0] = 1;
    while (!path.empty()) {
        if (path.back().rest.empty()) {
            order.push_back(path.back().at);
            path.pop_back();
            continue;
        }
        BlockId to = path.back().rest.back();
        path.back().rest.pop_back();
        if (!seen[to]) seen[to] = 1, path.push_back(step(to));
    }
    std::reverse(order.begin(), order.end());
    return order;
}

}  // namespace

void Lowering::finish() {
    const bool open_end = out_.ops.empty() || jumps_.empty() || jumps_.back().op + 1 != out_.ops.size() ||
                          out_.ops.back().guard.kind != Operand::Kind::none ||
                          std::any_of(label_at_.begin(), label_at_.end(), [&](auto& l) { return l.second == out_.ops.size(); });
    if (open_end) {
        // Control that runs off the end returns.
        if (out_.instructions.empty()) out_.instructions.push_back({function_.span, -1});
        emit(Op::ret, DataType::none, {}, {}).instruction = static_cast<std::uint32_t>(out_.instructions.size() - 1);
        end_block({});
    }
    const auto end = static_cast<std::uint32_t>(out_.ops.size());
    std::vector<char> leads(end + 1, 0);
    leads[0] = leads[end] = 1;
    for (auto [label, at] : label_at_) leads[at] = 1;
    for (const Jump& jump : jumps_) leads[jump.op + 1] = 1;
    std::vector<BlockId> block_at(end + 1, 0);
    std::vector<Block> blocks;
    for (std::uint32_t i = 0; i < end; ++i) {
        if (leads[i]) blocks.push_back({i, end, {}});
        block_at[i] = static_cast<BlockId>(blocks.size() - 1);
        if (leads[i + 1]) blocks.back().last = i + 1;
    }
    for (BlockId b = 0; b + 1 < blocks.size(); ++b) blocks[b].successors = {b + 1};
    for (const Jump& jump : jumps_) {
        Block& block = blocks[block_at[jump.op]];
        const bool guarded = out_.ops[jump.op].guard.kind != Operand::Kind::none;
        std::vector<BlockId> to;
        for (std::uint32_t label : jump.labels) to.push_back(block_at[label_at_.at(label)]);
        if (out_.ops[jump.op].op == Op::brx) out_.branch_tables[out_.ops[jump.op].detail] = to;
        if (guarded) to.push_back(block_at[jump.op] + 1);
        block.successors = std::move(to);
    }

    const std::vector<BlockId> order = reverse_post_order(blocks);
    std::vector<BlockId> renamed(blocks.size(), ~BlockId{0});
    for (BlockId i = 0; i < order.size(); ++i) renamed[order[i]] = i;
    std::vector<MicroOp> ops;
    ops.reserve(out_.ops.size());
    out_.blocks.clear();
    for (BlockId old : order) {
        Block block{static_cast<std::uint32_t>(ops.size()), 0, {}};
        ops.insert(ops.end(), out_.ops.begin() + blocks[old].first, out_.ops.begin() + blocks[old].last);
        block.last = static_cast<std::uint32_t>(ops.size());
        for (BlockId to : blocks[old].successors) block.successors.push_back(renamed[to]);
        out_.blocks.push_back(std::move(block));
    }
    out_.ops = std::move(ops);
    for (std::vector<BlockId>& table : out_.branch_tables)
        for (BlockId& to : table) to = renamed[to];
}

}  // namespace tilepath::isa
