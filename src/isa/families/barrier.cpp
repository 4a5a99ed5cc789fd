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
    if (b && b->kind == ptx::OperandKind::immediate && ((b->bits == 0 && in.has("arrive")) || b->bits % 32 != 0))
        to.error(b->span, fmt::format("the threads of a barrier are a multiple of the 32 of a warp; found {}",
                                      static_cast<std::int64_t>(b->bits)));
    std::vector<Operand> sources{to.read(a, DataType::u32), b ? to.read(*b, DataType::u32) : Operand::none()};
    if (in.has("red")) sources.push_back(to.read_predicate(in["c"]));
    MicroOp& out = to.emit(Op::barrier, DataType::u32, destinations, sources);
    out.variant = static_cast<std::uint8_t>(mode_of(in));
    // bar.* is barrier.*.aligned.
    out.flags.aligned = in.has("aligned") || in.form().opcode == "bar";
}

/// Each without and with .cta, which came later.
std::vector<FormText> forms() {
    std::vector<FormText> out;
    auto add = [&](std::string_view plain, std::string_view cta, std::vector<std::string_view> words, Needs needs) {
        out.push_back({plain, words, needs});
        out.push_back({cta, std::move(words), later(needs, since(7, 8, 30))});
    };
    const Needs counted = since(2, 0, 20), unaligned = since(6, 0, 30);
    constexpr std::string_view u32 = "type: u32", pred = "type: pred", op = "op: and or";
    add("bar.sync a{, b}", "bar.cta.sync a{, b}", {}, since(1, 0));
    add("bar.arrive a, b", "bar.cta.arrive a, b", {}, counted);
    add("bar.red.popc.type d, a, c:pred", "bar.cta.red.popc.type d, a, c:pred", {u32}, counted);
    add("bar.red.popc.type d, a, b, c:pred", "bar.cta.red.popc.type d, a, b, c:pred", {u32}, counted);
    add("bar.red.op.type p, a, c:pred", "bar.cta.red.op.type p, a, c:pred", {op, pred}, counted);
    add("bar.red.op.type p, a, b, c:pred", "bar.cta.red.op.type p, a, b, c:pred", {op, pred}, counted);
    add("barrier.sync{.aligned} a{, b}", "barrier.cta.sync{.aligned} a{, b}", {}, unaligned);
    add("barrier.arrive{.aligned} a, b", "barrier.cta.arrive{.aligned} a, b", {}, unaligned);
    add("barrier.red.popc{.aligned}.type d, a, c:pred", "barrier.cta.red.popc{.aligned}.type d, a, c:pred", {u32},
        unaligned);
    add("barrier.red.popc{.aligned}.type d, a, b, c:pred", "barrier.cta.red.popc{.aligned}.type d, a, b, c:pred", {u32},
        unaligned);
    add("barrier.red.op{.aligned}.type p, a, c:pred", "barrier.cta.red.op{.aligned}.type p, a, c:pred", {op, pred},
        unaligned);
    add("barrier.red.op{.aligned}.type p, a, b, c:pred", "barrier.cta.red.op{.aligned}.type p, a, b, c:pred",
        {op, pred}, unaligned);
    return out;
}

}  // namespace

std::vector<Family> barrier_families() {
    return {
        {.manual = "9.7.13.1", .forms = forms(), .lower = barrier},
        {.manual = "9.7.13.2",
         .forms = {{"bar.warp.sync membermask", {}, since(6, 0, 30)}},
         .lower =
             [](Lowering& to, const Bound& in) {
                 to.emit(Op::bar_warp_sync, DataType::b32, {}, {to.read(in["membermask"], DataType::u32)});
             }},
    };
}

}  // namespace tilepath::isa
