// Reciprocals, roots and transcendental functions: PTX ISA 9.7.3.13 to 9.7.3.22, 9.7.4.9, 9.7.4.10.
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

constexpr std::string_view rounding = "rnd: rn rz rm rp";
constexpr std::string_view f32 = "type: f32";
constexpr std::string_view f64 = "type: f64";

}  // namespace

std::vector<Family> approximations_families() {
    return {
        {.manual = "9.7.3.13",
         .forms = {{"rcp.approx{.ftz}.type d, a", {f32}, since(1, 4)}},
         .lower = lower_plain<Op::rcp>},
        {.manual = "9.7.3.13",
         .forms = {{"rcp.rnd{.ftz}.type d, a", {rounding, f32}, since(1, 4, 20)},
                   {"rcp.rnd.type d, a", {rounding, f64}, since(1, 4, 13)}},
         .lower = lower_plain<Op::rcp>},
        {.manual = "9.7.3.14",
         .forms = {{"rcp.approx.ftz.type d, a", {f64}, since(2, 1, 20)}},
         .lower = lower_plain<Op::rcp>},
        {.manual = "9.7.3.15",
         .forms = {{"sqrt.approx{.ftz}.type d, a", {f32}, since(1, 4)}},
         .lower = lower_plain<Op::sqrt>},
        {.manual = "9.7.3.15",
         .forms = {{"sqrt.rnd{.ftz}.type d, a", {rounding, f32}, since(1, 4, 20)},
                   {"sqrt.rnd.type d, a", {rounding, f64}, since(1, 4, 13)}},
         .lower = lower_plain<Op::sqrt>},
        {.manual = "9.7.3.16",
         .forms = {{"rsqrt.approx{.ftz}.type d, a", {f32}, since(1, 4)},
                   {"rsqrt.approx.type d, a", {f64}, since(1, 4, 13)}},
         .lower = lower_plain<Op::rsqrt>},
        {.manual = "9.7.3.17",
         .forms = {{"rsqrt.approx.ftz.type d, a", {f64}, since(4, 0, 20)}},
         .lower = lower_plain<Op::rsqrt>},
        {.manual = "9.7.3.18",
         .forms = {{"sin.approx{.ftz}.type d, a", {f32}, since(1, 4)}},
         .lower = lower_plain<Op::sin>},
        {.manual = "9.7.3.19",
         .forms = {{"cos.approx{.ftz}.type d, a", {f32}, since(1, 4)}},
         .lower = lower_plain<Op::cos>},
        {.manual = "9.7.3.20",
         .forms = {{"lg2.approx{.ftz}.type d, a", {f32}, since(1, 4)}},
         .lower = lower_plain<Op::lg2>},
        {.manual = "9.7.3.21",
         .forms = {{"ex2.approx{.ftz}.type d, a", {f32}, since(1, 4)}},
         .lower = lower_plain<Op::ex2>},
        {.manual = "9.7.3.22",
         .forms = {{"tanh.approx.type d, a", {f32}, since(7, 0, 75)}},
         .lower = lower_plain<Op::tanh>},
        {.manual = "9.7.4.9",
         .forms = {{"tanh.approx.type d, a", {"type: f16 f16x2"}, since(7, 0, 75)},
                   {"tanh.approx.type d, a", {"type: bf16 bf16x2"}, since(7, 8, 90)}},
         .lower = lower_plain<Op::tanh>},
        {.manual = "9.7.4.10",
         .forms = {{"ex2.approx.type d, a", {"type: f16 f16x2"}, since(7, 0, 75)},
                   {"ex2.approx.ftz.type d, a", {"type: bf16 bf16x2"}, since(7, 8, 90)}},
         .lower = lower_plain<Op::ex2>},
    };
}

}  // namespace tilepath::isa
