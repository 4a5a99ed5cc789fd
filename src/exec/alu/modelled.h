#pragma once
#include "exec/decoded.h"

namespace tilepath::exec::alu {

/// cvt lane by lane through number::convert: every form, at scalar speed. Null for types that are no numbers.
LaneFunction choose_modelled_cvt(const program::MicroOp& op);

}  // namespace tilepath::exec::alu
