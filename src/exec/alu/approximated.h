#pragma once
#include "exec/decoded.h"

namespace tilepath::exec::alu {

/// f32's .approx and .full instructions lane by lane through number/approximation.h. Null for all else.
LaneFunction choose_approximated(const program::MicroOp& op);

}  // namespace tilepath::exec::alu
