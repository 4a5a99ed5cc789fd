#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace tilepath {

void assertion_failed(const char* condition, const char* message, const char* file, int line) {
    std::fprintf(stderr, "tilepath: internal error: %s (%s) at %s:%d\nThis is a fault of tilepath, not of your input.\n",
                 message, condition, file, line);
    std::fflush(nullptr);
#ifdef TILEPATH_ASSERT_ABORTS  // libFuzzer keeps the input of a program that a signal ends, not of one that exits
    std::abort();
#else
    std::_Exit(4);
#endif
}

}  // namespace tilepath
