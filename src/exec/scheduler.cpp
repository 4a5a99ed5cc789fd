// Which cluster and which warp runs next on one host thread, and what to do when none can.
#include <algorithm>
#include <bit>
#include <thread>

#include "base/assert.h"
#include "exec/executor.h"

namespace tilepath::exec {

namespace {

// A warp's turn is long, for its registers are warm; a cluster's is so long that most kernels' clusters finish in it.
constexpr std::int64_t warp_quantum = 1 << 16, cluster_quantum = 1 << 24;
constexpr std::uint8_t poison = 0xA5;  // what shared memory holds before anyone writes it

}  // namespace

Executor::Executor(LaunchState& launch, std::uint32_t thread)
    : launch_(launch),
      thread_(thread),
      own_epoch_(launch.epochs[thread].writes),
      observer_(launch.options.observer),
      observe_operations_(observer_ != nullptr && observer_->wants_operations()),
      ranges_(launch.loaded.sites),
      random_(launch.options.seed.value_or(0) + thread) {
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
    resident_.push_back(std::move(cluster));
    return true;
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
    cta.shared.assign(launch_.shared_end, poison);
    if (cta.used_barriers != 0) cta.barriers.fill({});
    for (machine::NamedBarrier& barrier : cta.barriers) barrier.generation = 0;
    cta.used_barriers = 0;
    cta.live_threads = launch_.threads_per_cta;
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
    warp.watches.clear();
    warp.until_burst = 4 * Warp::first_burst;
    warp.burst_left = warp.burst = Warp::first_burst;
    warp.local.clear();
    warp.copies.clear();
    const LoadedFunction& entry = launch_.loaded.functions[0];
    Frame* const frame = frames_.take(entry);
    frame->caller = nullptr;
    frame->call_site = nullptr;
    frame->depth = 0;
    frame->lanes = warp.live;
    TILEPATH_ASSERT(warp.local.reserve(entry.function->frame_bytes), "check_launch admits too much local memory");
    set_frame_base(*frame, 0);
    warp.groups.clear();
    Group group;
    group.frame = frame;
    group.lanes = warp.live;
    warp.groups.push_back(group);
}

void Executor::leave_cluster(std::size_t position) {
    for (auto& cta : resident_[position]->ctas) {
        for (Warp& warp : cta->warps)
            warp.copies.wait_all(all_lanes, [&](const machine::PendingCopy& copy) { land(warp, copy); });
        spare_ctas_.push_back(std::move(cta));
    }
    resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(position));
    --launch_.resident;
    const std::uint64_t done = launch_.finished_ctas += launch_.ctas_per_cluster;
    if (!launch_.options.progress) return;
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(launch_.mutex);
    if (now < launch_.next_progress) return;
    launch_.next_progress = now + std::chrono::milliseconds(100);
    launch_.options.progress(done, (launch_.end_cluster - launch_.first_cluster) * launch_.ctas_per_cluster);
}

Executor::Turn Executor::take_turn(ClusterRun& cluster) {
    cluster_quantum_ = cluster_quantum;
    const bool seeded = launch_.options.seed.has_value();
    for (;;) {
        wake(cluster);
        if (seeded) std::ranges::shuffle(cluster.order, random_);
        bool progress = false;
        for (const auto& [rank, index] : cluster.order) {
            Warp& warp = cluster.ctas[rank]->warps[index];
            if (!std::ranges::any_of(warp.groups, &Group::ready)) continue;
            if (launch_.options.copies == machine::CopyPolicy::random) land_randomly(warp);
            run_warp(warp, seeded ? static_cast<std::int64_t>(16 + random_() % 2048) : warp_quantum);
            progress = true;
            if (launch_.stop.load(std::memory_order_relaxed)) return Turn::over;
        }
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
                const bool polls = group.state == GroupState::polling || group.state == GroupState::mbarrier;
                if (polls && group.epoch != epoch) {
                    group.state = GroupState::ready;
                    group.given_up = 0;
                    warp.watches.clear();
                    warp.watch_now();
                } else if (group.state == GroupState::sleeping && group.until <= time) {
                    group.state = GroupState::ready;
                }
            }
        }
    }
}

template <class Visit>
void Executor::each_group(Visit visit) {
    for (auto& cluster : resident_)
        for (auto& cta : cluster->ctas)
            for (Warp& warp : cta->warps)
                for (Group& group : warp.groups) visit(warp, group);
}

