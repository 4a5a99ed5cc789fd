// What a tcgen05.mma's descriptors say, checked.
#include "exec/tcgen05_plan.h"

#include <fmt/format.h>

#include "atom/zero_column_mask.h"
#include "base/assert.h"
#include "number/recipe.h"

namespace tilepath::exec {
namespace {

using atom::ScaleVector;
using atom::Tcgen05Kind;

std::string text(const Diagnostics& all) {
    std::string out;
    for (const Diagnostic& each : all) {
        out += fmt::format("{}{}", out.empty() ? "" : "; ", each.message);
        for (const std::string& note : each.notes)
            if (!note.empty()) out += fmt::format(" ({})", note);
    }
    return out;
}

Result<void> check_words(const program::Tcgen05Mma& what, const atom::InstructionDescriptor& d) {
    if (d.sparse != what.sparse)
        return fail(fmt::format("the instruction descriptor has the sparse bit (2) {}, but the instruction is {}",
                                d.sparse ? "set" : "clear", what.sparse ? "tcgen05.mma.sp" : "a dense tcgen05.mma"));
    if (d.max_shift != 0 && !what.weight_stationary)
        return fail("bits 30-31 of the instruction descriptor, the largest column shift, are for .ws");
    if (what.a_in_tensor_memory && d.transpose_a)
        return fail("A lies in Tensor Memory and cannot be MN-major: bit 15 of the instruction descriptor is set");
    if (what.ashift && d.m / what.cta_group != 128)
        return fail(fmt::format(".ashift wants m of 128, or 256 for a pair, found {}", d.m));
    return {};
}

/// What only sm_103 has.
Result<void> check_device(const Tcgen05FullPlan& plan, const Tcgen05Operands& operands) {
    if (plan.descriptor.k96)
        return fail("bit 31 of the instruction descriptor asks for k of 96, which only sm_103 has",
                    "k is 64 on this device");
    for (const std::uint64_t descriptor : {plan.what.a_in_tensor_memory ? 0 : operands.a, operands.b})
        if (atom::decode_tcgen05_descriptor(descriptor).leading_is_address)
            return fail(
                "bit 52 of a matrix descriptor says that the leading offset is an address, which only sm_103 "
                "knows");
    return {};
}

/// The mask says which columns of B count as zero, and at which column B begins.
Result<int> read_mask(const Tcgen05Operands& operands, Tcgen05FullPlan& plan) {
    if (operands.zero_columns == 0) return 0;
    const atom::ZeroColumnMask mask = atom::decode_zero_column_mask(operands.zero_columns);
    if (mask.reserved != 0)
        return fail(fmt::format("the zero-column mask has reserved bits set: {:#x}", mask.reserved));
    auto zeroed = atom::zeroed_columns(mask, plan.atom.shape.m, plan.atom.shape.n);
    if (!zeroed) return std::unexpected(zeroed.error());
    if (mask.column_shift > plan.descriptor.max_shift)
        return fail(fmt::format("the zero-column mask shifts B by {} columns; the instruction descriptor allows {}",
                                mask.column_shift, plan.descriptor.max_shift),
                    "bits 30-31 of the instruction descriptor: 0, 8, 16 or 32 columns");
    if (mask.generates) plan.zeroed = *std::move(zeroed);
    return mask.column_shift;
}

Result<ScaleVector> scale_vector_of(const Tcgen05FullPlan& plan) {
    const bool k96 = plan.atom.shape.k == 96;
    switch (plan.what.block) {
        case 0: return plan.atom.default_scale_vector();
        case 16: return k96 ? ScaleVector::x6 : ScaleVector::x4;
        case 32:
            if (plan.what.kind == Tcgen05Kind::mxf8f6f4) return ScaleVector::x1;
            return k96 ? ScaleVector::x3 : ScaleVector::x2;
        default: return fail(fmt::format("a scale factor covers 16 or 32 elements, found {}", plan.what.block));
    }
}

number::Scaling scaling_of(Tcgen05Kind kind) {
    switch (kind) {
        case Tcgen05Kind::mxf8f6f4: return number::Scaling::per_dot;
        case Tcgen05Kind::mxf4:
        case Tcgen05Kind::mxf4nvf4: return number::Scaling::per_group;
        case Tcgen05Kind::f16:
        case Tcgen05Kind::tf32:
        case Tcgen05Kind::f8f6f4:
        case Tcgen05Kind::i8: return number::Scaling::none;
    }
    TILEPATH_ASSERT(false, "a kind that is none");
    return {};
}

Result<void> find_engine(Tcgen05FullPlan& plan) {
    number::DotRequest request;
    request.device = number::Generation::blackwell;
    request.instruction = number::Instruction::tcgen05_mma;
    request.a = plan.atom.types.a, request.b = plan.atom.types.b, request.d = plan.atom.types.d;
    request.saturate = plan.descriptor.saturate;
    request.scaling = scaling_of(plan.what.kind);
    if (request.scaling != number::Scaling::none) {
        const auto vector = scale_vector_of(plan);
        if (!vector) return std::unexpected(vector.error());
        plan.factors = atom::factors_of(*vector);
        request.scale_block = plan.atom.stored_k() / plan.factors;
        request.scale = plan.descriptor.ue8m0 ? number::Format::ue8m0 : number::Format::ue4m3;
        if (request.scale_block == 32 && !plan.descriptor.ue8m0)
            return fail("scale factors of 32 elements are ue8m0, found ue4m3",
                        "bit 23 of the instruction descriptor; ue4m3 goes with scale_vec::4X, block16");
    }
    const auto recipe = number::recipe(request);
    if (!recipe) return std::unexpected(recipe.error());
    plan.engine = std::make_shared<const number::TileEngine>(*recipe);
    if (plan.what.sparse) {
        number::DotRecipe spread = *recipe;
        spread.group_length *= 2, spread.scale_block *= 2;
        auto engine = std::make_shared<const number::TileEngine>(spread, true);
        if (engine->vectorised()) plan.spread = std::move(engine);
    }
    const int bits = number::operand_bits(*recipe, number::Side::a);
    plan.row_bytes = plan.atom.stored_k() * bits / 8;
    plan.b_row_bytes = plan.atom.shape.k * bits / 8;
    // Groups of products follow the instructions: k of 96 is two, and what saturates does so once in each.
    const bool whole_groups = recipe->group_length == 0 || plan.atom.shape.k % recipe->group_length == 0;
    plan.chains = !plan.what.sparse && !recipe->saturate && whole_groups && plan.scale_input_d == 0;
    return {};
}

Result<void> read_descriptors(const Tcgen05Operands& operands, Tcgen05FullPlan& plan) {
    plan.descriptor = atom::decode_instruction_descriptor(operands.instruction, plan.what.kind);
    if (auto ok = check_words(plan.what, plan.descriptor); !ok) return ok;
    auto atom = atom::described(plan.descriptor, plan.what.cta_group, plan.what.weight_stationary);
    if (!atom) return std::unexpected(atom.error());
    plan.atom = *std::move(atom);
    const auto shift = read_mask(operands, plan);
    if (!shift) return std::unexpected(shift.error());
    if (auto ok = find_engine(plan); !ok) return ok;
    const auto named = [](const char* name, std::uint64_t bits, const Diagnostics& errors) {
        return fail(fmt::format("{}'s matrix descriptor {:#x}: {}", name, bits, text(errors)));
    };
    if (!plan.what.a_in_tensor_memory) {
        auto a = tcgen05_shared(plan.atom, false, operands.a, plan.descriptor.transpose_a, 0);
        if (!a) return named("A", operands.a, a.error());
        plan.a = *std::move(a);
    }
    auto b = tcgen05_shared(plan.atom, true, operands.b, plan.descriptor.transpose_b, *shift);
    if (!b) return named("B", operands.b, b.error());
    plan.b = *std::move(b);
    return {};
}

/// Relative to the descriptor's start.
void find_bytes(const Tcgen05Operands& operands, Tcgen05FullPlan& plan) {
    for (const auto& [index, shared, descriptor] :
         {std::tuple{std::size_t{0}, &plan.a, operands.a}, {std::size_t{1}, &plan.b, operands.b}}) {
        if (shared->chunks.empty()) continue;
        const std::int64_t phase = static_cast<std::int64_t>(descriptor & 0x3F) * 16;
        plan.first_byte[index] = shared->least - phase;
        plan.last_byte[index] = shared->most + 16 - phase;
    }
}

/// Of the accumulator's shape: what two products in a row must have alike to be ordered (PTX ISA 9.7.16.6).
std::uint64_t shape_id(const Tcgen05FullPlan& plan) {
    const auto field = [](auto value, int at) { return static_cast<std::uint64_t>(value) << at; };
    return field(plan.what.kind, 0) | field(plan.atom.data_path, 8) | field(plan.atom.types.d, 16) |
           field(plan.atom.shape.m, 24) | field(plan.atom.shape.n, 36) | field(plan.what.cta_group, 48) | 1ull << 63;
}

}  // namespace

void make_tcgen05_plan(const program::Tcgen05Mma& what, const Tcgen05Operands& operands, bool ultra,
                       Tcgen05FullPlan& plan) {
    plan.what = what;
    plan.shifts_a = what.ashift;
    plan.scale_input_d = operands.scale_input_d;
    plan.disabled = operands.disabled_lanes;
    Result<void> made = read_descriptors(operands, plan);
    if (made && !ultra) made = check_device(plan, operands);
    if (made) made = place_tcgen05_operands(operands, plan);
    if (!made) {
        plan.error = fmt::format("{} (instruction descriptor {:#010x})", text(made.error()), operands.instruction);
        return;
    }
    find_bytes(operands, plan);
    plan.id = shape_id(plan);
    bool disables = false;
    for (const std::uint32_t word : plan.disabled) disables |= word != 0;
    plan.staged = disables || plan.scale_input_d != 0 || plan.atom.types.d == number::Format::f16;
}

}  // namespace tilepath::exec
