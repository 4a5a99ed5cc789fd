#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "check/timeline.h"

namespace tilepath::report {

/// The timeline in the trace event format, which Perfetto and chrome://tracing open: a process for each CTA, a thread
/// for each engine and barrier; a microsecond is one event of the run.
nlohmann::json timeline_as_trace(const check::Timeline& timeline);

/// A picture of the CTA that did most, as SVG: a line for each engine and barrier.
std::string timeline_as_svg(const check::Timeline& timeline);

}  // namespace tilepath::report
