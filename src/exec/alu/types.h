#pragma once
#include "program/types.h"

namespace tilepath::exec::alu {

// Questions about types, out of line: files compiled for a vector unit use no inline function that other files share.

/// Bits in a register.
int width_of(program::DataType type);

/// Which family of arithmetic a type belongs to.
enum class NumberKind { integer, half, floating };
NumberKind kind_of(program::DataType type);

}  // namespace tilepath::exec::alu
