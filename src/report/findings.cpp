#include "report/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include <nlohmann/json.hpp>

#include "check/provenance/provenance.h"
#include "check/rules.h"

namespace tilepath::report {

std::string count_text(const std::vector<check::Finding>& findings) {
    const std::size_t count = check::count_of(findings, check::Severity::finding), notes = findings.size() - count;
    std::string out = count == 0 ? "no finding" : fmt::format("{} finding{}", count, count == 1 ? "" : "s");
    if (notes != 0) out += fmt::format(", {} note{}", notes, notes == 1 ? "" : "s");
    return out;
}

namespace {

/// A message without its numbers.
std::string kind_of(const std::string& message) {
    std::string out;
    for (const char c : message)
        if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.') out += c;
    return out;
}

bool alike(const check::Finding& a, const check::Finding& b) {
    return a.severity == b.severity && a.check == b.check && a.place.function == b.place.function &&
           kind_of(a.message) == kind_of(b.message) && kind_of(a.advice) == kind_of(b.advice);
}

/// `: 3 race, 2 bank-conflicts`, where there are several checks.
std::string by_check(const std::vector<check::Finding>& findings) {
    std::map<std::string, int> counts;
    for (const check::Finding& each : findings) ++counts[each.check];
    if (counts.size() < 2) return {};
    std::string out;
    for (const check::Rule& rule : check::rules())
        if (const auto found = counts.find(std::string(rule.check)); found != counts.end())
            out += fmt::format("{}{} {}", out.empty() ? ": " : ", ", found->second, rule.check);
    return out;
}

}  // namespace

std::vector<std::vector<std::size_t>> kinds_of(const std::vector<check::Finding>& findings) {
    std::vector<std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const auto kind =
            std::ranges::find_if(out, [&](const auto& each) { return alike(findings[each.front()], findings[i]); });
        if (kind == out.end())
            out.push_back({i});
        else
            kind->push_back(i);
    }
    return out;
}

std::string others_of_kind(const std::vector<check::Finding>& findings, const std::vector<std::size_t>& kind) {
    std::map<std::string, std::vector<unsigned>> lines;
    for (std::size_t i = 1; i < kind.size(); ++i) {
        const program::CodePlace& place = findings[kind[i]].place;
        lines[place.ptx.file].push_back(place.ptx.line);
    }
    std::string out;
    for (auto& [file, its] : lines) {
        std::ranges::sort(its);
        out += " " + check::line_list(file, its);
    }
    return out;
}

std::string findings_text(const std::vector<check::Finding>& findings) {
    std::string out;
    for (const std::vector<std::size_t>& kind : kinds_of(findings)) {
        out += check::to_string(findings[kind.front()]);
        if (kind.size() > 1)
            out += fmt::format("  and {} like it:{}\n", kind.size() - 1, others_of_kind(findings, kind));
    }
    return out + count_text(findings) + by_check(findings) + "\n";
}

nlohmann::json findings_as_json(const std::vector<check::Finding>& findings) {
    nlohmann::json out = nlohmann::json::array();
    const std::vector<std::string> prints = check::fingerprints(findings);
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const check::Finding& each = findings[i];
        nlohmann::json one{{"fingerprint", prints[i]},
                           {"check", each.check},
                           {"severity", check::name(each.severity)},
                           {"message", each.message},
                           {"function", each.place.function},
                           {"file", each.place.ptx.file},
                           {"line", each.place.ptx.line},
                           {"instruction", each.place.operation},
                           {"executions", each.times},
                           {"facts", each.facts},
                           {"advice", each.advice}};
        if (each.place.source_line != 0)
            one["source"] = {{"file", each.place.source_file}, {"line", each.place.source_line}};
        if (!each.also.empty()) one["also_in_lines"] = each.also;
        if (each.other) {
            one["other"] = {{"line", each.other->ptx.line}, {"instruction", each.other->operation}};
            if (each.other->source_line != 0)
                one["other"]["source"] = {{"file", each.other->source_file}, {"line", each.other->source_line}};
        }
        out.push_back(std::move(one));
    }
    return out;
}

namespace {

std::string counts_text(const check::Provenance::Counts& counts) {
    const std::uint64_t all = counts.proven + counts.disproven + counts.unknown;
    if (all == 0) return "none looked at";
    if (counts.proven == all) return fmt::format("all {} proven right", all);
    return fmt::format("{}: {} proven right, {} wrong, {} unknown", all, counts.proven, counts.disproven,
                       counts.unknown);
}

}  // namespace

std::string provenance_text(const check::Provenance& provenance) {
    return fmt::format("operands of matrix instructions, each warp's: {}\nelements of D: {}\n",
                       counts_text(provenance.counts()), counts_text(provenance.results()));
}

std::string tile_reads_text(const check::Provenance& provenance) {
    std::vector<std::string> reads;
    for (const auto& [what, instructions] : provenance.tile_reads().all())
        reads.push_back(fmt::format("{} {}canonical atoms ({} instruction{})", what.first,
                                    what.second ? "in " : "not in ", instructions.size(),
                                    instructions.size() == 1 ? "" : "s"));
    if (reads.empty()) return {};
    return fmt::format("tensor cores and TMA read shared memory: {}; cost unknown\n", fmt::join(reads, ", "));
}

nlohmann::json tile_reads_as_json(const check::Provenance& provenance) {
    nlohmann::json out = nlohmann::json::array();
    for (const auto& [what, instructions] : provenance.tile_reads().all())
        out.push_back({{"read", what.first},
                       {"canonical", what.second},
                       {"instructions", instructions.size()},
                       {"cost", "unknown"}});
    return out;
}

nlohmann::json provenance_as_json(const check::Provenance& provenance) {
    const auto as_json = [](const check::Provenance::Counts& counts) {
        return nlohmann::json{{"proven", counts.proven}, {"disproven", counts.disproven}, {"unknown", counts.unknown}};
    };
    return {{"matrix_instructions", as_json(provenance.counts())}, {"elements_of_d", as_json(provenance.results())}};
}

}  // namespace tilepath::report
