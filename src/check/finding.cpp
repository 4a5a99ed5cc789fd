#include "check/finding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "check/bank_conflicts.h"
#include "check/coalescing.h"
#include "check/ordering.h"
#include "check/provenance/provenance.h"
#include "check/relay.h"
#include "check/rules.h"

namespace tilepath::check {

Checks::Checks() : relay_(std::make_unique<Relay>()) {
    checks_.push_back(std::make_unique<Coalescing>());
    checks_.push_back(std::make_unique<BankConflicts>());
    auto ordering = std::make_unique<Ordering>();
    ordering_ = ordering.get();
    checks_.push_back(std::move(ordering));
    for (auto& each : checks_) relay_->add(*each);
    auto provenance = std::make_unique<Provenance>();
    provenance_ = provenance.get();
    checks_.push_back(std::move(provenance));
    add(*relay_);
    add(*provenance_);
}

Checks::~Checks() = default;

Checks::ShadowSize Checks::shadow_size() {
    relay_->drain();
    return {ordering_->followed_bytes(), ordering_->shadow_bytes() + provenance_->shadow_bytes()};
}

void Checks::expect(Product product) { provenance_->set_product(std::move(product)); }

std::vector<Finding> Checks::findings(const program::Programs& programs) {
    relay_->drain();
    std::vector<Finding> out;
    for (const auto& each : checks_) {
        std::vector<Finding> its = each->findings(programs);
        std::move(its.begin(), its.end(), std::back_inserter(out));
    }
    return grouped(std::move(out));
}

namespace {

void sort(std::vector<Finding>& findings) {
    std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
        const auto key = [](const Finding& each) {
            return std::tuple(each.severity, -each.weight, std::string_view(each.check),
                              std::string_view(each.place.ptx.file), each.place.ptx.line, each.place.ptx.column,
                              std::string_view(each.place.function), std::string_view(each.message),
                              each.other ? each.other->ptx.line : 0, each.other ? each.other->ptx.column : 0);
        };
        return key(a) < key(b);
    });
}

std::string opcode(const Finding& finding) {
    const std::string& text = finding.place.operation;
    const std::size_t guard = text.starts_with('@') ? text.find(' ') + 1 : 0;
    return text.substr(guard, text.find(' ', guard) - guard);
}

}  // namespace

std::vector<Finding> grouped(std::vector<Finding> findings) {
    sort(findings);
    using Key =
        std::tuple<Severity, std::string, std::string, std::string, std::string, unsigned, std::string, unsigned>;
    std::map<Key, std::size_t> groups;
    std::vector<Finding> out;
    for (Finding& each : findings) {
        const program::CodePlace& place = each.place;
        if (place.source_line == 0) {
            out.push_back(std::move(each));
            continue;
        }
        const auto [group, fresh] = groups.try_emplace(
            Key{each.severity, each.check, place.function, opcode(each), place.source_file, place.source_line,
                each.other ? each.other->source_file : "", each.other ? each.other->source_line : 0},
            out.size());
        if (fresh) {
            out.push_back(std::move(each));
            continue;
        }
        Finding& first = out[group->second];
        first.also.push_back(place.ptx.line);
        first.times += each.times;
        first.weight += each.weight;
    }
    for (Finding& each : out) {
        std::ranges::sort(each.also);
        const auto rest = std::ranges::unique(each.also);
        each.also.erase(rest.begin(), rest.end());
        std::erase(each.also, each.place.ptx.line);
    }
    sort(out);
    return out;
}

std::vector<std::string> fingerprints(const std::vector<Finding>& findings) {
    std::map<std::string, int> counts;
    std::vector<std::pair<std::tuple<unsigned, unsigned>, std::size_t>> by_place;
    for (std::size_t i = 0; i < findings.size(); ++i)
        by_place.push_back({{findings[i].place.ptx.line, findings[i].place.ptx.column}, i});
    std::ranges::sort(by_place);
    std::vector<std::string> out(findings.size());
    for (const auto& [place, i] : by_place) {
        const Finding& each = findings[i];
        const std::string& file = each.place.source_file;
        const std::string key =
            fmt::format("{}:{}:{}:{}", each.check, each.place.function, opcode(each), file.substr(file.rfind('/') + 1));
        out[i] = fmt::format("{}:{}", key, counts[key]++);
    }
    return out;
}

std::size_t count_of(const std::vector<Finding>& findings, Severity severity) {
    return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

std::string_view name(Severity severity) { return severity == Severity::note ? "note" : "finding"; }

std::string to_string(const Finding& finding) {
    std::string out = fmt::format("{} ({}): {}\n  {}\n", name(finding.severity), finding.check, finding.message,
                                  program::describe(finding.place));
    if (finding.times > 1) out += fmt::format("  {} executions by a warp\n", finding.times);
    if (!finding.also.empty())
        out += fmt::format("  copies of it: {}\n", line_list(finding.place.ptx.file, finding.also));
    constexpr std::size_t most_facts = 64;
    for (std::size_t i = 0; i < finding.facts.size() && i < most_facts; ++i) out += "  " + finding.facts[i] + "\n";
    if (finding.facts.size() > most_facts) out += fmt::format("  … and {} more\n", finding.facts.size() - most_facts);
    if (!finding.advice.empty()) out += "  change: " + finding.advice + "\n";
    return out;
}

std::string line_list(const std::string& file, const std::vector<unsigned>& lines) {
    constexpr std::size_t most = 12;
    const auto end = lines.begin() + static_cast<std::ptrdiff_t>(std::min(most, lines.size()));
    std::string out = fmt::format("{}:{}", file, fmt::join(lines.begin(), end, ", "));
    if (lines.size() > most) out += fmt::format(", … and {} more", lines.size() - most);
    return out;
}

}  // namespace tilepath::check
