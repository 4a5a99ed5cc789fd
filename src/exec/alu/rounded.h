#pragma once
#include "exec/decoded.h"

namespace tilepath::exec::alu {

/// add, sub, mul, fma, div, rcp and sqrt of f32 and f64 rounded toward zero, minus or plus infinity (.rz, .rm, .rp).
LaneFunction choose_rounded(const program::MicroOp& op);

}  // namespace tilepath::exec::alu
