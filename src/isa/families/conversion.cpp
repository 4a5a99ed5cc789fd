// cvt and cvt.pack: PTX ISA 9.7.9.21, 9.7.9.22. Which roundings go with which types, and which registers may be wider
// than their type, is as ptxas 13.0 has it where the manual leaves it open.
#include <fmt/format.h>

#include "isa/plain.h"

namespace tilepath::isa {
namespace {

bool includes(DataType wide, DataType narrow) {
    const int more = program::bits(wide) - program::bits(narrow);
    return program::is_signed(wide) == program::is_signed(narrow) ? more >= 0 : program::is_signed(wide) && more > 0;
}

/// The type to which a result must be extended so that it fills its register: sign or zeros, as its own type says. None
/// where the row holds the right bits already, for rows hold what is narrower than 32 bits zero-extended.
DataType extension(Lowering& to, Operand destination, DataType type) {
    if (destination.kind != Operand::Kind::reg) return DataType::none;
    const int bits = program::bits(to.out().registers[destination.index].type);
    if (bits <= program::bits(type) || (bits <= 32 && !program::is_signed(type))) return DataType::none;
    if (program::is_signed(type)) return bits == 16 ? DataType::s16 : bits == 32 ? DataType::s32 : DataType::s64;
    return DataType::u64;
}

/// Beside bf16 no register is wider than its type.
bool takes_exact_registers(DataType d, DataType a) { return d == DataType::bf16 || a == DataType::bf16; }

/// One value to one value; registers may be wider than the types.
void convert(Lowering& to, const Bound& in) {
    const DataType d = in.type("dtype"), a = in.type("atype");
    const bool integers = !program::is_float(d) && !program::is_float(a);
    if (integers && in.has("sat") && includes(d, a))
        to.error(in.instruction().span,
                 fmt::format(".{} holds every .{}, so there is nothing to saturate", program::traits(d).name,
                             program::traits(a).name),
                 "leave out .sat");
    const bool exact = takes_exact_registers(d, a);
    const Operand source = exact ? to.read(in["a"], a) : to.low_part(to.read_wider(in["a"], a), a);
    const Operand destination = exact ? to.write(in["d"], d) : to.write_wider(in["d"], d);
    const DataType extended = extension(to, destination, d);
    const Operand result = extended == DataType::none ? destination : to.temporary(d);
    to.emit(Op::cvt, d, {result}, {source}).source_type = a;
    if (extended == DataType::none) return;
    MicroOp& out = to.emit(Op::cvt, extended, {destination}, {result});
    out.source_type = d;
    out.flags = {};
}

void emit_packed(Lowering& to, const Bound& in, std::vector<Operand> sources) {
    const Operand destination = to.write(in["d"], in.type("dtype"));
    to.emit(Op::cvt, in.type("dtype"), std::span(&destination, 1), sources).source_type = in.type("atype");
}

/// One or two values, and random bits for .rs, to a register that they fill.
void convert_packed(Lowering& to, const Bound& in) {
    std::vector<Operand> sources;
    for (std::size_t i = 1; i < in.operand_count(); ++i) sources.push_back(to.read(in.operand(i), in.operand_type(i)));
    if (const ptx::Operand* random = in.operand("rbits")) require_register(to, *random);
    emit_packed(to, in, std::move(sources));
}

void convert_four(Lowering& to, const Bound& in) {
    const ptx::Operand& a = in["a"];
    if (a.kind != ptx::OperandKind::vector || to.module().children(a).size() != 4)
        return to.error(a.span,
                        fmt::format("expected four values {{a, b, e, f}}, found '{}'", to.module().text(a.span)));
    std::vector<Operand> sources = to.read_vector(a, in.operand_type(1));
    sources.push_back(to.read(in["rbits"], DataType::b32));
    require_register(to, in["rbits"]);
    emit_packed(to, in, std::move(sources));
}

void pack(Lowering& to, const Bound& in) {
    std::vector<Operand> sources;
    for (std::size_t i = 1; i < in.operand_count(); ++i) sources.push_back(to.read(in.operand(i), in.operand_type(i)));
    Operand destination = to.write_wider(in["d"], DataType::b32);
    MicroOp& out = to.emit(Op::cvt_pack, DataType::b32, std::span(&destination, 1), sources);
    const std::string_view word = in.word("convert");
    out.variant = static_cast<std::uint8_t>(word[0] == 's');
    out.vector = static_cast<std::uint8_t>(word == "u16" || word == "s16" ? 16 : word[1] - '0');
}

constexpr std::string_view to_integer = "dtype: u8 u16 u32 u64 s8 s16 s32 s64";
constexpr std::string_view from_integer = "atype: u8 u16 u32 u64 s8 s16 s32 s64";
constexpr std::string_view integer_rounding = "irnd: rni rzi rmi rpi";
constexpr std::string_view float_rounding = "frnd: rn rz rm rp";
constexpr std::string_view near_or_zero = "frnd2: rn rz";

Family scalar() {
    Family family{.manual = "9.7.9.21", .forms = {}, .lower = convert};
    auto add = [&](std::string_view syntax, std::vector<std::string_view> words, Needs needs) {
        family.forms.push_back({syntax, std::move(words), needs});
    };
    // Integers.
    add("cvt{.sat}.dtype.atype d, a", {to_integer, from_integer}, since(1, 0));
    add("cvt.irnd.dtype.atype d, a", {integer_rounding, "dtype: u16 u32 u64 s16 s32 s64", "atype: bf16"},
        since(7, 8, 90));
    add("cvt.frnd{.sat}.dtype.atype d, a", {float_rounding, "dtype: f16 f64", from_integer}, since(1, 0));
    add("cvt.frnd.dtype.atype d, a", {float_rounding, "dtype: bf16", "atype: u16 u32 u64 s16 s32 s64"},
        since(7, 8, 90));
    add("cvt.irnd{.ftz}{.sat}.dtype.atype d, a", {integer_rounding, to_integer, "atype: f32"}, since(1, 0));
    add("cvt.irnd{.sat}.dtype.atype d, a", {integer_rounding, to_integer, "atype: f16 f64"}, since(1, 0));
    add("cvt.frnd{.ftz}{.sat}.dtype.atype d, a", {float_rounding, "dtype: f32", from_integer}, since(1, 0));
    // To a float of the same format: an integer if a rounding stands.
    add("cvt{.irnd}{.ftz}{.sat}.dtype.atype d, a", {integer_rounding, "dtype: f32", "atype: f32"}, since(1, 0));
    add("cvt{.irnd}{.sat}.dtype.atype d, a", {integer_rounding, "dtype: f64", "atype: f64"}, since(1, 0));
    add("cvt{.irnd}{.sat}.dtype.atype d, a", {integer_rounding, "dtype: f16", "atype: f16"}, since(1, 0));
    add("cvt{.irnd}.dtype.atype d, a", {integer_rounding, "dtype: bf16", "atype: bf16"}, since(7, 8, 90));
    // To a wider float.
    add("cvt{.ftz}{.sat}.dtype.atype d, a", {"dtype: f32", "atype: f16"}, since(1, 0));
    add("cvt{.ftz}{.sat}.dtype.atype d, a", {"dtype: f64", "atype: f32"}, since(1, 0));
    add("cvt{.sat}.dtype.atype d, a", {"dtype: f64", "atype: f16"}, since(1, 0));
    add("cvt{.frnd}.dtype.atype d, a", {float_rounding, "dtype: f32", "atype: bf16"}, since(7, 1, 80));
    add("cvt{.frnd}.ftz.dtype.atype d, a", {float_rounding, "dtype: f32", "atype: bf16"}, since(7, 8, 90));
    add("cvt{.frnd}.dtype.atype d, a", {float_rounding, "dtype: f64", "atype: bf16"}, since(7, 8, 90));
    // To a narrower one.
    add("cvt.frnd{.ftz}{.sat}.dtype.atype d, a", {float_rounding, "dtype: f32", "atype: f64"}, since(1, 0));
    add("cvt.frnd{.sat}.dtype.atype d, a", {float_rounding, "dtype: f16", "atype: f64"}, since(1, 0));
    add("cvt.frnd{.ftz}{.sat}.dtype.atype d, a", {float_rounding, "dtype: f16", "atype: f32"}, since(1, 0));
    add("cvt.frnd2.relu.dtype.atype d, a", {near_or_zero, "dtype: f16", "atype: f32"}, since(7, 0, 80));
    add("cvt.frnd2{.relu}.satfinite.dtype.atype d, a", {near_or_zero, "dtype: f16", "atype: f32"}, since(8, 1, 80));
    add("cvt.frnd{.ftz}.dtype.atype d, a", {float_rounding, "dtype: bf16", "atype: f32"}, since(7, 0, 80));
    add("cvt.frnd2.relu.dtype.atype d, a", {near_or_zero, "dtype: bf16", "atype: f32"}, since(7, 0, 80));
    add("cvt.frnd2{.relu}.satfinite.dtype.atype d, a", {near_or_zero, "dtype: bf16", "atype: f32"}, since(8, 1, 80));
    add("cvt.frnd.dtype.atype d, a", {float_rounding, "dtype: bf16", "atype: f64"}, since(7, 8, 90));
    add("cvt{.frnd}.dtype.atype d, a", {float_rounding, "dtype: bf16", "atype: f16"}, since(7, 8, 90));
    add("cvt{.frnd}.dtype.atype d, a", {float_rounding, "dtype: f16", "atype: bf16"}, since(7, 8, 90));
    return family;
}

Family packed() {
    Family family{.manual = "9.7.9.21", .forms = {}, .lower = convert_packed};
    auto add = [&](std::string_view syntax, std::vector<std::string_view> words, Needs needs) {
        family.forms.push_back({syntax, std::move(words), needs});
    };
    constexpr std::string_view halves = "dtype: f16x2 bf16x2";
    constexpr std::string_view f32 = "atype: f32";
    add("cvt.frnd2{.relu}.dtype.atype d, a, b:atype", {near_or_zero, halves, f32}, since(7, 0, 80));
    add("cvt.frnd2{.relu}.satfinite.dtype.atype d, a, b:atype", {near_or_zero, halves, f32}, since(8, 1, 80));
    add("cvt.rna.dtype.atype d, a", {"dtype: tf32", f32}, since(7, 0, 80));
    add("cvt.rna.satfinite.dtype.atype d, a", {"dtype: tf32", f32}, since(8, 1, 80));
    add("cvt.frnd2{.relu}.dtype.atype d, a", {near_or_zero, "dtype: tf32", f32}, since(7, 8, 90));
    add("cvt.frnd2.satfinite{.relu}.dtype.atype d, a", {near_or_zero, "dtype: tf32", f32}, since(8, 6, 100));
    add("cvt.rn.satfinite{.relu}.dtype.atype d, a, b:atype", {"dtype: e4m3x2 e5m2x2", f32}, since(8, 1, 89));
    add("cvt.rn.satfinite{.relu}.dtype.atype d, a", {"dtype: e4m3x2 e5m2x2", "atype: f16x2"}, since(8, 1, 89));
    add("cvt.rn{.relu}.dtype.atype d, a", {"dtype: f16x2", "atype: e4m3x2 e5m2x2"}, since(8, 1, 89));
    const Needs blackwell = since(8, 6, 100, Suffix::families);
    add("cvt.rn.satfinite{.relu}.dtype.atype d, a, b:atype", {"dtype: e2m1x2 e2m3x2 e3m2x2", f32}, blackwell);
    add("cvt.rn.satfinite{.relu}.dtype.atype d, a", {"dtype: e2m1x2", "atype: f16x2"}, blackwell);
    add("cvt.rn{.relu}.dtype.atype d, a", {"dtype: f16x2", "atype: e2m1x2 e2m3x2 e3m2x2"}, blackwell);
    add("cvt.frnd3{.satfinite}.dtype.atype d, a, b:atype", {"frnd3: rz rp", "dtype: ue8m0x2", f32}, blackwell);
    add("cvt.frnd3{.satfinite}.dtype.atype d, a", {"frnd3: rz rp", "dtype: ue8m0x2", "atype: bf16x2"}, blackwell);
    add("cvt.rn.dtype.atype d, a", {"dtype: bf16x2", "atype: ue8m0x2"}, blackwell);
    for (int sm : {100, 103})
        add("cvt.rs{.relu}{.satfinite}.dtype.atype d, a, b:atype, rbits:b32", {halves, f32},
            since(8, 7, sm, Suffix::architecture));
    return family;
}

Family packed_four() {
    Family family{.manual = "9.7.9.21", .forms = {}, .lower = convert_four};
    for (int sm : {100, 103})
        family.forms.push_back({"cvt.rs{.relu}.satfinite.dtype.atype d, a, rbits:b32",
                                {"dtype: e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4", "atype: f32"},
                                since(8, 7, sm, Suffix::architecture)});
    return family;
}

}  // namespace

std::vector<Family> conversion_families() {
    return {
        scalar(),
        packed(),
        packed_four(),
        {.manual = "9.7.9.22",
         .forms = {{"cvt.pack.sat.convert.abtype d:b32, a:abtype, b:abtype",
                    {"convert: u16 s16", "abtype: s32"},
                    since(6, 5, 72)},
                   {"cvt.pack.sat.convert.abtype.ctype d:b32, a:abtype, b:abtype, c",
                    {"convert: u8 s8", "abtype: s32", "ctype: b32"},
                    since(6, 5, 72)},
                   {"cvt.pack.sat.convert.abtype.ctype d:b32, a:abtype, b:abtype, c",
                    {"convert: u2 s2 u4 s4", "abtype: s32", "ctype: b32"},
                    since(6, 5, 75)}},
         .lower = pack},
    };
}

}  // namespace tilepath::isa
