#pragma once
#include "cli/program.h"

namespace tilepath::cli {

/// A folder with a copy of examples/.
struct Examples : Folder {
    Examples() {
        std::filesystem::copy(TILEPATH_TEST_DIR "/../examples", path(), std::filesystem::copy_options::recursive);
    }
};

}  // namespace tilepath::cli
