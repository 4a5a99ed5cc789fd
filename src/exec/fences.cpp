// Fences, and what they make visible: PTX ISA 9.7.13.4. Where copies land late or at random, shared and global memory
// have images of their own for the proxies that do not see a thread's writes by themselves.
#include <atomic>
#include <bit>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::TensorMap;
using program::FenceKind;
using program::Space;

/// Generic writes become visible to the async proxy: those to the CTA's shared memory or the whole cluster's, and to
/// global memory.
void Executor::fence_async_proxy(CtaRun& cta, FenceKind kind) {
    using enum FenceKind;
    if (launch_.stale && (kind == proxy_async || kind == proxy_async_global)) launch_.stale->async.publish();
    switch (kind) {
        case proxy_async:
        case proxy_async_shared_cluster:
        case async_after_generic_acquire:
            for (const auto& each : cta.cluster->ctas) each->state.fence_async_proxy();
            return;
        case proxy_async_shared_cta:
        case async_after_generic_release: cta.state.fence_async_proxy(); return;
        case thread:
        case proxy_alias:
        case proxy_async_global:
        case tensormap_release:
        case tensormap_acquire:
        case mbarrier_init: return;
    }
}

/// Which mbarriers the fence shows to whom. A fence.mbarrier_init is for those that its own threads have initialised;
/// others count for all of their CTA, since a barrier may have brought them together with whoever did.
void Executor::show_mbarriers(Context& c, FenceKind kind) {
    using enum FenceKind;
    const bool async = kind == proxy_async || kind == proxy_async_shared_cta || kind == proxy_async_shared_cluster ||
                       kind == async_after_generic_release || kind == async_after_generic_acquire;
    const bool whole_cluster = kind == proxy_async || kind == proxy_async_shared_cluster;
    for (const auto& cta : c.warp.cta->cluster->ctas) {
        if (cta.get() != c.warp.cta && !whole_cluster) continue;
        for (MbarrierRecord& each : cta->mbarriers) {
            const bool own = each.initialised.rank == c.warp.cta->state.rank && each.initialised.warp == c.warp.index &&
                             (each.initialised.lanes & c.active) != 0;
            const bool shows = kind == mbarrier_init && own;
            each.async_visible = each.async_visible || async || shows;
            each.cluster_visible = each.cluster_visible || kind == thread || shows;
        }
    }
}

/// The two halves of the tensormap proxy's fence: a release by whoever has changed the map, an acquire of the map by
/// whoever copies through it.
bool Executor::fence_tensor_maps(Context& c, FenceKind kind, machine::Fence& event) {
    if (kind == FenceKind::tensormap_release && launch_.stale) launch_.stale->tensormap.release();
    if (!c.has_source(0)) return true;
    Lanes map;
    if (!resolve(c, machine::Access::Kind::read, 1, map)) return false;
    event.map = source_value(c, 0, std::countr_zero(c.active)) + static_cast<machine::Address>(c.code.offset);
    for (LaneMask left = c.active; launch_.stale && left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if ((map.mixed ? map.spaces[lane] : map.space) == Space::global)
            launch_.stale->tensormap.publish(map.address[lane], TensorMap::bytes, true);
    }
    return true;
}

Step Executor::fence(Context& c) {
    const auto kind = static_cast<FenceKind>(c.op().variant);
    machine::Fence event{site(c)};
    if (!fence_tensor_maps(c, kind, event)) return Step::fault;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    fence_async_proxy(*c.warp.cta, kind);
    show_mbarriers(c, kind);
    if (observer_ != nullptr) observer_->fence(event);
    return Step::next;
}

/// A thread is about to write global memory, which the other proxies see only after a fence.
void Executor::before_global_write(machine::Address at, std::uint32_t bytes) {
    launch_.stale->async.before_write(at, bytes);
    launch_.stale->tensormap.before_write(at, bytes);
}

void Executor::before_global_write(const Context& c, std::uint32_t bytes, const Lanes& lanes) {
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if ((lanes.mixed ? lanes.spaces[lane] : lanes.space) == Space::global)
            before_global_write(lanes.address[lane], bytes);
    }
}

/// Bytes of global memory as the async proxy sees them; `patched` holds them where they are not memory's.
const std::uint8_t* Executor::async_view(machine::Address at, std::uint32_t bytes,
                                         std::vector<std::uint8_t>& patched) const {
    const auto* const memory = reinterpret_cast<const std::uint8_t*>(static_cast<std::uintptr_t>(at));
    if (!launch_.stale || launch_.stale->async.empty()) return memory;
    patched.assign(memory, memory + bytes);
    launch_.stale->async.overlay(at, patched.data(), bytes);
    return patched.data();
}

}  // namespace tilepath::exec
