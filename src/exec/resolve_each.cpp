// Addresses lane by lane: several spaces, several allocations, or a fault.
#include <fmt/format.h>

#include <bit>

#include "exec/executor.h"

namespace tilepath::exec {

using machine::Access;
using machine::Address;
using program::Space;

/// The general case, lane by lane; it finds the fault where there is one.
bool Executor::resolve_each(Context& c, Access::Kind kind, Space space, std::uint32_t bytes, Lanes& out) {
    out.pattern = Lanes::Pattern::scattered;
    out.mixed = false;
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if ((c.active >> lane & 1) == 0) continue;
        machine::Place place{space, out.address[lane]};
        if (space == Space::generic) place = machine::place_of_generic(place.address);
        if (place.space == Space::shared || place.space == Space::shared_cluster) {
            const bool own = machine::shared_rank(static_cast<std::uint32_t>(place.address)) == c.warp.cta->state.rank;
            place.space = own ? Space::shared : Space::shared_cluster;
        }
        out.address[lane] = place.address;
        out.spaces[lane] = place.space;
        out.space = place.space;
        out.host[lane] = resolve_one(c, kind, lane, place, bytes);
        if (out.host[lane] == nullptr) return false;
    }
    const int some = std::countr_zero(c.active);
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if ((c.active >> lane & 1) != 0) {
            out.mixed = out.mixed || out.spaces[lane] != out.space;
            continue;
        }
        out.address[lane] = out.address[some];
        out.host[lane] = out.host[some];
        out.spaces[lane] = out.spaces[some];
    }
    return true;
}

std::uint8_t* Executor::resolve_one(Context& c, Access::Kind kind, int lane, machine::Place at, std::uint32_t bytes) {
    const Address address = at.address;
    const auto wrong = [&](FaultKind fault, std::string message) {
        fail_access(c, fault, kind, lane, at, bytes, std::move(message));
        return nullptr;
    };
    if (address % bytes != 0)
        return wrong(FaultKind::misaligned, fmt::format("the address is no multiple of {}", bytes));
    const auto within = [&](std::uint64_t begin, std::uint64_t end) {
        return address >= begin && address <= end && end - address >= bytes;
    };
    switch (at.space) {
        case Space::generic:
        case Space::global:
        case Space::constant: {
            const auto range = launch_.memory.find(address);
            if (!range) return wrong(FaultKind::out_of_bounds, "no allocation holds the address");
            if (!within(range->begin, range->end))
                return wrong(FaultKind::out_of_bounds, "the access reaches past the end of the allocation");
            if (range->read_only && kind != Access::Kind::read)
                return wrong(FaultKind::read_only, "the memory can only be read");
            return reinterpret_cast<std::uint8_t*>(address);
        }
        case Space::shared:
        case Space::shared_cluster: {
            const std::uint32_t rank = machine::shared_rank(static_cast<std::uint32_t>(address));
            const Address origin = machine::shared_address(rank, 0);
            const auto& ctas = c.warp.cta->cluster->ctas;
            if (address >= machine::window_bytes || rank >= ctas.size())
                return wrong(FaultKind::out_of_bounds, fmt::format("the cluster has {} CTAs, and none of rank {}",
                                                                   ctas.size(), address >> machine::shared_rank_shift));
            if (c.code.space == Space::shared && rank != c.warp.cta->state.rank)
                return wrong(
                    FaultKind::out_of_bounds,
                    fmt::format("the address is that of the CTA of rank {}, which needs .shared::cluster", rank));
            if (address - origin < launch_.shared_begin)
                return wrong(FaultKind::out_of_bounds, "the first 1024 bytes of shared memory are reserved");
            if (!within(origin, origin + launch_.shared_end))
                return wrong(FaultKind::out_of_bounds,
                             fmt::format("shared memory of this launch ends at {:#x}", launch_.shared_end));
            if (ctas[rank]->state.live_threads == 0)
                return wrong(FaultKind::exited_cta,
                             fmt::format("the CTA of rank {} in the cluster, whose memory this is, has exited", rank));
            return ctas[rank]->state.shared.data() + (address - origin);
        }
        case Space::local:
            if (!within(0, c.warp.local.used()))
                return wrong(FaultKind::out_of_bounds,
                             fmt::format("the thread has {} bytes of local memory here", c.warp.local.used()));
            return c.warp.local.at(lane, address);
        case Space::param:
            if (kind != Access::Kind::read) return wrong(FaultKind::read_only, "parameters can only be read");
            if (!within(0, launch_.parameters.size()))
                return wrong(FaultKind::out_of_bounds,
                             fmt::format("the kernel's parameters take {} bytes", launch_.parameters.size()));
            return const_cast<std::uint8_t*>(launch_.parameters.data()) + address;  // only read
    }
    return nullptr;
}

}  // namespace tilepath::exec
