// tcgen05: what its operations have in common. Allocation, transfers, and what is issued and lands have files of their
// own.
#include "exec/tcgen05.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "exec/executor.h"

namespace tilepath::exec {

using program::Op;

void TensorState::clear(bool apart) {
    memory.reset();
    if (apart) memory.keep_apart();
    cta_group = 0;
    allocations.clear();
    last_columns = 0;
    last_allocation = relinquished = {};
    meeting = {};
    collectors = {};
    transfers.clear();
    unpublished.clear();
    fenced_after.clear();
    uncommitted.clear();
}

/// Made when a CTA first uses it: most kernels have none.
TensorState& Tcgen05::state_of(CtaRun& cta) {
    if (cta.tensor == nullptr) cta.tensor = std::make_unique<TensorState>();
    if (!cta.tensor->memory.in_use()) cta.tensor->clear(executor_.launch_.options.copies != machine::CopyPolicy::eager);
    return *cta.tensor;
}

TensorUse Tcgen05::user(Context& c, LaneMask lanes) { return {c.frame.function, &c.code, &c.warp, lanes}; }

/// `line 12`.
std::string Tcgen05::line_of(const TensorUse& use) const {
    const program::CodePlace place =
        program::code_place(*executor_.launch_.loaded.program, *use.function->function, use.code->op);
    return fmt::format("line {}", place.ptx.line);
}

/// `line 12, by warp 3`, with the CTA in a cluster.
std::string Tcgen05::where(const TensorUse& use) const {
    const std::string rank =
        executor_.launch_.ctas_per_cluster == 1 ? "" : fmt::format("rank {} ", use.warp->cta->state.rank);
    return fmt::format("{}, by {}warp {}", line_of(use), rank, use.warp->index);
}

Step Tcgen05::execute(Context& c) {
    switch (c.op().op) {
        case Op::tcgen05_settle: return settle_registers(c);
        case Op::tcgen05_mma:
        case Op::tcgen05_cp:
        case Op::tcgen05_shift:
        case Op::tcgen05_commit: return issue(c);
        case Op::tcgen05_fence: return fence(c);
        default: break;
    }
    if (!executor_.gather(c)) return Step::stop;
    if (!whole_warp(c)) return Step::fault;
    settle(*c.warp.cta->cluster);
    switch (c.op().op) {
        case Op::tcgen05_alloc: return allocate(c);
        case Op::tcgen05_dealloc: return deallocate(c);
        case Op::tcgen05_relinquish: return relinquish(c);
        case Op::tcgen05_ld:
        case Op::tcgen05_st: return transfer(c);
        case Op::tcgen05_wait: return wait_transfers(c);
        default: break;
    }
    TILEPATH_ASSERT(false, "an operation that is none of tcgen05");
    return Step::fault;
}

/// before_thread_sync shows other threads what this warp has stored, and orders what it has issued before what follows
/// their after_thread_sync; behind that, loads see what has landed (PTX ISA 9.7.16.6.3).
Step Tcgen05::fence(Context& c) {
    if (executor_.observer_ != nullptr) executor_.observer_->fence({executor_.site(c)});
    const std::uint64_t now = executor_.launch_.next_copy_id++;
    CtaRun& cta = *c.warp.cta;
    if (c.op().variant == 0) {
        publish(cta, &c.warp);
        for (PendingTcgen05& each : cta.cluster->tensor_operations)
            if (each.by.warp == &c.warp && each.fenced_behind == 0) each.fenced_behind = now;
        return Step::next;
    }
    if (cta.tensor != nullptr) cta.tensor->memory.show();
    std::vector<std::uint64_t>& after = state_of(cta).fenced_after;
    after.resize(std::max<std::size_t>(after.size(), c.warp.index + 1));
    after[c.warp.index] = now;
    return Step::next;
}

/// The stores of one warp, or of all: null.
void Tcgen05::publish(CtaRun& cta, const Warp* warp) {
    if (cta.tensor == nullptr || cta.tensor->unpublished.empty()) return;
    machine::TensorMemory& memory = cta.tensor->memory;
    std::erase_if(cta.tensor->unpublished, [&](const PendingTransfer& store) {
        if (warp != nullptr && store.by.warp != warp) return false;
        const auto at = machine::TensorMemoryAddress::of(store.address);
        store.plan->store(memory.column(at.column) + at.lane, store.values.data());
        return true;
    });
}

/// PTX ISA 9.7.16.7 and 9.7.16.8: undefined if any thread of the warp has exited.
bool Tcgen05::whole_warp(Context& c) {
    if (c.warp.live == all_lanes) return true;
    executor_.fail(c, FaultKind::diverged, c.active,
                   fmt::format("all 32 threads of the warp must execute this, but {} of it are not there: they have "
                               "exited, or never were",
                               describe_lanes(~c.warp.live)));
    return false;
}

bool Tcgen05::uniform(Context& c, int source, std::string_view name) {
    const Row& row = c.row(c.source(source));
    for (int lane = 1; lane < warp_lanes; ++lane) {
        if (row.lane[lane] == row.lane[0]) continue;
        executor_.fail(c, FaultKind::diverged, 1u << lane | 1,
                       fmt::format("{} must be the same in all lanes; it is {:#x} in lane 0 and {:#x} in lane {}", name,
                                   row.lane[0], row.lane[lane], lane));
        return false;
    }
    return true;
}

/// The other CTA of the pair: the ranks differ in the last bit. Null if the cluster has none.
CtaRun* Tcgen05::peer_of(const CtaRun& cta) {
    const std::uint32_t rank = cta.state.rank ^ 1;
    return rank < cta.cluster->ctas.size() ? cta.cluster->ctas[rank].get() : nullptr;
}

/// That all of a kernel have one cta_group isa/ has seen to. With 2, the peer must be there.
bool Tcgen05::use_group(Context& c, int cta_group) {
    state_of(*c.warp.cta).cta_group = cta_group;
    if (cta_group == 1) return true;
    const CtaRun* const peer = peer_of(*c.warp.cta);
    if (peer == nullptr) {
        executor_.fail(c, FaultKind::cta_group, c.active,
                       fmt::format(".cta_group::2 works on a pair of CTAs whose ranks differ in the last bit; the "
                                   "cluster has {} CTA{}: launch it with an even cluster size",
                                   c.warp.cta->cluster->ctas.size(), c.warp.cta->cluster->ctas.size() == 1 ? "" : "s"));
        return false;
    }
    if (peer->state.live_threads != 0) return true;
    executor_.fail(c, FaultKind::exited_cta, c.active,
                   fmt::format("the peer CTA, rank {} of the cluster, has exited; it must be there while .cta_group::2 "
                               "instructions work on its Tensor Memory",
                               peer->state.rank));
    return false;
}

/// What of tcgen05 an mbarrier may wait for: what is on its way, and what nobody has committed.
std::string Tcgen05::describe_pending(const CtaRun& cta) const {
    std::string out;
    for (const PendingTcgen05& each : cta.cluster->tensor_operations) {
        constexpr std::size_t most = 400;
        if (out.size() > most) break;
        out += fmt::format("; {} in {} has not completed", program::traits(each.by.code->op->op).name, where(each.by));
    }
    if (cta.tensor == nullptr || !cta.tensor->memory.in_use()) return out;
    for (const TensorState::Uncommitted& each : cta.tensor->uncommitted)
        out += fmt::format("; {} tcgen05 operation{} from {} on, {}, {} followed by no tcgen05.commit of that thread",
                           each.count, each.count == 1 ? "" : "s", where(each.first), describe_lanes(each.first.lanes),
                           each.count == 1 ? "is" : "are");
    return out;
}

}  // namespace tilepath::exec
