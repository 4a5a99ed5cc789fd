#include "exec/alu/vector/choosers.h"
namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
#define X(n) \
    LaneFunction choose_##n(const program::MicroOp&) { return nullptr; }
X(rcp) X(sqrt) X(rsqrt) X(sin) X(cos) X(lg2) X(ex2) X(tanh)
}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
