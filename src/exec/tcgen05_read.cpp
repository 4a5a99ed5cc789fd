// Operands of a tcgen05.mma into packed rows of k, as the engine takes them.
#include <algorithm>
#include <cstring>

#include "exec/tcgen05_plan.h"

namespace tilepath::exec {
namespace {

/// Flips the sign of each element: the masks of those that eight bytes hold.
std::uint64_t sign_bits(const number::DotRecipe& recipe, number::Side side) {
    const number::Format format = side == number::Side::a ? recipe.a : recipe.b;
    const int pitch = number::operand_bits(recipe, side);
    const int sign = format == number::Format::tf32 ? 31 : number::traits(format).bits - 1;
    std::uint64_t mask = 0;
    for (int at = 0; at < 64; at += pitch) mask |= 1ull << (at + sign);
    return mask;
}

void negate(std::uint8_t* rows, int count, std::size_t row_bytes, std::size_t stride, std::uint64_t mask) {
    for (int row = 0; row < count; ++row, rows += stride)
        for (std::size_t at = 0; at < row_bytes; at += sizeof mask) {
            std::uint64_t word;
            std::memcpy(&word, rows + at, sizeof word);
            word ^= mask;
            std::memcpy(rows + at, &word, sizeof word);
        }
}

/// Rows of A in Tensor Memory: k along the columns.
void read_lanes(const Tcgen05FullPlan& plan, const machine::TensorMemory& memory, std::uint32_t first_column,
                const Tcgen05Rows& rows, int first_lane, std::uint8_t* out, std::size_t stride) {
    const int columns = plan.row_bytes / 4;
    const bool widened =
        number::traits(plan.atom.types.a).bits == 4 && plan.engine->recipe().scaling != number::Scaling::per_group;
    for (int column = 0; column < columns; ++column) {
        const std::uint32_t* const cells = memory.column(first_column + static_cast<std::uint32_t>(column));
        for (int i = 0; i < rows.rows; ++i) {
            std::uint32_t cell = cells[first_lane + i];
            // An element of e2m1 stands in the middle of its byte, 00SEEM00 (PTX ISA 9.7.16.10.4).
            if (widened) cell = cell >> 2 & 0x0F0F0F0F;
            std::memcpy(out + static_cast<std::size_t>(i) * stride + column * 4, &cell, sizeof cell);
        }
    }
}

}  // namespace

void read_tcgen05_a(const Tcgen05Step& step, const Tcgen05Ctas& ctas, std::size_t cta, const Tcgen05Rows& rows,
                    int part, std::uint8_t* out, std::size_t stride) {
    const Tcgen05FullPlan& plan = *step.plan;
    const Tcgen05Operands& operands = *step.operands;
    if (plan.what.a_in_tensor_memory) {
        read_lanes(plan, *ctas.tensor[cta], tensor_address(operands.a).column, rows,
                   rows.lane + part * plan.part_lanes(), out, stride);
    } else {
        plan.a.copy(ctas.shared[cta], operands.a, rows.first, rows.rows, out, stride);
    }
    if (plan.descriptor.negate_a)
        negate(out, rows.rows, static_cast<std::size_t>(plan.row_bytes), stride,
               sign_bits(plan.engine->recipe(), number::Side::a));
}

void read_tcgen05_b(const Tcgen05Step& step, const Tcgen05Ctas& ctas, std::uint8_t* out, std::size_t stride) {
    const Tcgen05FullPlan& plan = *step.plan;
    const Tcgen05Operands& operands = *step.operands;
    const int columns = plan.atom.shape.n, own = columns / plan.what.cta_group;
    const auto row_bytes = static_cast<std::size_t>(plan.b_row_bytes);
    for (int cta = 0; cta < plan.what.cta_group; ++cta)
        plan.b.copy(ctas.shared[static_cast<std::size_t>(cta)], operands.b, 0, own,
                    out + static_cast<std::size_t>(cta * own) * stride, stride);
    if (plan.descriptor.negate_b)
        negate(out, columns, row_bytes, stride, sign_bits(plan.engine->recipe(), number::Side::b));
    for (std::size_t n = 0; n < plan.zeroed.size(); ++n)
        if (plan.zeroed[n]) std::memset(out + n * stride, 0, row_bytes);
}

}  // namespace tilepath::exec
