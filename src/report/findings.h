#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "check/finding.h"

namespace tilepath::report {

/// The findings for a terminal, the worst first, and how many there are.
std::string findings_text(const std::vector<check::Finding>& findings);

nlohmann::json findings_as_json(const std::vector<check::Finding>& findings);

}  // namespace tilepath::report
