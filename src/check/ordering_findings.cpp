// What the checks of ordering tell: who did it first, who came then, and what would order them.
#include <fmt/format.h>

#include "check/ordering.h"
#include "check/wgmma_fences.h"

namespace tilepath::check {
namespace {

using program::Space;
using enum Agent::Kind;

constexpr double ordering_weight = 1e12;  // a wrong result is worse than a slow one

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
    }
    return {};
}

struct Text {
    std::string_view check, message, advice;
};

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

Text text_of(const Race& race) {
    const bool wrote = race.conflict.earlier_wrote;
    const bool global = race.space == Space::global;
    if (race.conflict.disorder == Disorder::lanes)
        return {"race", "lanes of one warp touch the same memory, and nothing brings them together in between",
                "__syncwarp() (bar.warp.sync) between them"};
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

}  // namespace

program::CodePlace Ordering::place_of(const program::Program& program, std::uint32_t site) const {
    return program::code_place(program, *sites_[site].function, sites_[site].op);
}

Finding Ordering::finding_of(const program::Program& program, const Race& race) const {
    const Text text = text_of(race);
    Finding out;
    out.check = text.check;
    out.message = text.message;
    out.advice = text.advice;
    out.place = place_of(program, race.stamp.site);
    out.other = place_of(program, race.conflict.earlier.site);
    out.times = race.times;
    out.weight = ordering_weight + static_cast<double>(race.times);
    const auto line = [&](const Agent& agent, std::uint32_t warp, std::uint8_t lane, bool wrote, const Stamp& stamp,
                          const program::CodePlace& place) {
        const std::string who = who_text(agent, warp, lane, wrote);
        return fmt::format("{}: {}", agent.kind == mbarrier ? fmt::format(fmt::runtime(who), stamp.epoch - 1) : who,
                           program::describe(place));
    };
    const Stamp& earlier = race.conflict.earlier;
    Agent later = race.later;
    later.cta = race.later.kind == Agent::Kind::warp ? race.cta : race.later.cta;
    out.facts = {"first " + line(race.earlier, race.earlier_warp, race.conflict.earlier_lane,
                                 race.conflict.earlier_wrote, earlier, *out.other),
                 "then " + line(later, race.warp, race.conflict.lane, race.writes, race.stamp, out.place),
                 fmt::format("both at {:#x} of {}", race.address, program::name(race.space))};
    if (race.earlier.kind == mbarrier && race.conflict.disorder == Disorder::unordered)
        out.facts.push_back(
            race.waited == 0
                ? std::string("warp has waited for no phase of that mbarrier").insert(0, "the ")
                : fmt::format("the warp has waited for the mbarrier's phases up to {} only", race.waited - 1));
    return out;
}

/// Two instructions that race may meet in both orders: then the one that reads is told as the later one.
bool Ordering::told_the_other_way_round(const RaceKey& key) const {
    const auto& [later, earlier, disorder, earlier_wrote, writes, space] = key;
    const bool there = races_.contains({earlier, later, disorder, writes, earlier_wrote, space});
    if (!there || later == earlier) return false;
    return earlier_wrote != writes ? writes : later < earlier;
}

std::vector<Finding> Ordering::findings(const program::Program& program) {
    for (const auto& [index, who] : ctas_)
        for (const auto& [offset, state] : who.cta->mbarriers) check_bytes(state);
    std::vector<Finding> out;
    for (const auto& [key, race] : races_)
        if (!told_the_other_way_round(key)) out.push_back(finding_of(program, race));
    for (const auto& [key, each] : misuses_) {
        Finding finding;
        finding.check = each.check;
        finding.message = each.message;
        finding.advice = each.advice;
        finding.facts = each.facts;
        finding.place = place_of(program, key.first);
        if (each.other_site != 0) {
            finding.other = place_of(program, each.other_site);
            finding.facts.insert(finding.facts.begin(), "the other: " + program::describe(*finding.other));
        }
        finding.times = each.times;
        finding.weight = ordering_weight + static_cast<double>(each.times);
        out.push_back(std::move(finding));
    }
    for (const auto& [function, times] : wgmma_functions_)
        for (const UnfencedWgmma& each : unfenced_wgmmas(*function)) {
            Finding finding;
            finding.check = "wgmma-fence";
            finding.message =
                each.by == nullptr
                    ? "no wgmma.fence comes before the first wgmma"
                    : "a register of this wgmma is accessed before it, and no wgmma.fence comes in between";
            finding.place = program::code_place(program, *function, each.wgmma);
            if (each.by != nullptr) {
                finding.other = program::code_place(program, *function, each.by);
                finding.facts = {"accessed by " + program::describe(*finding.other)};
            }
            finding.advice =
                "wgmma.fence.sync.aligned behind the last access to the accumulators or to A's registers, before "
                "the wgmma";
            finding.times = times;
            finding.weight = ordering_weight;
            out.push_back(std::move(finding));
        }
    return out;
}

}  // namespace tilepath::check
