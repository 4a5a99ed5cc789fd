// The cut into blocks, and the order that they lie in.
#include "isa/lowering.h"

#include <algorithm>

namespace tilepath::isa {

using program::Block;
using program::BlockId;

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
        if (state[to] == 1)
            tails[to].push_back(at);
        else if (state[to] == 0)
            state[to] = 1, path.emplace_back(to, 0);
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
    const bool open_end =
        out_.ops.empty() || jumps_.empty() || jumps_.back().op + 1 != out_.ops.size() ||
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
