#pragma once
#include "base/result.h"
#include "program/function.h"
#include "ptx/syntax.h"

namespace tilepath::isa {

/// Every tcgen05 instruction of a kernel and of what it calls names the same .cta_group, as the manual and ptxas 13.0
/// have it. One error, at the first that does not.
void check_cta_groups(const ptx::Module& module, const program::Program& program, Diagnostics& diagnostics);

}  // namespace tilepath::isa
