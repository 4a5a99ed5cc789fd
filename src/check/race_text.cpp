// What a race is called, who takes part in it, and what would order them.
#include "check/race_text.h"

#include <fmt/format.h>

namespace tilepath::check {
namespace {

using program::Space;
using enum Agent::Kind;

std::string_view order_of_warps(const Race& race) {
    if (race.space == Space::global)
        return race.earlier.cta == race.cta
                   ? "a barrier between them, bar.sync (__syncthreads())"
                   : "release by the one, acquire by the other: st.release or red.release after its accesses, and "
                     "ld.acquire "
                     "of the same flag before (or fences beside relaxed ones); or two launches";
    return race.earlier.cta == race.cta ? "a barrier between them: bar.sync (__syncthreads()) or an mbarrier on which "
                                          "the one arrives and for which "
                                          "the other waits"
                                        : "barrier.cluster.arrive.release and barrier.cluster.wait.acquire between "
                                          "them, or an mbarrier on which the "
                                          "one arrives and for which the other waits";
}

}  // namespace

std::string who_text(const Agent& agent, std::uint32_t warp, std::uint8_t lane, bool wrote) {
    const std::string_view verb = wrote ? "writes" : "reads";
    const std::string by = lane == Cell::any_lane ? fmt::format("CTA {}, warp {}", agent.cta, warp)
                                                  : fmt::format("CTA {}, warp {}, lane {}", agent.cta, warp, lane);
    switch (agent.kind) {
        case Agent::Kind::warp: return fmt::format("{} {}", by, verb);
        case mbarrier:
            return fmt::format("a copy that {} has issued {}, by phase {{}} of the mbarrier at {:#x}", by, verb,
                               agent.number);
        case cp_async: return fmt::format("a cp.async of {} {}", by, verb);
        case bulk_reads:
        case bulk_writes: return fmt::format("a bulk copy of {} {}", by, verb);
        case wgmma: return fmt::format("the wgmma of {} and its warpgroup {}", by, verb);
        case tcgen05: return fmt::format("a tcgen05 operation of {} {}", by, verb);
        case tensor_loads:
        case tensor_stores: return fmt::format("{} {}", by, verb);
    }
    return {};
}

std::string place_text(const Race& race) {
    if (race.space == Space::generic)
        return fmt::format("both at lane {}, column {} of Tensor Memory", (race.address & 0xFFFFFFFF) / 4,
                           race.address >> 32);
    return fmt::format("both at {:#x} of {}", race.address, program::name(race.space));
}

RaceText text_of(const Race& race) {
    const bool wrote = race.conflict.earlier_wrote;
    const bool global = race.space == Space::global;
    if (race.conflict.disorder == Disorder::lanes)
        return {"race", "lanes of one warp touch the same memory, and nothing brings them together in between",
                "__syncwarp() (bar.warp.sync) between them"};
    if (race.conflict.disorder == Disorder::proxy && race.space == Space::generic)
        return {"tensor-fence", "Tensor Memory passes from one to the other without the fences of tcgen05",
                "tcgen05.fence::before_thread_sync before what orders the two (a commit implies it), and "
                "tcgen05.fence::after_thread_sync behind it"};
    if (race.conflict.disorder == Disorder::proxy)
        return {
            "proxy-fence",
            race.writes ? "the async proxy overwrites what the generic proxy wrote, without a proxy fence in between"
                        : "the async proxy reads what the generic proxy wrote, without a proxy fence in between",
            global
                ? "fence.proxy.async.global (or fence.proxy.async) behind the writes, by the threads that write, "
                  "before "
                  "the barrier that orders them"
                : "fence.proxy.async.shared::cta (or fence.proxy.async) behind the writes, by the threads that write, "
                  "before the barrier that orders them"};
    const bool same_warp = race.earlier.cta == race.cta && race.earlier_warp == race.warp;
    const std::string_view early = "reads before what is written here has landed",
                           soon = "overwrites what may still be read",
                           twice = "overwrites what may still be being written";
    switch (race.earlier.kind) {
        case cp_async:
            return {wrote && !race.writes ? "read-too-early" : "overwritten-too-soon",
                    wrote ? (race.writes ? twice : early) : soon,
                    same_warp ? "cp.async.commit_group and cp.async.wait_group (or wait_all) before it"
                              : "cp.async.wait_group by the threads that copy, and a barrier behind it"};
        case mbarrier:
            if (!wrote || race.writes)
                return {"overwritten-too-soon", wrote ? twice : soon,
                        "a wait for that phase of the mbarrier before it"};
            return {"read-too-early", early,
                    "mbarrier.try_wait for that phase of the mbarrier before it (the parity is the phase's number "
                    "modulo 2); or, "
                    "if older contents are meant, let the copy wait until they have been read"};
        case wgmma:
            return {"overwritten-too-soon", soon,
                    "wgmma.commit_group behind the wgmma and wgmma.wait_group before the memory is given back"};
        case bulk_reads:
            return {"overwritten-too-soon", soon,
                    "cp.async.bulk.commit_group and cp.async.bulk.wait_group.read by the thread that has issued the "
                    "copy, and "
                    "a barrier to the others"};
        case bulk_writes:
            return {race.writes ? "overwritten-too-soon" : "read-too-early", race.writes ? twice : early,
                    "cp.async.bulk.commit_group and cp.async.bulk.wait_group (without .read) by the thread that has "
                    "issued the "
                    "copy, and release and acquire to the others"};
        case tcgen05:
            return {wrote && !race.writes ? "read-too-early" : "overwritten-too-soon",
                    wrote ? (race.writes ? twice : early) : soon,
                    "tcgen05.commit by the thread that has issued it, and a wait for the mbarrier that it arrives on"};
        case tensor_loads:
            return {"overwritten-too-soon", soon, "tcgen05.wait::ld behind the load, by the warp that loads"};
        case tensor_stores:
            return {race.writes ? "overwritten-too-soon" : "read-too-early", race.writes ? twice : early,
                    "tcgen05.wait::st behind the store, by the warp that stores"};
        case Agent::Kind::warp: break;
    }
    if (race.later.kind == Agent::Kind::warp)
        return {"race",
                wrote ? (race.writes ? "two threads write, and nothing orders them"
                                     : "reads what another thread writes, and nothing orders them")
                      : "overwrites what another thread reads, and nothing orders them",
                order_of_warps(race)};
    if (race.writes)
        return {"overwritten-too-soon", wrote ? "overwrites what another thread writes, and nothing orders them" : soon,
                "the copy waits until those who read or write here have said that they are through: an mbarrier on "
                "which they "
                "arrive, or a barrier"};
    return {"read-too-early", "reads what another thread writes, and nothing orders them",
            "fence.proxy.async behind the writes, and a barrier or an mbarrier before this"};
}

}  // namespace tilepath::check
