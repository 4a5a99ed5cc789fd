#pragma once
#include <cstdint>

#include "program/op.h"
#include "program/types.h"

namespace tilepath::exec {

/// One element's atomic operation at `at`; returns the old value. `global`: in global memory, whose floating-point
/// additions are not those of shared memory. `changed` is set if memory holds another value now.
std::uint64_t update_memory(std::uint8_t* at, program::AtomicOp op, program::DataType type, bool global,
                            std::uint64_t b, std::uint64_t c, bool& changed);

}  // namespace tilepath::exec
