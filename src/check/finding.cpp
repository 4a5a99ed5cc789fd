#include "check/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "check/bank_conflicts.h"
#include "check/coalescing.h"

namespace tilepath::check {

Checks::Checks() {
    checks_.push_back(std::make_unique<Coalescing>());
    checks_.push_back(std::make_unique<BankConflicts>());
    for (auto& each : checks_) add(*each);
}

std::vector<Finding> Checks::findings(const program::Program& program) {
    std::vector<Finding> out;
    for (const auto& each : checks_) {
        std::vector<Finding> its = each->findings(program);
        std::move(its.begin(), its.end(), std::back_inserter(out));
    }
    std::ranges::sort(out, [](const Finding& a, const Finding& b) {
        return std::tuple(-a.weight, a.check, a.place.ptx.line, a.place.ptx.column) <
               std::tuple(-b.weight, b.check, b.place.ptx.line, b.place.ptx.column);
    });
    return out;
}

std::string to_string(const Finding& finding) {
    std::string out = fmt::format("finding ({}): {}\n  {}\n  {} executions by a warp\n", finding.check, finding.message,
                                  program::describe(finding.place), finding.times);
    for (const std::string& fact : finding.facts) out += "  " + fact + "\n";
    if (!finding.advice.empty()) out += "  change: " + finding.advice + "\n";
    return out;
}

}  // namespace tilepath::check
