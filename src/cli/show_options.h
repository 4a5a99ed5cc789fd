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

/// The options given to a command, by their long names: `--id`.
std::vector<std::string> given_options(const CLI::App& command);
/// An option that says nothing of what is asked, and what it needs.
struct Irrelevant {
    std::string_view option, needs;
};
/// An error naming the first of them that was given.
Result<void> refuse(const CLI::App& command, std::string_view what, std::initializer_list<Irrelevant> options);

}  // namespace tilepath::cli
