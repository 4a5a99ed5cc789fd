#pragma once
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "check/finding.h"
#include "check/paths/tile_paths.h"
#include "check/provenance/product.h"
#include "check/timeline.h"
#include "host/job.h"
#include "machine/tee.h"
#include "report/check_report.h"
#include "report/known_findings.h"

namespace tilepath::cli {

/// What is done with findings beside printing them: the options that `check` and `gemm --check` share.
struct CheckOptions {
    std::string suppressions, baseline, sarif, html, trace;

    void add_to(CLI::App& command);
    bool any() const;
    bool wants_timeline() const { return !html.empty() || !trace.empty(); }
};

/// The checks of one command, over all of its runs.
class CheckSession {
  public:
    /// Reads the suppressions and the baseline.
    static Result<CheckSession> create(const CheckOptions& options);

    /// One run, followed by every check.
    class Run {
      public:
        Run(const CheckSession& session, machine::Tee& observers);
        /// What the kernel is to compute; before it runs.
        void expect(check::Product product) { checks_.expect(std::move(product)); }
        const check::Provenance& provenance() const { return checks_.provenance(); }

      private:
        friend class CheckSession;
        check::Checks checks_;
        check::Timeline timeline_;
        std::optional<check::TilePaths> paths_;
    };

    /// What the run has shown, less what is suppressed or known. `title`: which run it is, where there are several.
    const std::vector<check::Finding>& take(Run& run, const host::Job& job, const host::Outcome& outcome,
                                            std::string title);
    /// Writes the files that the options name.
    Result<void> write() const;
    /// What was left out, in lines for a terminal.
    std::string notes() const;

  private:
    explicit CheckSession(const CheckOptions& options) : options_(options) {}

    CheckOptions options_;
    std::vector<report::Suppression> suppressions_;
    std::vector<std::string> baseline_;
    std::vector<report::CheckReport> reports_;
    std::size_t suppressed_ = 0, known_ = 0;
};

}  // namespace tilepath::cli
