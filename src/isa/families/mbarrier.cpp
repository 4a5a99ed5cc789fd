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
    if (at.space != Space::generic && at.space != Space::shared && at.space != Space::shared_cluster)
        to.error(in["a"].span, fmt::format("an mbarrier lies in shared memory; '{}' lies in .{}",
                                           to.module().text(in["a"].span), program::name(at.space)));
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
    const ptx::Operand& d = in["d"];
    const Operand state = to.write(d, DataType::b64);
    const bool keeps_state = state.kind != Operand::Kind::none;
    if (keeps_state && in.word("ss") == "shared::cluster")
        to.error(d.span, "an arrival on an mbarrier of .shared::cluster returns no state", "write _");
    std::vector<Operand> sources;
    for (std::string_view name : {"count", "bytes"})
        if (const ptx::Operand* value = in.operand(name)) sources.push_back(to.read(*value, DataType::u32));
    if (const ptx::Operand* count = in.operand("count");
        count && count->kind == ptx::OperandKind::immediate && static_cast<std::int64_t>(count->bits) <= 0)
        to.error(count->span,
                 fmt::format("an arrival counts at least 1; found {}", static_cast<std::int64_t>(count->bits)));
    emit_at(to, in, Op::mbarrier_arrive, std::span(&state, keeps_state ? 1 : 0), std::move(sources)).variant =
        static_cast<std::uint8_t>((in.has("arrive_drop") ? 1 : 0) | (in.has("noComplete") ? 2 : 0) |
                                  (in.has("expect_tx") ? 4 : 0));
}

void transact(Lowering& to, const Bound& in) {
    const Operand bytes = to.read(in["bytes"], DataType::u32);
    emit_at(to, in, Op::mbarrier_transact, {}, {bytes}).variant = in.has("complete_tx") ? 1 : 0;
}

void wait(Lowering& to, const Bound& in) {
    const Operand complete = to.write(in["p"], DataType::pred);
    const bool parity = in.has("parity");
    const Operand phase = to.read(in["phase"], parity ? DataType::u32 : DataType::u64);
    if (const ptx::Operand& given = in["phase"]; parity && given.kind == ptx::OperandKind::immediate && given.bits > 1)
        to.error(given.span,
                 fmt::format("a phase's parity is 0 or 1; found {}", static_cast<std::int64_t>(given.bits)));
    std::vector<Operand> sources{phase};
    if (const ptx::Operand* hint = in.operand("hint")) sources.push_back(to.read(*hint, DataType::u32));
    emit_at(to, in, Op::mbarrier_test_wait, std::span(&complete, 1), std::move(sources)).variant =
        static_cast<std::uint8_t>((parity ? 1 : 0) | (in.has("try_wait") ? 2 : 0));
}

constexpr std::string_view spaces = "ss: shared shared::cta";
constexpr std::string_view cluster = "ss: shared::cluster", anywhere = "ss: shared shared::cta shared::cluster";
constexpr std::string_view type = "type: b64", scopes = "scope: cta cluster";
constexpr Needs relaxed = since(8, 0, 90), remote = since(8, 0, 90);

/// arrive and arrive_drop have the same forms.
Family arrival(std::string_view manual, std::string_view opcode) {
    Family family{.manual = manual, .forms = {}, .lower = arrive};
    auto add = [&](std::string_view rest, std::vector<std::string_view> words, Needs needs) {
        words.push_back(type);
        family.forms.push_back({keep(fmt::format("{}{}", opcode, rest)), std::move(words), needs});
    };
    add("{.ss}.type d, [a]", {spaces}, since(7, 0, 80));
    add("{.ss}.type d, [a], count:u32", {spaces}, since(7, 8, 90));
    add(".sem.scope{.ss}.type d, [a]", {spaces, "sem: release", scopes}, since(8, 0, 80));
    add(".sem.scope{.ss}.type d, [a], count:u32", {spaces, "sem: release", scopes}, since(8, 0, 90));
    add(".sem.scope{.ss}.type d, [a]{, count:u32}", {spaces, "sem: relaxed", scopes}, relaxed);
    add(".ss.type d, [a]{, count:u32}", {cluster}, remote);
    add(".sem.scope.ss.type d, [a]{, count:u32}", {cluster, "sem: release relaxed", scopes}, remote);
    add(".expect_tx{.ss}.type d, [a], bytes:u32", {anywhere}, since(8, 0, 90));
    add(".expect_tx.sem.scope{.ss}.type d, [a], bytes:u32", {anywhere, "sem: release relaxed", scopes},
        since(8, 0, 90));
    add(".noComplete{.ss}.type d, [a], count:u32", {spaces}, since(7, 0, 80));
    add(".noComplete.sem.scope{.ss}.type d, [a], count:u32", {spaces, "sem: release", "scope: cta"}, since(8, 0, 80));
    return family;
}

Family transaction(std::string_view manual, std::string_view plain, std::string_view ordered) {
    return {.manual = manual,
            .forms = {{plain, {anywhere, type}, since(8, 0, 90)},
                      {ordered, {anywhere, type, "sem: relaxed", scopes}, since(8, 0, 90)}},
            .lower = transact};
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
        transaction("9.7.13.15.11", "mbarrier.expect_tx{.ss}.type [a], bytes:u32",
                    "mbarrier.expect_tx.sem.scope{.ss}.type [a], bytes:u32"),
        transaction("9.7.13.15.12", "mbarrier.complete_tx{.ss}.type [a], bytes:u32",
                    "mbarrier.complete_tx.sem.scope{.ss}.type [a], bytes:u32"),
        arrival("9.7.13.15.13", "mbarrier.arrive"),
        arrival("9.7.13.15.14", "mbarrier.arrive_drop"),
        {.manual = "9.7.13.15.16",
         .forms = {{"mbarrier.test_wait{.ss}.type p, [a], phase:b64", {spaces, type}, since(7, 0, 80)},
                   {"mbarrier.test_wait.parity{.ss}.type p, [a], phase:u32", {spaces, type}, since(7, 1, 80)},
                   {"mbarrier.test_wait{.parity}.sem.scope{.ss}.type p, [a], phase",
                    {spaces, type, "sem: acquire", scopes},
                    since(8, 0, 80)},
                   {"mbarrier.test_wait{.parity}.sem.scope{.ss}.type p, [a], phase",
                    {spaces, type, "sem: relaxed", scopes},
                    relaxed},
                   {"mbarrier.try_wait{.parity}{.ss}.type p, [a], phase{, hint:u32}", {spaces, type}, since(7, 8, 90)},
                   {"mbarrier.try_wait{.parity}.sem.scope{.ss}.type p, [a], phase{, hint:u32}",
                    {spaces, type, "sem: acquire", scopes},
                    since(8, 0, 90)},
                   {"mbarrier.try_wait{.parity}.sem.scope{.ss}.type p, [a], phase{, hint:u32}",
                    {spaces, type, "sem: relaxed", scopes},
                    relaxed}},
         .lower = wait},
        {.manual = "9.7.13.15.17",
         .forms = {{"mbarrier.pending_count.type d:u32, a:u64", {type}, since(7, 0, 80)}},
         .lower = lower_typed<Op::mbarrier_pending_count>},
    };
}

}  // namespace tilepath::isa
