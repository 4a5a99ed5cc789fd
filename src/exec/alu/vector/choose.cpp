// The table of all operations. It is made from ops.inc: an operation without a choose_… function here does not compile.
#include "exec/alu/alu.h"
#include "exec/alu/types.h"
#include "exec/alu/vector/choosers.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using program::DataType;
using program::MicroOp;
using Chooser = LaneFunction (*)(const MicroOp&);

/// An operation of integers and floats alike: which of three files has its body.
template <Chooser integer, Chooser half, Chooser floating>
LaneFunction by_kind(const MicroOp& op) {
    switch (kind_of(op.type)) {
        case NumberKind::integer: return integer(op);
        case NumberKind::half: return half(op);
        case NumberKind::floating: return floating(op);
    }
    return nullptr;
}

LaneFunction no_body(const MicroOp&) { return nullptr; }

constexpr Chooser choose_add = by_kind<choose_integer_add, choose_half_add, choose_float_add>;
constexpr Chooser choose_sub = by_kind<choose_integer_sub, choose_half_sub, choose_float_sub>;
constexpr Chooser choose_mul = by_kind<choose_integer_mul, choose_half_mul, choose_float_mul>;
constexpr Chooser choose_fma = by_kind<no_body, choose_half_fma, choose_float_fma>;
constexpr Chooser choose_div = by_kind<choose_integer_div, no_body, choose_float_div>;
constexpr Chooser choose_abs = by_kind<choose_integer_abs, choose_half_abs, choose_float_abs>;
constexpr Chooser choose_neg = by_kind<choose_integer_neg, choose_half_neg, choose_float_neg>;
constexpr Chooser choose_min = by_kind<choose_integer_min, choose_half_min, choose_float_min>;
constexpr Chooser choose_max = by_kind<choose_integer_max, choose_half_max, choose_float_max>;

// What needs more than rows and masks (addresses, time, the machine's state) is run by the interpreter itself.
constexpr Chooser interpreter = nullptr;
constexpr Chooser choose_special = interpreter, choose_cvta = interpreter, choose_cvta_to = interpreter,
                  choose_isspacep = interpreter, choose_alloca_ = interpreter, choose_stacksave = interpreter,
                  choose_stackrestore = interpreter, choose_prefetch = interpreter,
                  choose_cp_async_commit = interpreter, choose_cp_async_wait = interpreter,
                  choose_bulk_commit = interpreter, choose_bulk_wait = interpreter,
                  choose_cp_async_mbarrier_arrive = interpreter, choose_mbarrier_pending_count = interpreter,
                  choose_mapa = interpreter, choose_getctarank = interpreter, choose_nanosleep = interpreter,
                  choose_tcgen05_shift = interpreter, choose_tcgen05_mma = interpreter,
                  choose_query_cancel = interpreter;

#define TILEPATH_ROW_lane_none(name) choose_##name
#define TILEPATH_ROW_lane_load(name) nullptr
#define TILEPATH_ROW_lane_store(name) nullptr
#define TILEPATH_ROW_lane_atomic(name) nullptr
#define TILEPATH_ROW_lane_copy(name) nullptr
#define TILEPATH_ROW_lane_fence(name) nullptr
#define TILEPATH_ROW_warp_none(name) nullptr
#define TILEPATH_ROW_warp_load(name) nullptr
#define TILEPATH_ROW_warp_store(name) nullptr
#define TILEPATH_ROW_cta_none(name) nullptr
#define TILEPATH_ROW_control_none(name) nullptr

constexpr Chooser choosers[] = {
#define TILEPATH_OP(name, destinations, sources, scope, memory, flow) TILEPATH_ROW_##scope##_##memory(name),
#include "program/ops.inc"
#undef TILEPATH_OP
};

}  // namespace

LaneFunction choose(const MicroOp& op) {
    const Chooser chooser = choosers[int(op.op)];
    return chooser == nullptr ? nullptr : chooser(op);
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
