// ldmatrix, stmatrix, movmatrix, mma.sync and mma.sp: PTX ISA 9.7.14.5, 9.7.14.6. Which shapes go with which types is
// for atom/ to say; the forms say only how the instruction is written.
#include <fmt/format.h>

#include "atom/mma_sp.h"
#include "isa/matrix_rules.h"
#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

using program::Mma;

std::uint8_t matrices(const Bound& in) { return static_cast<std::uint8_t>(in.word("num")[1] - '0'); }

void ldmatrix(Lowering& to, const Bound& in) {
    const Address from = to.address(in["a"], space_named(in.word("ss")));
    std::vector<Operand> destinations = to.write_vector(in["d"], DataType::b32);
    check_registers(to, in["d"], destinations.size(), matrices(in));
    MicroOp& out = to.emit(Op::ldmatrix, DataType::b16, destinations, std::span(&from.base, 1));
    out.space = from.space;
    out.immediate = from.offset;
    out.vector = matrices(in);
    out.variant = in.has("trans") ? 1 : 0;
}

void stmatrix(Lowering& to, const Bound& in) {
    const Address at = to.address(in["a"], space_named(in.word("ss")));
    std::vector<Operand> sources = to.read_vector(in["b"], DataType::b32);
    check_registers(to, in["b"], sources.size(), matrices(in));
    for (const ptx::Operand& part : to.module().children(in["b"])) require_register(to, part);
    sources.insert(sources.begin(), at.base);
    MicroOp& out = to.emit(Op::stmatrix, DataType::b16, {}, sources);
    out.space = at.space;
    out.immediate = at.offset;
    out.vector = matrices(in);
    out.variant = in.has("trans") ? 1 : 0;
}

atom::MmaTypes types_of(const Mma& mma) {
    return {number_format(mma.d), number_format(mma.a), number_format(mma.b), number_format(mma.c)};
}

void mma_sync(Lowering& to, const Bound& in) {
    using atom::Major;
    const Mma mma = describe_mma(in);
    auto atom = atom::mma_sync({mma.m, mma.n, mma.k}, types_of(mma), mma.a_column_major ? Major::column : Major::row,
                               mma.b_row_major ? Major::row : Major::column);
    if (!atom) return refuse(to, atom.error());
    if (has_target(to, atom->minimum_sm, atom->name)) emit_mma(to, in, mma, atom->a, atom->b, atom->c, atom->d);
}

void mma_sparse(Lowering& to, const Bound& in) {
    Mma mma = describe_mma(in);
    mma.sparse = true;
    auto atom = atom::mma_sp({mma.m, mma.n, mma.k}, types_of(mma));
    if (!atom) return refuse(to, atom.error());
    const std::int64_t selector = to.immediate(in["selector"], "the sparsity selector");
    if (selector < 0 || selector >= atom->selectors)
        to.error(in["selector"].span,
                 fmt::format("the sparsity selector of {} is {}; found {}", atom->name,
                             atom->selectors == 1 ? "0" : fmt::format("0 to {}", atom->selectors - 1), selector));
    if (atom->ordered_metadata_only && in.word("sp") == "sp")
        to.error(in.instruction().span, fmt::format("{} exists only as mma.sp::ordered_metadata", atom->name));
    mma.selector = static_cast<int>(selector);
    if (has_target(to, atom->minimum_sm, atom->name)) emit_mma(to, in, mma, atom->a, atom->b, atom->c, atom->d);
}

constexpr std::string_view shapes =
    "shape: m8n8k4 m8n8k16 m8n8k32 m8n8k128 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256";
constexpr std::string_view row_a = "alayout: row", col_b = "blayout: col";
constexpr std::string_view any_a = "alayout: row col", any_b = "blayout: row col";
constexpr std::string_view f32_d = "dtype: f32", f32_c = "ctype: f32", s32_d = "dtype: s32", s32_c = "ctype: s32";
constexpr std::string_view half_or_single_d = "dtype: f16 f32", half_or_single_c = "ctype: f16 f32";

