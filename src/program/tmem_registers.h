#pragma once
#include "program/function.h"

namespace tilepath::program {

/// tcgen05.ld writes its registers, and tcgen05.st reads its, at some moment up to the tcgen05.wait of the warp (PTX
/// ISA 9.7.16.8). Makes that visible to whoever reads operands, as complete_async_registers does for wgmma:
///
/// - a tcgen05_wait gets as sources the registers that it completes on some path to it;
/// - a tcgen05_settle with the registers concerned stands before each operation that reads or writes a register being
///   loaded, or writes one being stored, before calls and returns, and before the lanes leave.
///
/// Registers touched before the wait hold what was loaded: the hardware's scoreboard sees to it.
void complete_tmem_registers(Function& function);

}  // namespace tilepath::program
