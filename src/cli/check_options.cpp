#include "cli/check_options.h"

#include <fmt/format.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "report/findings.h"
#include "report/json_text.h"
#include "report/sarif.h"
#include "report/stopped_run.h"
#include "report/timeline.h"

namespace tilepath::cli {
namespace {

Result<void> write_file(const std::string& file, const std::string& text) {
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

bool CheckOptions::any() const {
    return !suppressions.empty() || !baseline.empty() || !sarif.empty() || !html.empty() || !trace.empty();
}

Result<CheckSession> CheckSession::create(const CheckOptions& options) {
    CheckSession out(options);
    if (!options.suppressions.empty()) {
        auto suppressions = report::read_suppressions(options.suppressions);
        if (!suppressions) return std::unexpected(suppressions.error());
        out.suppressions_ = *std::move(suppressions);
    }
    if (!options.baseline.empty()) {
        auto baseline = report::read_baseline(options.baseline);
        if (!baseline) return std::unexpected(baseline.error());
        out.baseline_ = *std::move(baseline);
    }
    return out;
}

CheckSession::Run::Run(const CheckSession& session, machine::Tee& observers) {
    observers.add(checks_);
    if (session.options_.wants_timeline()) observers.add(timeline_);
    if (!session.options_.html.empty()) observers.add(paths_.emplace(checks_.provenance()));
}

const std::vector<check::Finding>& CheckSession::take(Run& run, const host::Job& job, const host::Outcome& outcome,
                                                      std::string title) {
    std::vector<check::Finding> found;
    for (const exec::LaunchReport& launch : outcome.reports)
        for (check::Finding& each : report::findings_of(launch)) found.push_back(std::move(each));
    for (check::Finding& each : run.checks_.findings(job.programs())) found.push_back(std::move(each));
    const std::size_t all = found.size();
    report::suppress(found, suppressions_);
    suppressed_ += all - found.size();
    known_ += report::leave_new(found, baseline_);
    reports_.push_back({std::move(title), std::move(found), run.timeline_.spans(),
                        run.paths_ ? run.paths_->paths(job.programs()) : std::vector<check::TilePath>{},
                        run.checks_.provenance().result_map()});
    return reports_.back().findings;
}

Result<void> CheckSession::write() const {
    if (!options_.sarif.empty())
        if (auto done = write_file(options_.sarif, report::json_text(report::findings_as_sarif(reports_)) + "\n");
            !done)
            return done;
    if (!options_.html.empty())
        if (auto done = write_file(options_.html, report::findings_as_html(reports_)); !done) return done;
    if (!options_.trace.empty())
        if (auto done = write_file(options_.trace, report::json_text(report::timeline_as_trace(reports_), -1) + "\n");
            !done)
            return done;
    return {};
}

std::string CheckSession::notes() const {
    std::string out;
    if (suppressed_ != 0) out += fmt::format("{} suppressed\n", suppressed_);
    for (const report::Suppression& each : suppressions_)
        if (each.times == 0) out += fmt::format("{}:{}: suppresses nothing\n", options_.suppressions, each.line);
    if (known_ != 0) out += fmt::format("{} in the baseline\n", known_);
    return out;
}

}  // namespace tilepath::cli
