#include "report/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "check/provenance/provenance.h"

namespace tilepath::report {

std::string count_text(const std::vector<check::Finding>& findings) {
    const std::size_t count = check::count_of(findings, check::Severity::finding), notes = findings.size() - count;
    std::string out = count == 0 ? "no finding" : fmt::format("{} finding{}", count, count == 1 ? "" : "s");
    if (notes != 0) out += fmt::format(", {} note{}", notes, notes == 1 ? "" : "s");
    return out;
}

std::string findings_text(const std::vector<check::Finding>& findings) {
    std::string out;
    for (const check::Finding& each : findings) out += check::to_string(each);
    return out + count_text(findings) + "\n";
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

std::string provenance_text(const check::Provenance& provenance) {
    const check::Provenance::Counts &operands = provenance.counts(), &d = provenance.results();
    return fmt::format(
        "provenance: {} matrix instructions of a warp, operands proven right {}, wrong {}, unknown {}; "
        "elements of D proven right {}, wrong {}, unknown {}\n",
        operands.proven + operands.disproven + operands.unknown, operands.proven, operands.disproven, operands.unknown,
        d.proven, d.disproven, d.unknown);
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
