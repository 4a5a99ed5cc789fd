// clusterlaunchcontrol: clusters that have not been launched are cancelled, and their work is taken over (PTX ISA
// 9.7.13.17). The 16 bytes of the answer are opaque; these are tilepath's own.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::Access;
using machine::Place;
using program::Space;

namespace {

/// What try_cancel writes. `mark`: whether a cluster was cancelled; other bytes are no answer.
struct Answer {
    static constexpr std::uint32_t cancelled = 0x4C43'5054, refused = 0x4E43'5054;
    std::uint32_t mark = refused, x = 0, y = 0, z = 0;
};
static_assert(sizeof(Answer) == 16);

}  // namespace

/// A write by the async proxy that its mbarrier counts.
void Executor::observe_answer(Context& c, const AsyncStore& store) {
    std::array<machine::Address, warp_lanes> addresses{}, mbarriers{};
    addresses[store.lane] = store.destination, mbarriers[store.lane] = store.mbarrier;
    machine::EventSite where = site(c);
    where.lanes = 1u << store.lane;
    observer_->access({where, Access::Kind::write, Space::shared_cluster, store.bytes, addresses, mbarriers.data()});
}

/// Takes the grid's next cluster, which will not be launched then.
Step Executor::try_cancel(Context& c) {
    ClusterRun& cluster = *c.warp.cta->cluster;
    const bool multicast = c.op().variant == 1;
    const std::uint32_t own = c.warp.cta->state.rank;
    const std::size_t first = cluster.stores.size();
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        Place at[2];
        for (int i = 0; i < 2; ++i) {
            at[i] = {c.code.space, source_value(c, i, lane)};
            if (at[i].space == Space::generic) at[i] = machine::place_of_generic(at[i].address);
            if (at[i].space != Space::shared || machine::shared_rank(static_cast<std::uint32_t>(at[i].address)) != own)
                return fail_access(c, FaultKind::out_of_bounds, Access::Kind::write, lane, at[i], 16,
                                   "the answer and its mbarrier lie in the CTA's own shared memory");
        }
        const auto address = static_cast<std::uint32_t>(at[0].address),
                   mbarrier = static_cast<std::uint32_t>(at[1].address);
        if (address % 16 != 0)
            return fail_access(c, FaultKind::misaligned, Access::Kind::write, lane, {Space::shared, address}, 16,
                               "the answer's address is a multiple of 16");
        if (resolve_one(c, Access::Kind::write, lane, Place{Space::shared, address}, 16) == nullptr) return Step::fault;
        Answer answer;
        std::uint64_t next = launch_.next_cluster.load();
        while (next < launch_.end_cluster && !launch_.next_cluster.compare_exchange_weak(next, next + 1)) {
        }
        if (next < launch_.end_cluster) {
            const machine::Dim3 &grid = launch_.shape.grid, &shape = launch_.shape.cluster;
            const machine::Dim3 id = machine::coordinates(next, {grid.x / shape.x, grid.y / shape.y, grid.z / shape.z});
            answer = {Answer::cancelled, id.x * shape.x, id.y * shape.y, id.z * shape.z};
            launch_.cancelled_ctas += launch_.ctas_per_cluster;
        }
        AsyncStore store;
        store.warp = &c.warp;
        store.function = c.frame.function;
        store.code = &c.code;
        store.lane = static_cast<std::uint8_t>(lane);
        store.bytes = sizeof answer;
        std::memcpy(store.values.data(), &answer, sizeof answer);
        for (std::uint32_t rank = 0; rank < cluster.ctas.size(); ++rank) {
            if (!multicast && rank != own) continue;
            store.destination = machine::shared_address(rank, machine::shared_offset(address));
            store.mbarrier = machine::shared_address(rank, machine::shared_offset(mbarrier));
            cluster.stores.push_back(store);
            if (observer_ != nullptr) observe_answer(c, store);
        }
    }
    issue_stores(cluster, first);
    return launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

Step Executor::query_cancel(Context& c) {
    const int which = c.op().variant;
    LaneMask cancelled = 0;
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        Answer answer;
        std::memcpy(static_cast<void*>(&answer), c.wide(c.source(0)) + 2 * lane, sizeof answer);
        if (answer.mark != Answer::cancelled && answer.mark != Answer::refused)
            return fail(c, FaultKind::cluster_launch, 1u << lane,
                        "these 16 bytes are no answer of clusterlaunchcontrol.try_cancel");
        if (answer.mark == Answer::cancelled) cancelled |= 1u << lane;
        if (which == 0) continue;
        if (answer.mark == Answer::refused)
            return fail(c, FaultKind::cluster_launch, 1u << lane,
                        "no cluster has been cancelled, so there is no first CTA; query is_canceled before");
        const std::uint32_t coordinates[] = {answer.x, answer.y, answer.z, 0};
        if (which <= 3) {
            c.row(c.destination(0)).lane[lane] = coordinates[which - 1];
            continue;
        }
        for (int i = 0; i < 4; ++i) c.row(c.destination(i)).lane[lane] = coordinates[i];
    }
    if (which == 0) c.set_predicate(c.code.d, cancelled);
    return Step::next;
}

}  // namespace tilepath::exec
