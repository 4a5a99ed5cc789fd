// Integer arithmetic: PTX ISA 9.7.1.
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

using program::MulHalf;

template <Op op>
void half_of_product(Lowering& to, const Bound& in) {
    const MulHalf half = in.has("wide") ? MulHalf::wide : in.has("hi") ? MulHalf::hi : MulHalf::lo;
    to.simple(op, in.type()).variant = static_cast<std::uint8_t>(half);
}

/// dp4a, dp2a: packed bytes of two signednesses.
template <Op op>
void dot_product(Lowering& to, const Bound& in) {
    MicroOp& out = to.simple(op, in.type("atype"));
    out.source_type = in.type("btype");
    out.variant = in.has("hi") ? 1 : 0;
}

/// bfe, bfi: where a field begins and how long it is.
template <Op op>
void bit_field(Lowering& to, const Bound& in) {
    const std::size_t count = in.operand_count();
    for (const ptx::Operand& each : {in.operand(count - 2), in.operand(count - 1)})
        if (each.kind == ptx::OperandKind::immediate && each.bits > 255)
            to.error(each.span, fmt::format("a bit field's place and length are 0 to 255; found {}",
                                            static_cast<std::int64_t>(each.bits)));
    to.simple(op);
}

template <Op op>
void clamp_or_wrap(Lowering& to, const Bound& in) {
    to.simple(op).variant = in.word("mode") == "wrap" ? 1 : 0;
}

}  // namespace

