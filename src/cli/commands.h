// cli/: the program `tilepath`, one file per subcommand.
#pragma once
#include <CLI/CLI.hpp>

#include "base/result.h"

namespace tilepath::cli {

/// Exit statuses of every subcommand.
inline constexpr int exit_clean = 0, exit_difference = 1, exit_bad_input = 2, exit_kernel_fault = 3, exit_internal = 4;

// Each adds its subcommand to the program; running it writes its exit status.
void add_gemm(CLI::App& program, int& exit_status);
void add_check(CLI::App& program, int& exit_status);
void add_run(CLI::App& program, int& exit_status);
void add_init(CLI::App& program, int& exit_status);
void add_extract(CLI::App& program, int& exit_status);
void add_completion(CLI::App& program, int& exit_status);
void add_dot(CLI::App& program, int& exit_status);
void add_isa(CLI::App& program, int& exit_status);
void add_layout(CLI::App& program, int& exit_status);
void add_show(CLI::App& program, int& exit_status);

/// Prints diagnostics to standard error and gives exit_bad_input.
int report_bad_input(const Diagnostics& diagnostics);

}  // namespace tilepath::cli
