// Logic and shifts: PTX ISA 9.7.8; prmt: 9.7.9.7.
#include <fmt/format.h>

#include "isa/plain.h"

namespace tilepath::isa {
namespace {

using program::BoolOp;

void lop3(Lowering& to, const Bound& in) {
    const std::int64_t table = to.immediate(in["immLut"], "the look-up table of lop3");
    if (table < 0 || table > 255)
        to.error(in["immLut"].span, fmt::format("the look-up table of lop3 has 8 bits; found {}", table),
                 "use 0 to 255");
    std::vector<Operand> sources{to.read(in["a"], DataType::b32), to.read(in["b"], DataType::b32),
                                 to.read(in["c"], DataType::b32)};
    std::vector<Operand> destinations;
    if (in.has("bool")) {
        std::span<const ptx::Operand> pair = to.module().children(in["d"]);
        if (pair[1].kind == ptx::OperandKind::sink)
            to.error(pair[1].span, "'lop3' does not discard its predicate: expected a register, found '_'");
        destinations = {to.write(pair[0], DataType::b32), to.write(pair[1], DataType::pred)};
        sources.push_back(to.read_predicate(in["q"]));
    } else {
        destinations = {to.write(in["d"], DataType::b32)};
    }
    MicroOp& out = to.emit(Op::lop3, DataType::b32, destinations, sources);
    out.immediate = table;
    if (in.has("bool")) out.bool_op = in.word("bool") == "or" ? BoolOp::or_ : BoolOp::and_;
}

void funnel_shift(Lowering& to, const Bound& in) {
    const bool right = in.has("r"), clamp = in.word("mode") == "clamp";
    to.simple(Op::shf).variant = static_cast<std::uint8_t>((right ? 1 : 0) | (clamp ? 2 : 0));
}

void permute(Lowering& to, const Bound& in) {
    static constexpr std::string_view modes[] = {"",    "f4e", "b4e", "rc8",
                                                 "ecl", "ecr", "rc16"};  // in PermuteMode's order
    std::uint8_t mode = 0;
    while (modes[mode] != in.word("mode")) ++mode;
    to.simple(Op::prmt).variant = mode;
}

constexpr std::string_view bit_types = "type: pred b16 b32 b64";

}  // namespace

std::vector<Family> logic_and_shift_families() {
    return {
        {.manual = "9.7.8.1",
         .forms = {{"and.type d, a, b", {bit_types}, since(1, 0)}},
         .lower = lower_plain<Op::and_>},
        {.manual = "9.7.8.2", .forms = {{"or.type d, a, b", {bit_types}, since(1, 0)}}, .lower = lower_plain<Op::or_>},
        {.manual = "9.7.8.3",
         .forms = {{"xor.type d, a, b", {bit_types}, since(1, 0)}},
         .lower = lower_plain<Op::xor_>},
        {.manual = "9.7.8.4", .forms = {{"not.type d, a", {bit_types}, since(1, 0)}}, .lower = lower_plain<Op::not_>},
        {.manual = "9.7.8.5",
         .forms = {{"cnot.type d, a", {"type: b16 b32 b64"}, since(1, 0)}},
         .lower = lower_plain<Op::cnot>},
        {.manual = "9.7.8.6",
         .forms = {{"lop3.type d, a, b, c, immLut", {"type: b32"}, since(4, 3, 50)},
                   {"lop3.bool.type d|p, a, b, c, immLut, q", {"bool: or and", "type: b32"}, since(8, 2, 70)}},
         .lower = lop3},
        {.manual = "9.7.8.7",
         .forms = {{"shf.l.mode.type d, a, b, c:u32", {"mode: clamp wrap", "type: b32"}, since(3, 1, 32)},
                   {"shf.r.mode.type d, a, b, c:u32", {"mode: clamp wrap", "type: b32"}, since(3, 1, 32)}},
         .lower = funnel_shift},
        {.manual = "9.7.8.8",
         .forms = {{"shl.type d, a, b:u32", {"type: b16 b32 b64"}, since(1, 0)}},
         .lower = lower_plain<Op::shl>},
        {.manual = "9.7.8.9",
         .forms = {{"shr.type d, a, b:u32", {"type: b16 b32 b64 u16 u32 u64 s16 s32 s64"}, since(1, 0)}},
         .lower = lower_plain<Op::shr>},
        {.manual = "9.7.9.7",
         .forms = {{"prmt.type{.mode} d, a, b, c", {"type: b32", "mode: f4e b4e rc8 ecl ecr rc16"}, since(2, 0, 20)}},
         .lower = permute},
    };
}

}  // namespace tilepath::isa
