// The stack and what is left: PTX ISA 9.7.17, 9.7.19.
#include <bit>

#include <fmt/format.h>

#include "isa/plain.h"

namespace tilepath::isa {
namespace {

void alloca_(Lowering& to, const Bound& in) {
    std::int64_t alignment = 8;  // 9.7.17.3: where none is given
    if (const ptx::Operand* given = in.operand("alignment")) {
        alignment = to.immediate(*given, "the alignment of alloca");
        if (alignment < 1 || alignment > 1 << 23 || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
            to.error(given->span,
                     fmt::format("the alignment of alloca is a power of two up to 2^23; found {}", alignment));
    }
    to.emit(Op::alloca_, in.type(), {to.write(in["d"], in.type())}, {to.read(in["size"], in.type())}).immediate =
        alignment;
}

/// Performance monitors count nothing that a kernel can see.
void pmevent(Lowering& to, const Bound& in) {
    const std::int64_t event = to.immediate(in["a"], "the event");
    const std::int64_t most = in.has("mask") ? 0xffff : 15;
    if (event < 0 || event > most) to.error(in["a"].span, fmt::format("the event is 0 to {}; found {}", most, event));
}

}  // namespace

std::vector<Family> misc_families() {
    return {
        {.manual = "9.7.17.1",
         .forms = {{"stacksave.type d", {"type: u32 u64"}, since(7, 3, 52)}},
         .lower = lower_plain<Op::stacksave>},
        {.manual = "9.7.17.2",
         .forms = {{"stackrestore.type a", {"type: u32 u64"}, since(7, 3, 52)}},
         .lower =
             [](Lowering& to, const Bound& in) {
                 require_register(to, in["a"]);
                 to.emit(Op::stackrestore, in.type(), {}, {to.read(in["a"], in.type())});
             }},
        {.manual = "9.7.17.3",
         .forms = {{"alloca.type d, size:type{, alignment}", {"type: u32 u64"}, since(7, 3, 52)}},
         .lower = alloca_},
        {.manual = "9.7.19.2",
         .forms = {{"nanosleep.type a", {"type: u32"}, since(6, 3, 70)}},
         .lower =
             [](Lowering& to, const Bound& in) {
                 to.emit(Op::nanosleep, DataType::u32, {}, {to.read(in["a"], DataType::u32)});
             }},
        {.manual = "9.7.19.3",
         .forms = {{"pmevent a", {}, since(1, 4)}, {"pmevent.mask a", {}, since(3, 0, 20)}},
         .lower = pmevent},
    };
}

}  // namespace tilepath::isa
