#include "exec/alu/rounded_model.h"

#include "base/assert.h"
#include "number/arithmetic.h"

namespace tilepath::exec::alu {

std::uint64_t rounded_model(const program::MicroOp& op, bool f64, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    using program::Op;
    const number::Format format = f64 ? number::Format::f64 : number::Format::f32;
    const number::Arithmetic how{.rounding = op.rounding, .ftz = op.flags.ftz};
    switch (op.op) {
        case Op::add: return number::add(format, a, b, how);
        case Op::sub: return number::sub(format, a, b, how);
        case Op::mul: return number::mul(format, a, b, how);
        case Op::div: return number::div(format, a, b, how);
        case Op::fma: return number::fma(format, a, b, c, how);
        case Op::sqrt: return number::sqrt(format, a, how);
        case Op::rcp: return number::div(format, number::from_double(1.0, format), a, how);
        default: break;
    }
    TILEPATH_ASSERT(false, "an operation without rounding modes");
}

}  // namespace tilepath::exec::alu
