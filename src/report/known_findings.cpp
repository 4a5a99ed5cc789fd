#include "report/known_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "check/rules.h"

namespace tilepath::report {
namespace {

/// `*` stands for any text.
bool matches(std::string_view text, std::string_view pattern) {
    std::size_t at = 0, next = 0, star = std::string_view::npos, behind = 0;
    while (at < text.size()) {
        if (next < pattern.size() && pattern[next] == '*') {
            star = next++;
            behind = at;
        } else if (next < pattern.size() && pattern[next] == text[at]) {
            ++next, ++at;
        } else if (star != std::string_view::npos) {
            next = star + 1;
            at = ++behind;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', next) == std::string_view::npos;
}

bool covers(const Suppression& suppression, const check::Finding& finding) {
    const program::CodePlace& place = finding.place;
    if (!matches(finding.check, suppression.check) || !matches(place.function, suppression.function)) return false;
    return matches(place.operation, suppression.place) ||
           matches(fmt::format("{}:{}", place.ptx.file, place.ptx.line), suppression.place) ||
           matches(fmt::format("{}:{}", place.source_file, place.source_line), suppression.place);
}

Result<std::string> text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) return fail(fmt::format("cannot read {}", file.string()));
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// What `--json` prints of one run; or of several, in an array.
std::vector<const nlohmann::json*> runs_of(const nlohmann::json& from) {
    std::vector<const nlohmann::json*> out;
    const auto add = [&](const nlohmann::json& run) {
        if (run.is_object() && run.contains("findings") && run["findings"].is_array()) out.push_back(&run["findings"]);
    };
    if (from.is_array())
        std::ranges::for_each(from, add);
    else
        add(from);
    return out;
}

}  // namespace

Result<std::vector<Suppression>> read_suppressions(const std::filesystem::path& file) {
    auto text = text_of(file);
    if (!text) return std::unexpected(text.error());
    std::vector<Suppression> out;
    std::istringstream lines(*text);
    unsigned number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        line = line.substr(0, line.find('#'));
        std::istringstream words(line);
        Suppression each;
        each.line = number;
        if (!(words >> each.check)) continue;
        words >> each.function >> std::ws;
        std::getline(words, each.place);
        each.place.erase(each.place.find_last_not_of(" \t\r") + 1);
        if (each.place.empty())
            return fail(fmt::format("{}:{}: expected CHECK FUNCTION PLACE, found '{}'", file.string(), number, line),
                        "for example: bank-conflicts my_kernel my_kernel.cu:*");
        const auto known = [&](const check::Rule& rule) { return matches(rule.check, each.check); };
        if (std::ranges::none_of(check::rules(), known))
            return fail(fmt::format("{}:{}: no check is called '{}'", file.string(), number, each.check),
                        "docs/checks.md lists them; `*` stands for any text");
        out.push_back(std::move(each));
    }
    return out;
}

void suppress(std::vector<check::Finding>& findings, std::vector<Suppression>& suppressions) {
    std::erase_if(findings, [&](const check::Finding& finding) {
        for (Suppression& each : suppressions) {
            if (!covers(each, finding)) continue;
            ++each.times;
            return true;
        }
        return false;
    });
}

Result<std::vector<std::string>> read_baseline(const std::filesystem::path& file) {
    auto text = text_of(file);
    if (!text) return std::unexpected(text.error());
    const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
    const auto runs = runs_of(json);
    if (runs.empty())
        return fail(
            fmt::format("{} is no baseline", file.string()),
            "expected what `tilepath check --json` prints: `tilepath check --json launch.toml > baseline.json`");
    std::vector<std::string> out;
    for (const nlohmann::json* findings : runs)
        for (const nlohmann::json& each : *findings)
            if (each.is_object() && each.contains("fingerprint") && each["fingerprint"].is_string())
                out.push_back(each["fingerprint"]);
    return out;
}

std::size_t leave_new(std::vector<check::Finding>& findings, const std::vector<std::string>& baseline) {
    const std::vector<std::string> prints = check::fingerprints(findings);
    std::vector<check::Finding> fresh;
    for (std::size_t i = 0; i < findings.size(); ++i)
        if (std::ranges::find(baseline, prints[i]) == baseline.end()) fresh.push_back(std::move(findings[i]));
    const std::size_t known = findings.size() - fresh.size();
    findings = std::move(fresh);
    return known;
}

}  // namespace tilepath::report
