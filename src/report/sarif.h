#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "report/check_report.h"

namespace tilepath::report {

/// The findings as a SARIF 2.1.0 log, as code hosts and editors show them: a run for each of ours, a rule for each
/// check, a result for each finding, at the line of the source where `.loc` tells it, else of the PTX.
nlohmann::json findings_as_sarif(std::span<const CheckReport> reports);

}  // namespace tilepath::report
