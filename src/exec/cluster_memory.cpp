// Shared memory of all CTAs of a cluster, and the mbarriers in it, for operations that act from afar.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::BarrierEvent;
using machine::Mbarrier;
using machine::MbarrierError;
using program::Space;

namespace {

std::string describe(MbarrierError error, const Mbarrier& before) {
    switch (error) {
        case MbarrierError::none: return "";
        case MbarrierError::not_initialised: return "no mbarrier was initialised there";
        case MbarrierError::count:
            return fmt::format("the count is not in 1 … 2^20 - 1, or more threads arrive than the {} that are pending",
                               before.pending);
        case MbarrierError::transactions:
            return fmt::format("the transaction count, {} bytes before, leaves its range of ±(2^20 - 1)",
                               before.transactions);
        case MbarrierError::completes: return "an arrival with .noComplete would complete the phase";
    }
    return "";
}

std::uint64_t word_at(const std::uint8_t* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

}  // namespace

CtaRun* Executor::cta_of(const CtaRun& near, machine::Address shared_address) {
    const std::uint32_t rank = machine::shared_rank(static_cast<std::uint32_t>(shared_address));
    const auto& ctas = near.cluster->ctas;
    return shared_address >= machine::window_bytes || rank >= ctas.size() ? nullptr : ctas[rank].get();
}

std::uint8_t* Executor::cluster_bytes(const CtaRun& near, std::uint32_t shared_address, std::uint32_t bytes) const {
    CtaRun* const cta = cta_of(near, shared_address);
    const std::uint32_t offset = machine::shared_offset(shared_address);
    if (cta == nullptr || offset < launch_.shared_begin || offset > launch_.shared_end ||
        launch_.shared_end - offset < bytes)
        return nullptr;
    return cta->state.shared.data() + offset;
}

void Executor::fail_mbarrier(const Issuer& by, std::uint32_t address, FaultKind kind, std::string message) {
    Fault fault = fault_of(by.warp, by.function, by.code, kind, by.lanes, std::move(message));
    fault.address = address;
    fault.space = by.code.space == Space::shared_cluster ? Space::shared_cluster : Space::shared;
    fault.bytes = 8;
    record(std::move(fault));
}

/// Where copies land late or at random, an initialisation is seen by the async proxy, and by other CTAs, only after a
/// fence (PTX ISA 9.7.13.4: fence.mbarrier_init, fence.proxy.async).
bool Executor::sees_mbarrier(const Issuer& by, const FoundMbarrier& mbarrier, Proxy proxy) {
    if (launch_.options.copies == machine::CopyPolicy::eager) return true;
    const bool own = mbarrier.cta == by.warp.cta;
    if (proxy == Proxy::async ? mbarrier.record->async_visible : own || mbarrier.record->cluster_visible) return true;
    const MbarrierUse& init = mbarrier.record->initialised;
    const program::CodePlace place =
        program::code_place(*launch_.loaded.program, *init.function->function, init.code->op);
    fail_mbarrier(by, mbarrier.address, FaultKind::mbarrier,
                  proxy == Proxy::async
                      ? fmt::format("the asynchronous copy does not see that the mbarrier has been initialised (line "
                                    "{}): no fence.mbarrier_init and no fence.proxy.async has come since",
                                    place.ptx.line)
                      : fmt::format("other CTAs do not see that the mbarrier has been initialised (line {}): no "
                                    "fence.mbarrier_init and no barrier.cluster.arrive that releases has come since",
                                    place.ptx.line));
    return false;
}

bool Executor::find_mbarrier(const Issuer& by, std::uint32_t address, FoundMbarrier& out, Proxy proxy) {
    const auto wrong = [&](FaultKind kind, std::string message) {
        fail_mbarrier(by, address, kind, std::move(message));
        return false;
    };
    out.address = address;
    out.bytes = cluster_bytes(*by.warp.cta, address, 8);
    if (out.bytes == nullptr)
        return wrong(FaultKind::out_of_bounds, "the mbarrier lies outside the cluster's shared memory");
    if (address % 8 != 0) return wrong(FaultKind::misaligned, "an mbarrier's address is a multiple of 8");
    out.cta = cta_of(*by.warp.cta, address);
    if (out.cta->state.live_threads == 0 && out.cta != by.warp.cta)
        return wrong(FaultKind::exited_cta,
                     fmt::format("the mbarrier's CTA, rank {} of the cluster, has exited", out.cta->state.rank));
    const auto found = std::ranges::find(out.cta->mbarriers, machine::shared_offset(address), &MbarrierRecord::offset);
    out.record = found == out.cta->mbarriers.end() ? nullptr : &*found;
    if (out.record == nullptr || !machine::decode(word_at(out.bytes), out.state))
        return wrong(FaultKind::mbarrier, describe(MbarrierError::not_initialised, out.state));
    if (out.record->word != word_at(out.bytes))
        return wrong(FaultKind::mbarrier, "something other than an mbarrier operation has written to the mbarrier");
    return sees_mbarrier(by, out, proxy);
}

bool Executor::change_mbarrier(const Issuer& by, FoundMbarrier& mbarrier, MbarrierError error, bool completed,
                               BarrierEvent::Kind kind, std::int64_t bytes) {
    if (error != MbarrierError::none) {
        Mbarrier before;
        machine::decode(mbarrier.record->word, before);
        fail_mbarrier(by, mbarrier.address, FaultKind::mbarrier, describe(error, before));
        return false;
    }
    MbarrierRecord& record = *mbarrier.record;
    MbarrierUse& use = kind == BarrierEvent::Kind::arrive   ? record.arrived
                       : kind == BarrierEvent::Kind::expect ? record.expected
                                                            : record.completed;
    use = {&by.function, &by.code, by.warp.cta->state.rank, by.warp.index, by.lanes, record.phase};
    record.word = machine::encode(mbarrier.state);
    std::memcpy(mbarrier.bytes, &record.word, sizeof record.word);
    const std::uint64_t phase = record.phase;
    if (completed) {
        ++record.phase;
        wake_waiters(*mbarrier.cta, record.offset);
    }
    wrote();
    if (observer_ == nullptr) return true;
    observer_->barrier(
        {site_of(by), completed ? BarrierEvent::Kind::complete : kind, true, mbarrier.address, phase, bytes});
    return true;
}

/// A phase has completed: those who wait for it look again.
void Executor::wake_waiters(CtaRun& cta, std::uint32_t offset) {
    for (Warp& warp : cta.warps) {
        for (Group& group : warp.groups) {
            if (group.state != GroupState::mbarrier) continue;
            if (group.barrier == offset || group.barrier == Group::any_mbarrier) group.state = GroupState::ready;
        }
    }
}

machine::EventSite Executor::site_of(const Issuer& by) { return event_site(by.warp, by.function, by.code, by.lanes); }

bool Executor::complete_transactions(const Issuer& by, std::uint32_t mbarrier_address, std::int64_t bytes,
                                     Proxy proxy) {
    FoundMbarrier mbarrier;
    if (!find_mbarrier(by, mbarrier_address, mbarrier, proxy)) return false;
    bool completed = false;
    const MbarrierError error = machine::transact(mbarrier.state, -bytes, completed);
    return change_mbarrier(by, mbarrier, error, completed, BarrierEvent::Kind::transfer, bytes);
}

}  // namespace tilepath::exec
