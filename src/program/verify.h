#pragma once
#include <string>
#include <vector>

#include "program/function.h"

namespace tilepath::program {

/// What in a Program breaks the rules of its tables: operand counts, indices, classes of registers, block structure. A
/// lowering that leaves anything here is a fault of ours; empty when all is well.
std::vector<std::string> verify(const Program& program);

}  // namespace tilepath::program
