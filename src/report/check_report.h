#pragma once
#include <string>
#include <vector>

#include "check/finding.h"
#include "check/paths/tile_path.h"
#include "check/provenance/provenance.h"
#include "check/timeline.h"

namespace tilepath::report {

/// What the checks have to say of one run.
struct CheckReport {
    std::string title;  ///< which run, where there are several: a kernel and its device
    std::vector<check::Finding> findings = {};
    std::vector<check::Span> spans = {};  ///< what was under way when
    std::vector<check::TilePath> paths = {};
    check::Provenance::ResultMap result = {};  ///< what D's elements came to; empty where that was not looked at
};

}  // namespace tilepath::report
