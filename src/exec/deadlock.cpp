// What a launch that cannot go on waits for, group by group.
#include <fmt/format.h>

#include <bit>
#include <cstring>

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

std::string Executor::describe_mbarrier(Warp& warp, Group& group) {
    Context c = context_of(warp, group);
    const int lane = std::countr_zero(group.lanes);
    const machine::Address address = (c.code.wide_address ? c.wide(c.code.a)[lane] : c.row(c.code.a).lane[lane]) +
                                     static_cast<std::uint64_t>(c.code.offset);
    const auto offset = machine::shared_offset(static_cast<std::uint32_t>(address));
    const std::vector<std::uint8_t>& shared = warp.cta->state.shared;
    machine::Mbarrier barrier;
    std::uint64_t word = 0;
    if (std::size_t{offset} + 8 <= shared.size()) std::memcpy(&word, shared.data() + offset, sizeof word);
    if (!machine::decode(word, barrier)) return fmt::format("waits for the mbarrier at shared {:#x}", offset);
    return fmt::format("waits for the mbarrier at shared {:#x} (phase {}): {} of {} arrivals and {} bytes are missing",
                       offset, int{barrier.phase}, barrier.pending, barrier.expected, barrier.transactions);
}

std::string Executor::describe_wait(Warp& warp, Group& group) {
    switch (group.state) {
        case GroupState::ready: return "was running";
        case GroupState::gathering: {
            return fmt::format("waits for other lanes of the warp to execute this too; {} of it are live",
                               describe_lanes(warp.live));
        }
        case GroupState::barrier: return describe_barrier(*warp.cta, group.barrier);
        case GroupState::mbarrier: return describe_mbarrier(warp, group);
        case GroupState::sleeping: return "sleeps";
        case GroupState::polling: return "polls memory that nobody changes any more";
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
