#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "check/provenance/product_of.h"
#include "check/provenance/provenance.h"
#include "host/launch_file.h"

namespace tilepath::check {

/// What the check of every element's place made of a launch.
struct Checked {
    std::vector<Finding> findings;
    Provenance::Counts operands, results;
};

/// A launch file `toml` whose module, `ptx`, is called kernel.ptx.
inline Checked checked(const std::string& ptx, const std::string& toml, bool with_table = true) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("tilepath_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "kernel.ptx") << ptx;
    std::ofstream(folder / "kernel.toml") << toml;
    auto file = host::read_launch_file((folder / "kernel.toml").string());
    EXPECT_TRUE(file) << (file ? "" : to_string(file.error()));
    auto job = host::prepare(*file);
    EXPECT_TRUE(job) << (job ? "" : to_string(job.error()));
    std::filesystem::remove_all(folder);
    if (!job) return {};
    Checks checks;
    exec::LaunchOptions options;
    options.observer = &checks;
    const auto outcome = host::run_on_cpu(*job, options, [&](std::span<const machine::Address> addresses) {
        if (auto product = product_of(*job, addresses); product && with_table) checks.expect(std::move(*product));
    });
    EXPECT_TRUE(outcome && outcome->ok());
    Checked out;
    for (const Finding& finding : checks.findings(*job->launches[0].program))
        if (finding.check == "provenance") out.findings.push_back(finding);
    out.operands = checks.provenance().counts(), out.results = checks.provenance().results();
    return out;
}

}  // namespace tilepath::check
