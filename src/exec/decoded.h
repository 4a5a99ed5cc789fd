// exec/: runs a Program on a machine: the scheduler, the interpreter, the bodies of the micro-operations.
#pragma once
#include <cstdint>

#include "program/function.h"

namespace tilepath::exec {

inline constexpr int warp_lanes = 32;
using LaneMask = std::uint32_t;
inline constexpr LaneMask all_lanes = 0xFFFFFFFFu;

/// One 32-bit register of all lanes. 8- and 16-bit values lie zero-extended in their lane; a 64-bit register takes two
/// rows read as std::uint64_t[32] (not low and high halves), a 128-bit register four.
struct alignas(64) Row {
    std::uint32_t lane[warp_lanes];
};

/// Predicates are masks. The first two of every frame never change.
inline constexpr std::uint32_t predicate_false = 0, predicate_true = 1, reserved_predicates = 2;

struct Decoded;

/// The body of an operation of lane scope without memory: reads and writes rows and predicate masks of the `active`
/// lanes.
using LaneFunction = void (*)(const Decoded& op, Row* rows, LaneMask* predicates, LaneMask active);

/// A micro-operation with its operands resolved to places in the frame. Constants are rows like registers, so that no
/// body knows immediates. A sink (`_`) is a scratch row or predicate.
struct Decoded {
    LaneFunction lanes = nullptr;  ///< null: the interpreter's own switch runs it
    const program::MicroOp* op = nullptr;
    std::uint32_t guard = predicate_true;      ///< predicate index
    LaneMask guard_invert = 0;                 ///< all_lanes for @!p
    std::uint32_t d = 0, a = 0, b = 0, c = 0;  ///< first destination, first three sources: row or predicate index
    const std::uint32_t* places = nullptr;     ///< all operands, destinations first (row or predicate index)
    const LaneMask* inverts = nullptr;         ///< for predicate sources: all_lanes where the operand is `!p`; else 0
};

/// The body for an operation, chosen once at load: by type, rounding and flags, for this processor's vector unit.
/// Null if `op` is not of that kind (ops.inc: scope other than lane, or a memory effect).
LaneFunction lane_function(const program::MicroOp& op);

}  // namespace tilepath::exec
