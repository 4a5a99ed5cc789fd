#pragma once
#include "base/result.h"
#include "program/function.h"
#include "ptx/syntax.h"

namespace tilepath::isa {

/// Binds and lowers one entry and everything that it calls. Every error in them is reported, not only the first.
/// `entry` may be empty when the module has one entry.
Result<program::Program> build(const ptx::Module& module, std::string_view entry);

/// Binds every instruction of the module, without lowering: what is not supported, by place.
Diagnostics check_instructions(const ptx::Module& module);

}  // namespace tilepath::isa
