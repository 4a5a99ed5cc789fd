#pragma once
#include "exec/alu/vector/lanes.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

// One function per operation: the body for its type, variant and flags; null where no instruction of PTX has that form.
#define TILEPATH_CHOOSER(name) LaneFunction choose_##name(const program::MicroOp& op);
// moves.cpp
TILEPATH_CHOOSER(mov)
TILEPATH_CHOOSER(select)
TILEPATH_CHOOSER(slct)
TILEPATH_CHOOSER(pack)
TILEPATH_CHOOSER(unpack)
TILEPATH_CHOOSER(prmt)
// logic.cpp
TILEPATH_CHOOSER(and_)
TILEPATH_CHOOSER(or_)
TILEPATH_CHOOSER(xor_)
TILEPATH_CHOOSER(not_)
TILEPATH_CHOOSER(cnot)
TILEPATH_CHOOSER(lop3)
TILEPATH_CHOOSER(shl)
TILEPATH_CHOOSER(shr)
TILEPATH_CHOOSER(shf)
// bits.cpp
TILEPATH_CHOOSER(popc)
TILEPATH_CHOOSER(clz)
TILEPATH_CHOOSER(bfind)
TILEPATH_CHOOSER(brev)
TILEPATH_CHOOSER(bfe)
TILEPATH_CHOOSER(bfi)
TILEPATH_CHOOSER(fns)
TILEPATH_CHOOSER(szext)
TILEPATH_CHOOSER(bmsk)
// integers.cpp: what only integers have, and the integer half of what floats have too
TILEPATH_CHOOSER(mad)
TILEPATH_CHOOSER(mul24)
TILEPATH_CHOOSER(mad24)
TILEPATH_CHOOSER(rem)
TILEPATH_CHOOSER(sad)
TILEPATH_CHOOSER(add_carry)
TILEPATH_CHOOSER(sub_carry)
TILEPATH_CHOOSER(mad_carry)
TILEPATH_CHOOSER(dp4a)
TILEPATH_CHOOSER(dp2a)
TILEPATH_CHOOSER(vabsdiff4)
TILEPATH_CHOOSER(integer_add)
TILEPATH_CHOOSER(integer_sub)
TILEPATH_CHOOSER(integer_mul)
TILEPATH_CHOOSER(integer_div)
TILEPATH_CHOOSER(integer_abs)
TILEPATH_CHOOSER(integer_neg)
TILEPATH_CHOOSER(integer_min)
TILEPATH_CHOOSER(integer_max)
// floats.cpp, halves.cpp: f32 and f64; f16 and bf16, alone and in pairs
TILEPATH_CHOOSER(float_add)
TILEPATH_CHOOSER(float_sub)
TILEPATH_CHOOSER(float_mul)
TILEPATH_CHOOSER(float_fma)
TILEPATH_CHOOSER(float_div)
TILEPATH_CHOOSER(float_abs)
TILEPATH_CHOOSER(float_neg)
TILEPATH_CHOOSER(float_min)
TILEPATH_CHOOSER(float_max)
TILEPATH_CHOOSER(half_add)
TILEPATH_CHOOSER(half_sub)
TILEPATH_CHOOSER(half_mul)
TILEPATH_CHOOSER(half_fma)
TILEPATH_CHOOSER(half_abs)
TILEPATH_CHOOSER(half_neg)
TILEPATH_CHOOSER(half_min)
TILEPATH_CHOOSER(half_max)
TILEPATH_CHOOSER(copysign)
TILEPATH_CHOOSER(testp)
// rounded.cpp: f32 and f64 in the other rounding modes
TILEPATH_CHOOSER(rounded)
// functions.cpp
TILEPATH_CHOOSER(rcp)
TILEPATH_CHOOSER(sqrt)
TILEPATH_CHOOSER(rsqrt)
TILEPATH_CHOOSER(sin)
TILEPATH_CHOOSER(cos)
TILEPATH_CHOOSER(lg2)
TILEPATH_CHOOSER(ex2)
TILEPATH_CHOOSER(tanh)
// compares.cpp
TILEPATH_CHOOSER(setp)
TILEPATH_CHOOSER(set)
// conversions.cpp
TILEPATH_CHOOSER(cvt)
TILEPATH_CHOOSER(cvt_pack)
#undef TILEPATH_CHOOSER

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
