// What a launch that cannot go on waits for, group by group.
#include <fmt/format.h>

#include "exec/executor.h"

namespace tilepath::exec {
namespace {

std::string describe_barrier(const CtaRun& cta, std::uint32_t number) {
    const machine::NamedBarrier& state = cta.state.barriers[number];
    const std::uint32_t expected = state.expected == 0 ? cta.state.live_threads : state.expected;
    std::string missing;
    for (const Warp& warp : cta.warps) {
        const LaneMask absent = warp.live & ~state.lanes[warp.index];
        if (absent == 0) continue;
        missing += missing.empty() ? "" : ", ";
        missing += absent == warp.live ? fmt::format("warp {}", warp.index)
                                       : fmt::format("warp {} {}", warp.index, describe_lanes(absent));
    }
    return fmt::format("waits at barrier {} (phase {}): {} of {} threads have arrived{}{}", number, state.generation,
                       state.arrived, expected, missing.empty() ? "" : "; not there: ", missing);
}

}  // namespace

std::string Executor::describe_cluster_barrier(const ClusterRun& cluster) {
    std::string missing;
    for (const auto& cta : cluster.ctas) {
        std::string warps;
        for (const Warp& warp : cta->warps)
            if ((warp.live & ~warp.cluster_arrived) != 0)
                warps += fmt::format("{}{}", warps.empty() ? "" : ", ", warp.index);
        if (warps.empty()) continue;
        missing += fmt::format("{}warp{} {} of the CTA of rank {}", missing.empty() ? "" : "; ",
                               warps.find(',') == std::string::npos ? "" : "s", warps, cta->state.rank);
    }
    return fmt::format("waits at the barrier of its cluster (phase {}): {} of {} threads have arrived; not there: {}",
                       cluster.barrier_phase, cluster.barrier_arrived, cluster.live_threads(), missing);
}

std::string Executor::describe_wait(Warp& warp, Group& group) {
    switch (group.state) {
        case GroupState::ready: return "was running";
        case GroupState::gathering: {
            return fmt::format("waits for other lanes of the warp to execute this too; {} of it are live",
                               describe_lanes(warp.live));
        }
        case GroupState::barrier: return describe_barrier(*warp.cta, group.barrier);
        case GroupState::mbarrier: return "waits for " + describe_mbarrier(*warp.cta, group);
        case GroupState::cluster: return describe_cluster_barrier(*warp.cta->cluster);
        case GroupState::sleeping: return "sleeps";
        case GroupState::polling:
            return group.tested == nullptr ? "polls memory that nobody changes any more"
                                           : "tests again and again in vain " + describe_mbarrier(*warp.cta, group);
        case GroupState::tensor_memory: return tcgen05_.describe_wait(warp);
        case GroupState::warpgroup: return describe_warpgroup(warp);
        case GroupState::registers: return describe_registers(warp, group);
    }
    return "";
}

void Executor::describe_waiting(Deadlock& deadlock) {
    constexpr std::size_t most = 64;
    for (auto& cluster : resident_) {
        for (auto& cta : cluster->ctas) {
            ++deadlock.resident_ctas;
            for (Warp& warp : cta->warps) {
                for (Group& group : warp.groups) {
                    if (deadlock.groups.size() == most) {
                        ++deadlock.more_groups;
                        continue;
                    }
                    const Code& code = group.frame->function->code[group.pc];
                    deadlock.groups.push_back(
                        {program::code_place(*launch_.loaded.program, *group.frame->function->function, code.op),
                         cta->state.id, cta->state.rank, launch_.ctas_per_cluster, warp.index, group.lanes,
                         describe_wait(warp, group)});
                }
            }
        }
    }
}

}  // namespace tilepath::exec
