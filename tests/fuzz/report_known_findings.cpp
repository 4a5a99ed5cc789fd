// Any text as a suppression file and as a baseline, any bytes as a finding's names: they are read or refused with
// words, and what is written as JSON, SARIF and a page reads again.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "check/rules.h"
#include "report/findings.h"
#include "report/json_text.h"
#include "report/known_findings.h"
#include "report/sarif.h"

using namespace tilepath;

namespace {

/// A file of this process alone; gives its path.
const std::string& write(const std::string& text) {
    static const int file = memfd_create("known", 0);
    static const std::string path = "/proc/self/fd/" + std::to_string(file);
    TILEPATH_ASSERT(file >= 0 && ftruncate(file, 0) == 0, "a file in memory");
    TILEPATH_ASSERT(pwrite(file, text.data(), text.size(), 0) == ssize_t(text.size()), "a file in memory");
    return path;
}

/// Findings whose names are the lines of the text.
std::vector<check::Finding> findings_of(const std::string& text) {
    std::vector<check::Finding> out;
    std::size_t at = 0;
    const auto next = [&] {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = std::min(end + 1, text.size());
        return line;
    };
    while (at < text.size() && out.size() < 8) {
        check::Finding each;
        const auto byte = static_cast<unsigned char>(text[at]);
        each.check = check::rules()[byte % check::rules().size()].check;
        each.place.function = next(), each.place.operation = next();
        each.place.ptx.file = next(), each.place.ptx.line = byte;
        each.place.source_file = next(), each.place.source_line = byte % 3;
        each.message = next(), each.advice = next(), each.facts = {next(), next()};
        if (byte & 1) each.other = each.place;
        out.push_back(std::move(each));
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    std::vector<check::Finding> findings = findings_of(text);
    const std::string json = report::json_text({{"findings", report::findings_as_json(findings)}});
    TILEPATH_ASSERT(nlohmann::json::parse(json)["findings"].size() == findings.size(), "the JSON reads again");
    const std::vector<report::CheckReport> reports{{"a run", findings, {}, {}, {}}};
    const auto sarif = nlohmann::json::parse(report::json_text(report::findings_as_sarif(reports)));
    TILEPATH_ASSERT(sarif["runs"][0]["results"].size() == findings.size(), "the SARIF reads again");
    report::findings_as_html(reports);
    report::findings_text(findings);
    const auto own = report::read_baseline(write(json));
    TILEPATH_ASSERT(own && own->size() == findings.size(), "what --json prints is a baseline");
    for (const bool baseline : {false, true}) {
        std::vector<check::Finding> left = findings;
        if (baseline) {
            const auto known = report::read_baseline(write(text));
            TILEPATH_ASSERT(known || !to_string(known.error()).empty(), "a refusal says why");
            if (known) report::leave_new(left, *known);
        } else {
            auto known = report::read_suppressions(write(text));
            TILEPATH_ASSERT(known || !to_string(known.error()).empty(), "a refusal says why");
            if (known) report::suppress(left, *known);
        }
        TILEPATH_ASSERT(left.size() <= findings.size(), "what is known is left out");
    }
    return 0;
}
