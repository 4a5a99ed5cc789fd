// Barriers of a CTA and of a warp: PTX ISA 9.7.13.1, 9.7.13.2.
#include <fmt/format.h>

#include "isa/plain.h"

namespace tilepath::isa {
namespace {

using program::BarrierMode;

BarrierMode mode_of(const Bound& in) {
    if (in.has("sync")) return BarrierMode::sync;
    if (in.has("arrive")) return BarrierMode::arrive;
    return in.has("popc") ? BarrierMode::red_popc : in.word("op") == "and" ? BarrierMode::red_and : BarrierMode::red_or;
}

void barrier(Lowering& to, const Bound& in) {
    std::vector<Operand> destinations;
    if (in.has("popc"))
        destinations.push_back(to.write(in["d"], DataType::u32));
    else if (in.has("red"))
        destinations.push_back(to.write(in["p"], DataType::pred));
    const ptx::Operand &a = in["a"], *b = in.operand("b");
    if (a.kind == ptx::OperandKind::immediate && a.bits > 15)
        to.error(a.span, fmt::format("a CTA has barriers 0 to 15; found {}", static_cast<std::int64_t>(a.bits)));
    if (b && b->kind == ptx::OperandKind::immediate && (b->bits == 0 || b->bits % 32 != 0))
        to.error(b->span, fmt::format("the threads of a barrier are a multiple of the 32 of a warp; found {}",
                                      static_cast<std::int64_t>(b->bits)));
    std::vector<Operand> sources{to.read(a, DataType::u32), b ? to.read(*b, DataType::u32) : Operand::none()};
    if (in.has("red")) sources.push_back(to.read_predicate(in["c"]));
    MicroOp& out = to.emit(Op::barrier, DataType::u32, destinations, sources);
    out.variant = static_cast<std::uint8_t>(mode_of(in));
    // bar.* is barrier.*.aligned.
    out.flags.aligned = in.has("aligned") || in.form().opcode == "bar";
}

}  // namespace

std::vector<Family> barrier_families() {
    return {
        {.manual = "9.7.13.1",
         .forms = {{"bar.sync a{, b}", {}, since(1, 0)},
                   {"bar.cta.sync a{, b}", {}, since(7, 8, 30)},
                   {"bar.arrive a, b", {}, since(2, 0, 20)},
                   {"bar.cta.arrive a, b", {}, since(7, 8, 30)},
                   {"bar{.cta}.red.popc.type d, a, c:pred", {"type: u32"}, since(2, 0, 20)},
                   {"bar{.cta}.red.popc.type d, a, b, c:pred", {"type: u32"}, since(2, 0, 20)},
                   {"bar{.cta}.red.op.type p, a, c:pred", {"op: and or", "type: pred"}, since(2, 0, 20)},
                   {"bar{.cta}.red.op.type p, a, b, c:pred", {"op: and or", "type: pred"}, since(2, 0, 20)},
                   {"barrier{.cta}.sync{.aligned} a{, b}", {}, since(6, 0, 30)},
                   {"barrier{.cta}.arrive{.aligned} a, b", {}, since(6, 0, 30)},
                   {"barrier{.cta}.red.popc{.aligned}.type d, a, c:pred", {"type: u32"}, since(6, 0, 30)},
                   {"barrier{.cta}.red.popc{.aligned}.type d, a, b, c:pred", {"type: u32"}, since(6, 0, 30)},
                   {"barrier{.cta}.red.op{.aligned}.type p, a, c:pred", {"op: and or", "type: pred"}, since(6, 0, 30)},
                   {"barrier{.cta}.red.op{.aligned}.type p, a, b, c:pred",
                    {"op: and or", "type: pred"},
                    since(6, 0, 30)}},
         .lower = barrier},
        {.manual = "9.7.13.2",
         .forms = {{"bar.warp.sync membermask", {}, since(6, 0, 30)}},
         .lower =
             [](Lowering& to, const Bound& in) {
                 to.emit(Op::bar_warp_sync, DataType::b32, {}, {to.read(in["membermask"], DataType::b32)});
             }},
    };
}

}  // namespace tilepath::isa
