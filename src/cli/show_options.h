#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/show_output.h"
#include "report/show_instruction.h"

namespace tilepath::cli {

/// Options that several kinds of `show` share.
void add_view_options(CLI::App& command, report::ViewQuestion& question);
void add_placement_options(CLI::App& command, report::OperandPlacement& placement);
void add_swizzle_option(CLI::App& command, layout::SwizzleMode& swizzle);
void add_major_option(CLI::App& command, atom::OperandMajor& major);

}  // namespace tilepath::cli
