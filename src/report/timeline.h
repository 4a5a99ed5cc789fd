#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "report/check_report.h"

namespace tilepath::report {

/// Timelines in the trace event format, which Perfetto and chrome://tracing open: a process for each CTA of each run, a
/// thread for each engine and barrier; a microsecond is one event of the run.
nlohmann::json timeline_as_trace(std::span<const CheckReport> reports);

/// A picture of the CTA that did most, as SVG: a line for each engine and barrier.
std::string timeline_as_svg(std::span<const check::Span> spans);

}  // namespace tilepath::report
