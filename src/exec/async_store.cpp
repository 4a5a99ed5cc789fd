// st.async and red.async: the values are read at issue; they land in shared memory of the cluster when the policy says,
// and then their bytes are counted on an mbarrier there (PTX ISA 9.7.9.12, 9.7.13.7).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "exec/atomic_update.h"
#include "exec/executor.h"

namespace tilepath::exec {

using machine::Access;
using machine::CopyPolicy;
using program::Op;
using program::Space;

Step Executor::store_async(Context& c) {
    const bool reduces = c.op().op == Op::red_async;
    const auto element = static_cast<std::uint32_t>(program::bytes(c.op().type));
    const std::uint32_t bytes = element * c.op().vector;
    const auto kind = reduces ? Access::Kind::atomic : Access::Kind::write;
    Lanes to, mbarriers;
    if (!resolve(c, kind, bytes, to)) return Step::fault;
    read_addresses(c, c.op().sources - 1, 0, mbarriers);
    if (!resolve_space(c, Access::Kind::atomic, c.code.space, 8, mbarriers)) return Step::fault;
    if (observer_ != nullptr) observe_access(c, kind, bytes, to, mbarriers.address);
    ClusterRun& cluster = *c.warp.cta->cluster;
    const std::size_t first = cluster.stores.size();
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        for (const Lanes* each : {&to, &mbarriers}) {
            const Space space = each->mixed ? each->spaces[lane] : each->space;
            if (space != Space::shared && space != Space::shared_cluster)
                return fail_access(c, FaultKind::out_of_bounds, kind, lane, {space, each->address[lane]}, bytes,
                                   "the destination and its mbarrier lie in shared memory of the cluster");
        }
        AsyncStore store;
        store.warp = &c.warp;
        store.function = c.frame.function;
        store.code = &c.code;
        store.destination = static_cast<std::uint32_t>(to.address[lane]);
        store.mbarrier = static_cast<std::uint32_t>(mbarriers.address[lane]);
        store.lane = static_cast<std::uint8_t>(lane);
        store.bytes = static_cast<std::uint8_t>(bytes);
        if (machine::shared_rank(store.destination) != machine::shared_rank(store.mbarrier))
            return fail_access(
                c, FaultKind::mbarrier, kind, lane, {c.code.space, to.address[lane]}, bytes,
                fmt::format("it lies in the CTA of rank {}, but its mbarrier in that of rank {}",
                            machine::shared_rank(store.destination), machine::shared_rank(store.mbarrier)));
        for (std::uint32_t i = 0; i < c.op().vector; ++i) {
            const std::uint32_t row = c.source(static_cast<int>(1 + i));
            const std::uint64_t value = element == 8 ? c.wide(row)[lane] : c.row(row).lane[lane];
            std::memcpy(store.values.data() + i * element, &value, element);
        }
        cluster.stores.push_back(store);
    }
    issue_stores(cluster, first);
    return launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

/// Those from the `first` on are new: eager, they land at once.
void Executor::issue_stores(ClusterRun& cluster, std::size_t first) {
    if (launch_.options.copies != CopyPolicy::eager) return;
    std::vector<AsyncStore> issued(cluster.stores.begin() + static_cast<std::ptrdiff_t>(first), cluster.stores.end());
    cluster.stores.resize(first);
    for (const AsyncStore& store : issued) land(store);
}

void Executor::land(const AsyncStore& store) {
    const Issuer by{*store.warp, *store.function, *store.code, 1u << store.lane};
    const CtaRun& own = *store.warp->cta;
    CtaRun* const cta = cta_of(own, store.destination);
    if (cta->state.live_threads == 0 && cta != &own) {
        fail_at(*store.warp, *store.function, *store.code, FaultKind::exited_cta, by.lanes,
                fmt::format("the CTA of rank {} in the cluster has exited before this store has landed in its memory",
                            cta->state.rank));
        return;
    }
    std::uint8_t* const to = cluster_bytes(own, store.destination, store.bytes);
    if (store.code->op->op == Op::red_async) {
        std::uint64_t value = 0;
        std::memcpy(&value, store.values.data(), store.bytes);
        bool changed = false;
        update_memory(to, static_cast<program::AtomicOp>(store.code->op->variant), store.code->op->type, false, value,
                      0, changed);
    } else {
        std::memcpy(to, store.values.data(), store.bytes);
    }
    const bool async = store.code->op->op == Op::try_cancel;
    if (async && !cta->state.async_shared.empty())
        std::memcpy(cta->state.async_shared.data() + machine::shared_offset(store.destination), store.values.data(),
                    store.bytes);
    wrote();
    (void)complete_transactions(by, store.mbarrier, store.bytes, async ? Proxy::async : Proxy::generic);
}

void Executor::land_stores(ClusterRun& cluster) {
    for (const AsyncStore& store : std::exchange(cluster.stores, {})) land(store);
}

/// Some of them, in any order: they are not ordered among themselves.
void Executor::land_stores_randomly(ClusterRun& cluster) {
    if (launch_.options.copies != CopyPolicy::random) return;
    std::ranges::shuffle(cluster.stores, random_);
    const std::size_t keep = random_() % (cluster.stores.size() + 1);
    const std::vector<AsyncStore> landing(cluster.stores.begin() + static_cast<std::ptrdiff_t>(keep),
                                          cluster.stores.end());
    cluster.stores.resize(keep);
    for (const AsyncStore& store : landing) land(store);
}

}  // namespace tilepath::exec
