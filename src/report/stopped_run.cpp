#include "report/stopped_run.h"

#include <fmt/format.h>

namespace tilepath::report {
namespace {

constexpr double worst = 1e15;  // there is no result at all

std::string describe(const machine::Dim3& value) { return fmt::format("({}, {}, {})", value.x, value.y, value.z); }

}  // namespace

std::vector<check::Finding> findings_of(const exec::LaunchReport& launch) {
    std::vector<check::Finding> out;
    if (launch.fault) {
        const exec::Fault& fault = *launch.fault;
        check::Finding finding;
        finding.check = "fault";
        finding.message = fmt::format("{}: {}", exec::name(fault.kind), fault.message);
        finding.place = fault.place;
        finding.facts = {
            fmt::format("CTA {}, warp {}, {}", describe(fault.cta), fault.warp, exec::describe_lanes(fault.lanes))};
        finding.times = 1;
        finding.weight = worst;
        out.push_back(std::move(finding));
    }
    if (launch.deadlock && !launch.deadlock->groups.empty()) {
        check::Finding finding;
        finding.check = "deadlock";
        finding.message = launch.deadlock->timed_out ? "the time limit has come, and these wait or run"
                                                     : "everything waits, and nothing can go on";
        finding.place = launch.deadlock->groups.front().place;
        for (const exec::WaitingGroup& group : launch.deadlock->groups)
            finding.facts.push_back(fmt::format("CTA {}, warp {}, {}: {}: {}", describe(group.cta), group.warp,
                                                exec::describe_lanes(group.lanes), program::describe(group.place),
                                                group.waits_for));
        finding.times = 1;
        finding.weight = worst;
        out.push_back(std::move(finding));
    }
    return out;
}

}  // namespace tilepath::report
