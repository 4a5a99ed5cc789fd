#pragma once
#include <vector>

#include "check/finding.h"
#include "exec/launch.h"

namespace tilepath::report {

/// What ended a launch before its time as findings: a fault (a barrier's thread count, a CTA of the cluster that has
/// exited, an access out of bounds, …), or that everything waits.
std::vector<check::Finding> findings_of(const exec::LaunchReport& launch);

}  // namespace tilepath::report
