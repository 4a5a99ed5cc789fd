// Clusters, CTAs and warps come and go.
#include <algorithm>

#include "base/assert.h"
#include "exec/executor.h"

namespace tilepath::exec {
namespace {

constexpr std::uint8_t poison = 0xA5;  // what shared memory holds before anyone writes it

}  // namespace

/// Makes the next cluster of the grid resident, if there is one and the device has room.
bool Executor::enter_cluster() {
    if (launch_.next_cluster.load() >= launch_.end_cluster) return false;
    if (launch_.resident.fetch_add(1) >= launch_.resident_limit) {
        --launch_.resident;
        return false;
    }
    const std::uint64_t index = launch_.next_cluster.fetch_add(1);
    if (index >= launch_.end_cluster) {
        --launch_.resident;
        return false;
    }
    auto cluster = std::make_unique<ClusterRun>();
    cluster->index = index;
    for (std::uint32_t rank = 0; rank < launch_.ctas_per_cluster; ++rank) {
        cluster->ctas.push_back(enter_cta(index, rank));
        cluster->ctas.back()->cluster = cluster.get();
        for (std::uint32_t warp = 0; warp < launch_.warps_per_cta; ++warp) cluster->order.push_back({rank, warp});
    }
    if (observer_ != nullptr)
        for (const auto& cta : cluster->ctas) observer_->cta_begins(event_of(*cta));
    resident_.push_back(std::move(cluster));
    return true;
}

machine::CtaEvent Executor::event_of(const CtaRun& cta) const {
    return {launch_.loaded.functions[0].function,
            static_cast<std::uint32_t>(cta.state.linear),
            cta.cluster->index,
            cta.state.rank,
            launch_.ctas_per_cluster,
            launch_.warps_per_cta,
            launch_.shared_end};
}

std::unique_ptr<CtaRun> Executor::enter_cta(std::uint64_t cluster, std::uint32_t rank) {
    std::unique_ptr<CtaRun> run;
    if (spare_ctas_.empty()) {
        run = std::make_unique<CtaRun>();
        run->warps.resize(launch_.warps_per_cta);
        for (std::uint32_t w = 0; w < launch_.warps_per_cta; ++w) number_threads(run->warps[w], w);
    } else {
        run = std::move(spare_ctas_.back());
        spare_ctas_.pop_back();
    }
    const machine::Dim3 &grid = launch_.shape.grid, &shape = launch_.shape.cluster;
    const machine::Dim3 at = machine::coordinates(cluster, {grid.x / shape.x, grid.y / shape.y, grid.z / shape.z});
    const machine::Dim3 within = machine::coordinates(rank, shape);
    machine::Cta& cta = run->state;
    cta.id = {at.x * shape.x + within.x, at.y * shape.y + within.y, at.z * shape.z + within.z};
    cta.linear = cta.id.x + std::uint64_t{grid.x} * (cta.id.y + std::uint64_t{grid.y} * cta.id.z);
    cta.rank = rank;
    run->mbarriers.clear();
    run->register_requests.clear();
    run->free_registers = 0;
    cta.shared.assign(launch_.shared_end, poison);
    if (launch_.options.copies != machine::CopyPolicy::eager) cta.async_shared = cta.shared;
    if (cta.used_barriers != 0) cta.barriers.fill({});
    for (machine::NamedBarrier& barrier : cta.barriers) barrier.generation = 0;
    cta.used_barriers = 0;
    cta.live_threads = launch_.threads_per_cta;
    run->warpgroups.resize((launch_.warps_per_cta + warpgroup_warps - 1) / warpgroup_warps);
    for (Warpgroup& group : run->warpgroups) group.clear();
    if (run->tensor != nullptr && run->tensor->memory.in_use())
        run->tensor->clear(launch_.options.copies != machine::CopyPolicy::eager);
    for (std::uint32_t w = 0; w < launch_.warps_per_cta; ++w) begin_warp(*run, w);
    return run;
}

/// What of a warp is the same in every CTA.
void Executor::number_threads(Warp& warp, std::uint32_t index) {
    warp.groups.reserve(warp_lanes + 1);
    warp.index = index;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const machine::Dim3 thread = machine::coordinates(index * warp_lanes + lane, launch_.shape.block);
        warp.tid[0].lane[lane] = thread.x;
        warp.tid[1].lane[lane] = thread.y;
        warp.tid[2].lane[lane] = thread.z;
    }
}

void Executor::begin_warp(CtaRun& cta, std::uint32_t index) {
    Warp& warp = cta.warps[index];
    const std::uint32_t first = index * warp_lanes, lanes = std::min(launch_.threads_per_cta - first, 32u);
    warp.cta = &cta;
    warp.live = lanes == 32 ? all_lanes : (1u << lanes) - 1;
    warp.cluster_arrived = warp.cluster_unwaited = 0;
    warp.register_changes = 0;
    warp.registers = launch_.entry_registers;
    warp.watches.clear();
    warp.until_burst = 4 * Warp::first_burst;
    warp.burst_left = warp.burst = Warp::first_burst;
    warp.local.clear();
    warp.copies.clear();
    warp.bulk_groups.fill(0);
    const LoadedFunction& entry = launch_.loaded.functions[0];
    Frame* const frame = frames_.take(entry);
    frame->caller = nullptr;
    frame->call_site = nullptr;
    frame->depth = 0;
    frame->lanes = warp.live;
    TILEPATH_ASSERT(warp.local.reserve(entry.function->frame_bytes), "check_launch admits too much local memory");
    place_frame(warp, *frame, 0);
    warp.groups.clear();
    Group group;
    group.frame = frame;
    group.lanes = warp.live;
    warp.groups.push_back(group);
}

void Executor::leave_cluster(std::size_t position) {
    land_stores(*resident_[position]);
    while (land_oldest_bulk(*resident_[position]) || tcgen05_.land_oldest(*resident_[position])) {
    }
    for (auto& cta : resident_[position]->ctas) {
        for (Warp& warp : cta->warps)
            warp.copies.wait_all(all_lanes, [&](const machine::PendingCopy& copy) { land(warp, copy); });
        spare_ctas_.push_back(std::move(cta));
    }
    resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(position));
    --launch_.resident;
    const std::uint64_t done = (launch_.finished_ctas += launch_.ctas_per_cluster) + launch_.cancelled_ctas;
    if (!launch_.options.progress) return;
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(launch_.mutex);
    if (now < launch_.next_progress) return;
    launch_.next_progress = now + std::chrono::milliseconds(100);
    launch_.options.progress(done, (launch_.end_cluster - launch_.first_cluster) * launch_.ctas_per_cluster);
}

}  // namespace tilepath::exec
