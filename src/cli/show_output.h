#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "report/sheet.h"

namespace tilepath::cli {

/// Where a sheet goes: the terminal, as text or JSON, and files with pictures.
struct SheetOutput {
    bool json = false;
    std::string svg, html;

    void add_options(CLI::App& command);
    /// Prints and writes; gives the exit status.
    int put(const Result<report::Sheet>& sheet) const;
};

}  // namespace tilepath::cli
