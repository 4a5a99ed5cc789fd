// ldmatrix, stmatrix, movmatrix, mma.sync and mma.sp: PTX ISA 9.7.14.5, 9.7.14.6. Which shapes go with which types is
// for atom/ to say; the forms say only how the instruction is written. Kinds: mma_kinds.cpp.
#include "isa/matrix_rules.h"
#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

std::uint8_t matrices(const Bound& in) { return static_cast<std::uint8_t>(in.word("num")[1] - '0'); }

/// A matrix of 16 × 16 bytes fills two registers of each lane, every other one.
int registers(const Bound& in) { return matrices(in) * (in.word("shape") == "m16n16" ? 2 : 1); }

program::MatrixForm form_of(const Bound& in) {
    using enum program::MatrixForm;
    const std::string_view source = in.word("src_fmt");
    if (source.empty()) return in.type() == DataType::b8 ? bytes : m8n8;
    if (in.word("shape") == "m16n16") return source == "b6x16_p32" ? m16n16_six_bits : m16n16_four_bits;
    return source == "b6x16_p32" ? m8n16_six_bits : m8n16_four_bits;
}

void complete(MicroOp& out, const Bound& in, const Address& at) {
    out.space = at.space;
    out.immediate = at.offset;
    out.vector = matrices(in);
    out.variant = in.has("trans") ? 1 : 0;
    out.detail = static_cast<std::uint32_t>(form_of(in));
}

void ldmatrix(Lowering& to, const Bound& in) {
    const Address from = to.address(in["a"], space_named(in.word("ss")));
    std::vector<Operand> destinations = to.write_vector(in["d"], DataType::b32);
    check_registers(to, in["d"], destinations.size(), registers(in));
    complete(to.emit(Op::ldmatrix, DataType::b16, destinations, std::span(&from.base, 1)), in, from);
}

void stmatrix(Lowering& to, const Bound& in) {
    const Address at = to.address(in["a"], space_named(in.word("ss")));
    std::vector<Operand> sources = to.read_vector(in["b"], DataType::b32);
    check_registers(to, in["b"], sources.size(), registers(in));
    for (const ptx::Operand& part : to.module().children(in["b"])) require_register(to, part);
    sources.insert(sources.begin(), at.base);
    complete(to.emit(Op::stmatrix, DataType::b16, {}, sources), in, at);
}

constexpr std::string_view shapes =
    "shape: m8n8k4 m8n8k16 m8n8k32 m8n8k128 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256";
constexpr std::string_view row_a = "alayout: row", col_b = "blayout: col";
constexpr std::string_view any_a = "alayout: row col", any_b = "blayout: row col";
constexpr std::string_view f32_d = "dtype: f32", f32_c = "ctype: f32", s32_d = "dtype: s32", s32_c = "ctype: s32";
constexpr std::string_view half_or_single_d = "dtype: f16 f32", half_or_single_c = "ctype: f16 f32";

Family dense_family() {
    Family family{.manual = "9.7.14.5.14", .forms = {}, .lower = lower_mma};
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
        .lower = lower_mma};
}

Family sparse_family() {
    Family family{.manual = "9.7.14.6.3", .forms = {}, .lower = lower_sparse_mma};
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
    const Needs of_bytes = since(8, 6, 100, Suffix::families);
    return {
        {.manual = "9.7.14.5.15",
         .forms = {{"ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type d:b32, [a]",
                    {m8n8, num, spaces, b16},
                    since(6, 5, 75)},
                   {"ldmatrix.sync.aligned.shape.num.trans{.ss}.type d:b32, [a]",
                    {"shape: m16n16", "num: x1 x2", spaces, "type: b8"},
                    of_bytes},
                   {"ldmatrix.sync.aligned.shape.num.trans{.ss}.dst_fmt.src_fmt d:b32, [a]",
                    {"shape: m16n16", "num: x1 x2", spaces, "dst_fmt: b8x16", "src_fmt: b6x16_p32 b4x16_p64"},
                    of_bytes},
                   {"ldmatrix.sync.aligned.shape.num{.ss}.dst_fmt.src_fmt d:b32, [a]",
                    {"shape: m8n16", num, spaces, "dst_fmt: b8x16", "src_fmt: b6x16_p32 b4x16_p64"},
                    of_bytes}},
         .lower = ldmatrix},
        {.manual = "9.7.14.5.16",
         .forms = {{"stmatrix.sync.aligned.shape.num{.trans}{.ss}.type [a], b:b32",
                    {m8n8, num, spaces, b16},
                    since(7, 8, 90)},
                   {"stmatrix.sync.aligned.shape.num.trans{.ss}.type [a], b:b32",
                    {"shape: m16n8", num, spaces, "type: b8"},
                    of_bytes}},
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
