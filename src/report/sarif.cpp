#include "report/sarif.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "check/rules.h"

namespace tilepath::report {
namespace {

using nlohmann::json;

/// A file's path as a URI: what a path may hold and a URI may not is escaped.
std::string uri_of(const std::string& path) {
    std::string out = path.starts_with('/') ? "file://" : "";
    for (const char c : path) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-._~/+").contains(c);
        out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

json physical(const std::string& file, unsigned line) {
    json out{{"artifactLocation", {{"uri", uri_of(file)}}}};
    if (line != 0) out["region"] = {{"startLine", line}};
    return out;
}

json location(const program::CodePlace& place) {
    const bool source = place.source_line != 0;
    json out;
    if (source)
        out["physicalLocation"] = physical(place.source_file, place.source_line);
    else if (place.ptx.line != 0)
        out["physicalLocation"] = physical(place.ptx.file, place.ptx.line);
    out["logicalLocations"] = {{{"name", place.function}, {"kind", "function"}}};
    return out;
}

json related(const program::CodePlace& place, std::string text) {
    json out = location(place);
    out["message"] = {{"text", std::move(text)}};
    return out;
}

const char* level_of(const check::Finding& finding) {
    if (finding.severity == check::Severity::note) return "note";
    return check::rule_of(finding.check).wrong_result ? "error" : "warning";
}

json result_of(const check::Finding& finding, std::string fingerprint) {
    std::string text = finding.message + ".";
    for (const std::string& fact : finding.facts) text += "\n" + fact;
    if (!finding.advice.empty()) text += "\nchange: " + finding.advice;
    json out{{"ruleId", finding.check},
             {"ruleIndex", check::rule_index(finding.check)},
             {"level", level_of(finding)},
             {"message", {{"text", text}}},
             {"locations", {location(finding.place)}},
             {"occurrenceCount", std::max<std::uint64_t>(1, finding.times)},
             {"partialFingerprints", {{"tilepath/v1", std::move(fingerprint)}}}};
    json others = json::array();
    if (finding.place.source_line != 0) {
        json ptx = related(finding.place, "the instruction: " + finding.place.operation);
        ptx["physicalLocation"] = physical(finding.place.ptx.file, finding.place.ptx.line);
        others.push_back(std::move(ptx));
    }
    if (finding.other) others.push_back(related(*finding.other, "the other: " + finding.other->operation));
    if (!others.empty()) out["relatedLocations"] = std::move(others);
    return out;
}

json run_of(const CheckReport& report) {
    json rule_list = json::array();
    for (const check::Rule& rule : check::rules())
        rule_list.push_back({{"id", rule.check},
                             {"shortDescription", {{"text", rule.title}}},
                             {"defaultConfiguration", {{"level", rule.wrong_result ? "error" : "warning"}}}});
    json results = json::array();
    const std::vector<std::string> prints = check::fingerprints(report.findings);
    for (std::size_t i = 0; i < report.findings.size(); ++i)
        results.push_back(result_of(report.findings[i], prints[i]));
    json driver{{"name", "tilepath"}, {"semanticVersion", TILEPATH_VERSION}, {"rules", std::move(rule_list)}};
    json run{
        {"tool", {{"driver", std::move(driver)}}}, {"columnKind", "utf16CodeUnits"}, {"results", std::move(results)}};
    if (!report.title.empty()) run["automationDetails"] = {{"id", report.title}};
    return run;
}

}  // namespace

json findings_as_sarif(std::span<const CheckReport> reports) {
    json runs = json::array();
    for (const CheckReport& report : reports) runs.push_back(run_of(report));
    return {
        {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", std::move(runs)}};
}

}  // namespace tilepath::report
