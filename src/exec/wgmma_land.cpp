// wgmma operations complete: operands are read now, and D is written.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/executor.h"
#include "exec/matrix_plan.h"

namespace tilepath::exec {
namespace {

/// Rows of an operand of several operations side by side: as many bytes as this, whatever the type.
constexpr std::size_t longest_run = 8, most_row_bytes = 64 * longest_run;
constexpr std::size_t most_accumulator_bytes = 16 * 256 * 4;

const MatrixPlan& plan_of(const PendingWgmma& operation) { return *operation.code->matrix; }

/// Flips the sign of each float.
void negate(std::uint8_t* rows, int count, std::size_t row_bytes, std::size_t stride, int bits) {
    const std::size_t element = static_cast<std::size_t>(bits / 8);
    for (int row = 0; row < count; ++row, rows += stride)
        for (std::size_t at = element - 1; at < row_bytes; at += element) rows[at] ^= 0x80;
}

/// Whether an operation adds to the accumulators of the one before it, so that both are one longer product.
bool continues(const PendingWgmma& first, const PendingWgmma& next) {
    if (next.code->matrix != first.code->matrix || !plan_of(first).chains) return false;
    const std::size_t registers = next.code->op->destinations;
    if (next.function != first.function ||
        !std::equal(next.code->places, next.code->places + registers, first.code->places))
        return false;
    for (std::size_t w = 0; w < first.parts.size(); ++w)
        if (!next.parts[w].accumulates || next.parts[w].frame != first.parts[w].frame ||
            next.parts[w].entry != first.parts[w].entry)
            return false;
    return true;
}

}  // namespace

/// The first `count` operations of the warpgroup complete, in order.
void Executor::land(CtaRun& cta, Warpgroup& group, std::size_t count) {
    for (std::size_t first = 0; first < count;) {
        std::size_t end = first + 1;
        while (end < count && end - first < longest_run && continues(group.pending[first], group.pending[end])) ++end;
        multiply_run(cta, group, std::span(group.pending).subspan(first, end - first));
        first = end;
    }
    group.pending.erase(group.pending.begin(), group.pending.begin() + static_cast<std::ptrdiff_t>(count));
    group.landed += count;
}

/// Whatever can complete; whether anything did.
bool Executor::land_all(CtaRun& cta) {
    bool landed = false;
    for (Warpgroup& group : cta.warpgroups) {
        const std::size_t count = group.whole();
        landed = landed || count != 0;
        land(cta, group, count);
    }
    return landed;
}

void Executor::multiply_run(CtaRun& cta, Warpgroup& group, std::span<const PendingWgmma> run) {
    read_b(cta, run);
    for (std::size_t part = 0; part < warpgroup_warps; ++part) multiply_part(cta, group, run, part);
}

/// B of all operations, side by side; prepared, unless the engine takes none or it is what was read last.
void Executor::read_b(const CtaRun& cta, std::span<const PendingWgmma> run) {
    const MatrixPlan& plan = plan_of(run[0]);
    const auto step = static_cast<std::size_t>(plan.shared_b.row_bytes), stride = step * run.size();
    const auto rows = static_cast<std::size_t>(plan.n);
    shared_b_.read.resize(rows * stride);
    for (std::size_t i = 0; i < run.size(); ++i) {
        std::uint8_t* const to = shared_b_.read.data() + i * step;
        const OperandTable& table = operand_tables_.find(run[i].b, plan.shared_b);
        copy_operand(table, plan.shared_b, cta.state.async_view(), run[i].b, 0, plan.n, to, stride);
        if (plan.wgmma.negate_b) negate(to, plan.n, step, stride, plan.shared_b.bits);
    }
    if (plan.sparse || (shared_b_.engine == plan.engine.get() && shared_b_.bytes == shared_b_.read)) return;
    std::swap(shared_b_.bytes, shared_b_.read);
    shared_b_.engine = plan.engine.get();
    plan.engine->prepare(number::Side::b, shared_b_.bytes.data(), plan.n, plan.k * static_cast<int>(run.size()),
                         static_cast<std::ptrdiff_t>(stride), shared_b_.prepared);
}

/// One warp's rows.
void Executor::multiply_part(CtaRun& cta, Warpgroup& group, std::span<const PendingWgmma> run, std::size_t part) {
    const PendingWgmma& first = run[0];
    const MatrixPlan& plan = plan_of(first);
    const PendingWgmma::Part& own = first.parts[part];
    if (own.frame->entry != own.entry) return;  // the lanes have left, and nobody will look
    const auto w = static_cast<std::size_t>(&group - cta.warpgroups.data()) * warpgroup_warps + part;
    alignas(64) std::uint8_t a[16 * most_row_bytes], accumulators[most_accumulator_bytes];
    const auto step = static_cast<std::size_t>(plan.row_bytes), stride = step * run.size();
    Row* const rows = own.frame->rows.data();
    for (std::size_t i = 0; i < run.size(); ++i) {
        std::uint8_t* const to = a + i * step;
        if (plan.wgmma.a_in_registers) {
            alignas(64) std::uint8_t tile[16 * 64];
            plan.a.gather(rows, run[i].code->places + run[i].code->op->destinations, tile);
            for (int row = 0; row < plan.m; ++row)
                std::memcpy(to + static_cast<std::size_t>(row) * stride, tile + static_cast<std::size_t>(row) * step,
                            step);
        } else {
            const OperandTable& table = operand_tables_.find(run[i].a, plan.shared_a);
            copy_operand(table, plan.shared_a, cta.state.async_view(), run[i].a, static_cast<int>(part) * plan.m,
                         plan.m, to, stride);
        }
        if (plan.wgmma.negate_a) negate(to, plan.m, step, stride, plan.shared_a.bits);
    }
    if (own.accumulates)
        plan.d.gather(rows, first.code->places, accumulators);
    else if (plan.sparse)
        std::memset(accumulators, 0, static_cast<std::size_t>(plan.d.tile_bytes));
    if (plan.sparse) {
        if (!multiply_sparse_part(plan, cta.warps[w], first, part, a, accumulators)) return;
    } else {
        plan.engine->prepare(number::Side::a, a, plan.m, plan.k * static_cast<int>(run.size()),
                             static_cast<std::ptrdiff_t>(stride), prepared_a_);
        plan.engine->multiply(prepared_a_, shared_b_.prepared, own.accumulates ? accumulators : nullptr, accumulators,
                              plan.m);
    }
    plan.d.scatter(accumulators, rows, first.code->places, all_lanes);
    if (observer_ == nullptr) return;
    for (const PendingWgmma& each : run) {
        const program::Mma& mma = each.function->function->mmas[each.code->op->detail];
        observer_->multiply({event_site(cta.warps[w], *each.function, *each.code, all_lanes), &mma,
                             registers_of(*own.frame, *each.code), each.a, each.b, each.parts[part].accumulates});
    }
}

bool Executor::multiply_sparse_part(const MatrixPlan& plan, Warp& warp, const PendingWgmma& operation, std::size_t part,
                                    const std::uint8_t* a, std::uint8_t* accumulators) {
    const int before = plan.wgmma.a_in_registers ? plan.a.registers + 2 : 3;  // A, B's descriptor, scale-d
    const Row& metadata =
        operation.parts[part].frame->rows[operation.code->places[operation.code->op->destinations + before]];
    const std::size_t places = plan.metadata.size() / warpgroup_warps;
    int lane = 0;
    if (multiply_selection(plan, metadata, std::span(plan.metadata).subspan(part * places, places), a,
                           shared_b_.read.data(), accumulators, lane))
        return true;
    fail_at(warp, *operation.function, *operation.code, FaultKind::unsupported, 1u << lane, undefined_metadata);
    return false;
}

}  // namespace tilepath::exec
