// Arithmetic on f16 and bf16, one or two to a register: PTX ISA 9.7.4. (tanh and ex2: approximations.cpp)
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

constexpr std::string_view nearest = "rnd: rn";
constexpr std::string_view f16 = "type: f16 f16x2";
constexpr std::string_view bf16 = "type: bf16 bf16x2";

/// add, sub and mul have the same forms.
template <Op op>
Family sum_or_product(std::string_view manual, std::string_view syntax_f16, std::string_view syntax_bf16) {
    return {.manual = manual,
            .forms = {{syntax_f16, {nearest, f16}, since(4, 2, 53)}, {syntax_bf16, {nearest, bf16}, since(7, 8, 90)}},
            .lower = lower_plain<op>};
}

/// fma.oob of one half: +0 where a or b is the NaN (0x7ff7, of either sign) with which TMA fills what lies out of
/// bounds.
Operand fma_in_bounds(Lowering& to, DataType type, Operand a, Operand b, Operand c) {
    auto is_filling = [&](Operand value) {
        const Operand magnitude = to.temporary(DataType::b16), is = to.temporary(DataType::pred);
        to.emit(Op::and_, DataType::b16, {magnitude}, {value, to.constant(0x7fff, DataType::b16)});
        to.emit(Op::setp, DataType::b16, {is}, {magnitude, to.constant(0x7ff7, DataType::b16)}).compare =
            program::Compare::eq;
        return is;
    };
    const Operand outside = to.temporary(DataType::pred), product = to.temporary(type), result = to.temporary(type);
    to.emit(Op::or_, DataType::pred, {outside}, {is_filling(a), is_filling(b)});
    to.emit(Op::fma, type, {product}, {a, b, c});
    to.emit(Op::select, type, {result}, {to.constant(0, type), product, outside});
    return result;
}

void fma_oob(Lowering& to, const Bound& in) {
    const DataType type = in.type();
    const Operand d = to.write(in["d"], type);
    std::array<Operand, 3> sources{to.read(in["a"], type), to.read(in["b"], type), to.read(in["c"], type)};
    if (program::traits(type).elements == 1) {
        to.emit(Op::mov, type, {d}, {fma_in_bounds(to, type, sources[0], sources[1], sources[2])});
        return;
    }
    const DataType half = type == DataType::f16x2 ? DataType::f16 : DataType::bf16;
    std::array<std::array<Operand, 2>, 3> halves;
    for (std::size_t i = 0; i < 3; ++i) {
        halves[i] = {to.temporary(DataType::b16), to.temporary(DataType::b16)};
        to.emit(Op::unpack, DataType::b16, halves[i], std::span(&sources[i], 1)).source_type = DataType::b32;
    }
    const Operand low = fma_in_bounds(to, half, halves[0][0], halves[1][0], halves[2][0]);
    const Operand high = fma_in_bounds(to, half, halves[0][1], halves[1][1], halves[2][1]);
    to.emit(Op::pack, DataType::b32, {d}, {low, high}).source_type = DataType::b16;
}

}  // namespace

std::vector<Family> half_arithmetic_families() {
    return {
        sum_or_product<Op::add>("9.7.4.1", "add{.rnd}{.ftz}{.sat}.type d, a, b", "add{.rnd}.type d, a, b"),
        sum_or_product<Op::sub>("9.7.4.2", "sub{.rnd}{.ftz}{.sat}.type d, a, b", "sub{.rnd}.type d, a, b"),
        sum_or_product<Op::mul>("9.7.4.3", "mul{.rnd}{.ftz}{.sat}.type d, a, b", "mul{.rnd}.type d, a, b"),
        {.manual = "9.7.4.4",
         .forms = {{"fma.rnd{.ftz}{.sat}.type d, a, b, c", {nearest, f16}, since(4, 2, 53)},
                   {"fma.rnd{.ftz}.relu.type d, a, b, c", {nearest, f16}, since(7, 0, 80)},
                   {"fma.rnd{.relu}.type d, a, b, c", {nearest, bf16}, since(7, 0, 80)}},
         .lower = lower_plain<Op::fma>},
        {.manual = "9.7.4.4",
         .forms = {{"fma.rnd.oob{.relu}.type d, a, b, c", {nearest, "type: f16 f16x2 bf16 bf16x2"}, since(8, 1, 90)}},
         .lower = fma_oob},
        {.manual = "9.7.4.5",
         .forms = {{"neg{.ftz}.type d, a", {f16}, since(6, 0, 53)}, {"neg.type d, a", {bf16}, since(7, 0, 80)}},
         .lower = lower_plain<Op::neg>},
        {.manual = "9.7.4.6",
         .forms = {{"abs{.ftz}.type d, a", {f16}, since(6, 5, 53)}, {"abs.type d, a", {bf16}, since(7, 0, 80)}},
         .lower = lower_plain<Op::abs>},
        {.manual = "9.7.4.7",
         .forms = {{"min{.ftz}{.NaN}.type d, a, b", {f16}, since(7, 0, 80)},
                   {"min{.ftz}{.NaN}.xorsign.abs.type d, a, b", {f16}, since(7, 2, 86)},
                   {"min{.NaN}.type d, a, b", {bf16}, since(7, 0, 80)},
                   {"min{.NaN}.xorsign.abs.type d, a, b", {bf16}, since(7, 2, 86)}},
         .lower = lower_plain<Op::min>},
        {.manual = "9.7.4.8",
         .forms = {{"max{.ftz}{.NaN}.type d, a, b", {f16}, since(7, 0, 80)},
                   {"max{.ftz}{.NaN}.xorsign.abs.type d, a, b", {f16}, since(7, 2, 86)},
                   {"max{.NaN}.type d, a, b", {bf16}, since(7, 0, 80)},
                   {"max{.NaN}.xorsign.abs.type d, a, b", {bf16}, since(7, 2, 86)}},
         .lower = lower_plain<Op::max>},
    };
}

}  // namespace tilepath::isa
