#include "check/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

namespace tilepath::check {

using machine::BarrierEvent;
using machine::GroupEvent;
using machine::TensorOperation;
using program::Op;
using program::Space;

std::size_t Timeline::begin(const machine::EventSite& site, std::string name, std::string track, std::string detail) {
    ++now_;
    if (spans_.size() == most) {
        ++left_out_;
        return none;
    }
    spans_.push_back({std::move(name), std::move(track), site.cta, site.warp, now_, 0, std::move(detail)});
    return spans_.size() - 1;
}

std::vector<Timeline::Spans>& Timeline::groups_of(const machine::EventSite& site, GroupEvent::Engine engine) {
    auto& groups = groups_[{warp_of(site), static_cast<int>(engine)}];
    if (groups.empty()) groups.emplace_back();
    return groups;
}

Timeline::Phases& Timeline::phases_of(const machine::EventSite& site, machine::Address mbarrier) {
    const auto address = static_cast<std::uint32_t>(mbarrier);
    return phases_[{site.cluster, machine::shared_rank(address), machine::shared_offset(address)}];
}

void Timeline::cta_begins(const machine::CtaEvent& event) {
    cta_of_[{event.cluster, event.rank}] = event.cta;
    ctas_per_cluster_ = event.ctas;
}

void Timeline::bulk_issued(const machine::BulkCopy& event) {
    const bool stores = event.bulk->destination == Space::global;
    const std::string_view verb = event.bulk->prefetch  ? "prefetch"
                                  : event.bulk->reduces ? "reduction"
                                  : stores              ? "store"
                                                        : "load";
    const std::string name = fmt::format("{} {}", event.box != nullptr ? "TMA" : "bulk", verb);
    std::string detail =
        fmt::format("{} bytes, shared {:#x}, global {:#x}", event.bytes, stores ? event.source : event.destination,
                    stores ? event.destination : event.source);
    if (std::popcount(event.ctas) > 1) detail += fmt::format(", to {} CTAs", std::popcount(event.ctas));
    const std::size_t span = begin(event.site, name, name, std::move(detail));
    bulks_[event.id] = span;
    if (event.bulk->prefetch) return;
    if (stores)
        groups_of(event.site, GroupEvent::Engine::bulk).back().push_back(span);
    else
        phases_of(event.site,
                  machine::shared_address(
                      event.ctas == 0 ? event.site.rank : static_cast<std::uint32_t>(std::countr_zero(event.ctas)),
                      machine::shared_offset(static_cast<std::uint32_t>(event.mbarrier))))
            .pending.push_back(span);
}

void Timeline::bulk_landed(const machine::BulkCopy& event) {
    ++now_;
    const auto found = bulks_.find(event.id);
    if (found == bulks_.end()) return;
    end(found->second);
    bulks_.erase(found);
}

/// One span for what a warp copies in a group.
void Timeline::copy_issued(const machine::Copy& event) {
    Spans& group = groups_of(event.site, GroupEvent::Engine::cp_async).back();
    if (group.empty())
        group.push_back(begin(event.site, "cp.async", fmt::format("cp.async, warp {}", event.site.warp)));
    ++now_;
    copies_[event.id] = group.front();
}

void Timeline::copy_landed(const machine::Copy& event) {
    const auto found = copies_.find(event.id);
    if (found == copies_.end()) return;
    end(found->second);
    copies_.erase(found);
}

void Timeline::access(const machine::Access& event) {
    ++now_;
    if (event.mbarriers == nullptr) return;
    const bool reduces = event.kind == machine::Access::Kind::atomic;
    const std::string name = reduces ? "red.async" : "st.async";
    const auto lanes = static_cast<std::uint32_t>(std::popcount(event.site.lanes));
    const std::size_t span = begin(event.site, name, name, fmt::format("{} lanes, {} bytes each", lanes, event.bytes));
    stores_[{warp_of(event.site), event.site.op}].push_back({span, lanes});
}

void Timeline::operation(const machine::EventSite& site) {
    if (site.op->op == Op::try_cancel) {
        const auto lanes = static_cast<std::uint32_t>(std::popcount(site.lanes));
        const bool multicast = site.op->variant == 1;
        const std::size_t span = begin(site, "try_cancel", "clusterlaunchcontrol.try_cancel",
                                       multicast ? "answered in every CTA of the cluster" : "");
        stores_[{warp_of(site), site.op}].push_back({span, lanes * (multicast ? ctas_per_cluster_ : 1)});
    }
    if (site.op->op == Op::tcgen05_wait) end(transfers_[{warp_of(site), site.op->variant == 1}]);
}

void Timeline::multiply(const machine::Multiply& event) {
    const program::Mma& mma = *event.mma;
    if (mma.warpgroup) return;  // told when it was issued
    const std::size_t span = begin(event.site, fmt::format("mma m{}n{}k{}", mma.m, mma.n, mma.k),
                                   fmt::format("mma, warp {}", event.site.warp));
    ++now_;
    end(span);
}

void Timeline::wgmma(const machine::WgmmaEvent& event) {
    const program::Mma& mma = *event.mma;
    auto& groups = groups_of(event.site, GroupEvent::Engine::wgmma);
    if (event.site.warp % 4 != 0) return;  // one of the warpgroup stands for all
    groups.back().push_back(begin(event.site, fmt::format("wgmma m{}n{}k{}", mma.m, mma.n, mma.k),
                                  fmt::format("wgmma, warpgroup {}", event.site.warp / 4),
                                  fmt::format("B at {:#x}", event.b_base)));
}

void Timeline::group(const GroupEvent& event) {
    ++now_;
    auto& groups = groups_of(event.site, event.engine);
    if (event.kind == GroupEvent::Kind::commit) {
        groups.emplace_back();
        return;
    }
    if (event.kind != GroupEvent::Kind::wait) return;
    const std::size_t keep = event.keep < 0 ? 0 : static_cast<std::size_t>(event.keep) + 1;
    for (std::size_t i = 0; i + keep < groups.size(); ++i) end(groups[i]);
    const std::size_t done = groups.size() - std::min(groups.size(), std::max<std::size_t>(keep, 1));
    if (std::all_of(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done), std::mem_fn(&Spans::empty)))
        groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done));
}

