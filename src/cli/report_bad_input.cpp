#include <cstdio>

#include "cli/commands.h"

namespace tilepath::cli {

int report_bad_input(const Diagnostics& diagnostics) {
    std::fputs(to_string(diagnostics).c_str(), stderr);
    return exit_bad_input;
}

}  // namespace tilepath::cli
