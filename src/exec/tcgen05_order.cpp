// In which order tcgen05 operations land, and when. PTX ISA 9.7.16.6.2 guarantees: products in one accumulator; copies
// and shifts before products; products before shifts; shifts before copies of .4x256b; and a commit after what its
// thread issued. Nothing else: a copy may overtake a product, and products in two accumulators each other.
#include <fmt/format.h>

#include <algorithm>

#include "exec/executor.h"
#include "exec/tcgen05.h"

namespace tilepath::exec {

using machine::CopyPolicy;
using What = PendingTcgen05::Kind;

namespace {

/// Whether they work on the same Tensor Memory: issued in one CTA, or in one pair.
bool same_ctas(const PendingTcgen05& a, const PendingTcgen05& b) {
    const std::uint32_t x = a.by.warp->cta->state.rank, y = b.by.warp->cta->state.rank;
    return a.cta_group == b.cta_group && (a.cta_group == 2 ? x / 2 == y / 2 : x == y);
}

bool is_small_copy(const PendingTcgen05& operation) {
    const program::Function& function = *operation.by.function->function;
    return function.tmem_copies[operation.by.code->op->detail].shape == atom::TmemCopyShape::s4x256b;
}

/// Pairs are ordered in one thread, and between threads where fences stand on both sides of what orders these (PTX ISA
/// 9.7.16.6.4.3).
bool of_one_pipeline(const PendingTcgen05& a, const PendingTcgen05& b) {
    const bool same_thread = a.by.warp == b.by.warp && a.by.lanes == b.by.lanes;
    return same_thread || (a.fenced_behind != 0 && a.fenced_behind < b.fenced_before);
}

/// Whether `b`, which was issued later, may not land before `a` has.
bool ordered(const PendingTcgen05& a, const PendingTcgen05& b) {
    if (a.kind == What::commit) return false;
    if (b.kind == What::commit) return a.by.warp == b.by.warp && a.by.lanes == b.by.lanes && a.cta_group == b.cta_group;
    if (!same_ctas(a, b) || !of_one_pipeline(a, b)) return false;
    switch (b.kind) {
        case What::mma: return a.kind != What::mma || (a.plan->id == b.plan->id && a.operands.d == b.operands.d);
        case What::copy: return a.kind == What::shift && is_small_copy(b);
        case What::shift: return a.kind == What::mma;
        case What::commit: break;
    }
    return false;
}

/// Whether both are one piece of work: the second adds to what the first gives.
bool continues(const PendingTcgen05& a, const PendingTcgen05& b) {
    return a.kind == What::mma && b.kind == What::mma && !a.plan->shifts_a && a.plan->chain == b.plan->chain &&
           same_ctas(a, b) && a.by.warp->cta == b.by.warp->cta && a.operands.d == b.operands.d &&
           b.operands.accumulates && b.operands.scale_input_d == 0 &&
           a.operands.disabled_lanes == b.operands.disabled_lanes;
}

}  // namespace

/// Those that are marked, in order of issue.
void Tcgen05::land_marked(ClusterRun& cluster, const std::vector<bool>& marked) {
    std::vector<PendingTcgen05> landing, kept;
    for (std::size_t i = 0; i < marked.size(); ++i)
        (marked[i] ? landing : kept).push_back(std::move(cluster.tensor_operations[i]));
    cluster.tensor_operations = std::move(kept);
    for (std::size_t first = 0; first < landing.size();) {
        if (executor_.launch_.stop.load(std::memory_order_relaxed)) return;
        std::size_t end = first + 1;
        while (end < landing.size() && continues(landing[end - 1], landing[end])) ++end;
        land(std::span(landing).subspan(first, end - first));
        first = end;
    }
}

void Tcgen05::settle(ClusterRun& cluster) {
    if (cluster.tensor_operations.empty() || executor_.launch_.options.copies != CopyPolicy::eager) return;
    land_marked(cluster, std::vector<bool>(cluster.tensor_operations.size(), true));
}

bool Tcgen05::land_oldest(ClusterRun& cluster) {
    const std::vector<PendingTcgen05>& all = cluster.tensor_operations;
    if (all.empty() || executor_.launch_.stop.load(std::memory_order_relaxed)) return false;
    const auto commit = std::ranges::find(all, What::commit, &PendingTcgen05::kind);
    std::vector<bool> marked(all.size(), false);
    const auto last = static_cast<std::size_t>(commit == all.end() ? 0 : commit - all.begin());
    marked[last] = true;
    for (std::size_t i = last; i-- > 0;)
        for (std::size_t later = i + 1; later <= last && !marked[i]; ++later)
            marked[i] = marked[later] && ordered(all[i], all[later]);
    land_marked(cluster, marked);
    return true;
}

void Tcgen05::land_randomly(ClusterRun& cluster) {
    for (const auto& cta : cluster.ctas) land_transfers_randomly(*cta);
    const std::vector<PendingTcgen05>& all = cluster.tensor_operations;
    if (all.empty()) return;
    std::vector<bool> marked(all.size(), false);
    for (std::size_t i = 0; i < all.size(); ++i) {
        marked[i] = executor_.random_() % 8 == 0;
        for (std::size_t before = 0; before < i && marked[i]; ++before)
            marked[i] = marked[before] || !ordered(all[before], all[i]);
    }
    if (std::ranges::find(marked, true) != marked.end()) land_marked(cluster, marked);
}

std::uint64_t Tcgen05::oldest(const ClusterRun& cluster) {
    return cluster.tensor_operations.empty() ? 0 : cluster.tensor_operations.front().id;
}

/// The CTA's last thread has exited. What it issued lands, and shows what was freed too soon; what its peer still has
/// on the way for both is a fault.
void Tcgen05::land_at_exit(CtaRun& cta) {
    const auto& all = cta.cluster->tensor_operations;
    std::vector<bool> marked(all.size(), false);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const PendingTcgen05& each = all[i];
        marked[i] = each.by.warp->cta == &cta;
        if (marked[i] || each.kind == What::commit || each.cta_group == 1 || peer_of(*each.by.warp->cta) != &cta)
            continue;
        return executor_.fail_at(
            *each.by.warp, *each.by.function, *each.by.code, FaultKind::exited_cta, each.by.lanes,
            fmt::format("the peer CTA, rank {} of the cluster, exits while this is still at work on "
                        "its memory",
                        cta.state.rank));
    }
    if (!all.empty()) land_marked(*cta.cluster, marked);
    land_all_transfers(cta);
}

}  // namespace tilepath::exec
