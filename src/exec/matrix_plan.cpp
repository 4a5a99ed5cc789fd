#include "exec/matrix_plan.h"

#include <fmt/format.h>

#include "atom/ampere.h"
#include "atom/block_scale.h"
#include "atom/wgmma.h"
#include "atom/wmma.h"
#include "base/assert.h"

namespace tilepath::exec {
namespace {

using number::Format;
using program::Mma;
using program::Op;

/// Of the sum: with one of C and D in f32 it is f32, and D is rounded from it (recorded on an H200 for wmma).
Format sum_format(const Mma& mma) {
    const Format c = number_format(mma.c), d = number_format(mma.d);
    return c == Format::f32 ? c : d;
}

number::Scaling scaling_of(const Mma& mma) {
    if (mma.scale_factors == 0) return number::Scaling::none;
    return mma.kind == atom::MmaKind::mxf8f6f4 ? number::Scaling::per_dot : number::Scaling::per_group;
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
    request.scaling = scaling_of(mma);
    if (request.scaling != number::Scaling::none) {
        request.scale = number_format(mma.scale);
        // Of the elements that A stores: half of them where it is sparse.
        request.scale_block = mma.k / (mma.sparse ? 2 : 1) / mma.scale_factors;
    }
    auto recipe = number::recipe(request);
    if (!recipe) return std::unexpected(recipe.error());
    return std::make_shared<const number::TileEngine>(*recipe);
}

/// With a kind, floats of less than 8 bits have a field of their own in the register. The engine takes pairs of them as
/// they are; one by one they are chosen where A is sparse.
Unpack unpack_of(Format format, int pitch, bool sparse) {
    const int bits = number::traits(format).bits;
    if (!number::traits(format).floating || bits >= 8) return Unpack::nothing;
    if (pitch == 4) return sparse ? Unpack::nibbles : Unpack::nothing;
    return bits == 4 ? Unpack::middle_four_bits : Unpack::low_six_bits;
}

void set_fragments(MatrixPlan& plan, const Mma& mma, const atom::Fragment& a, const atom::Fragment& b,
                   const atom::Fragment& c, const atom::Fragment& d) {
    plan.m = mma.m, plan.n = mma.n, plan.k = mma.k;
    plan.blocks = d.blocks;
    plan.c_format = number_format(mma.c), plan.sum_format = sum_format(mma), plan.d_format = number_format(mma.d);
    const Format a_format = number_format(mma.a), b_format = number_format(mma.b);
    const int a_pitch = atom::held(a).slot_bits, b_pitch = atom::held(b).slot_bits;
    plan.a = map_tile(a, a_pitch, TileOrder::by_rows);
    plan.b = map_tile(b, b_pitch, TileOrder::by_columns);
    plan.unpack_a = unpack_of(a_format, a_pitch, mma.sparse), plan.unpack_b = unpack_of(b_format, b_pitch, mma.sparse);
    plan.row_bytes = a.columns * (plan.unpack_a == Unpack::nibbles ? 8 : a_pitch) / 8;
    plan.c = map_tile(c, accumulator_bits(plan.c_format), TileOrder::by_columns);
    plan.d = map_tile(d, accumulator_bits(plan.d_format), TileOrder::by_columns);
}

/// For every selector that the manual defines.
void set_scales(MatrixPlan& plan, const Mma& mma) {
    const auto vector = atom::scale_vector_named(fmt::format("{}X", mma.scale_factors));
    TILEPATH_ASSERT(vector, "a number of scale factors without a name");
    for (int byte = 0; byte < ScalePlaces::byte_ids; ++byte) {
        for (int thread = 0; thread < ScalePlaces::thread_ids; ++thread) {
            const auto at = static_cast<std::size_t>(byte * ScalePlaces::thread_ids + thread);
            const auto scale = number_format(mma.scale);
            if (const auto a = atom::mma_scales(mma.kind, *vector, scale, {byte, thread}, {}))
                plan.scales_a.of[at] = atom::places(a->a);
            if (const auto b = atom::mma_scales(mma.kind, *vector, scale, {}, {byte, thread})) {
                // B's come by (factor, column).
                const auto places = atom::places(b->b);
                for (int n = 0; n < mma.n; ++n)
                    for (int f = 0; f < mma.scale_factors; ++f)
                        plan.scales_b.of[at].push_back(places[static_cast<std::size_t>(f * mma.n + n)]);
            }
        }
    }
}

Result<std::shared_ptr<const MatrixPlan>> plan_mma(const Mma& mma, const machine::Device& device) {
    auto plan = std::make_shared<MatrixPlan>();
    auto engine = engine_for(mma, device);
    if (!engine) return std::unexpected(engine.error());
    plan->engine = *engine;
    plan->scale_factors = mma.scale_factors;
    if (mma.scale_factors > 0) set_scales(*plan, mma);
    const atom::Shape shape{mma.m, mma.n, mma.k};
    const atom::MmaTypes types{number_format(mma.d), number_format(mma.a), number_format(mma.b), number_format(mma.c)};
    if (mma.sparse) {
        auto found = atom::mma_sp(shape, types, mma.kind);
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
                                mma.b_row_major ? atom::Major::row : atom::Major::column, mma.kind);
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

}  // namespace

Format number_format(program::DataType type) {
    const auto format = number::format_named(program::traits(type).name);
    TILEPATH_ASSERT(format, "a matrix operation on a type that is no number format");
    return *format;
}

int accumulator_bits(Format format) { return format == Format::f64 ? 64 : format == Format::f16 ? 16 : 32; }

Result<std::shared_ptr<const MatrixPlan>> plan_matrix(const program::Function& function, const program::MicroOp& op,
                                                      const machine::Device& device) {
    if (op.op == Op::mma) return plan_mma(function.mmas[op.detail], device);
    if (op.op == Op::wgmma) return plan_wgmma(function.mmas[op.detail], device);
    if (op.op == Op::movmatrix) return plan_transpose();
    if (op.op == Op::wmma_load) return plan_wmma_transfer(function.mmas[op.detail], op.variant);
    if (op.op == Op::wmma_store) return plan_wmma_transfer(function.mmas[op.detail], 2);
    if (op.op != Op::ldmatrix && op.op != Op::stmatrix) return nullptr;
    return plan_transfer(op);
}

}  // namespace tilepath::exec
