#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "check/finding.h"

namespace tilepath::report {

/// What a user has decided to live with: one line of a suppression file,
///
///     CHECK  FUNCTION  PLACE      # why
///
/// each a pattern in which `*` stands for any text. PLACE is FILE:LINE of the source or of the PTX, or an instruction's
/// text.
struct Suppression {
    std::string check, function, place;
    unsigned line = 0;  ///< of the file
    std::uint64_t times = 0;
};

Result<std::vector<Suppression>> read_suppressions(const std::filesystem::path& file);
/// Takes out what they cover, and counts it.
void suppress(std::vector<check::Finding>& findings, std::vector<Suppression>& suppressions);

/// The fingerprints in the output of an earlier `--json`.
Result<std::vector<std::string>> read_baseline(const std::filesystem::path& file);
/// Takes out what the baseline has; how many that were.
std::size_t leave_new(std::vector<check::Finding>& findings, const std::vector<std::string>& baseline);

}  // namespace tilepath::report
