// Which cluster and which warp runs next on one host thread.
#include <algorithm>
#include <utility>

#include "exec/executor.h"

namespace tilepath::exec {

namespace {

// A warp's turn is long, for its registers are warm; a cluster's is so long that most kernels' clusters finish in it.
constexpr std::int64_t warp_quantum = 1 << 16, cluster_quantum = 1 << 24;

}  // namespace

Executor::Executor(LaunchState& launch, std::uint32_t thread)
    : launch_(launch),
      thread_(thread),
      own_epoch_(launch.epochs[thread].writes),
      observer_(launch.options.observer),
      observe_operations_(launch.options.breakpoint != nullptr ||
                          (observer_ != nullptr && observer_->wants_operations())),
      ranges_(launch.loaded.sites),
      random_(launch.options.seed.value_or(0) + thread),
      tcgen05_(*this, launch.device.architecture) {
    if (launch.options.timeout) deadline_ = std::chrono::steady_clock::now() + *launch.options.timeout;
}

void Executor::run() {
    while (!launch_.stop.load()) {
        if (resident_.empty() && !enter_cluster()) break;
        bool progress = false, finished = false;
        const std::uint64_t epoch = launch_.epoch();  // before anything is looked at
        if (launch_.options.seed) std::ranges::shuffle(resident_, random_);
        for (std::size_t i = 0; i < resident_.size() && !launch_.stop.load();) {
            const Turn turn = take_turn(*resident_[i]);
            progress = progress || turn != Turn::blocked;
            if (turn == Turn::finished) {
                leave_cluster(i);
                finished = true;
            } else {
                ++i;
            }
        }
        if (launch_.stop.load() || finished) continue;
        if (enter_cluster()) continue;
        if (!progress && !rouse()) wait_for_others(epoch);
    }
    launch_.operations += operations_;
    const std::lock_guard lock(launch_.mutex);
    launch_.idle_epochs[thread_] = LaunchState::gone;
}

Executor::Turn Executor::take_turn(ClusterRun& cluster) {
    cluster_quantum_ = cluster_quantum;
    const bool seeded = launch_.options.seed.has_value();
    for (;;) {
        wake(cluster);
        if (seeded) std::ranges::shuffle(cluster.order, random_);
        if (!cluster.stores.empty()) land_stores_randomly(cluster);
        bool progress = false;
        for (const auto& [rank, index] : cluster.order) {
            Warp& warp = cluster.ctas[rank]->warps[index];
            if (!std::ranges::any_of(warp.groups, &Group::ready)) continue;
            if (launch_.options.copies == machine::CopyPolicy::random) {
                land_randomly(warp);
                land_bulks_randomly(cluster);
                tcgen05_.land_randomly(cluster);
            }
            run_warp(warp, seeded ? static_cast<std::int64_t>(16 + random_() % 2048) : warp_quantum);
            tcgen05_.settle(cluster);
            progress = true;
            if (launch_.stop.load(std::memory_order_relaxed)) return Turn::over;
        }
        // Once for all warps: the host threads share this counter's cache line.
        if (progress) launch_.time.fetch_add(std::exchange(unshared_time_, 0), std::memory_order_relaxed);
        if (cluster.finished()) return Turn::finished;
        if (past_deadline()) return Turn::over;
        if (!progress) return Turn::blocked;
        if (cluster_quantum_ <= 0) return Turn::over;
    }
}

/// Groups whose reason to wait may be gone become ready.
void Executor::wake(ClusterRun& cluster) {
    const std::uint64_t epoch = launch_.epoch(), time = launch_.time.load(std::memory_order_relaxed);
    for (auto& cta : cluster.ctas) {
        for (Warp& warp : cta->warps) {
            for (Group& group : warp.groups) {
                if (group.state == GroupState::polling && group.epoch != epoch) {
                    group.state = GroupState::ready;
                    warp.watches.clear();
                    warp.watch_now();
                } else if (group.state == GroupState::mbarrier && group.until <= time) {
                    group.gives_up = true;
                    group.state = GroupState::ready;
                } else if (group.state == GroupState::sleeping && group.until <= time) {
                    group.state = GroupState::ready;
                }
            }
        }
    }
}

}  // namespace tilepath::exec
