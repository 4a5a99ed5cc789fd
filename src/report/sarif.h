#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "check/finding.h"

namespace tilepath::report {

/// The findings as a SARIF 2.1.0 log, as code hosts and editors show them: a rule for each check, a result for each
/// finding, at the line of the source where `.loc` tells it, else of the PTX.
nlohmann::json findings_as_sarif(const std::vector<check::Finding>& findings);

}  // namespace tilepath::report
