#pragma once
#include "exec/decoded.h"

namespace tilepath::exec::alu {

/// One element of add, sub, mul, div, fma, rcp or sqrt by number/, before .sat: what to do about NaN and where .ftz may
/// flush a result that its rounding mode makes normal. Operands and result are bits of f64, else of f32.
std::uint64_t rounded_model(const program::MicroOp& op, bool f64, std::uint64_t a, std::uint64_t b, std::uint64_t c);

}  // namespace tilepath::exec::alu
