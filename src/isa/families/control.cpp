// Control flow: PTX ISA 9.7.12.
#include "isa/lowering.h"

namespace tilepath::isa {

std::vector<Family> control_families() {
    return {
        {.manual = "9.7.12.3",
         .forms = {{"bra{.uni} t", {}, since(1, 0)}},
         .lower = [](Lowering& to, const Bound& in) { to.branch(in["t"]); }},
        {.manual = "9.7.12.4",
         .forms = {{"brx.idx{.uni} a:u32, t", {}, since(6, 0, 30)}},
         .lower = [](Lowering& to, const Bound& in) { to.branch_indexed(in["a"], in["t"]); }},
        {.manual = "9.7.12.5",
         .forms = {{"call{.uni} (r), f{, (a)}{, t}", {}, since(1, 0)},
                   {"call{.uni} f{, (a)}{, t}", {}, since(1, 0)},
                   {"call{.uni} f, t", {}, since(2, 1, 20)}},
         .lower = [](Lowering& to, const Bound& in) { to.call(in); }},
        {.manual = "9.7.12.6",
         .forms = {{"ret{.uni}", {}, since(1, 0)}},
         .lower = [](Lowering& to, const Bound&) { to.leave(Op::ret); }},
        {.manual = "9.7.12.7", .forms = {{"exit", {}, since(1, 0)}}, .lower = [](Lowering& to, const Bound&) { to.leave(Op::exit); }},
        {.manual = "9.7.20.4", .forms = {{"trap", {}, since(1, 0)}}, .lower = [](Lowering& to, const Bound&) { to.leave(Op::trap); }},
        {.manual = "9.7.20.1",
         .forms = {{"brkpt", {}, since(1, 0, 11)}},
         .lower = [](Lowering& to, const Bound&) { to.leave(Op::brkpt); }},
    };
}

}  // namespace tilepath::isa