void Timeline::barrier(const BarrierEvent& event) {
    ++now_;
    // A transfer that ends the phase is told as that.
    if (event.kind == BarrierEvent::Kind::transfer || event.kind == BarrierEvent::Kind::complete) {
        const auto stores = stores_.find({warp_of(event.site), event.site.op});
        if (stores != stores_.end() && !stores->second.empty()) {
            end(stores->second.front().span);
            phases_of(event.site, event.barrier).pending.push_back(stores->second.front().span);
            if (--stores->second.front().left == 0) stores->second.pop_front();
        }
    }
    if (!event.mbarrier || event.kind == BarrierEvent::Kind::inval) return;
    Phases& phases = phases_of(event.site, event.barrier);
    if (event.kind == BarrierEvent::Kind::wait) {
        for (auto& [generation, spans] : phases.complete)
            if (generation < event.generation) end(spans);
        std::erase_if(phases.complete, [](const auto& each) { return each.second.empty(); });
        return;
    }
    if (phases.span == none && event.kind != BarrierEvent::Kind::init) {
        phases.span = begin(event.site, fmt::format("phase {}", event.generation),
                            fmt::format("mbarrier {:#x}", machine::shared_offset(std::uint32_t(event.barrier))));
        const auto owner = cta_of_.find({event.site.cluster, machine::shared_rank(std::uint32_t(event.barrier))});
        if (owner != cta_of_.end() && phases.span != none) spans_[phases.span].cta = owner->second;
    }
    if (event.kind != BarrierEvent::Kind::complete) return;
    end(phases.span);
    phases.span = none;
    if (!phases.pending.empty()) phases.complete.emplace_back(event.generation, std::move(phases.pending));
    phases.pending.clear();
}

void Timeline::tensor_issued(const TensorOperation& event) {
    const auto one = [&](std::string name) {
        const std::size_t span = begin(event.site, name, name, fmt::format("cta_group {}", event.cta_group));
        tensors_[event.id] = span;
        return span;
    };
    switch (event.kind) {
        case TensorOperation::Kind::multiply: uncommitted_[warp_of(event.site)].push_back(one("tcgen05.mma")); break;
        case TensorOperation::Kind::copy: uncommitted_[warp_of(event.site)].push_back(one("tcgen05.cp")); break;
        case TensorOperation::Kind::shift: uncommitted_[warp_of(event.site)].push_back(one("tcgen05.shift")); break;
        case TensorOperation::Kind::load: transfers_[{warp_of(event.site), false}].push_back(one("tcgen05.ld")); break;
        case TensorOperation::Kind::store: transfers_[{warp_of(event.site), true}].push_back(one("tcgen05.st")); break;
        case TensorOperation::Kind::commit: {
            Spans spans = std::move(uncommitted_[warp_of(event.site)]);
            uncommitted_.erase(warp_of(event.site));
            spans.push_back(one("tcgen05.commit"));
            Phases& phases = phases_of(event.site, event.mbarrier);
            phases.pending.insert(phases.pending.end(), spans.begin(), spans.end());
            break;
        }
    }
}

void Timeline::tensor_landed(const TensorOperation& event) {
    ++now_;
    const auto found = tensors_.find(event.id);
    if (found == tensors_.end()) return;
    end(found->second);
    tensors_.erase(found);
}

std::vector<Span> Timeline::spans() const {
    std::vector<Span> out = spans_;
    for (Span& each : out)
        if (each.end == 0) each.end = now_ + 1;
    return out;
}

}  // namespace tilepath::check
