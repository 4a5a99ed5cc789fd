// Comparison and selection: PTX ISA 9.7.6, 9.7.7.
#include "base/assert.h"
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

using program::BoolOp;
using program::Compare;

Compare compare_named(std::string_view word) {
    static constexpr std::string_view words[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                                 "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    for (std::size_t i = 0; i < std::size(words); ++i)
        if (words[i] == word) return static_cast<Compare>(i);
    TILEPATH_ASSERT(false, "a form has a comparison that Compare does not");
}

BoolOp bool_op_named(std::string_view word) {
    return word == "and" ? BoolOp::and_ : word == "or" ? BoolOp::or_ : word == "xor" ? BoolOp::xor_ : BoolOp::none;
}

/// `a cmp b`, then with .BoolOp the predicate c.
std::vector<Operand> compared(Lowering& to, const Bound& in) {
    std::vector<Operand> sources{to.read(in["a"], in.operand_type("a")), to.read(in["b"], in.operand_type("b"))};
    if (!in.has("bool")) return sources;
    const auto is_bf16 = [](DataType type) { return type == DataType::bf16 || type == DataType::bf16x2; };
    const bool to_bf16 = in.form().operand("d") >= 0 && is_bf16(in.operand_type("d"));
    if (to_bf16 || is_bf16(in.operand_type("a"))) require_register(to, in["c"]);
    sources.push_back(to.read_predicate(in["c"]));
    return sources;
}

void describe(MicroOp& out, const Bound& in) {
    out.compare = compare_named(in.word("cmp"));
    out.bool_op = bool_op_named(in.word("bool"));
}

void setp(Lowering& to, const Bound& in) {
    std::vector<Operand> destinations;
    if (const ptx::Operand& p = in["p"]; p.kind == ptx::OperandKind::pair)
        for (const ptx::Operand& part : to.module().children(p)) destinations.push_back(to.write(part, DataType::pred));
    else
        destinations.push_back(to.write(p, DataType::pred));
    std::vector<Operand> sources = compared(to, in);
    describe(to.emit(Op::setp, in.type(), destinations, sources), in);
}

void set(Lowering& to, const Bound& in) {
    Operand destination = to.write(in["d"], in.type("dtype"));
    std::vector<Operand> sources = compared(to, in);
    MicroOp& out = to.emit(Op::set, in.type("dtype"), std::span(&destination, 1), sources);
    out.source_type = in.type("stype");
    describe(out, in);
}

void slct(Lowering& to, const Bound& in) { to.simple(Op::slct).source_type = in.type("ctype"); }

constexpr std::string_view logic = "bool: and or xor";

/// Which comparisons a kind of type has; with `ftz`, f32 and f16 take .ftz.
struct Comparable {
    std::string_view cmp, types;
    bool ftz;
    Needs needs;
};
constexpr std::string_view float_cmp = "cmp: eq ne lt le gt ge equ neu ltu leu gtu geu num nan";

void add_setp_forms(Family& family, const Comparable& with, bool pair) {
    auto add = [&](std::string_view plain, std::string_view combined) {
        family.forms.push_back({plain, {with.cmp, with.types}, with.needs});
        family.forms.push_back({combined, {with.cmp, logic, with.types}, with.needs});
    };
    if (!pair)
        add(with.ftz ? "setp.cmp{.ftz}.type p, a, b" : "setp.cmp.type p, a, b",
            with.ftz ? "setp.cmp.bool{.ftz}.type p, a, b, c:pred" : "setp.cmp.bool.type p, a, b, c:pred");
    else
        add(with.ftz ? "setp.cmp{.ftz}.type p{|q}, a, b" : "setp.cmp.type p{|q}, a, b",
            with.ftz ? "setp.cmp.bool{.ftz}.type p{|q}, a, b, c:pred" : "setp.cmp.bool.type p{|q}, a, b, c:pred");
}

Family setp_family() {
    Family family{.manual = "9.7.6.2", .forms = {}, .lower = setp};
    add_setp_forms(family, {"cmp: eq ne", "type: b16 b32 b64", false, since(1, 0)}, true);
    add_setp_forms(family, {"cmp: eq ne lt le gt ge", "type: s16 s32 s64", false, since(1, 0)}, true);
    add_setp_forms(family, {"cmp: eq ne lt le gt ge lo ls hi hs", "type: u16 u32 u64", false, since(1, 0)}, true);
    add_setp_forms(family, {float_cmp, "type: f32", true, since(1, 0)}, true);
    add_setp_forms(family, {float_cmp, "type: f64", false, since(1, 0, 13)}, true);
    return family;
}

/// p alone for one half; p for the low half and q for the high one of a pair.
Family half_setp_family() {
    Family family{.manual = "9.7.7.2", .forms = {}, .lower = setp};
    add_setp_forms(family, {float_cmp, "type: f16", true, since(4, 2, 53)}, false);
    add_setp_forms(family, {float_cmp, "type: f16x2", true, since(4, 2, 53)}, true);
    add_setp_forms(family, {float_cmp, "type: bf16", false, since(7, 8, 90)}, false);
    add_setp_forms(family, {float_cmp, "type: bf16x2", false, since(7, 8, 90)}, true);
    return family;
}

void add_set_forms(Family& family, std::string_view dtype, const Comparable& with) {
    family.forms.push_back(
        {with.ftz ? "set.cmp{.ftz}.dtype.stype d, a:stype, b:stype" : "set.cmp.dtype.stype d, a:stype, b:stype",
         {with.cmp, dtype, with.types},
         with.needs});
    family.forms.push_back({with.ftz ? "set.cmp.bool{.ftz}.dtype.stype d, a:stype, b:stype, c:pred"
                                     : "set.cmp.bool.dtype.stype d, a:stype, b:stype, c:pred",
                            {with.cmp, logic, dtype, with.types},
                            with.needs});
}

/// The source types that every destination type takes.
void add_set_forms_of_all_sources(Family& family, std::string_view dtype, bool ftz, Needs needs) {
    add_set_forms(family, dtype, {"cmp: eq ne", "stype: b16 b32 b64", false, needs});
    add_set_forms(family, dtype, {"cmp: eq ne lt le gt ge", "stype: s16 s32 s64", false, needs});
    add_set_forms(family, dtype, {"cmp: eq ne lt le gt ge lo ls hi hs", "stype: u16 u32 u64", false, needs});
    add_set_forms(family, dtype, {float_cmp, "stype: f32", ftz, needs});
    add_set_forms(family, dtype, {float_cmp, "stype: f64", false, needs});
}

Family set_family() {
    Family family{.manual = "9.7.6.1", .forms = {}, .lower = set};
    add_set_forms_of_all_sources(family, "dtype: u32 s32 f32", true, since(1, 0));
    return family;
}

Family half_set_family() {
    Family family{.manual = "9.7.7.1", .forms = {}, .lower = set};
    add_set_forms_of_all_sources(family, "dtype: f16", true, since(4, 2, 53));
    add_set_forms(family, "dtype: f16", {float_cmp, "stype: f16", true, since(4, 2, 53)});
    add_set_forms(family, "dtype: u16 s16 u32 s32", {float_cmp, "stype: f16", true, since(6, 5, 53)});
    add_set_forms(family, "dtype: f16x2", {float_cmp, "stype: f16x2", true, since(4, 2, 53)});
    add_set_forms(family, "dtype: u32 s32", {float_cmp, "stype: f16x2", true, since(6, 5, 53)});
    add_set_forms_of_all_sources(family, "dtype: bf16", false, since(7, 8, 90));
    add_set_forms(family, "dtype: bf16", {float_cmp, "stype: f16", false, since(7, 8, 90)});
    add_set_forms(family, "dtype: u16 s16 u32 s32 bf16", {float_cmp, "stype: bf16", false, since(7, 8, 90)});
    add_set_forms(family, "dtype: u32 s32 bf16x2", {float_cmp, "stype: bf16x2", false, since(7, 8, 90)});
    return family;
}

}  // namespace

std::vector<Family> comparison_families() {
    return {
        set_family(),
        setp_family(),
        half_set_family(),
        half_setp_family(),
        {.manual = "9.7.6.3",
         .forms = {{"selp.type d, a, b, c:pred", {"type: b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"}, since(1, 0)}},
         .lower = lower_plain<Op::select>},
        {.manual = "9.7.6.4",
         .forms = {{"slct.dtype.ctype d, a:dtype, b:dtype, c",
                    {"dtype: b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", "ctype: s32"},
                    since(1, 0)},
                   {"slct{.ftz}.dtype.ctype d, a:dtype, b:dtype, c",
                    {"dtype: b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", "ctype: f32"},
                    since(1, 0)}},
         .lower = slct},
    };
}

}  // namespace tilepath::isa
