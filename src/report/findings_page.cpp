// Findings as an HTML page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>

#include "check/rules.h"
#include "layout/bank.h"
#include "report/findings.h"
#include "report/sheet.h"
#include "report/timeline.h"

namespace tilepath::report {
namespace {

using check::Finding;

/// Which lanes want which bank, a row for each phase.
std::optional<Grid> banks_of(const check::WarpAccess& access) {
    std::vector<std::optional<std::uint64_t>> addresses(32);
    for (std::size_t lane = 0; lane < 32; ++lane)
        if (access.lanes >> lane & 1) addresses[lane] = access.addresses[lane];
    const auto cost = layout::bank_cost(addresses, static_cast<int>(access.bytes));
    if (!cost) return {};
    Grid picture = grid("phase", static_cast<std::int64_t>(cost->phases.size()), "bank", layout::bank_count);
    picture.shade_name = "words wanted of the bank";
    picture.shades = 9;
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

void add(Sheet& sheet, const Finding& finding, std::size_t number) {
    Facts facts;
    facts.add(std::string(check::name(finding.severity)), finding.message);
    facts.add("in", finding.place.function);
    facts.add("instruction", finding.place.operation);
    facts.add("place", place_text(finding.place));
    if (!finding.also.empty()) facts.add("copies in lines", fmt::format("{}", fmt::join(finding.also, ", ")));
    if (finding.other) {
        facts.add("the other", finding.other->operation);
        facts.add("its place", place_text(*finding.other));
    }
    facts.add("executions by a warp", static_cast<std::int64_t>(finding.times));
    for (const std::string& fact : finding.facts) facts.add("example", fact);
    if (!finding.advice.empty()) facts.add("change", finding.advice);
    const std::string key = fmt::format("finding {}", number);
    sheet.add(key, fmt::format("{}. {}: {}", number, finding.check, check::rule_of(finding.check).title),
              std::move(facts));
    if (!finding.banks) return;
    if (auto picture = banks_of(*finding.banks))
        sheet.add(key + " banks", "Words wanted of each bank", std::move(*picture));
}

}  // namespace

std::string findings_as_html(const std::vector<Finding>& findings, const check::Timeline& timeline) {
    Sheet sheet;
    sheet.title = "tilepath check: " + count_text(findings);
    std::map<std::string, std::int64_t> counts;
    for (const Finding& each : findings) ++counts[each.check];
    Listing summary{{"check", "findings and notes", "what it holds"}, {}};
    for (const check::Rule& rule : check::rules()) {
        const auto found = counts.find(std::string(rule.check));
        summary.rows.push_back(
            {std::string(rule.check), found == counts.end() ? 0 : found->second, std::string(rule.title)});
    }
    sheet.add("summary", "", std::move(summary));
    for (std::size_t i = 0; i < findings.size(); ++i) add(sheet, findings[i], i + 1);
    std::string page = to_html(sheet);
    const std::string svg = timeline_as_svg(timeline);
    if (svg.empty()) return page;
    const std::string drawn = "<h2>What was under way when</h2>\n<div class=\"wide\">" + svg + "</div>\n";
    return page.insert(page.rfind("</body>"), drawn);
}

}  // namespace tilepath::report
