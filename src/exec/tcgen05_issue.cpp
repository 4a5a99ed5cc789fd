// tcgen05.mma, cp, shift and commit as they are issued, by each active thread: every operand is judged here.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exec/executor.h"
#include "exec/tcgen05.h"

namespace tilepath::exec {

using machine::CopyPolicy;
using machine::TensorCells;
using machine::TensorMemory;
using machine::TensorMemoryAddress;
using program::Op;
using program::Tcgen05Source;
using What = PendingTcgen05::Kind;

namespace {

What kind_of(Op op) {
    return op == Op::tcgen05_mma     ? What::mma
           : op == Op::tcgen05_cp    ? What::copy
           : op == Op::tcgen05_shift ? What::shift
                                     : What::commit;
}

}  // namespace

Step Tcgen05::issue(Context& c) {
    if (!use_group(c, c.op().variant)) return Step::fault;
    ClusterRun& cluster = *c.warp.cta->cluster;
    publish(*c.warp.cta, &c.warp);
    const std::vector<std::uint64_t>& after = state_of(*c.warp.cta).fenced_after;
    const CopyPolicy policy = executor_.launch_.options.copies;
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        PendingTcgen05 operation;
        operation.kind = kind_of(c.op().op);
        operation.by = user(c, 1u << lane);
        operation.cta_group = c.op().variant;
        if (!prepare(c, lane, operation)) return Step::fault;
        const std::vector<TensorCells> cells = cells_of(operation);
        if (!check_all(operation, cells, "")) return Step::fault;
        operation.id = executor_.launch_.next_copy_id++;
        operation.fenced_before = c.warp.index < after.size() ? after[c.warp.index] : 0;
        if (executor_.observer_ != nullptr) tell(operation, cells, false, false);
        count_uncommitted(operation);
        if (operation.kind == What::commit)  // which implies a before_thread_sync
            for (PendingTcgen05& each : cluster.tensor_operations)
                if (each.by.warp == &c.warp && each.fenced_behind == 0) each.fenced_behind = operation.id;
        cluster.tensor_operations.push_back(std::move(operation));
    }
    // Products in a row are one piece of work: they are held back until something else comes.
    constexpr std::size_t most_held = 64;
    const bool held = c.op().op == Op::tcgen05_mma && cluster.tensor_operations.size() < most_held;
    if (policy == CopyPolicy::eager && !held) settle(cluster);
    if (policy == CopyPolicy::random) land_randomly(cluster);
    return executor_.launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

/// For reports: what each thread has issued since its last commit.
void Tcgen05::count_uncommitted(const PendingTcgen05& operation) {
    auto& all = state_of(*operation.by.warp->cta).uncommitted;
    const auto own = std::ranges::find_if(all, [&](const TensorState::Uncommitted& each) {
        return each.first.warp == operation.by.warp && each.first.lanes == operation.by.lanes;
    });
    if (operation.kind == What::commit) {
        if (own != all.end()) all.erase(own);
    } else if (own != all.end()) {
        ++own->count;
    } else {
        all.push_back({operation.by, 1});
    }
}

bool Tcgen05::prepare(Context& c, int lane, PendingTcgen05& out) {
    switch (out.kind) {
        case What::mma: return prepare_mma(c, lane, out);
        case What::copy: return prepare_copy(c, lane, out);
        case What::shift: return prepare_shift(c, lane, out);
        case What::commit: return prepare_commit(c, lane, out);
    }
    return false;
}

bool Tcgen05::wrong(Context& c, int lane, std::string message) {
    executor_.fail(c, FaultKind::tcgen05, 1u << lane, std::move(message));
    return false;
}

/// Whether the bytes from `first` to before `last` that a descriptor leads to are the CTA's.
bool Tcgen05::check_shared(Context& c, int lane, std::string_view name, std::uint64_t descriptor, std::int64_t first,
                           std::int64_t last) {
    const std::int64_t begin = executor_.launch_.shared_begin, end = executor_.launch_.shared_end;
    if (first >= begin && last <= end) return true;
    executor_.fail_access(
        c, FaultKind::out_of_bounds, machine::Access::Kind::read, lane,
        {program::Space::shared, static_cast<std::uint64_t>(first < begin ? first : last - 16)}, 16,
        fmt::format("{}matrix descriptor {:#x} leads to bytes {:#x} to {:#x} of shared memory; the CTA "
                    "has {:#x} to {:#x}",
                    name, descriptor, first, last - 1, begin, end - 1));
    return false;
}

bool Tcgen05::prepare_mma(Context& c, int lane, PendingTcgen05& out) {
    const program::Tcgen05Mma& what = c.function().tcgen05_mmas[c.op().detail];
    const auto value = [&](Tcgen05Source source) -> std::uint64_t {
        const int i = static_cast<int>(source);
        const bool there =
            c.function().sources(c.op())[static_cast<std::size_t>(i)].kind != program::Operand::Kind::none;
        return there ? executor_.source_value(c, i, lane) : 0;
    };
    Tcgen05Operands& operands = out.operands;
    operands.d = static_cast<std::uint32_t>(value(Tcgen05Source::d));
    operands.a = value(Tcgen05Source::a);
    operands.b = value(Tcgen05Source::b);
    operands.instruction = static_cast<std::uint32_t>(value(Tcgen05Source::descriptor));
    operands.scale_a = static_cast<std::uint32_t>(value(Tcgen05Source::scale_a));
    operands.scale_b = static_cast<std::uint32_t>(value(Tcgen05Source::scale_b));
    operands.metadata = static_cast<std::uint32_t>(value(Tcgen05Source::metadata));
    operands.zero_columns = value(Tcgen05Source::zero_columns);
    operands.scale_input_d = static_cast<std::uint8_t>(what.scale_input_d);
    operands.accumulates = (c.source_predicate(static_cast<int>(Tcgen05Source::accumulates)) >> lane & 1) != 0;
    for (std::size_t i = program::tcgen05_fixed_sources; i < c.op().sources; ++i)
        operands.disabled_lanes[i - program::tcgen05_fixed_sources] = c.row(c.source(static_cast<int>(i))).lane[lane];
    out.plan = &multiplier_.plan(what, operands);
    if (!out.plan->error.empty()) return wrong(c, lane, out.plan->error);
    const auto check = [&](std::size_t i, std::string_view name, std::uint64_t descriptor) {
        const auto start = static_cast<std::int64_t>((descriptor & 0x3FFF) << 4);
        return check_shared(c, lane, name, descriptor, start + out.plan->first_byte[i], start + out.plan->last_byte[i]);
    };
    return (what.a_in_tensor_memory || check(0, "A's ", operands.a)) && check(1, "B's ", operands.b) &&
           use_collector(c, lane, what, out);
}

bool Tcgen05::prepare_copy(Context& c, int lane, PendingTcgen05& out) {
    const program::TmemCopy& what = c.function().tmem_copies[c.op().detail];
    out.address = c.row(c.source(0)).lane[lane] + static_cast<std::uint32_t>(c.op().immediate);
    out.descriptor = c.wide(c.source(1))[lane];
    const CopyPlan& plan = copy_plans_.find(what, out.descriptor);
    if (!plan.error.empty())
        return wrong(c, lane, fmt::format("the matrix descriptor {:#x}: {}", out.descriptor, plan.error));
    const auto at = TensorMemoryAddress::of(out.address);
    const std::uint32_t last = at.lane + std::ranges::max(plan.lanes);
    if (last >= TensorMemory::lanes)
        return wrong(c, lane,
                     fmt::format("the address names lane {}, from which on the copy's rows reach lane {}; there "
                                 "are {}",
                                 at.lane, last, TensorMemory::lanes));
    const std::int64_t base = copy_base(out.descriptor);
    return check_shared(c, lane, "the ", out.descriptor, base + plan.least, base + plan.most + 16);
}

bool Tcgen05::prepare_shift(Context& c, int lane, PendingTcgen05& out) {
    out.address = c.row(c.source(0)).lane[lane] + static_cast<std::uint32_t>(c.op().immediate);
    const auto at = TensorMemoryAddress::of(out.address);
    if (at.lane % 32 == 0 && at.lane < TensorMemory::lanes) return true;
    return wrong(c, lane, fmt::format("the address names lane {}; a shift's is 0, 32, 64 or 96", at.lane));
}

bool Tcgen05::prepare_commit(Context& c, int lane, PendingTcgen05& out) {
    Context one{c.warp, c.group, c.frame, c.rows, c.predicates, c.code, 1u << lane};
    Lanes at;
    if (!executor_.resolve(one, machine::Access::Kind::atomic, 8, at)) return false;
    const program::Space space = at.mixed ? at.spaces[lane] : at.space;
    if (space != program::Space::shared && space != program::Space::shared_cluster) {
        executor_.fail_access(c, FaultKind::mbarrier, machine::Access::Kind::atomic, lane, {space, at.address[lane]}, 8,
                              "an mbarrier lies in shared memory");
        return false;
    }
    out.mbarrier = static_cast<std::uint32_t>(at.address[lane]);
    const auto ranks = static_cast<std::uint32_t>(c.warp.cta->cluster->ctas.size());
    if (c.function().sources(c.op())[1].kind == program::Operand::Kind::none) return true;
    out.ctas = static_cast<std::uint32_t>(executor_.source_value(c, 1, lane)) & 0xFFFF;
    if (out.ctas >> ranks == 0) return true;
    return wrong(c, lane,
                 fmt::format("the CTA mask {:#x} names CTAs that a cluster of {} does not have", out.ctas, ranks));
}

}  // namespace tilepath::exec
