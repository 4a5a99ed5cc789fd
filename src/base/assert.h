#pragma once

namespace tilepath {

/// Says on standard error that tilepath itself is wrong, and ends the process with exit status 4.
[[noreturn]] void assertion_failed(const char* condition, const char* message, const char* file, int line);

}  // namespace tilepath

/// A fault of ours, never of the input: the same in debug and release builds.
#define TILEPATH_ASSERT(condition, message) \
    ((condition) ? void(0) : ::tilepath::assertion_failed(#condition, message, __FILE__, __LINE__))
