// Copies from global to shared memory that complete later: PTX ISA 9.7.9.25.3. (Bulk copies and TMA are another
// family.)
#include <fmt/format.h>

#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

bool is_predicate(Lowering& to, Operand operand) {
    return operand.kind == Operand::Kind::reg && to.out().registers[operand.index].type == DataType::pred;
}

void copy(Lowering& to, const Bound& in) {
    const Address from = to.address(in["src"], Space::global), into = to.address(in["dst"], Space::shared);
    const std::int64_t bytes = to.immediate(in["size"], "the size of a copy");
    const bool whole_line = in.word("cop") == "cg";
    if (whole_line ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16)
        to.error(in["size"].span, fmt::format("cp.async.{} copies {} bytes; found {}", whole_line ? "cg" : "ca",
                                              whole_line ? "16" : "4, 8 or 16", bytes));
    std::vector<Operand> sources{into.base, whole_address(to, from)};
    if (const ptx::Operand* n = in.operand("n")) {
        Operand rest = to.read(*n, DataType::none);
        // A predicate says to ignore the source, a number how much of it to read.
        if (!is_predicate(to, rest)) rest = to.read(*n, DataType::u32);
        if (n->kind == ptx::OperandKind::immediate && (n->bits > static_cast<std::uint64_t>(bytes)))
            to.error(n->span, fmt::format("the source size of a copy of {} bytes is 0 to {}; found {}", bytes, bytes,
                                          static_cast<std::int64_t>(n->bits)));
        sources.push_back(rest);
    }
    if (const ptx::Operand* policy = in.operand("policy")) to.read(*policy, DataType::u64);
    MicroOp& out = to.emit(Op::cp_async, DataType::b32, {}, sources);
    out.space = into.space;
    out.immediate = into.offset;
    out.vector = static_cast<std::uint8_t>(bytes);
}

void wait(Lowering& to, const Bound& in) {
    std::int64_t pending = -1;
    if (const ptx::Operand* n = in.operand("n")) {
        pending = to.immediate(*n, "the number of groups");
        if (pending < 0)
            to.error(n->span,
                     fmt::format("the number of groups that may stay pending is not negative; found {}", pending));
    }
    to.emit(Op::cp_async_wait, DataType::none, {}, {}).immediate = pending;
}

void arrive(Lowering& to, const Bound& in) {
    const Address at = to.address(in["a"], space_named(in.word("ss")));
    MicroOp& out = to.emit(Op::cp_async_mbarrier_arrive, DataType::b64, {}, {at.base});
    out.space = at.space;
    out.immediate = at.offset;
    out.variant = in.has("noinc") ? 1 : 0;
}

constexpr std::string_view destination = "ss: shared shared::cta";
constexpr std::string_view prefetch = "prefetch: L2::64B L2::128B L2::256B";

}  // namespace

std::vector<Family> cp_async_families() {
    return {
        {.manual = "9.7.9.25.3.1",
         .forms = {{"cp.async.cop.ss.global [dst], [src], size{, n}", {"cop: ca cg", destination}, since(7, 0, 80)},
                   {"cp.async.cop.ss.global.prefetch [dst], [src], size{, n}",
                    {"cop: ca cg", destination, prefetch},
                    since(7, 4, 80)},
                   {"cp.async.cop.ss.global.L2::cache_hint{.prefetch} [dst], [src], size, policy",
                    {"cop: ca cg", destination, prefetch},
                    since(7, 4, 80)},
                   {"cp.async.cop.ss.global.L2::cache_hint{.prefetch} [dst], [src], size, n, policy",
                    {"cop: ca cg", destination, prefetch},
                    since(7, 4, 80)}},
         .lower = copy},
        {.manual = "9.7.9.25.3.2",
         .forms = {{"cp.async.commit_group", {}, since(7, 0, 80)}},
         .lower = [](Lowering& to, const Bound&) { to.emit(Op::cp_async_commit, DataType::none, {}, {}); }},
        {.manual = "9.7.9.25.3.3",
         .forms = {{"cp.async.wait_group n", {}, since(7, 0, 80)}, {"cp.async.wait_all", {}, since(7, 0, 80)}},
         .lower = wait},
        {.manual = "9.7.13.15.15",
         .forms = {{"cp.async.mbarrier.arrive{.noinc}{.ss}.type [a]", {destination, "type: b64"}, since(7, 0, 80)}},
         .lower = arrive},
    };
}

}  // namespace tilepath::isa
