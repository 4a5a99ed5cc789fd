// Tensor Memory: tcgen05 operations, which run apart from the threads, and the loads, stores and fences around them.
//
// A thread's multiplies, copies and shifts are known to be complete to who waits for the commit behind them; some kinds
// are pipelined, so that the next need not wait (PTX ISA 9.7.16.6.2). Loads and stores are known to their warp by
// tcgen05.wait. Across threads all this counts only with fence::before_thread_sync before what orders the threads,
// which a commit implies, and fence::after_thread_sync behind it (9.7.16.6.4).
#include <algorithm>
#include <bit>

#include "check/lanes.h"
#include "check/ordering.h"
#include "program/uses.h"

namespace tilepath::check {

using machine::TensorCells;
using machine::TensorMemory;
using machine::TensorOperation;
using program::Op;

namespace {

std::uint8_t bit(TensorOperation::Kind kind) { return static_cast<std::uint8_t>(1u << static_cast<int>(kind)); }

/// Which kinds that the same thread has issued before need not be complete.
std::uint8_t pipelined_before(TensorOperation::Kind kind) {
    using enum TensorOperation::Kind;
    switch (kind) {
        case multiply: return bit(multiply) | bit(copy) | bit(shift);
        case shift: return bit(multiply);
        // Not in the manual's list, but block-scaled loops of public kernels copy new scale factors over those of
        // products under way.
        case copy: return bit(multiply) | bit(copy) | bit(shift);
        case load:
        case store:
        case commit: return 0;
    }
    return 0;
}

}  // namespace

TensorQueue& Ordering::tensor_queue(const Who& who, TensorQueue& queue, Agent::Kind kind) {
    if (queue.agent != 0) return queue;
    Agent agent;
    agent.kind = kind;
    agent.cta = who.cta->linear, agent.number = who.warp->number;
    queue.agent = new_agent(*who.cluster, agent, queue.index);
    return queue;
}

void Ordering::touch_tensor_cells(ClusterState& cluster, CtaState& cta, const TensorCells& cells) {
    if (cta.tensor.empty()) cta.tensor.resize(std::size_t{TensorMemory::lanes} * TensorMemory::columns);
    const std::uint32_t end = std::min(cells.column + cells.columns, TensorMemory::columns);
    for (std::uint32_t column = cells.column; column < end; ++column) {
        Cell* const first = cta.tensor.data() + std::size_t{column} * TensorMemory::lanes;
        for (std::uint32_t slab = 0; slab < 4; ++slab) {
            for (std::uint32_t left = cells.lanes[slab], skipped = 0; left != 0;) {
                const auto gap = static_cast<std::uint32_t>(std::countr_zero(left));
                const auto count = static_cast<std::uint32_t>(std::countr_one(left >> gap));
                const std::uint32_t lane = slab * 32 + skipped + gap;
                cluster.tensor_shadow.touch(first, std::uint64_t{column} << 32, lane * 4, count * 4, Cell::any_lane);
                skipped += gap + count;
                left = skipped >= 32 ? 0 : cells.lanes[slab] >> skipped;
            }
        }
    }
}

/// Whether a multiply touches the cells that the same thread's last one has, with neither a commit nor anything else in
/// between: then nothing can be new. Steps along k are like that.
bool Ordering::touched_again(ClusterState& cluster, const TensorOperation& event, const TensorQueue& queue) {
    const auto same = [](const TensorCells& a, const TensorCells& b) {
        return a.read == b.read && a.write == b.write && a.cta == b.cta && a.column == b.column &&
               a.columns == b.columns && a.lanes == b.lanes;
    };
    auto& last = cluster.last_product;
    const bool multiplies = event.kind == TensorOperation::Kind::multiply;
    if (multiplies && last.agent == queue.agent && last.epoch == queue.epoch &&
        std::ranges::equal(last.cells, event.cells, same))
        return true;
    last.agent = multiplies ? queue.agent : 0;
    last.epoch = queue.epoch;
    last.cells.assign(event.cells.begin(), event.cells.end());
    return false;
}

void Ordering::tensor_issued(const TensorOperation& event) {
    const Who w = who(event.site);
    WarpState& warp = *w.warp;
    ++warp.activity;
    using enum TensorOperation::Kind;
    if (event.kind == commit) {
        TensorQueue& queue = tensor_queue(w, warp.tcgen05, Agent::Kind::tcgen05);
        WarpState::Commit commit{event.id, queue.epoch++, {}};
        release(warp, event.site.lanes, commit.knows);
        warp.commits.push_back(std::move(commit));
        return;
    }
    const TensorQueue& queue = event.kind == load    ? tensor_queue(w, warp.tensor_loads, Agent::Kind::tensor_loads)
                               : event.kind == store ? tensor_queue(w, warp.tensor_stores, Agent::Kind::tensor_stores)
                                                     : tensor_queue(w, warp.tcgen05, Agent::Kind::tcgen05);
    const Knowledge& knows = knowledge(warp, static_cast<std::uint32_t>(std::countr_zero(event.site.lanes)));
    Actor act = actor(w, knows, 0, site_of(event.site), false);
    act.stamp.agent = queue.agent;
    act.stamp.epoch = queue.epoch;
    act.stamp.kind = bit(event.kind);
    act.pipelined = pipelined_before(event.kind);
    if (event.kind == multiply || event.kind == copy) touch_tensor_operands(w, event, knows, act);
    if (event.kind == load && std::ranges::find(warp.loads, event.site.op) == warp.loads.end())
        warp.loads.push_back(event.site.op);
    if (touched_again(*w.cluster, event, queue)) return;
    act.fenced = &warp.tensor;
    act.fences_reads = true;
    for (const bool writes : {false, true}) {
        act.writes = writes;
        w.cluster->tensor_shadow.begin(act);
        for (const TensorCells& cells : event.cells) {
            if (writes ? !cells.write : !cells.read || cells.write) continue;  // what is both is judged as written
            if (const auto owner = ctas_.find(event.ctas[cells.cta]); owner != ctas_.end())
                touch_tensor_cells(*w.cluster, *owner->second.cta, cells);
        }
        note(w, act, program::Space::generic, w.cluster->tensor_shadow);
    }
}

/// A and B in shared memory, or what a copy reads there, in each CTA of the pair: the 16 bytes that the descriptors
/// begin with stand for all. What is written or freed too soon is a whole tile.
void Ordering::touch_tensor_operands(const Who& who, const TensorOperation& event, const Knowledge& knows, Actor act) {
    act.fenced = &knows.fenced_shared;
    act.stamp.async_proxy = true;
    const program::MicroOp& op = *event.site.op;
    const bool multiplies = event.kind == TensorOperation::Kind::multiply;
    const bool reads_a = !multiplies || !event.site.function->tcgen05_mmas[op.detail].a_in_tensor_memory;
    const auto lane = static_cast<std::uint8_t>(std::countr_zero(event.site.lanes));
    const auto touch = [&](const CtaState& cta, std::uint64_t descriptor) {
        constexpr std::uint64_t start_field = 0x3FFF;
        const auto start = static_cast<std::uint32_t>((descriptor & start_field) << 4);
        touch_shared(who, act, machine::shared_address(cta.rank, start), 16, lane);
    };
    who.cluster->shadow.begin(act);
    for (std::uint32_t i = 0; i < event.cta_group; ++i) {
        const auto owner = ctas_.find(event.ctas[i]);
        if (owner == ctas_.end()) continue;
        if (reads_a) touch(*owner->second.cta, event.a);
        if (multiplies) touch(*owner->second.cta, event.b);
    }
    note(who, act, program::Space::shared, who.cluster->shadow);
}

/// The commit that lands was the first of the warp's that has not.
void Ordering::tensor_arrival(const Who& who, MbarrierState& state) {
    const WarpState& warp = *who.warp;
    if (warp.commits.empty()) return;
    const WarpState::Commit& commit = warp.commits.front();
    state.pending.join(commit.knows);
    state.pending.seen.raise(warp.tcgen05.index, commit.completes);
    state.pending.tensor.raise(warp.tcgen05.index, commit.completes);
}

void Ordering::tensor_landed(const TensorOperation& event) {
    if (event.kind != TensorOperation::Kind::commit || !ctas_.contains(event.site.cta)) return;
    std::erase_if(who(event.site).warp->commits, [&](const auto& each) { return each.id == event.id; });
}

/// Registers that a load has yet to fill are used: devices respect that, without a wait (PTX ISA 9.7.16.6.4.5).
void Ordering::note_early_use(const WarpState& warp, const machine::EventSite& settle) {
    const program::MicroOp& user = settle.op[1];  // a settle stands before what touches them
    if (user.op == Op::call || user.op == Op::ret || user.op == Op::exit || user.op == Op::trap) return;
    const program::Function& function = *settle.function;
    const auto fills = [&](const program::MicroOp* load, program::RegisterId r) {
        return std::ranges::any_of(function.destinations(*load), [&](const program::Operand& each) {
            return each.kind == program::Operand::Kind::reg && each.index == r;
        });
    };
    std::vector<program::RegisterId> used;
    program::for_each_use(function, user, [&](program::RegisterId r) { used.push_back(r); });
    for (const program::MicroOp* load : warp.loads) {
        if (load < function.ops.data() || load >= function.ops.data() + function.ops.size()) continue;  // a caller's
        for (const program::Operand& each : function.sources(*settle.op)) {
            if (!fills(load, each.index) || std::ranges::find(used, each.index) == used.end()) continue;
            machine::EventSite from = settle;
            from.op = load;
            return misuse(site_of(settle), site_of(from), "tensor-registers",
                          "this uses a register of a tcgen05.ld that no tcgen05.wait::ld has waited for", {},
                          "tcgen05.wait::ld before it; the register is right without, but Tensor Memory must not be "
                          "overwritten or freed before",
                          Severity::note);
        }
    }
}

/// tcgen05.fence, and tcgen05.wait::ld and ::st.
void Ordering::tensor_fence(const Who& who, const machine::EventSite& site) {
    WarpState& warp = *who.warp;
    if (site.op->op == Op::tcgen05_settle) {
        note_early_use(warp, site);
    } else if (site.op->op == Op::tcgen05_wait) {
        if (site.op->variant == 0) warp.loads.clear();
        TensorQueue& queue = site.op->variant == 0 ? tensor_queue(who, warp.tensor_loads, Agent::Kind::tensor_loads)
                                                   : tensor_queue(who, warp.tensor_stores, Agent::Kind::tensor_stores);
        each_learner(warp, site.lanes, site.live,
                     [&](Knowledge& knows) { knows.seen.raise(queue.index, queue.epoch); });
        warp.tensor.raise(queue.index, queue.epoch++);
    } else if (site.op->op == Op::tcgen05_fence && site.op->variant == 0) {
        each_knowledge(warp, site.lanes, [](Knowledge& knows, std::uint32_t) { knows.tensor.join(knows.seen); });
    } else if (site.op->op == Op::tcgen05_fence) {
        each_knowledge(warp, site.lanes,
                       [&](const Knowledge& knows, std::uint32_t) { warp.tensor.join(knows.tensor); });
    }
}

/// Columns are freed when all that touched them is known to be through; new ones have no history.
void Ordering::tensor_allocation(const machine::TensorAllocation& event) {
    const Who w = who(event.site);
    ++w.warp->activity;
    w.cluster->last_product.agent = 0;
    if (w.cta->tensor.empty()) return;
    TensorCells cells;
    cells.column = event.column, cells.columns = event.columns;
    cells.lanes.fill(~0u);
    if (!event.allocated) {
        Actor act = actor(w, w.warp->knows, 0, site_of(event.site), true);
        w.cluster->tensor_shadow.begin(act);
        touch_tensor_cells(*w.cluster, *w.cta, cells);
        note(w, act, program::Space::generic, w.cluster->tensor_shadow);
    }
    for (std::uint32_t i = event.column * TensorMemory::lanes; i < (event.column + event.columns) * TensorMemory::lanes;
         ++i)
        w.cta->tensor[i] = {};
}

}  // namespace tilepath::check
