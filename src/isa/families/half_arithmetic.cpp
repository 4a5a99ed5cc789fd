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
