// Any words, descriptors and addresses of a tcgen05.mma: it is refused in words, or touches cells that there are and
// multiplies.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/assert.h"
#include "exec/tcgen05_multiply.h"
#include "program/function.h"

using namespace tilepath;
using exec::Tcgen05Operands;

namespace {

struct Bytes {
    std::uint64_t a, b, zero_columns;
    std::uint32_t instruction, d, metadata, scale_a, scale_b, disabled;
    std::uint8_t kind, words, block, scale_input_d;
};

constexpr std::uint32_t shared_bytes = 1 << 18;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static exec::Tcgen05Multiplier multiplier;
    static std::array<machine::TensorMemory, 2> tensor;
    static const std::vector<std::uint8_t> shared(2 * shared_bytes, 0x3C);
    if (size < sizeof(Bytes)) return 0;
    Bytes in;
    std::memcpy(&in, data, sizeof in);
    program::Tcgen05Mma what;
    what.kind = static_cast<atom::Tcgen05Kind>(in.kind % 7);
    const bool scaled = what.kind >= atom::Tcgen05Kind::mxf8f6f4;
    what.cta_group = in.words & 1 ? 2 : 1;
    what.sparse = in.words & 2;
    what.weight_stationary = !scaled && what.cta_group == 1 && (in.words & 4);
    what.a_in_tensor_memory = in.words & 8;
    what.ashift = !what.weight_stationary && what.a_in_tensor_memory && (in.words & 16);
    const bool four = what.kind == atom::Tcgen05Kind::mxf4nvf4;
    what.block = !scaled ? 0 : four && (in.block & 1) ? 16 : 32;
    Tcgen05Operands operands;
    operands.a = in.a, operands.b = in.b, operands.instruction = in.instruction, operands.d = in.d;
    operands.metadata = in.metadata, operands.scale_a = in.scale_a, operands.scale_b = in.scale_b;
    operands.zero_columns = what.weight_stationary ? in.zero_columns : 0;
    operands.accumulates = in.words & 32;
    operands.scale_input_d = in.scale_input_d & 15;
    if (in.words & 64) operands.disabled_lanes.fill(in.disabled);
    const exec::Tcgen05Plan& plan = multiplier.plan(what, operands);
    if (!plan.error.empty()) return 0;
    // What the instruction checks before it multiplies.
    for (const machine::TensorCells& cells : plan.cells) {
        using Role = machine::TensorCells::Role;
        const std::uint64_t address = cells.role == Role::d          ? operands.d
                                      : cells.role == Role::a        ? operands.a
                                      : cells.role == Role::metadata ? operands.metadata
                                      : cells.role == Role::scale_a  ? operands.scale_a
                                                                     : operands.scale_b;
        TILEPATH_ASSERT(cells.cta < static_cast<std::uint32_t>(what.cta_group), "cells of the CTAs that there are");
        if ((address & 0xFFFF) + cells.column + cells.columns > machine::TensorMemory::columns) return 0;
    }
    const auto start = [](std::uint64_t descriptor) { return static_cast<std::int64_t>(descriptor & 0x3FFF) << 4; };
    for (std::size_t i = 0; i < 2; ++i) {
        if (i == 0 && what.a_in_tensor_memory) continue;
        const std::int64_t begin = start(i == 0 ? in.a : in.b);
        if (begin + plan.first_byte[i] < 0 || begin + plan.last_byte[i] > shared_bytes) return 0;
    }
    exec::Tcgen05Ctas ctas;
    ctas.count = what.cta_group;
    for (std::size_t i = 0; i < 2; ++i) ctas.tensor[i] = &tensor[i], ctas.shared[i] = shared.data();
    multiplier.multiply(plan, std::span(&operands, 1), ctas);
    return 0;
}
