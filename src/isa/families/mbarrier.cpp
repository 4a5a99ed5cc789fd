// Barriers in shared memory that count arrivals: PTX ISA 9.7.13.15. Memory order changes no result of a kernel without
// a race.
#include <fmt/format.h>

#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

/// Puts the address of operand `a` first among the sources.
MicroOp& emit_at(Lowering& to, const Bound& in, Op op, std::span<const Operand> destinations,
                 std::vector<Operand> sources) {
    const Address at = to.address(in["a"], space_named(in.word("ss")));
    sources.insert(sources.begin(), at.base);
    MicroOp& out = to.emit(op, DataType::b64, destinations, sources);
    out.space = at.space;
    out.immediate = at.offset;
    return out;
}

void init(Lowering& to, const Bound& in) {
    const ptx::Operand& count = in["count"];
    constexpr std::uint64_t most = (1u << 20) - 1;  // 9.7.13.15.3
    if (count.kind == ptx::OperandKind::immediate && (count.bits == 0 || count.bits > most))
        to.error(count.span, fmt::format("an mbarrier expects 1 to {} arrivals; found {}", most,
                                         static_cast<std::int64_t>(count.bits)));
    emit_at(to, in, Op::mbarrier_init, {}, {to.read(count, DataType::u32)});
}

void arrive(Lowering& to, const Bound& in) {
    const Operand state = to.write(in["d"], DataType::b64);
    std::vector<Operand> sources;
    if (const ptx::Operand* count = in.operand("count")) sources.push_back(to.read(*count, DataType::u32));
    const bool keeps_state = state.kind != Operand::Kind::none;
    emit_at(to, in, Op::mbarrier_arrive, std::span(&state, keeps_state ? 1 : 0), std::move(sources)).variant =
        static_cast<std::uint8_t>((in.has("arrive_drop") ? 1 : 0) | (in.has("noComplete") ? 2 : 0));
}

void wait(Lowering& to, const Bound& in) {
    const Operand complete = to.write(in["p"], DataType::pred);
    const bool parity = in.has("parity");
    const Operand phase = to.read(in["phase"], parity ? DataType::u32 : DataType::b64);
    // How long a try may suspend the thread is a hint; the scheduler has its own.
    if (const ptx::Operand* hint = in.operand("hint")) to.read(*hint, DataType::u32);
    emit_at(to, in, Op::mbarrier_test_wait, std::span(&complete, 1), {phase}).variant =
        static_cast<std::uint8_t>((parity ? 1 : 0) | (in.has("try_wait") ? 2 : 0));
}

constexpr std::string_view spaces = "ss: shared shared::cta";
constexpr std::string_view type = "type: b64";

/// arrive and arrive_drop have the same forms.
Family arrival(std::string_view manual, std::array<std::string_view, 6> syntax) {
    return {.manual = manual,
            .forms = {{syntax[0], {spaces, type}, since(7, 0, 80)},
                      {syntax[1], {spaces, type}, since(7, 8, 90)},
                      {syntax[2], {spaces, type, "sem: release", "scope: cta cluster"}, since(8, 0, 80)},
                      {syntax[3], {spaces, type, "sem: release", "scope: cta cluster"}, since(8, 0, 90)},
                      {syntax[4], {spaces, type}, since(7, 0, 80)},
                      {syntax[5], {spaces, type, "sem: release", "scope: cta"}, since(8, 0, 80)}},
            .lower = arrive};
}

}  // namespace

std::vector<Family> mbarrier_families() {
    return {
        {.manual = "9.7.13.15.9",
         .forms = {{"mbarrier.init{.ss}.type [a], count:u32", {spaces, type}, since(7, 0, 80)}},
         .lower = init},
        {.manual = "9.7.13.15.10",
         .forms = {{"mbarrier.inval{.ss}.type [a]", {spaces, type}, since(7, 0, 80)}},
         .lower = [](Lowering& to, const Bound& in) { emit_at(to, in, Op::mbarrier_inval, {}, {}); }},
        arrival("9.7.13.15.13",
                {"mbarrier.arrive{.ss}.type d, [a]", "mbarrier.arrive{.ss}.type d, [a], count:u32",
                 "mbarrier.arrive.sem.scope{.ss}.type d, [a]", "mbarrier.arrive.sem.scope{.ss}.type d, [a], count:u32",
                 "mbarrier.arrive.noComplete{.ss}.type d, [a], count:u32",
                 "mbarrier.arrive.noComplete.sem.scope{.ss}.type d, [a], count:u32"}),
        arrival("9.7.13.15.14",
                {"mbarrier.arrive_drop{.ss}.type d, [a]", "mbarrier.arrive_drop{.ss}.type d, [a], count:u32",
                 "mbarrier.arrive_drop.sem.scope{.ss}.type d, [a]",
                 "mbarrier.arrive_drop.sem.scope{.ss}.type d, [a], count:u32",
                 "mbarrier.arrive_drop.noComplete{.ss}.type d, [a], count:u32",
                 "mbarrier.arrive_drop.noComplete.sem.scope{.ss}.type d, [a], count:u32"}),
        {.manual = "9.7.13.15.16",
         .forms = {{"mbarrier.test_wait{.ss}.type p, [a], phase:b64", {spaces, type}, since(7, 0, 80)},
                   {"mbarrier.test_wait.parity{.ss}.type p, [a], phase:u32", {spaces, type}, since(7, 1, 80)},
                   {"mbarrier.test_wait{.parity}.sem.scope{.ss}.type p, [a], phase",
                    {spaces, type, "sem: acquire", "scope: cta cluster"},
                    since(8, 0, 80)},
                   {"mbarrier.try_wait{.parity}{.ss}.type p, [a], phase{, hint}", {spaces, type}, since(7, 8, 90)},
                   {"mbarrier.try_wait{.parity}.sem.scope{.ss}.type p, [a], phase{, hint}",
                    {spaces, type, "sem: acquire", "scope: cta cluster"},
                    since(8, 0, 90)}},
         .lower = wait},
        {.manual = "9.7.13.15.17",
         .forms = {{"mbarrier.pending_count.type d:u32, a", {type}, since(7, 0, 80)}},
         .lower = lower_typed<Op::mbarrier_pending_count>},
    };
}

}  // namespace tilepath::isa
