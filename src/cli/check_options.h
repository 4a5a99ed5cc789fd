#pragma once
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "check/finding.h"
#include "check/provenance/product.h"
#include "check/timeline.h"
#include "host/job.h"
#include "machine/tee.h"

namespace tilepath::cli {

/// What `check` does with its findings beside printing them.
struct CheckOptions {
    std::string suppressions, baseline, sarif, html, trace;

    void add_to(CLI::App& command);
    bool wants_timeline() const { return !html.empty() || !trace.empty(); }
};

/// Follows one run with every check.
class CheckedRun {
  public:
    CheckedRun(const CheckOptions& options, machine::Tee& observers);

    /// What the kernel is to compute; before it runs.
    void expect(check::Product product) { checks_.expect(std::move(product)); }
    const check::Provenance& provenance() const { return checks_.provenance(); }

    /// The findings that are left of the run, written wherever the options say. `notes`: what was left out, lines for a
    /// terminal.
    Result<std::vector<check::Finding>> findings(const host::Job& job, const host::Outcome& outcome,
                                                 std::string& notes);

  private:
    const CheckOptions& options_;
    check::Checks checks_;
    check::Timeline timeline_;
};

}  // namespace tilepath::cli
