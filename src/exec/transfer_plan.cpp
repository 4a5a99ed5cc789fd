// Plans of what moves matrices: ldmatrix, stmatrix, movmatrix, wmma.load, wmma.store.
#include "atom/ampere.h"
#include "atom/wmma.h"
#include "base/assert.h"
#include "exec/matrix_plan.h"

namespace tilepath::exec {
namespace {

using program::Mma;
using program::Op;

/// Halves or bytes of registers and the stored rows that they lie in.
std::shared_ptr<const MatrixPlan> plan_of(const atom::MatrixTransfer& transfer) {
    auto plan = std::make_shared<MatrixPlan>();
    const atom::HeldElements held = atom::held(transfer.fragment);
    const int rows = transfer.stored_rows, columns = transfer.stored_columns, bits = transfer.stored_bits;
    TILEPATH_ASSERT(held.slots == (bits == 16 ? 2 : 4), "ldmatrix of elements that are no halves and no bytes");
    plan->registers = held.registers, plan->field_bits = bits;
    for (int reg = 0; reg < held.registers; ++reg) {
        for (int lane = 0; lane < warp_lanes; ++lane) {
            for (int slot = 0; slot < held.slots; ++slot) {
                const int element = held.at(lane, reg, slot);
                TILEPATH_ASSERT(element >= 0 && element < transfer.matrices * rows * columns,
                                "a register of ldmatrix without an element");
                const auto where = transfer.addresses.base(element / columns);
                const auto address_lane = static_cast<std::uint8_t>(where[layout::Axis::laneid]);
                const auto first_bit = static_cast<std::uint8_t>(element % columns * bits);
                if (bits == 16)
                    plan->pieces.push_back({address_lane, static_cast<std::uint8_t>(first_bit / 8)});
                else
                    plan->fields.push_back({address_lane, first_bit});
                plan->address_lanes |= 1u << address_lane;
            }
        }
    }
    return plan;
}

Result<atom::MatrixTransfer> transfer_of(const program::MicroOp& op) {
    using atom::MatrixData;
    using atom::MatrixShape;
    const bool loads = op.op == Op::ldmatrix, transposed = op.variant & 1;
    const auto move = [&](MatrixShape shape, MatrixData data) {
        return loads ? atom::ldmatrix(shape, op.vector, transposed, data)
                     : atom::stmatrix(shape, op.vector, transposed, data);
    };
    switch (static_cast<program::MatrixForm>(op.detail)) {
        using enum program::MatrixForm;
        case m8n8: return move(MatrixShape::m8n8, MatrixData::b16);
        case bytes: return move(loads ? MatrixShape::m16n16 : MatrixShape::m16n8, MatrixData::b8);
        case m16n16_six_bits: return move(MatrixShape::m16n16, MatrixData::b6x16_p32);
        case m16n16_four_bits: return move(MatrixShape::m16n16, MatrixData::b4x16_p64);
        case m8n16_six_bits: return move(MatrixShape::m8n16, MatrixData::b6x16_p32);
        case m8n16_four_bits: return move(MatrixShape::m8n16, MatrixData::b4x16_p64);
    }
    TILEPATH_ASSERT(false, "a MatrixForm outside its enum");
}

}  // namespace

Result<std::shared_ptr<const MatrixPlan>> plan_transfer(const program::MicroOp& op) {
    auto transfer = transfer_of(op);
    if (!transfer) return std::unexpected(transfer.error());
    return plan_of(*transfer);
}

std::shared_ptr<const MatrixPlan> plan_transpose() {
    auto plan = std::make_shared<MatrixPlan>();
    const atom::MatrixTranspose transpose = atom::movmatrix();
    const std::vector<atom::ElementPlace> from = atom::places(transpose.source),
                                          to = atom::places(transpose.destination);
    plan->moves.resize(2 * warp_lanes);
    for (std::size_t i = 0; i < from.size(); ++i)
        plan->moves[2u * to[i].lane + to[i].bit / 16u] = {from[i].lane, static_cast<std::uint8_t>(from[i].bit / 8)};
    return plan;
}

/// The matrix that a wmma.load or wmma.store moves: A, B, or C and D.
Result<std::shared_ptr<const MatrixPlan>> plan_wmma_transfer(const Mma& mma, int matrix) {
    auto wmma = atom::wmma({mma.m, mma.n, mma.k},
                           {number_format(mma.d), number_format(mma.a), number_format(mma.b), number_format(mma.c)});
    if (!wmma) return std::unexpected(wmma.error());
    auto plan = std::make_shared<MatrixPlan>();
    const atom::Fragment& fragment = matrix == 0 ? wmma->a : matrix == 1 ? wmma->b : wmma->c;
    const bool by_columns = matrix == 0 ? mma.a_column_major : matrix == 1 ? !mma.b_row_major : mma.c_column_major;
    plan->element_bits = matrix == 0   ? number::operand_bits(wmma->types.a)
                         : matrix == 1 ? number::operand_bits(wmma->types.b)
                                       : accumulator_bits(wmma->types.c);
    plan->line_bytes = (by_columns ? fragment.rows : fragment.columns) * plan->element_bits / 8;
    plan->transfer = map_tile(fragment, plan->element_bits, by_columns ? TileOrder::by_columns : TileOrder::by_rows);
    return plan;
}

}  // namespace tilepath::exec
