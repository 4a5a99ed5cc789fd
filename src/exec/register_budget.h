#pragma once
#include <cstdint>

#include "program/function.h"

namespace tilepath::exec {

/// Registers per thread that a kernel with setmaxnreg begins with; 0: its directives do not say, and setmaxnreg does
/// nothing.
std::uint32_t registers_at_entry(const program::Program& program);

}  // namespace tilepath::exec
