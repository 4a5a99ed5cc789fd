// Arithmetic on f32 and f64: PTX ISA 9.7.3; on f32 with half-precision inputs: 9.7.5.
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

constexpr std::string_view rounding = "rnd: rn rz rm rp";

/// 9.7.5: the 16-bit operands are widened, exactly; then the f32 operation.
template <Op op>
void mixed(Lowering& to, const Bound& in) {
    std::vector<Operand> sources;
    for (std::size_t i = 1; i < in.operand_count(); ++i) {
        Operand source = to.read(in.operand(i), in.operand_type(i));
        if (in.operand_type(i) != DataType::f32) {
            Operand wide = to.temporary(DataType::f32);
            MicroOp& widen = to.emit(Op::cvt, DataType::f32, {wide}, {source});
            widen.source_type = in.operand_type(i);
            widen.flags = {};
            source = wide;
        }
        sources.push_back(source);
    }
    Operand destination = to.write(in["d"], DataType::f32);
    to.emit(op, DataType::f32, std::span(&destination, 1), sources);
}

void testp(Lowering& to, const Bound& in) {
    static constexpr std::string_view properties[] = {"finite",     "infinite", "number",
                                                      "notanumber", "normal",   "subnormal"};
    std::uint8_t property = 0;  // in TestProperty's order
    while (properties[property] != in.word("op")) ++property;
    to.simple(Op::testp, in.type()).variant = property;
}

/// add, sub and mul have the same forms.
template <Op op>
Family sum_or_product(std::string_view manual, std::string_view single, std::string_view pair, std::string_view twice) {
    return {.manual = manual,
            .forms = {{single, {rounding, "type: f32"}, since(1, 0)},
                      {pair, {rounding, "type: f32x2"}, since(8, 6, 100)},
                      {twice, {rounding, "type: f64"}, since(1, 0, 13)}},
            .lower = lower_plain<op>};
}

/// So have min and max.
template <Op op>
Family extremum(std::string_view manual, std::array<std::string_view, 5> syntax) {
    return {.manual = manual,
            .forms = {{syntax[0], {"type: f32"}, since(1, 0)},
                      {syntax[1], {"type: f32"}, since(7, 0, 80)},
                      {syntax[2], {"type: f32"}, since(7, 2, 86)},
                      {syntax[3], {"type: f32"}, since(8, 8, 100)},
                      {syntax[4], {"type: f64"}, since(1, 0, 13)}},
            .lower = lower_plain<op>};
}

}  // namespace

std::vector<Family> float_arithmetic_families() {
    return {
        {.manual = "9.7.3.1",
         .forms = {{"testp.op.type p, a",
                    {"op: finite infinite number notanumber normal subnormal", "type: f32 f64"},
                    since(2, 0, 20)}},
         .lower = testp},
        {.manual = "9.7.3.2",
         .forms = {{"copysign.type d, a, b", {"type: f32 f64"}, since(2, 0, 20)}},
         .lower = lower_plain<Op::copysign>},
        sum_or_product<Op::add>("9.7.3.3", "add{.rnd}{.ftz}{.sat}.type d, a, b", "add{.rnd}{.ftz}.type d, a, b",
                                "add{.rnd}.type d, a, b"),
        sum_or_product<Op::sub>("9.7.3.4", "sub{.rnd}{.ftz}{.sat}.type d, a, b", "sub{.rnd}{.ftz}.type d, a, b",
                                "sub{.rnd}.type d, a, b"),
        sum_or_product<Op::mul>("9.7.3.5", "mul{.rnd}{.ftz}{.sat}.type d, a, b", "mul{.rnd}{.ftz}.type d, a, b",
                                "mul{.rnd}.type d, a, b"),
        {.manual = "9.7.3.6",
         .forms = {{"fma.rnd{.ftz}{.sat}.type d, a, b, c", {rounding, "type: f32"}, since(2, 0, 20)},
                   {"fma.rnd{.ftz}.type d, a, b, c", {rounding, "type: f32x2"}, since(8, 6, 100)},
                   {"fma.rnd.type d, a, b, c", {rounding, "type: f64"}, since(1, 4, 13)}},
         .lower = lower_plain<Op::fma>},
        // On every target that has a rounding modifier, mad is fma.
        {.manual = "9.7.3.7",
         .forms = {{"mad.rnd{.ftz}{.sat}.type d, a, b, c", {rounding, "type: f32"}, since(2, 0, 20)},
                   {"mad.rnd.type d, a, b, c", {rounding, "type: f64"}, since(1, 4, 13)}},
         .lower = lower_plain<Op::fma>},
        {.manual = "9.7.3.8",
         .forms = {{"div.approx{.ftz}.type d, a, b", {"type: f32"}, since(1, 4)},
                   {"div.full{.ftz}.type d, a, b", {"type: f32"}, since(1, 4)}},
         .lower = lower_plain<Op::div>},
        {.manual = "9.7.3.8",
         .forms = {{"div.rnd{.ftz}.type d, a, b", {rounding, "type: f32"}, since(1, 4, 20)},
                   {"div.rnd.type d, a, b", {rounding, "type: f64"}, since(1, 4, 13)}},
         .lower = lower_plain<Op::div>},
        {.manual = "9.7.3.9",
         .forms = {{"abs{.ftz}.type d, a", {"type: f32"}, since(1, 0)},
                   {"abs.type d, a", {"type: f64"}, since(1, 0, 13)}},
         .lower = lower_plain<Op::abs>},
        {.manual = "9.7.3.10",
         .forms = {{"neg{.ftz}.type d, a", {"type: f32"}, since(1, 0)},
                   {"neg.type d, a", {"type: f64"}, since(1, 0, 13)}},
         .lower = lower_plain<Op::neg>},
        extremum<Op::min>("9.7.3.11", {"min{.ftz}.type d, a, b", "min{.ftz}.NaN.type d, a, b",
                                       "min{.ftz}{.NaN}.xorsign.abs.type d, a, b",
                                       "min{.ftz}{.NaN}{.abs}.type d, a, b, c", "min.type d, a, b"}),
        extremum<Op::max>("9.7.3.12", {"max{.ftz}.type d, a, b", "max{.ftz}.NaN.type d, a, b",
                                       "max{.ftz}{.NaN}.xorsign.abs.type d, a, b",
                                       "max{.ftz}{.NaN}{.abs}.type d, a, b, c", "max.type d, a, b"}),
        {.manual = "9.7.5.1",
         .forms = {{"add{.rnd}{.sat}.dtype.atype d, a, c:dtype",
                    {rounding, "dtype: f32", "atype: f16 bf16"},
                    since(8, 6, 100)}},
         .lower = mixed<Op::add>},
        {.manual = "9.7.5.2",
         .forms = {{"sub{.rnd}{.sat}.dtype.atype d, a, c:dtype",
                    {rounding, "dtype: f32", "atype: f16 bf16"},
                    since(8, 6, 100)}},
         .lower = mixed<Op::sub>},
        {.manual = "9.7.5.3",
         .forms = {{"fma.rnd{.sat}.dtype.abtype d, a:abtype, b:abtype, c:dtype",
                    {rounding, "dtype: f32", "abtype: f16 bf16"},
                    since(8, 6, 100)}},
         .lower = mixed<Op::fma>},
    };
}

}  // namespace tilepath::isa