Family dense_family() {
    Family family{.manual = "9.7.14.5.14", .forms = {}, .lower = mma_sync};
    constexpr std::string_view syntax =
        "mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype d:none, a:none, b:none, c:none";
    constexpr std::string_view rounded =
        "mma.sync.aligned.shape.alayout.blayout{.rnd}.dtype.atype.btype.ctype d:none, a:none, b:none, c:none";
    constexpr std::string_view saturating =
        "mma.sync.aligned.shape.alayout.blayout{.satfinite}.dtype.atype.btype.ctype d:none, a:none, b:none, c:none";
    family.forms = {
        {syntax,
         {shapes, any_a, any_b, half_or_single_d, "atype: f16", "btype: f16", half_or_single_c},
         since(6, 4, 70)},
        {syntax, {shapes, row_a, col_b, f32_d, "atype: bf16 tf32", "btype: bf16 tf32", f32_c}, since(7, 0, 80)},
        {syntax,
         {shapes, row_a, col_b, half_or_single_d, "atype: e4m3 e5m2", "btype: e4m3 e5m2", half_or_single_c},
         since(8, 4, 89)},
        {rounded,
         {shapes, row_a, col_b, "rnd: rn rz rm rp", "dtype: f64", "atype: f64", "btype: f64", "ctype: f64"},
         since(7, 0, 80)},
        {saturating, {shapes, row_a, col_b, s32_d, "atype: u8 s8", "btype: u8 s8", s32_c}, since(6, 5, 75)},
        {saturating, {shapes, row_a, col_b, s32_d, "atype: u4 s4", "btype: u4 s4", s32_c}, since(6, 5, 75)},
    };
    return family;
}

Family single_bit_family() {
    constexpr std::string_view syntax =
        "mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype.bitop.popc d:none, a:none, b:none, c:none";
    return {
        .manual = "9.7.14.5.14",
        .forms =
            {{syntax, {shapes, row_a, col_b, s32_d, "atype: b1", "btype: b1", s32_c, "bitop: xor"}, since(7, 0, 75)},
             {syntax, {shapes, row_a, col_b, s32_d, "atype: b1", "btype: b1", s32_c, "bitop: and"}, since(7, 1, 80)}},
        .lower = mma_sync};
}

Family sparse_family() {
    Family family{.manual = "9.7.14.6.3", .forms = {}, .lower = mma_sparse};
    constexpr std::string_view syntax =
        "mma.sp.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype "
        "d:none, a:none, b:none, c:none, metadata:b32, selector:none";
    constexpr std::string_view saturating =
        "mma.sp.sync.aligned.shape.alayout.blayout{.satfinite}.dtype.atype.btype.ctype "
        "d:none, a:none, b:none, c:none, metadata:b32, selector:none";
    auto add = [&](std::string_view sp, Needs needs, Needs fp8_needs) {
        family.forms.insert(
            family.forms.end(),
            {{syntax,
              {sp, shapes, row_a, col_b, half_or_single_d, "atype: f16", "btype: f16", half_or_single_c},
              needs},
             {syntax, {sp, shapes, row_a, col_b, f32_d, "atype: bf16 tf32", "btype: bf16 tf32", f32_c}, needs},
             {syntax,
              {sp, shapes, row_a, col_b, half_or_single_d, "atype: e4m3 e5m2", "btype: e4m3 e5m2", half_or_single_c},
              fp8_needs},
             {saturating, {sp, shapes, row_a, col_b, s32_d, "atype: u8 s8", "btype: u8 s8", s32_c}, needs},
             {saturating, {sp, shapes, row_a, col_b, s32_d, "atype: u4 s4", "btype: u4 s4", s32_c}, needs}});
    };
    add("sp: sp", since(7, 1, 80), since(8, 4, 89));
    add("sp: sp::ordered_metadata", since(8, 5, 80), since(8, 5, 89));
    return family;
}

}  // namespace

std::vector<Family> matrix_families() {
    constexpr std::string_view m8n8 = "shape: m8n8", num = "num: x1 x2 x4", spaces = "ss: shared shared::cta",
                               b16 = "type: b16";
    return {
        {.manual = "9.7.14.5.15",
         .forms = {{"ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type d:b32, [a]",
                    {m8n8, num, spaces, b16},
                    since(6, 5, 75)}},
         .lower = ldmatrix},
        {.manual = "9.7.14.5.16",
         .forms = {{"stmatrix.sync.aligned.shape.num{.trans}{.ss}.type [a], b:b32",
                    {m8n8, num, spaces, b16},
                    since(7, 8, 90)}},
         .lower = stmatrix},
        {.manual = "9.7.14.5.17",
         .forms = {{"movmatrix.sync.aligned.shape.trans.type d:b32, a:b32", {m8n8, b16}, since(7, 8, 75)}},
         .lower =
             [](Lowering& to, const Bound& in) {
                 require_register(to, in["a"]);
                 to.simple(Op::movmatrix, in.type());
             }},
        dense_family(),
        single_bit_family(),
        sparse_family(),
    };
}

}  // namespace tilepath::isa
