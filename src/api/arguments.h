#pragma once
#include <cstdint>
#include <vector>

#include <tilepath/launch.h>

#include "base/result.h"
#include "program/function.h"

namespace tilepath {

/// The parameter bytes of a launch of the entry, or everything in which the arguments do not fit its parameters.
Result<std::vector<std::uint8_t>> pack_arguments(const program::Function& entry, const std::vector<Argument>& arguments);

}  // namespace tilepath
