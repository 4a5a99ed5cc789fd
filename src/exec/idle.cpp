// What to do when nothing on this host thread can run.
#include <algorithm>
#include <thread>

#include "exec/executor.h"

namespace tilepath::exec {
namespace {

/// How often a try_wait gives up while memory stays as it is.
constexpr std::uint8_t most_tries = 8;

}  // namespace

template <class Visit>
void Executor::each_group(Visit visit) {
    for (auto& cluster : resident_)
        for (auto& cta : cluster->ctas)
            for (Warp& warp : cta->warps)
                for (Group& group : warp.groups) visit(warp, group);
}

/// Nothing on this thread can run. Asynchronous copies and stores land, time moves, or waits give up.
bool Executor::rouse() {
    bool roused = false;
    for (auto& cluster : resident_) {
        roused = roused || !cluster->stores.empty();
        land_stores(*cluster);
        for (auto& cta : cluster->ctas) {
            roused = land_all(*cta) || roused;
            for (Warp& warp : cta->warps) {
                roused = roused || !warp.copies.empty();
                warp.copies.wait_all(all_lanes, [&](const machine::PendingCopy& copy) { land(warp, copy); });
            }
        }
    }
    for (auto& cluster : resident_) {
        // Of what waits longest in each engine the younger goes first, so that what should have waited for the other is
        // seen.
        const bool tensor = !cluster->bulks.empty() && Tcgen05::oldest(*cluster) > cluster->bulks.front().id;
        roused = (tensor && tcgen05_.land_oldest(*cluster)) || land_oldest_bulk(*cluster) ||
                 tcgen05_.land_oldest(*cluster) || roused;
    }
    return roused || advance_time() || give_up_waits();
}

/// Time moves to where the earliest sleeper wakes or the earliest limit of a try passes.
bool Executor::advance_time() {
    std::uint64_t earliest = Group::no_limit;
    each_group([&](Warp&, Group& group) {
        const bool tries = group.state == GroupState::mbarrier && group.given_up < most_tries;
        if (group.state == GroupState::sleeping || tries) earliest = std::min(earliest, group.until);
    });
    if (earliest == Group::no_limit) return false;
    std::uint64_t time = launch_.time.load();
    while (time < earliest && !launch_.time.compare_exchange_weak(time, earliest)) {
    }
    each_group([&](Warp& warp, Group& group) {
        if (group.until > earliest) return;
        if (group.state == GroupState::sleeping) warp.watch_now();
        if (group.state != GroupState::mbarrier) return;
        if (group.given_up < most_tries) ++group.given_up;
        warp.watch_now();
    });
    return true;
}

/// Tries without a limit of their own end, so that loops around them see that time has passed. After several in vain
/// nothing will come any more.
bool Executor::give_up_waits() {
    bool roused = false;
    each_group([&](Warp& warp, Group& group) {
        if (group.state != GroupState::mbarrier || group.given_up == most_tries) return;
        ++group.given_up;
        group.gives_up = true;
        group.state = GroupState::ready;
        warp.watch_now();
        roused = true;
    });
    constexpr std::uint64_t usual_limit = 20'000;  // nanoseconds; system-dependent, says PTX ISA 9.7.13.15.16
    if (roused) launch_.time += usual_limit;
    return roused;
}

/// This thread has nothing to do until another one changes memory, makes room or moves time. If all threads have come
/// here and none has a reason to go on, the launch is in a deadlock. `epoch`: memory's before it was found unchanged.
void Executor::wait_for_others(std::uint64_t epoch) {
    const std::uint64_t kick = launch_.time_kicks.load();
    bool timed = false;
    const auto looks_at_time = [](const Group& group) {
        return group.timed && (group.state == GroupState::polling || group.state == GroupState::mbarrier);
    };
    each_group([&](Warp&, Group& group) { timed = timed || looks_at_time(group); });
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
        if (!looks_at_time(group)) return;
        group.gives_up = group.state == GroupState::mbarrier;
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
