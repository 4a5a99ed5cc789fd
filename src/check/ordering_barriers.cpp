// Barriers of the CTA and of the cluster, and mbarriers.
#include <fmt/format.h>

#include <bit>

#include "check/lanes.h"
#include "check/ordering.h"

namespace tilepath::check {

using machine::BarrierEvent;
using program::MemoryOrder;
using program::Op;

void Ordering::barrier(const BarrierEvent& event) {
    if (event.site.cta != last_cta_ && !ctas_.contains(event.site.cta)) return;  // its whole cluster has ended
    const Who w = who(event.site);
    WarpState& warp = *w.warp;
    if (event.mbarrier) return at_mbarrier(w, event);
    ++warp.activity;
    if (event.cluster) return cluster_barrier(w, event);
    BarrierState& state = w.cta->barriers[event.barrier % w.cta->barriers.size()];
    if (event.kind == BarrierEvent::Kind::complete) {
        if (event.generation >= state.generation) {
            state.done = std::exchange(state.pending, {});
            state.generation = event.generation + 1;
        }
        acquire(warp, event.site, state.done);
        return;
    }
    learn_read(w, event.site);
    if ((event.site.live & ~event.site.lanes) == 0) meet(warp, event.site);
    release(warp, event.site.lanes, state.pending);
}

void Ordering::cluster_barrier(const Who& who, const BarrierEvent& event) {
    BarrierState& state = who.cluster->barrier;
    const bool relaxed = event.site.op->order == MemoryOrder::relaxed;
    if (event.kind == BarrierEvent::Kind::arrive) {
        // The first that arrives in a phase ends the one before, also where nobody had to wait for it.
        if (event.generation > state.generation) {
            state.done = std::exchange(state.pending, {});
            state.generation = event.generation;
        }
        // A fence before it makes a relaxed arrival release: fence.mbarrier_init what it is for, others everything.
        if (!relaxed || who.warp->fenced.all || who.warp->init_fenced)
            release(*who.warp, event.site.lanes, state.pending);
        return;
    }
    if (event.kind == BarrierEvent::Kind::complete && event.generation >= state.generation) {
        state.done = std::exchange(state.pending, {});
        state.generation = event.generation + 1;
    } else if (event.kind == BarrierEvent::Kind::wait && event.generation > state.generation) {
        state.done = std::exchange(state.pending, {});
        state.generation = event.generation;
    }
    acquire(*who.warp, event.site, state.done);
}

MbarrierState* Ordering::find_mbarrier(const ClusterState& cluster, machine::Address address, CtaState** cta) const {
    const auto shared = static_cast<std::uint32_t>(address);
    const std::uint32_t rank = machine::shared_rank(shared);
    if (rank >= cluster.ctas.size()) return nullptr;
    CtaState& holder = *cluster.ctas[rank];
    if (cta != nullptr) *cta = &holder;
    const auto found = holder.mbarriers.find(machine::shared_offset(shared));
    return found == holder.mbarriers.end() ? nullptr : &found->second;
}

void Ordering::misuse(std::uint32_t site, std::uint32_t other, std::string check, std::string message,
                      std::vector<std::string> facts, std::string advice, Severity severity) {
    Misuse& found = misuses_[{site, check + message}];
    if (found.times++ == 0)
        found = {std::move(check), std::move(message), std::move(advice), std::move(facts), other, 1, severity};
}

/// Whoever uses an mbarrier must know that it has been initialised.
void Ordering::check_initialised(const Who& who, const MbarrierState& state, const machine::EventSite& site) {
    if (state.by == who.warp->agent) return;
    bool known = true;
    each_knowledge(*who.warp, site.lanes, [&](const Knowledge& knows, std::uint32_t) {
        known = known && (knows.seen.of(agents_[state.by].index) >= state.by_epoch ||
                          (knows.seen.lanes_of(state.by, state.by_epoch) & state.by_lanes) != 0);
    });
    if (known) return;
    misuse(site_of(site), state.by_site, "mbarrier-init",
           "this uses an mbarrier whose initialisation nothing makes visible here",
           {fmt::format("CTA {}, warp {} uses it; CTA {}, warp {} has initialised it", who.cta->linear,
                        who.warp->number, agents_[state.by].cta, agents_[state.by].number)},
           "a barrier of all that use it behind mbarrier.init: bar.sync within the CTA; within a cluster "
           "fence.mbarrier_init.release.cluster and barrier.cluster");
}

/// Whoever invalidates an mbarrier must know that the others are through with it.
void Ordering::check_through(const Who& who, const MbarrierState& state, const machine::EventSite& site) {
    const Knowledge& knows = knowledge(*who.warp, static_cast<std::uint32_t>(std::countr_zero(site.lanes)));
    for (const auto& [agent, last] : state.users) {
        if (agent == who.warp->agent || knows.seen.of(agents_[agent].index) >= last.epoch) continue;
        misuse(site_of(site), last.site, "mbarrier-inval", "this invalidates an mbarrier that others may still use",
               {fmt::format("CTA {}, warp {} invalidates it; CTA {}, warp {} uses it, and nothing orders the two",
                            who.cta->linear, who.warp->number, agents_[agent].cta, agents_[agent].number)},
               "a barrier of all that use it before mbarrier.inval");
        break;
    }
    if (state.expected != 0 || state.transferred != 0)
        misuse(site_of(site), state.transfer_site != 0 ? state.transfer_site : state.expect_site, "mbarrier-inval",
               "this invalidates an mbarrier on which copies of a phase under way are counted",
               {fmt::format("phase {}: {} bytes expected, {} copied", state.generation, state.expected,
                            state.transferred)},
               "a wait for that phase before mbarrier.inval");
}

/// Bytes that are expected and do not come, or come unexpected, in a phase that never completes.
void Ordering::check_bytes(const MbarrierState& state) {
    if (!state.live || state.expected == state.transferred) return;
    const bool expects = state.expect_site != 0;
    misuse(expects ? state.expect_site : state.transfer_site, expects ? state.transfer_site : 0, "expected-bytes",
           expects ? "the bytes that this expects are not those that the copies bring"
                   : "copies count bytes on an mbarrier that expects none in this phase",
           {fmt::format("phase {} of the mbarrier at {:#x} in CTA {}: {} bytes expected, {} copied", state.generation,
                        agents_[state.agent].number, agents_[state.agent].cta, state.expected, state.transferred)},
           fmt::format("expect {} bytes in this phase: every byte of every box, also what lies outside the tensor",
                       state.transferred));
}

/// One lane after the other arrives, of the same instruction: `again`, the first excepted.
void Ordering::arrive(const Who& who, const BarrierEvent& event, MbarrierState& state, bool again) {
    WarpState& warp = *who.warp;
    const program::MicroOp& op = *event.site.op;
    if (again) --warp.epoch;
    if (op.op == Op::cp_async_mbarrier_arrive && warp.copies.agent != 0) {
        if (!again) ++warp.copies.batch;
        state.pending.seen.raise_lanes(
            {warp.copies.agent, warp.copies.index, event.site.lanes | ~warp.copies.lanes, warp.copies.batch - 1});
    }
    if (op.order != MemoryOrder::relaxed)
        release(warp, event.site.lanes, state.pending);
    else if (again)
        ++warp.epoch;
    last_arrival_ = {&warp, &op, event.barrier, warp.activity};
}

void Ordering::at_mbarrier(const Who& w, const BarrierEvent& event) {
    WarpState& warp = *w.warp;
    const program::MicroOp& op = *event.site.op;
    CtaState* holder = nullptr;
    MbarrierState* state = find_mbarrier(*w.cluster, event.barrier, &holder);
    if (event.kind == BarrierEvent::Kind::init) {
        const std::uint32_t offset = machine::shared_offset(static_cast<std::uint32_t>(event.barrier));
        MbarrierState fresh;
        Agent agent;
        agent.kind = Agent::Kind::mbarrier;
        agent.cta = w.cta->linear, agent.number = offset;
        fresh.agent = new_agent(*w.cluster, agent, fresh.index);
        fresh.by = warp.agent, fresh.by_epoch = warp.epoch, fresh.by_site = site_of(event.site);
        fresh.by_lanes = event.site.lanes;
        warp.accessed |= event.site.lanes;
        fresh.live = true;
        w.cta->mbarriers[offset] = std::move(fresh);
        ++warp.activity;
        return;
    }
    if (state == nullptr) return;
    if (event.kind == BarrierEvent::Kind::inval) {
        state->live = false;
        check_initialised(w, *state, event.site);
        check_through(w, *state, event.site);
        return;
    }
    const bool by_copy =
        op.op == Op::bulk_copy || op.op == Op::st_async || op.op == Op::red_async || op.op == Op::try_cancel;
    const bool arrives = op.op == Op::mbarrier_arrive || op.op == Op::cp_async_mbarrier_arrive;
    const bool completes = event.kind == BarrierEvent::Kind::complete;
    if (event.kind == BarrierEvent::Kind::expect && op.op != Op::cp_async_mbarrier_arrive) {
        state->expected += event.bytes;
        state->expect_site = site_of(event.site);
    } else if (!by_copy &&
               (event.kind == BarrierEvent::Kind::transfer || (completes && !arrives && op.op != Op::tcgen05_commit))) {
        state->transferred += event.bytes;
        state->transfer_site = site_of(event.site);
    }
    const bool again = last_arrival_.warp == &warp && last_arrival_.op == &op &&
                       last_arrival_.barrier == event.barrier && last_arrival_.activity == warp.activity;
    if (!by_copy && !again) check_initialised(w, *state, event.site);
    if (event.kind == BarrierEvent::Kind::wait) {
        const Knowledge& first = knowledge(warp, static_cast<std::uint32_t>(std::countr_zero(event.site.lanes)));
        if (again && first.seen.of(state->index) >= event.generation && warp.apart.empty()) return;
        state->used(warp.agent, warp.epoch, site_of(event.site));
        each_learner(warp, event.site.lanes, event.site.live, [&](Knowledge& knows) {
            if (op.order != MemoryOrder::relaxed) knows.join(state->done);
            knows.seen.raise(state->index, static_cast<Epoch>(event.generation));
        });
        last_arrival_ = {&warp, &op, event.barrier, ++warp.activity};
        return;
    }
    if (arrives && (event.kind == BarrierEvent::Kind::arrive || completes)) {
        if (holder != w.cta && !again) {
            warp.accessed |= event.site.lanes;
            visit(w, *holder, actor(w, warp.knows, 0, site_of(event.site), true).stamp);
        }
        state->used(warp.agent, warp.epoch, site_of(event.site));
        arrive(w, event, *state, again);
    }
    if (op.op == Op::tcgen05_commit) tensor_arrival(w, *state);
    if (!completes) return;
    state->done = state->pending;
    state->generation = event.generation + 1;
    state->done.seen.raise(state->index, static_cast<Epoch>(state->generation));
    // What copies bring beyond that counts in the next phase.
    state->transferred -= state->expected;
    state->expected = 0;
}

}  // namespace tilepath::check
