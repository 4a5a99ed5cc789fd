#include "check/timeline.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilepath::check {

using machine::BarrierEvent;
using machine::GroupEvent;
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

void Timeline::bulk_issued(const machine::BulkCopy& event) {
    const bool stores = event.bulk->destination == Space::global;
    const std::string_view what =
        event.box != nullptr ? (stores ? "TMA store" : "TMA load") : (stores ? "bulk store" : "bulk load");
    const std::size_t span =
        begin(event.site, std::string(what), std::string(what),
              fmt::format("{} bytes, shared {:#x}, global {:#x}", event.bytes,
                          stores ? event.source : event.destination, stores ? event.destination : event.source));
    if (stores) {
        auto& groups = groups_[{warp_of(event.site), static_cast<int>(GroupEvent::Engine::bulk)}];
        if (groups.empty()) groups.emplace_back();
        groups.back().push_back(span);
    } else {
        bulks_[event.id] = span;
    }
}

void Timeline::bulk_landed(const machine::BulkCopy& event) {
    ++now_;
    const auto found = bulks_.find(event.id);
    if (found == bulks_.end()) return;
    end(found->second);
    bulks_.erase(found);
}

void Timeline::copy_issued(const machine::Copy& event) {
    auto& groups = groups_[{warp_of(event.site), static_cast<int>(GroupEvent::Engine::cp_async)}];
    if (groups.empty()) groups.emplace_back();
    // One span for what a warp copies in a group.
    if (groups.back().empty())
        groups.back().push_back(begin(event.site, "cp.async", fmt::format("cp.async, warp {}", event.site.warp)));
    ++now_;
}

void Timeline::multiply(const machine::Multiply& event) {
    const program::Mma& mma = *event.mma;
    const std::size_t span = begin(event.site, fmt::format("mma m{}n{}k{}", mma.m, mma.n, mma.k),
                                   fmt::format("mma, warp {}", event.site.warp));
    ++now_;
    end(span);
}

void Timeline::wgmma(const machine::WgmmaEvent& event) {
    const program::Mma& mma = *event.mma;
    auto& groups = groups_[{warp_of(event.site), static_cast<int>(GroupEvent::Engine::wgmma)}];
    if (groups.empty()) groups.emplace_back();
    if (event.site.warp % 4 != 0) return;  // one of the warpgroup stands for all
    groups.back().push_back(begin(event.site, fmt::format("wgmma m{}n{}k{}", mma.m, mma.n, mma.k),
                                  fmt::format("wgmma, warpgroup {}", event.site.warp / 4),
                                  fmt::format("B at {:#x}", event.b_base)));
}

void Timeline::group(const GroupEvent& event) {
    ++now_;
    auto& groups = groups_[{warp_of(event.site), static_cast<int>(event.engine)}];
    if (groups.empty()) groups.emplace_back();
    if (event.kind == GroupEvent::Kind::commit) {
        groups.emplace_back();
        return;
    }
    if (event.kind != GroupEvent::Kind::wait) return;
    const std::size_t keep = event.keep < 0 ? 0 : static_cast<std::size_t>(event.keep) + 1;
    for (std::size_t i = 0; i + keep < groups.size(); ++i) {
        for (const std::size_t span : groups[i]) end(span);
        groups[i].clear();
    }
    const auto empty = [](const std::vector<std::size_t>& each) { return each.empty(); };
    const std::size_t done = groups.size() - std::min(groups.size(), std::max<std::size_t>(keep, 1));
    if (std::all_of(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done), empty))
        groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done));
}

void Timeline::barrier(const BarrierEvent& event) {
    ++now_;
    if (!event.mbarrier || event.kind == BarrierEvent::Kind::inval) return;
    std::size_t& phase = phases_.try_emplace({event.site.cta, event.barrier}, none).first->second;
    const bool ends = event.kind == BarrierEvent::Kind::complete;
    if (phase == none && event.kind != BarrierEvent::Kind::wait && event.kind != BarrierEvent::Kind::init)
        phase =
            begin(event.site, fmt::format("phase {}", event.generation), fmt::format("mbarrier {:#x}", event.barrier));
    if (!ends) return;
    end(phase);
    phase = none;
}

std::vector<Span> Timeline::spans() const {
    std::vector<Span> out = spans_;
    for (Span& each : out)
        if (each.end == 0) each.end = now_ + 1;
    return out;
}

}  // namespace tilepath::check
