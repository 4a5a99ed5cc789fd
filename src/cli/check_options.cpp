#include "cli/check_options.h"

#include <fmt/format.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "report/findings.h"
#include "report/json_text.h"
#include "report/known_findings.h"
#include "report/sarif.h"
#include "report/stopped_run.h"
#include "report/timeline.h"

namespace tilepath::cli {
namespace {

Result<void> write(const std::string& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    if (!out) return fail(fmt::format("cannot write {}", file));
    return {};
}

}  // namespace

void CheckOptions::add_to(CLI::App& command) {
    command.add_option("--suppress", suppressions,
                       "Leave out what this file lists: CHECK FUNCTION PLACE in each line, * for any text");
    command.add_option("--baseline", baseline, "Leave out what an earlier run's --json output, this file, has already");
    command.add_option("--sarif", sarif, "Write the findings to this file as SARIF 2.1.0");
    command.add_option("--html", html, "Write the findings to this file as a page with pictures");
    command.add_option("--trace", trace, "Write what was under way when to this file, for Perfetto");
}

CheckedRun::CheckedRun(const CheckOptions& options, machine::Tee& observers) : options_(options) {
    observers.add(checks_);
    if (options.wants_timeline()) observers.add(timeline_);
}

Result<std::vector<check::Finding>> CheckedRun::findings(const host::Job& job, const host::Outcome& outcome,
                                                         std::string& notes) {
    std::vector<check::Finding> found = checks_.findings(job.programs());
    for (const exec::LaunchReport& launch : outcome.reports)
        for (check::Finding& each : report::findings_of(launch)) found.insert(found.begin(), std::move(each));
    if (!options_.suppressions.empty()) {
        auto suppressions = report::read_suppressions(options_.suppressions);
        if (!suppressions) return std::unexpected(suppressions.error());
        const std::size_t before = found.size();
        report::suppress(found, *suppressions);
        if (before != found.size()) notes += fmt::format("{} suppressed\n", before - found.size());
        for (const report::Suppression& each : *suppressions)
            if (each.times == 0) notes += fmt::format("{}:{}: suppresses nothing\n", options_.suppressions, each.line);
    }
    if (!options_.baseline.empty()) {
        const auto baseline = report::read_baseline(options_.baseline);
        if (!baseline) return std::unexpected(baseline.error());
        if (const std::size_t known = report::leave_new(found, *baseline); known != 0)
            notes += fmt::format("{} in the baseline\n", known);
    }
    if (!options_.sarif.empty())
        if (auto done = write(options_.sarif, report::json_text(report::findings_as_sarif(found)) + "\n"); !done)
            return std::unexpected(done.error());
    if (!options_.html.empty())
        if (auto done = write(options_.html, report::findings_as_html(found, timeline_)); !done)
            return std::unexpected(done.error());
    if (!options_.trace.empty())
        if (auto done = write(options_.trace, report::json_text(report::timeline_as_trace(timeline_), -1) + "\n");
            !done)
            return std::unexpected(done.error());
    return found;
}

}  // namespace tilepath::cli
