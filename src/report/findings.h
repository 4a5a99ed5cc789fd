#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "check/finding.h"
#include "report/check_report.h"

namespace tilepath::report {

/// `2 findings, 1 note`, `no finding`.
std::string count_text(const std::vector<check::Finding>& findings);

/// Findings that say the same of other places, together: their indices, the worst first.
std::vector<std::vector<std::size_t>> kinds_of(const std::vector<check::Finding>& findings);
/// ` ordering.ptx:12, 15`: where findings stand, without the first.
std::string others_of_kind(const std::vector<check::Finding>& findings, const std::vector<std::size_t>& kind);

/// The findings for a terminal, the worst first, and how many there are.
std::string findings_text(const std::vector<check::Finding>& findings);

nlohmann::json findings_as_json(const std::vector<check::Finding>& findings);

/// How many matrix instructions and elements of D were proven right, a line; of a run whose product is known.
std::string provenance_text(const check::Provenance& provenance);
/// How tensor cores and TMA stores read shared memory, one line; nothing if they do not.
std::string tile_reads_text(const check::Provenance& provenance);
nlohmann::json tile_reads_as_json(const check::Provenance& provenance);
nlohmann::json provenance_as_json(const check::Provenance& provenance);

/// A page that stands alone: the findings with what they tell, pictures of the banks that conflicting accesses meet in,
/// and what was under way when; run by run.
std::string findings_as_html(std::span<const CheckReport> reports);

}  // namespace tilepath::report
