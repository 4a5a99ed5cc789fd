#include "exec/alu/approximated.h"

#include "number/approximation.h"

namespace tilepath::exec::alu {
namespace {

using program::MicroOp;
using program::Op;

template <std::uint32_t (*function)(std::uint32_t, bool)>
void one(const Decoded& decoded, Row* rows, LaneMask*, LaneMask active) {
    const MicroOp& op = *decoded.op;
    const Row& a = rows[decoded.places[op.destinations]];
    Row& d = rows[decoded.places[0]];
    for (LaneMask left = active; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        d.lane[lane] = function(a.lane[lane], op.flags.ftz);
    }
}

template <std::uint32_t (*function)(std::uint32_t, std::uint32_t, bool)>
void two(const Decoded& decoded, Row* rows, LaneMask*, LaneMask active) {
    const MicroOp& op = *decoded.op;
    const Row &a = rows[decoded.places[op.destinations]], &b = rows[decoded.places[op.destinations + 1]];
    Row& d = rows[decoded.places[0]];
    for (LaneMask left = active; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        d.lane[lane] = function(a.lane[lane], b.lane[lane], op.flags.ftz);
    }
}

}  // namespace

LaneFunction choose_approximated(const MicroOp& op) {
    if (op.type != program::DataType::f32) return nullptr;
    if (op.op == Op::div && op.flags.full) return two<number::full_range_quotient>;
    if (!op.flags.approx) return nullptr;
    switch (op.op) {
        case Op::div: return two<number::approximate_quotient>;
        case Op::rcp: return one<number::approximate_reciprocal>;
        case Op::rsqrt: return one<number::approximate_reciprocal_root>;
        case Op::sqrt: return one<number::approximate_root>;
        case Op::ex2: return one<number::approximate_exponential>;
        case Op::lg2: return one<number::approximate_logarithm>;
        case Op::sin: return one<number::approximate_sine>;
        case Op::cos: return one<number::approximate_cosine>;
        default: return nullptr;
    }
}

}  // namespace tilepath::exec::alu