std::vector<Family> integer_arithmetic_families() {
    return {
        {.manual = "9.7.1.1",
         .forms = {{"add.type d, a, b", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)},
                   {"add.sat.type d, a, b", {"type: s32"}, since(1, 0)},
                   {"add.type d, a, b", {"type: u16x2 s16x2"}, since(8, 0, 90)}},
         .lower = lower_plain<Op::add>},
        {.manual = "9.7.1.2",
         .forms = {{"sub.type d, a, b", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)},
                   {"sub.sat.type d, a, b", {"type: s32"}, since(1, 0)}},
         .lower = lower_plain<Op::sub>},
        {.manual = "9.7.1.3",
         .forms = {{"mul.lo.type d, a, b", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)},
                   {"mul.hi.type d, a, b", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)},
                   {"mul.wide.type d:u32, a, b", {"type: u16 s16"}, since(1, 0)},
                   {"mul.wide.type d:u64, a, b", {"type: u32 s32"}, since(1, 0)}},
         .lower = half_of_product<Op::mul>},
        {.manual = "9.7.1.4",
         .forms = {{"mad.lo.type d, a, b, c", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)},
                   {"mad.hi.type d, a, b, c", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)},
                   {"mad.hi.sat.type d, a, b, c", {"type: s32"}, since(1, 0)},
                   {"mad.wide.type d:u32, a, b, c:u32", {"type: u16"}, since(1, 0)},
                   {"mad.wide.type d:s32, a, b, c:s32", {"type: s16"}, since(1, 0)},
                   {"mad.wide.type d:u64, a, b, c:u64", {"type: u32"}, since(1, 0)},
                   {"mad.wide.type d:s64, a, b, c:s64", {"type: s32"}, since(1, 0)}},
         .lower = half_of_product<Op::mad>},
        {.manual = "9.7.1.5",
         .forms = {{"mul24.lo.type d, a, b", {"type: u32 s32"}, since(1, 0)},
                   {"mul24.hi.type d, a, b", {"type: u32 s32"}, since(1, 0)}},
         .lower = half_of_product<Op::mul24>},
        {.manual = "9.7.1.6",
         .forms = {{"mad24.lo.type d, a, b, c", {"type: u32 s32"}, since(1, 0)},
                   {"mad24.hi.type d, a, b, c", {"type: u32 s32"}, since(1, 0)},
                   {"mad24.hi.sat.type d, a, b, c", {"type: s32"}, since(1, 0)}},
         .lower = half_of_product<Op::mad24>},
        {.manual = "9.7.1.7",
         .forms = {{"sad.type d, a, b, c", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)}},
         .lower = lower_plain<Op::sad>},
        {.manual = "9.7.1.8",
         .forms = {{"div.type d, a, b", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)}},
         .lower = lower_plain<Op::div>},
        {.manual = "9.7.1.9",
         .forms = {{"rem.type d, a, b", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)}},
         .lower = lower_plain<Op::rem>},
        {.manual = "9.7.1.10",
         .forms = {{"abs.type d, a", {"type: s16 s32 s64"}, since(1, 0)}},
         .lower = lower_plain<Op::abs>},
        {.manual = "9.7.1.11",
         .forms = {{"neg.type d, a", {"type: s16 s32 s64"}, since(1, 0)}},
         .lower = lower_plain<Op::neg>},
        {.manual = "9.7.1.12",
         .forms = {{"min.type d, a, b", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)},
                   {"min.type d, a, b", {"type: u16x2 s16x2"}, since(8, 0, 90)},
                   {"min.relu.type d, a, b", {"type: s16x2 s32"}, since(8, 0, 90)}},
         .lower = lower_plain<Op::min>},
        {.manual = "9.7.1.13",
         .forms = {{"max.type d, a, b", {"type: u16 u32 u64 s16 s32 s64"}, since(1, 0)},
                   {"max.type d, a, b", {"type: u16x2 s16x2"}, since(8, 0, 90)},
                   {"max.relu.type d, a, b", {"type: s16x2 s32"}, since(8, 0, 90)}},
         .lower = lower_plain<Op::max>},
        {.manual = "9.7.1.14",
         .forms = {{"popc.type d:u32, a", {"type: b32 b64"}, since(2, 0, 20)}},
         .lower = lower_typed<Op::popc>},
        {.manual = "9.7.1.15",
         .forms = {{"clz.type d:u32, a", {"type: b32 b64"}, since(2, 0, 20)}},
         .lower = lower_typed<Op::clz>},
        {.manual = "9.7.1.16",
         .forms = {{"bfind{.shiftamt}.type d:u32, a", {"type: u32 u64 s32 s64"}, since(2, 0, 20)}},
         .lower = [](Lowering& to,
                     const Bound& in) { to.simple(Op::bfind, in.type()).variant = in.has("shiftamt") ? 1 : 0; }},
        {.manual = "9.7.1.17",
         .forms = {{"fns.type d, mask:b32, base:b32, offset:s32", {"type: b32"}, since(6, 0, 30)}},
         .lower = lower_plain<Op::fns>},
        {.manual = "9.7.1.18",
         .forms = {{"brev.type d, a", {"type: b32 b64"}, since(2, 0, 20)}},
         .lower = lower_plain<Op::brev>},
        {.manual = "9.7.1.19",
         .forms = {{"bfe.type d, a, b:u32, c:u32", {"type: u32 u64 s32 s64"}, since(2, 0, 20)}},
         .lower = bit_field<Op::bfe>},
        {.manual = "9.7.1.20",
         .forms = {{"bfi.type f:type, a, b, c:u32, d:u32", {"type: b32 b64"}, since(2, 0, 20)}},
         .lower = bit_field<Op::bfi>},
        {.manual = "9.7.1.21",
         .forms = {{"szext.mode.type d, a, b:u32", {"mode: clamp wrap", "type: u32 s32"}, since(7, 6, 70)}},
         .lower = clamp_or_wrap<Op::szext>},
        {.manual = "9.7.1.22",
         .forms = {{"bmsk.mode.type d, a:u32, b:u32", {"mode: clamp wrap", "type: b32"}, since(7, 6, 70)}},
         .lower = clamp_or_wrap<Op::bmsk>},
        {.manual = "9.7.1.23",
         .forms = {{"dp4a.atype.btype d:b32, a:u32, b:u32, c:u32",
                    {"atype: u32 s32", "btype: u32 s32"},
                    since(5, 0, 61)}},
         .lower = dot_product<Op::dp4a>},
        {.manual = "9.7.1.24",
         .forms = {{"dp2a.lo.atype.btype d:b32, a:u32, b:u32, c:u32",
                    {"atype: u32 s32", "btype: u32 s32"},
                    since(5, 0, 61)},
                   {"dp2a.hi.atype.btype d:b32, a:u32, b:u32, c:u32",
                    {"atype: u32 s32", "btype: u32 s32"},
                    since(5, 0, 61)}},
         .lower = dot_product<Op::dp2a>},
    };
}

}  // namespace tilepath::isa
