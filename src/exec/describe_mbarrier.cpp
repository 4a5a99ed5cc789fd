// Why a wait at an mbarrier never ends: its phase, what is missing, and which lines could bring it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "exec/executor.h"

namespace tilepath::exec {
namespace {

using program::Op;

bool arrives(const program::MicroOp& op) {
    return op.op == Op::mbarrier_arrive || op.op == Op::cp_async_mbarrier_arrive || op.op == Op::tcgen05_commit;
}

bool brings_bytes(const program::MicroOp& op) {
    const bool completes = op.op == Op::mbarrier_transact && op.variant == 1;
    return completes || op.op == Op::st_async || op.op == Op::red_async ||
           (program::traits(op.op).memory == program::MemoryEffect::copy && op.op != Op::cp_async);
}

}  // namespace

/// `bar+8`, where a .shared variable lies there.
std::string Executor::describe_place_in_shared(std::uint32_t offset) const {
    for (const program::SharedVariable& each : launch_.loaded.program->shared_variables) {
        const std::uint32_t end = each.bytes == 0 ? launch_.shared_end : each.offset + each.bytes;
        if (offset < each.offset || offset >= end) continue;
        return offset == each.offset ? " (" + each.name + ")"
                                     : fmt::format(" ({}+{})", each.name, offset - each.offset);
    }
    return "";
}

/// "; last arrival: line 12, by warp 3" with the phase where it was an earlier one, and the CTA in a cluster.
std::string Executor::describe_use(std::string_view what, const MbarrierUse& use, std::uint64_t phase) const {
    if (use.function == nullptr) return fmt::format("; no {} yet", what);
    const program::CodePlace place =
        program::code_place(*launch_.loaded.program, *use.function->function, use.code->op);
    return fmt::format("; last {}{}: line {}, by {}warp {}", what,
                       use.phase == phase ? "" : fmt::format(", in phase {},", use.phase), place.ptx.line,
                       launch_.ctas_per_cluster == 1 ? "" : fmt::format("rank {} ", use.rank), use.warp);
}

/// The lines that could bring what is missing: those that arrive, or count bytes, on any mbarrier.
std::string Executor::describe_candidates(const MbarrierRecord& record) const {
    machine::Mbarrier barrier;
    machine::decode(record.word, barrier);
    std::set<unsigned> lines;
    for (const LoadedFunction& function : launch_.loaded.functions)
        for (const program::MicroOp& op : function.function->ops)
            if ((barrier.pending != 0 && arrives(op)) || (barrier.transactions > 0 && brings_bytes(op)))
                lines.insert(program::code_place(*launch_.loaded.program, *function.function, &op).ptx.line);
    constexpr std::size_t most = 8;
    if (lines.empty()) return "; no instruction of the kernel could complete it";
    std::string out;
    for (const unsigned line : lines) {
        if (out.size() > 6 * most) return fmt::format("; could complete it: lines {}, …", out);
        out += fmt::format("{}{}", out.empty() ? "" : ", ", line);
    }
    return fmt::format("; could complete it: line{} {}", lines.size() == 1 ? "" : "s", out);
}

std::string Executor::describe_mbarrier(const CtaRun& cta, const Group& group) const {
    if (group.barrier == Group::any_mbarrier) return "several mbarriers, lane by lane";
    const std::string where =
        fmt::format("the mbarrier at shared {:#x}{}", machine::shared_address(cta.state.rank, group.barrier),
                    describe_place_in_shared(group.barrier));
    const auto record = std::ranges::find(cta.mbarriers, group.barrier, &MbarrierRecord::offset);
    if (record == cta.mbarriers.end()) return where + ", which has been invalidated";
    machine::Mbarrier barrier;
    machine::decode(record->word, barrier);
    const std::string bytes =
        barrier.transactions >= 0
            ? fmt::format("{} bytes are missing", barrier.transactions)
            : fmt::format("0 bytes are missing, but {} more have come than were expected", -barrier.transactions);
    std::string out = fmt::format("{} (phase {}, parity {}): {} of {} arrivals and {}", where, record->phase,
                                  record->phase & 1, barrier.pending, barrier.expected, bytes);
    const program::CodePlace made = program::code_place(
        *launch_.loaded.program, *record->initialised.function->function, record->initialised.code->op);
    out += fmt::format("; initialised: line {}", made.ptx.line);
    out += describe_use("arrival", record->arrived, record->phase);
    if (barrier.transactions != 0 || record->expected.function != nullptr) {
        out += describe_use("expected bytes", record->expected, record->phase);
        out += describe_use("completed bytes", record->completed, record->phase);
    }
    return out + describe_candidates(*record) + tcgen05_.describe_pending(cta);
}

}  // namespace tilepath::exec
