// Findings as an HTML page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>

#include "check/rules.h"
#include "layout/bank.h"
#include "report/findings.h"
#include "report/path_page.h"
#include "report/path_pictures.h"
#include "report/picture.h"
#include "report/timeline.h"

namespace tilepath::report {
namespace {

using check::Finding;

constexpr int bank_shades = 9;

/// Which lanes want which bank, a row for each phase.
std::optional<Grid> banks_of(const check::WarpAccess& access) {
    std::vector<std::optional<std::uint64_t>> addresses(32);
    for (std::size_t lane = 0; lane < 32; ++lane)
        if (access.lanes >> lane & 1) addresses[lane] = access.addresses[lane];
    const auto cost = layout::bank_cost(addresses, static_cast<int>(access.bytes));
    if (!cost) return {};
    Grid picture = grid("phase", static_cast<std::int64_t>(cost->phases.size()), "bank", layout::bank_count);
    picture.shade_name = "words wanted of the bank";
    picture.shades = bank_shades;
    for (std::size_t i = 0; i < cost->phases.size(); ++i) {
        const layout::BankPhase& phase = cost->phases[i];
        for (std::size_t bank = 0; bank < layout::bank_count; ++bank) {
            const std::size_t wanted = phase.words[bank].size();
            if (wanted == 0) continue;
            std::vector<int> lanes;
            for (const int lane : phase.lanes) {
                const std::uint64_t first = access.addresses[static_cast<std::size_t>(lane)] / 4;
                const std::uint64_t last = (access.addresses[static_cast<std::size_t>(lane)] + access.bytes - 1) / 4;
                for (std::uint64_t word = first; word <= last; ++word)
                    if (word % layout::bank_count == bank && (lanes.empty() || lanes.back() != lane))
                        lanes.push_back(lane);
            }
            Cell& cell = picture.at(i, bank);
            cell.text = std::to_string(wanted);
            cell.shade = static_cast<int>(std::min<std::size_t>(wanted, 9)) - 1;
            cell.title = fmt::format("phase {}, bank {}: {} words, lanes {}", i, bank, wanted, fmt::join(lanes, ", "));
            cell.marked = wanted > 1;
        }
    }
    return picture;
}

std::string place_text(const program::CodePlace& place) {
    return place.source_line == 0
               ? fmt::format("{}:{}", place.ptx.file, place.ptx.line)
               : fmt::format("{}:{} ({}:{})", place.source_file, place.source_line, place.ptx.file, place.ptx.line);
}

void add(Sheet& sheet, const Finding& finding, int number, std::string like_it) {
    Facts facts;
    facts.add(std::string(check::name(finding.severity)), finding.message);
    facts.add("in", finding.place.function);
    facts.add("instruction", program::one_line(finding.place.operation));
    facts.add("place", place_text(finding.place));
    if (!finding.also.empty()) facts.add("copies in lines", fmt::format("{}", fmt::join(finding.also, ", ")));
    if (finding.other) {
        facts.add("the other", program::one_line(finding.other->operation));
        facts.add("its place", place_text(*finding.other));
    }
    facts.add("executions by a warp", static_cast<std::int64_t>(finding.times));
    for (const std::string& fact : finding.facts) facts.add("example", fact);
    if (!finding.advice.empty()) facts.add("change", finding.advice);
    if (!like_it.empty()) facts.add("like it", std::move(like_it));
    const std::string key = fmt::format("finding {}", number);
    sheet.add(key, fmt::format("{}. {}: {}", number, finding.check, check::rule_of(finding.check).title),
              std::move(facts));
    if (!finding.banks) return;
    if (auto picture = banks_of(*finding.banks))
        sheet.add(key + " banks", "Words wanted of each bank", std::move(*picture));
}

/// What was found by which check, and which found nothing.
Listing summary_of(const std::vector<Finding>& findings) {
    std::map<std::string, std::int64_t> counts;
    for (const Finding& each : findings) ++counts[each.check];
    Listing summary{{"check", "findings and notes", "what it holds"}, {}};
    std::string silent;
    for (const check::Rule& rule : check::rules()) {
        if (const auto found = counts.find(std::string(rule.check)); found != counts.end())
            summary.rows.push_back({std::string(rule.check), found->second, std::string(rule.title)});
        else
            silent += fmt::format("{}{}", silent.empty() ? "" : ", ", rule.check);
    }
    summary.rows.push_back({std::string(counts.empty() ? "all" : "the others"), std::int64_t{0}, silent});
    return summary;
}

std::string body_of(const CheckReport& report) {
    Sheet head, findings;
    head.add("summary", "", summary_of(report.findings));
    int number = 0;
    for (const std::vector<std::size_t>& kind : kinds_of(report.findings))
        add(findings, report.findings[kind.front()], ++number,
            kind.size() == 1 ? "" : fmt::format("{} more:{}", kind.size() - 1, others_of_kind(report.findings, kind)));
    std::string out = html_of(head) + html_of(findings) + paths_as_html(report);
    const std::string svg = timeline_as_svg(report.spans);
    if (!svg.empty()) out += "<h2>What was under way when</h2>\n<div class=\"wide\">" + svg + "</div>\n";
    return out;
}

}  // namespace

std::string findings_as_html(std::span<const CheckReport> reports) {
    std::string body;
    std::vector<Finding> all;
    for (const CheckReport& report : reports) {
        if (!report.title.empty())
            body += fmt::format("<h1>{}: {}</h1>\n", escaped(report.title), count_text(report.findings));
        body += body_of(report);
        all.insert(all.end(), report.findings.begin(), report.findings.end());
    }
    return html_page("tilepath check: " + count_text(all), style_of({bank_shades, path_shades}) + path_style(), body);
}

}  // namespace tilepath::report
