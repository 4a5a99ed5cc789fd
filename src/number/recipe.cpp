#include "number/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace tilepath::number {
namespace {

using Kind = DotRecipe::Kind;
using enum Format;
using enum Evidence;

constexpr unsigned bit(Generation g) { return 1u << unsigned(g); }
constexpr unsigned bit(Instruction i) { return 1u << unsigned(i); }

constexpr unsigned turing = bit(Generation::turing), ampere = bit(Generation::ampere), ada = bit(Generation::ada),
                   hopper = bit(Generation::hopper), blackwell = bit(Generation::blackwell),
                   rtx = bit(Generation::blackwell_rtx);
constexpr unsigned since_ampere = ampere | ada | hopper | blackwell | rtx, since_turing = turing | since_ampere;
constexpr unsigned mma = bit(Instruction::mma_sync), wgmma = bit(Instruction::wgmma),
                   tcgen05 = bit(Instruction::tcgen05_mma), wmma = bit(Instruction::wmma);

/// Sets of operand formats; within fp8, f8f6f4, int8 and int4 A and B may differ.
enum class Operands : std::uint8_t { f16, bf16, f16_bf16, tf32, fp8, f8f6f4, fp4, f64, int8, int4, b1, f16_volta };

struct Row {
    unsigned devices;
    unsigned instructions;
    Operands operands;
    Format d;
    Scaling scaling;
    Kind kind;
    int group_length;
    int fraction_bits;
    int zero_exponent;
    ResultRounding rounding;
    Evidence evidence;
};

constexpr auto rz = ResultRounding::rz_f32;
constexpr auto rz13 = ResultRounding::rz_e8m13;
constexpr auto rne = ResultRounding::rne_f16;
constexpr auto none = Scaling::none;

// devices, instructions, operands, D and C, scaling, kind, products per group (L), fraction bits kept (F), exponent of
// a zero term, rounding of the result, evidence. docs/numerics.md says where each figure comes from. Exact kinds have
// no L, F or zero exponent. fp8_through_f16 gives the parameters of its f16 groups.
constexpr std::array table{
    Row{turing, mma | wmma, Operands::f16, f32, none, Kind::fused, 8, 24, -132, rz, model},
    Row{turing, mma | wmma, Operands::f16, f16, none, Kind::fused, 8, 24, -21, rne, model},
    Row{ampere | ada, mma | wmma, Operands::tf32, f32, none, Kind::fused, 4, 24, -132, rz, hardware},
    Row{ampere | ada, mma | wmma, Operands::f16, f32, none, Kind::fused, 8, 24, -132, rz, hardware},
    Row{ampere | ada, mma | wmma, Operands::bf16, f32, none, Kind::fused, 8, 24, -132, rz, hardware},
    Row{ampere | ada, mma | wmma, Operands::f16, f16, none, Kind::fused, 8, 24, -21, rne, hardware},
    Row{ada, mma, Operands::fp8, f32, none, Kind::fused, 16, 13, -132, rz13, hardware},
    Row{ada, mma, Operands::fp8, f16, none, Kind::fused, 16, 13, -21, rne, hardware},

    Row{hopper, mma | wgmma, Operands::tf32, f32, none, Kind::fused, 8, 25, -133, rz, hardware},
    Row{hopper, wmma, Operands::tf32, f32, none, Kind::fused, 4, 25, -133, rz, hardware},
    Row{hopper, mma | wgmma | wmma, Operands::f16, f32, none, Kind::fused, 16, 25, -133, rz, hardware},
    Row{hopper, mma | wgmma | wmma, Operands::bf16, f32, none, Kind::fused, 16, 25, -133, rz, hardware},
    Row{hopper, mma | wgmma | wmma, Operands::f16, f16, none, Kind::fused, 16, 25, -21, rne, hardware},
    Row{hopper, wgmma, Operands::fp8, f32, none, Kind::fused, 32, 13, -133, rz13, hardware},
    Row{hopper, wgmma, Operands::fp8, f16, none, Kind::fused, 32, 13, -133, rne, hardware},
    Row{hopper, mma, Operands::fp8, f32, none, Kind::fp8_through_f16, 16, 25, -133, rz, hardware},
    Row{hopper, mma, Operands::fp8, f16, none, Kind::fp8_through_f16, 16, 25, -21, rne, hardware},

    Row{blackwell, mma, Operands::tf32, f32, none, Kind::fused, 8, 25, -133, rz, hardware},
    Row{rtx, mma, Operands::tf32, f32, none, Kind::fused, 8, 25, -133, rz, model},
    Row{blackwell | rtx, wmma, Operands::tf32, f32, none, Kind::fused, 4, 25, -133, rz, model},
    Row{blackwell, mma, Operands::f16, f32, none, Kind::fused, 16, 25, -133, rz, hardware},
    Row{blackwell, mma, Operands::bf16, f32, none, Kind::fused, 16, 25, -133, rz, hardware},
    Row{blackwell, wmma, Operands::f16, f32, none, Kind::fused, 16, 25, -133, rz, model},
    Row{blackwell, wmma, Operands::bf16, f32, none, Kind::fused, 16, 25, -133, rz, model},
    Row{rtx, mma | wmma, Operands::f16, f32, none, Kind::fused, 16, 25, -133, rz, model},
    Row{rtx, mma | wmma, Operands::bf16, f32, none, Kind::fused, 16, 25, -133, rz, model},
    Row{blackwell | rtx, mma | wmma, Operands::f16, f16, none, Kind::fused, 16, 25, -22, rne, model},
    Row{blackwell, tcgen05, Operands::tf32, f32, none, Kind::fused, 8, 25, -133, rz, model},
    Row{blackwell, tcgen05, Operands::f16, f32, none, Kind::fused, 16, 25, -133, rz, model},
    Row{blackwell, tcgen05, Operands::bf16, f32, none, Kind::fused, 16, 25, -133, rz, model},
    Row{blackwell, tcgen05, Operands::f16_bf16, f32, none, Kind::fused, 16, 25, -133, rz, model},
    Row{blackwell, tcgen05, Operands::f16, f16, none, Kind::fused, 16, 25, -133, rne, model},
    Row{blackwell, mma, Operands::fp8, f32, none, Kind::fp8_through_f16, 16, 25, -133, rz, hardware},
    Row{blackwell, mma, Operands::fp8, f16, none, Kind::fp8_through_f16, 16, 25, -22, rne, hardware},
    Row{blackwell, tcgen05, Operands::f8f6f4, f32, none, Kind::fused, 32, 25, -133, rz, model},
    Row{blackwell, tcgen05, Operands::f8f6f4, f16, none, Kind::fused, 32, 25, -133, rne, model},
    Row{rtx, mma, Operands::f8f6f4, f32, none, Kind::fused, 32, 25, -133, rz, model},
    Row{rtx, mma, Operands::f8f6f4, f16, none, Kind::fused, 32, 25, -22, rne, model},
    Row{blackwell, tcgen05, Operands::f8f6f4, f32, Scaling::per_dot, Kind::fused, 32, 25, -133, rz, model},
    Row{rtx, mma, Operands::f8f6f4, f32, Scaling::per_dot, Kind::fused, 32, 25, -133, rz, model},
    Row{blackwell, tcgen05, Operands::fp4, f32, Scaling::per_group, Kind::fused, 64, 35, -139, rz, model},
    Row{rtx, mma, Operands::fp4, f32, Scaling::per_group, Kind::fused, 64, 35, -139, rz, model},

    Row{since_ampere, mma | wmma, Operands::f64, f64, none, Kind::fma_chain_f64, 0, 0, 0, rz, hardware},
    Row{since_turing, mma | wmma, Operands::int8, s32, none, Kind::integer, 0, 0, 0, rz, manual},
    Row{since_turing, mma | wmma, Operands::int4, s32, none, Kind::integer, 0, 0, 0, rz, manual},
    Row{hopper, wgmma, Operands::int8, s32, none, Kind::integer, 0, 0, 0, rz, manual},
    Row{blackwell, tcgen05, Operands::int8, s32, none, Kind::integer, 0, 0, 0, rz, manual},
    Row{since_turing, mma | wmma, Operands::b1, s32, none, Kind::bit_and, 0, 0, 0, rz, manual},
    Row{hopper, wgmma, Operands::b1, s32, none, Kind::bit_and, 0, 0, 0, rz, manual},
    Row{since_turing, mma, Operands::f16_volta, f16, none, Kind::cuda_core_f32, 0, 0, 0, rz, hardware},
    Row{since_turing, mma, Operands::f16_volta, f32, none, Kind::cuda_core_f32, 0, 0, 0, rz, hardware},
};

bool is_fp8(Format f) { return f == e4m3 || f == e5m2; }
bool is_f8f6f4(Format f) { return is_fp8(f) || f == e3m2 || f == e2m3 || f == e2m1; }

bool holds(Operands set, const DotRequest& q) {
    const auto both = [&](Format f) { return q.a == f && q.b == f && !q.m8n8k4; };
    const auto each = [&](Format f, Format g) { return (q.a == f || q.a == g) && (q.b == f || q.b == g); };
    switch (set) {
        case Operands::f16: return both(f16);
        case Operands::bf16: return both(bf16);
        case Operands::f16_bf16: return each(f16, bf16) && q.a != q.b;
        case Operands::tf32: return both(tf32);
        case Operands::fp8: return is_fp8(q.a) && is_fp8(q.b);
        case Operands::f8f6f4: return is_f8f6f4(q.a) && is_f8f6f4(q.b);
        case Operands::fp4: return both(e2m1);
        case Operands::f64: return both(f64);
        case Operands::int8: return each(s8, u8);
        case Operands::int4: return each(s4, u4);
        case Operands::b1: return both(b1);
        case Operands::f16_volta: return q.m8n8k4 && q.a == f16 && q.b == f16;
    }
    return false;
}

std::string_view operands_text(Operands set) {
    switch (set) {
        case Operands::f16: return "f16,f16";
        case Operands::bf16: return "bf16,bf16";
        case Operands::f16_bf16: return "f16,bf16|bf16,f16";
        case Operands::tf32: return "tf32,tf32";
        case Operands::fp8: return "e4m3|e5m2,e4m3|e5m2";
        case Operands::f8f6f4: return "e4m3|e5m2|e3m2|e2m3|e2m1 (A and B each)";
        case Operands::fp4: return "e2m1,e2m1";
        case Operands::f64: return "f64,f64";
        case Operands::int8: return "s8|u8,s8|u8";
        case Operands::int4: return "s4|u4,s4|u4";
        case Operands::b1: return "b1,b1";
        case Operands::f16_volta: return "f16,f16 (m8n8k4)";
    }
    return "";
}

std::string_view scaling_text(Scaling scaling) {
    switch (scaling) {
        case Scaling::none: return "";
        case Scaling::per_dot: return ", block scales (mxf8f6f4)";
        case Scaling::per_group: return ", block scales (mxf4, mxf4nvf4)";
    }
    return "";
}

std::string request_text(const DotRequest& q) {
    return fmt::format("{},{},{}{}{}", traits(q.a).name, traits(q.b).name, traits(q.d).name, scaling_text(q.scaling),
                       q.m8n8k4 ? " (m8n8k4)" : "");
}

std::unexpected<Diagnostics> unknown(const DotRequest& q) {
    Diagnostic d{
        Severity::error,
        fmt::format("no arithmetic is known for {} of {} on {}", name(q.instruction), request_text(q), name(q.device)),
        {},
        {}};
    for (const Row& row : table)
        if (row.devices & bit(q.device) && row.instructions & bit(q.instruction))
            d.notes.push_back(fmt::format("it has {},{}{}", operands_text(row.operands), traits(row.d).name,
                                          scaling_text(row.scaling)));
    if (d.notes.empty()) {
        std::string devices;
        for (const Row& row : table)
            for (unsigned g = 0; g <= unsigned(Generation::blackwell_rtx); ++g)
                if (row.instructions & bit(q.instruction) && row.devices & 1u << g &&
                    devices.find(name(Generation(g))) == std::string::npos)
                    devices += fmt::format("{}{}", devices.empty() ? "" : ", ", name(Generation(g)));
        d.notes.push_back(fmt::format("{} exists on {}", name(q.instruction), devices));
    }
    return std::unexpected(Diagnostics{std::move(d)});
}

}  // namespace

