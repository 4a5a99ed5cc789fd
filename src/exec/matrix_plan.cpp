#include "exec/matrix_plan.h"

#include "atom/ampere.h"
#include "atom/wgmma.h"
#include "atom/wmma.h"
#include "base/assert.h"

namespace tilepath::exec {
namespace {

using number::Format;
using program::Mma;
using program::Op;

Format number_format(program::DataType type) {
    const auto format = number::format_named(program::traits(type).name);
    TILEPATH_ASSERT(format, "a matrix operation on a type that is no number format");
    return *format;
}

/// Of the sum: with one of C and D in f32 it is f32, and D is rounded from it (recorded on an H200 for wmma).
Format sum_format(const Mma& mma) {
    const Format c = number_format(mma.c), d = number_format(mma.d);
    return c == Format::f32 ? c : d;
}

Result<std::shared_ptr<const number::TileEngine>> engine_for(const Mma& mma, const machine::Device& device) {
    number::DotRequest request;
    request.device = device.generation;
    request.instruction = mma.warpgroup ? number::Instruction::wgmma
                          : mma.wmma    ? number::Instruction::wmma
                                        : number::Instruction::mma_sync;
    request.a = number_format(mma.a);
    request.b = number_format(mma.b);
    request.d = sum_format(mma);
    request.saturate = mma.saturate;
    request.f64_rounding = mma.rounding;
    request.exclusive_or = mma.bit_op == Mma::BitOp::xor_popc;
    request.m8n8k4 = !mma.wmma && mma.m == 8 && mma.n == 8 && mma.k == 4 && request.a == Format::f16;
    auto recipe = number::recipe(request);
    if (!recipe) return std::unexpected(recipe.error());
    return std::make_shared<const number::TileEngine>(*recipe);
}

void set_fragments(MatrixPlan& plan, const Mma& mma, const atom::Fragment& a, const atom::Fragment& b,
                   const atom::Fragment& c, const atom::Fragment& d) {
    plan.m = mma.m, plan.n = mma.n, plan.k = mma.k;
    plan.blocks = d.blocks;
    plan.c_format = number_format(mma.c), plan.sum_format = sum_format(mma), plan.d_format = number_format(mma.d);
    const int bits = number::operand_bits(number_format(mma.a));
    plan.row_bytes = a.columns * bits / 8;
    plan.a = map_tile(a, bits, TileOrder::by_rows);
    plan.b = map_tile(b, number::operand_bits(number_format(mma.b)), TileOrder::by_columns);
    plan.c = map_tile(c, accumulator_bits(plan.c_format), TileOrder::by_columns);
    plan.d = map_tile(d, accumulator_bits(plan.d_format), TileOrder::by_columns);
}

Result<std::shared_ptr<const MatrixPlan>> plan_mma(const Mma& mma, const machine::Device& device) {
    auto plan = std::make_shared<MatrixPlan>();
    auto engine = engine_for(mma, device);
    if (!engine) return std::unexpected(engine.error());
    plan->engine = *engine;
    const atom::Shape shape{mma.m, mma.n, mma.k};
    const atom::MmaTypes types{number_format(mma.d), number_format(mma.a), number_format(mma.b), number_format(mma.c)};
    if (mma.sparse) {
        auto found = atom::mma_sp(shape, types);
        if (!found) return std::unexpected(found.error());
        set_fragments(*plan, mma, found->a, found->b, found->c, found->d);
        plan->metadata = atom::places(found->metadata(mma.selector));
        plan->sparse = std::move(*found);
        return plan;
    }
    if (mma.wmma) {
        auto wmma = atom::wmma(shape, types);
        if (!wmma) return std::unexpected(wmma.error());
        set_fragments(*plan, mma, wmma->a, wmma->b, wmma->c, wmma->d);
        return plan;
    }
    auto found = atom::mma_sync(shape, types, mma.a_column_major ? atom::Major::column : atom::Major::row,
                                mma.b_row_major ? atom::Major::row : atom::Major::column);
    if (!found) return std::unexpected(found.error());
    set_fragments(*plan, mma, found->a, found->b, found->c, found->d);
    return plan;
}

/// Each warp of the warpgroup holds the rows that its number names, as warp 0 holds its own.
void check_rows(const atom::Fragment& fragment) {
    const atom::HeldElements held = atom::held(fragment);
    const auto part = static_cast<std::ptrdiff_t>(held.elements.size()) / warpgroup_warps;
    for (std::ptrdiff_t i = 0; i < part * warpgroup_warps; ++i) {
        const auto element = held.elements[static_cast<std::size_t>(i)];
        const auto first = held.elements[static_cast<std::size_t>(i % part)];
        const auto rows = static_cast<std::int32_t>(i / part) * fragment.elements() / warpgroup_warps;
        TILEPATH_ASSERT(element == (first < 0 ? first : first + rows),
                        "a warpgroup's fragment that is not one by rows");
    }
}

Result<std::shared_ptr<const MatrixPlan>> plan_wgmma(const Mma& mma, const machine::Device& device) {
    auto plan = std::make_shared<MatrixPlan>();
    auto engine = engine_for(mma, device);
    if (!engine) return std::unexpected(engine.error());
    const number::DotRecipe& recipe = (*engine)->recipe();
    plan->engine = *engine;
    plan->wgmma = mma;
    auto atom = atom::wgmma({mma.m, mma.n, mma.k},
                            {number_format(mma.d), number_format(mma.a), number_format(mma.b), number_format(mma.c)},
                            mma.sparse);
    if (!atom) return std::unexpected(atom.error());
    plan->m = mma.m / warpgroup_warps, plan->n = mma.n, plan->k = mma.k;
    plan->c_format = plan->sum_format = plan->d_format = recipe.d;
    const int bits = number::operand_bits(recipe.a);
    plan->row_bytes = atom->a.columns * bits / 8;
    plan->shared_a = {mma.m, plan->row_bytes, bits, mma.a_column_major};
    plan->shared_b = {mma.n, mma.k * bits / 8, bits, mma.b_row_major};
    check_rows(atom->a);
    check_rows(atom->d);
    plan->a = map_tile(atom->a, bits, TileOrder::by_rows);
    plan->d = map_tile(atom->d, accumulator_bits(recipe.d), TileOrder::by_columns);
    plan->chains = !mma.sparse && !mma.saturate && recipe.kind != number::DotRecipe::Kind::fp8_through_f16;
    if (!mma.sparse) return plan;
    plan->metadata = atom::places(atom->metadata(mma.selector));
    plan->sparse.emplace();
    plan->sparse->sparsity = atom->sparsity;
    plan->sparse->chunk = atom->chunk;
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

/// ldmatrix and stmatrix of b16: halves of registers and the stored rows that they lie in.
std::shared_ptr<const MatrixPlan> plan_transfer(const atom::MatrixTransfer& transfer) {
    auto plan = std::make_shared<MatrixPlan>();
    const atom::HeldElements held = atom::held(transfer.fragment);
    TILEPATH_ASSERT(held.slots == 2 && transfer.stored_bits == 16, "ldmatrix of anything but 16-bit elements");
    const int rows = transfer.stored_rows, columns = transfer.stored_columns;
    for (int reg = 0; reg < held.registers; ++reg) {
        for (int lane = 0; lane < warp_lanes; ++lane) {
            for (int half = 0; half < 2; ++half) {
                const int element = held.at(lane, reg, half);
                TILEPATH_ASSERT(element >= 0 && element < transfer.matrices * rows * columns,
                                "a register of ldmatrix without an element");
                const auto where = transfer.addresses.base(element / columns);
                const auto address_lane = static_cast<std::uint8_t>(where[layout::Axis::laneid]);
                plan->pieces.push_back({address_lane, static_cast<std::uint8_t>(element % columns * 2)});
                plan->address_lanes |= 1u << address_lane;
            }
        }
    }
    return plan;
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

}  // namespace

int accumulator_bits(Format format) { return format == Format::f64 ? 64 : format == Format::f16 ? 16 : 32; }

Result<std::shared_ptr<const MatrixPlan>> plan_matrix(const program::Function& function, const program::MicroOp& op,
                                                      const machine::Device& device) {
    if (op.op == Op::mma) return plan_mma(function.mmas[op.detail], device);
    if (op.op == Op::wgmma) return plan_wgmma(function.mmas[op.detail], device);
    if (op.op == Op::movmatrix) return plan_transpose();
    if (op.op == Op::wmma_load) return plan_wmma_transfer(function.mmas[op.detail], op.variant);
    if (op.op == Op::wmma_store) return plan_wmma_transfer(function.mmas[op.detail], 2);
    if (op.op != Op::ldmatrix && op.op != Op::stmatrix) return nullptr;
    const bool transposed = op.variant & 1;
    auto transfer = op.op == Op::ldmatrix ? atom::ldmatrix(atom::MatrixShape::m8n8, op.vector, transposed)
                                          : atom::stmatrix(atom::MatrixShape::m8n8, op.vector, transposed);
    if (!transfer) return std::unexpected(transfer.error());
    return plan_transfer(*transfer);
}

}  // namespace tilepath::exec
