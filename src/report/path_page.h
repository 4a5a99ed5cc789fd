#pragma once
#include <string>

#include "report/check_report.h"

namespace tilepath::report {

/// The ways of the tiles from global memory to D as HTML: each step a box with its line of the PTX, with pictures of
/// the memory between the steps; the broken step in red. Empty if no matrix instruction was looked at.
std::string paths_as_html(const CheckReport& report);
/// The CSS of it.
std::string path_style();

}  // namespace tilepath::report
