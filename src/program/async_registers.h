#pragma once
#include "program/function.h"

namespace tilepath::program {

/// wgmma reads its A and metadata registers and writes its D registers at some moment up to the wgmma_wait that
/// completes it (PTX ISA 9.7.15.7). Makes that visible to whoever reads operands:
///
/// - every wgmma_wait gets as sources the registers that it completes on some path to it;
/// - a wgmma_settle stands before each operation that touches such a register too early, before calls, and before the
///   lanes leave, with the registers on the way as sources.
///
/// Touching a register too early is undefined in PTX. ptxas makes copies vanish and waits before other uses (its
/// advisories C7510 to C7519), so compilers rely on the first, and a kernel that does the second still computes.
void complete_async_registers(Function& function);

/// The registers that each wgmma_wait completes and does not name as its sources: faults of ours.
std::vector<std::string> missing_async_uses(const Function& function);

}  // namespace tilepath::program
