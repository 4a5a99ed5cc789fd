#include "report/findings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tilepath::report {

std::string findings_text(const std::vector<check::Finding>& findings) {
    std::string out;
    for (const check::Finding& each : findings) out += check::to_string(each);
    return out + (findings.empty() ? "no finding\n"
                                   : fmt::format("{} finding{}\n", findings.size(), findings.size() == 1 ? "" : "s"));
}

nlohmann::json findings_as_json(const std::vector<check::Finding>& findings) {
    nlohmann::json out = nlohmann::json::array();
    for (const check::Finding& each : findings) {
        nlohmann::json one{
            {"check", each.check},         {"message", each.message},     {"function", each.place.function},
            {"file", each.place.ptx.file}, {"line", each.place.ptx.line}, {"instruction", each.place.operation},
            {"executions", each.times},    {"facts", each.facts},         {"advice", each.advice}};
        if (each.place.source_line != 0)
            one["source"] = {{"file", each.place.source_file}, {"line", each.place.source_line}};
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace tilepath::report