/// Nothing on this thread can run. Asynchronous copies land; the earliest sleeper wakes; a timed wait gives up.
bool Executor::rouse() {
    bool roused = false;
    for (auto& cluster : resident_) {
        for (auto& cta : cluster->ctas) {
            for (Warp& warp : cta->warps) {
                roused = roused || !warp.copies.empty();
                warp.copies.wait_all(all_lanes, [&](const machine::PendingCopy& copy) { land(warp, copy); });
            }
        }
    }
    if (roused) return true;
    std::uint64_t earliest = ~0ull;
    each_group([&](Warp&, Group& group) {
        if (group.state == GroupState::sleeping) earliest = std::min(earliest, group.until);
    });
    if (earliest != ~0ull) {
        std::uint64_t time = launch_.time.load();
        while (time < earliest && !launch_.time.compare_exchange_weak(time, earliest)) {
        }
        each_group([&](Warp& warp, Group& group) {
            if (group.state == GroupState::sleeping && group.until <= earliest) warp.watch_now();
        });
        return true;
    }
    // More tries than one: a kernel may try several barriers in turn, and do something else when all fail.
    constexpr std::uint8_t most_tries = 8;
    each_group([&](Warp& warp, Group& group) {
        if (group.state != GroupState::mbarrier || group.given_up == most_tries) return;
        ++group.given_up;
        group.gives_up = true;
        group.state = GroupState::ready;
        warp.watch_now();
        roused = true;
    });
    return roused;
}

/// This thread has nothing to do until another one changes memory, makes room or moves time. If all threads have come
/// here and none has a reason to go on, the launch is in a deadlock. `epoch`: memory's before it was found unchanged.
void Executor::wait_for_others(std::uint64_t epoch) {
    const std::uint64_t kick = launch_.time_kicks.load();
    bool timed = false;
    each_group([&](Warp&, Group& group) { timed = timed || (group.state == GroupState::polling && group.timed); });
    {
        const std::lock_guard lock(launch_.mutex);
        launch_.idle_epochs[thread_] = epoch;
        launch_.idle_timed[thread_] = timed;
    }
    while (!launch_.stop.load() && launch_.epoch() == epoch && launch_.time_kicks.load() == kick && !can_enter()) {
        if (past_deadline()) break;
        if (!all_idle(epoch)) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    {
        const std::lock_guard lock(launch_.mutex);
        launch_.idle_epochs[thread_] = LaunchState::busy;
    }
    if (launch_.time_kicks.load() == kick) return;
    each_group([&](Warp& warp, Group& group) {
        if (group.state != GroupState::polling || !group.timed) return;
        group.state = GroupState::ready;
        warp.watch_now();
    });
}

bool Executor::can_enter() const {
    return launch_.next_cluster.load() < launch_.end_cluster && launch_.resident.load() < launch_.resident_limit;
}

/// Whether every thread waits with memory as it is. Then time is all that can move; if nobody looks at it, the launch
/// ends.
bool Executor::all_idle(std::uint64_t epoch) {
    const std::lock_guard lock(launch_.mutex);
    bool timed = false;
    for (std::size_t i = 0; i < launch_.idle_epochs.size(); ++i) {
        if (launch_.idle_epochs[i] == LaunchState::gone) continue;
        if (launch_.idle_epochs[i] != epoch) return false;
        timed = timed || launch_.idle_timed[i];
    }
    if (launch_.epoch() != epoch || launch_.stop.load() || can_enter()) return false;
    // Time doubles its step while nothing else happens, up to more than an hour: then a time limit in the kernel has
    // passed.
    if (launch_.jump_epoch != epoch) launch_.jump = 1000;
    launch_.jump_epoch = epoch;
    constexpr std::uint64_t longest = 1ull << 42;
    if (timed && launch_.jump < longest) {
        launch_.time += launch_.jump;
        launch_.jump *= 2;
        for (auto& each : launch_.idle_epochs)
            if (each != LaunchState::gone) each = LaunchState::busy;
        ++launch_.time_kicks;
        return true;
    }
    launch_.deadlocked = true;
    launch_.stop.store(true);
    return true;
}

bool Executor::past_deadline() {
    if (!launch_.options.timeout || std::chrono::steady_clock::now() < deadline_) return false;
    launch_.timed_out.store(true);
    launch_.stop.store(true);
    return true;
}

}  // namespace tilepath::exec
