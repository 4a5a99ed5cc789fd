#pragma once
#include <string>

#include "program/function.h"

namespace tilepath::program {

/// One micro-operation: `@p3 add.f32.ftz r7, r5, 0x3f800000`.
std::string print(const Function& function, const MicroOp& op);

/// Blocks with their successors, registers with their rows: for people and golden tests, never read back.
std::string print(const Function& function);

}  // namespace tilepath::program
