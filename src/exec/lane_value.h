#pragma once
#include "exec/warp.h"

namespace tilepath::exec {

/// Where an argument's register or constant lies in the frame of the call site.
const Row* argument_row(const Frame& frame, program::Operand operand);
/// `bytes` (1, 2, 4, 8) of one lane's register.
std::uint64_t lane_value(const Row* row, int lane, std::uint32_t bytes);
/// The bytes at `from` into the register that takes a call's result.
void set_lane_value(Frame& frame, const program::Call::Argument& result, int lane, const void* from);

}  // namespace tilepath::exec