Result<RecipeFound> find_recipe(const DotRequest& q) {
    const auto matches = [&](const Row& row) {
        return row.devices & bit(q.device) && row.instructions & bit(q.instruction) && row.d == q.d &&
               row.scaling == q.scaling && holds(row.operands, q);
    };
    const auto* row = std::ranges::find_if(table, matches);
    if (row == table.end()) return unknown(q);
    if (q.scaling != Scaling::none && (traits(q.scale).floating == false || traits(q.scale).is_signed))
        return fail(fmt::format("{} is no format of block scales", traits(q.scale).name), "write ue8m0 or ue4m3");
    if (q.scaling == Scaling::per_dot && (q.scale != ue8m0 || q.scale_block != 32))
        return fail(fmt::format("mxf8f6f4 has ue8m0 scales of 32 elements, found {} of {}", traits(q.scale).name,
                                q.scale_block));
    if (q.scaling == Scaling::per_group && q.scale_block != 16 && q.scale_block != 32)
        return fail(fmt::format("a block scale covers 16 or 32 elements, found {}", q.scale_block));
    DotRecipe r;
    r.kind = row->kind == Kind::bit_and && q.exclusive_or ? Kind::bit_xor : row->kind;
    r.a = q.a, r.b = q.b, r.d = q.d;
    r.group_length = row->group_length;
    r.fraction_bits = row->fraction_bits;
    r.zero_exponent = row->zero_exponent;
    r.rounding = row->rounding;
    r.scaling = row->scaling;
    r.saturate = row->kind == Kind::integer && q.saturate;
    r.f64_rounding = row->kind == Kind::fma_chain_f64 ? q.f64_rounding : Rounding::rn;
    r.separate_halves = row->kind == Kind::fp8_through_f16 && q.separate_halves;
    if (q.scaling != Scaling::none) r.scale = q.scale, r.scale_block = q.scale_block;
    return RecipeFound{r, row->evidence};
}

Result<DotRecipe> recipe(const DotRequest& request) {
    Result<RecipeFound> found = find_recipe(request);
    if (!found) return std::unexpected(found.error());
    return found->recipe;
}

}  // namespace tilepath::number
