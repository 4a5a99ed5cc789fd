// Reads PTX text (PTX ISA 9.0 and before) into a syntax tree with names resolved.
#pragma once
#include "base/result.h"
#include "base/source.h"
#include "ptx/syntax.h"

namespace tilepath::ptx {

/// The module, or every error in it (at most `max_errors`, then a count of the rest), each with its place. Instruction
/// heads are not judged here: whether `ld.foo` exists is for isa/ to say.
Result<Module> read(Source source);

constexpr unsigned max_errors = 50;

}  // namespace tilepath::ptx
