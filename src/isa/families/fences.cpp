// Memory fences: PTX ISA 9.7.13.4.
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

void fence(Lowering& to, const Bound&) { to.emit(Op::fence, DataType::none, {}, {}); }

}  // namespace

std::vector<Family> fences_families() {
    return {
        {.manual = "9.7.13.4",
         .forms = {{"membar.level", {"level: cta gl"}, since(1, 4)},
                   {"membar.level", {"level: sys"}, since(2, 0, 20)},
                   {"membar.proxy.kind", {"kind: alias"}, since(7, 5, 60)},
                   {"fence{.sem}.scope", {"sem: sc acq_rel", "scope: cta cluster gpu sys"}, since(6, 0, 70)},
                   // The manual asks for PTX ISA 8.6 and sm_90; ptxas 13.0 takes them from sm_70 on.
                   {"fence.sem.scope", {"sem: acquire release", "scope: cta cluster gpu sys"}, since(6, 0, 70)},
                   {"fence.proxy.kind", {"kind: alias"}, since(7, 5, 70)}},
         .lower = fence},
    };
}

}  // namespace tilepath::isa
