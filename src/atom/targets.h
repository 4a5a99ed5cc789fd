#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "atom/instruction.h"

namespace tilepath::atom {

/// The targets that legality is told for, in order: sm_75 … sm_120f.
std::span<const std::string_view> all_targets();
/// Those that assemble the instruction, as ptxas 13.0 has it (tests/atom/targets_test.cpp asks it).
std::vector<std::string_view> targets_of(const Instruction& instruction);

}  // namespace tilepath::atom
