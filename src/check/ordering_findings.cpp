// What the checks of ordering tell: who did it first, who came then, and what would order them.
#include <fmt/format.h>

#include "check/race_text.h"
#include "check/wgmma_fences.h"

namespace tilepath::check {
namespace {

constexpr double ordering_weight = 1e12;  // a wrong result is worse than a slow one

}  // namespace

program::CodePlace Ordering::place_of(const program::Programs& programs, std::uint32_t site) const {
    return program::code_place(programs, *sites_[site].function, sites_[site].op);
}

Finding Ordering::finding_of(const program::Programs& programs, const Race& race) const {
    const RaceText text = text_of(race);
    Finding out;
    out.check = text.check;
    out.message = text.message;
    out.advice = text.advice;
    if (race.conflict.disorder == Disorder::unordered && race.conflict.other_lanes_known)
        out.advice =
            "bar.warp.sync (__syncwarp()) before the lane that says so: it passes on what it has done itself, and what "
            "others of its warp have done before they met";
    else if (race.conflict.disorder == Disorder::unordered && race.other_lane_waited)
        out.advice =
            "bar.warp.sync (__syncwarp()) behind the wait: another lane of the warp has waited, this one has not";
    out.place = place_of(programs, race.stamp.site);
    out.other = place_of(programs, race.conflict.earlier.site);
    out.times = race.times;
    out.weight = ordering_weight + static_cast<double>(race.times);
    const auto line = [&](const Agent& agent, std::uint32_t warp, std::uint8_t lane, bool wrote, const Stamp& stamp,
                          const program::CodePlace& place) {
        const std::string who = who_text(agent, warp, lane, wrote);
        return fmt::format("{}: {}",
                           agent.kind == Agent::Kind::mbarrier ? fmt::format(fmt::runtime(who), stamp.epoch - 1) : who,
                           program::describe(place));
    };
    const Stamp& earlier = race.conflict.earlier;
    Agent later = race.later;
    later.cta = race.later.kind == Agent::Kind::warp ? race.cta : race.later.cta;
    out.facts = {"first " + line(race.earlier, race.earlier_warp, race.conflict.earlier_lane,
                                 race.conflict.earlier_wrote, earlier, *out.other),
                 "then " + line(later, race.warp, race.conflict.lane, race.writes, race.stamp, out.place),
                 place_text(race)};
    if (race.earlier.kind == Agent::Kind::mbarrier && race.conflict.disorder == Disorder::unordered &&
        !race.other_lane_waited)
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

std::vector<Finding> Ordering::findings(const program::Programs& programs) {
    for (const auto& [index, who] : ctas_)
        for (const auto& [offset, state] : who.cta->mbarriers) check_bytes(state);
    std::vector<Finding> out;
    for (const auto& [key, race] : races_)
        if (!told_the_other_way_round(key)) out.push_back(finding_of(programs, race));
    for (const auto& [key, each] : misuses_) {
        Finding finding;
        finding.check = each.check;
        finding.message = each.message;
        finding.advice = each.advice;
        finding.facts = each.facts;
        finding.place = place_of(programs, key.first);
        if (each.other_site != 0) {
            finding.other = place_of(programs, each.other_site);
            finding.facts.insert(finding.facts.begin(), "the other: " + program::describe(*finding.other));
        }
        finding.times = each.times;
        finding.severity = each.severity;
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
            finding.place = program::code_place(programs, *function, each.wgmma);
            if (each.by != nullptr) {
                finding.other = program::code_place(programs, *function, each.by);
                finding.facts = {"accessed before: " + program::describe(*finding.other)};
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
