// From a lane's address to a byte of the host, or to a fault: every access of a kernel is checked here.
#include <bit>

#include "exec/executor.h"
#include "exec/survey.h"

namespace tilepath::exec {

using machine::Access;
using machine::Address;
using program::Space;

void Lanes::fill_host(std::uint32_t bytes) {
    if (pattern == Pattern::scattered) return;
    const std::uint32_t step = pattern == Pattern::consecutive ? bytes : 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) host[lane] = base + lane * step;
    pattern = Pattern::scattered;
}

/// The common case at once: all lanes of the warp access consecutive elements of a register's size in global or shared
/// memory. Null: it is not that case, or something is wrong.
std::uint8_t* Executor::consecutive_elements(const Context& c, Access::Kind kind) {
    const Code& code = c.code;
    const std::uint32_t bytes = code.element_bytes;
    if (c.active != all_lanes || code.vector != 1 || bytes != code.register_bytes || bytes > 8) return nullptr;
    if (code.wide_address && code.space == Space::global) {
        const std::uint64_t* const addresses = c.wide(code.a);
        const Address first = addresses[0] + static_cast<std::uint64_t>(code.offset);
        if (first % bytes != 0 || !are_consecutive(addresses, bytes)) return nullptr;
        if (!in_cached_range(code.site, kind, first, first + bytes * warp_lanes)) return nullptr;
        return reinterpret_cast<std::uint8_t*>(first);
    }
    if (!code.wide_address && code.space == Space::shared) {
        const std::uint32_t* const addresses = c.row(code.a).lane;
        machine::Cta& cta = c.warp.cta->state;
        const std::uint32_t first = addresses[0] + static_cast<std::uint32_t>(code.offset);
        const std::uint32_t offset = first - machine::shared_address(cta.rank, 0);
        if (first % bytes != 0 || offset < launch_.shared_begin || offset + bytes * warp_lanes > launch_.shared_end)
            return nullptr;
        return are_consecutive(addresses, bytes) ? cta.shared.data() + offset : nullptr;
    }
    return nullptr;
}

/// The address operand is the first source.
bool Executor::resolve(Context& c, Access::Kind kind, std::uint32_t bytes, Lanes& out) {
    if (c.code.wide_address)
        add_offset(c.wide(c.code.a), c.code.offset, out.address);
    else
        add_offset(c.row(c.code.a).lane, c.code.offset, out.address);
    return resolve_space(c, kind, c.code.space, bytes, out);
}

/// `out.address` holds the addresses of the active lanes.
bool Executor::resolve_space(Context& c, Access::Kind kind, Space space, std::uint32_t bytes, Lanes& out) {
    if (c.active != all_lanes) {
        const Address some = out.address[std::countr_zero(c.active)];
        for (int lane = 0; lane < warp_lanes; ++lane)
            out.address[lane] = c.active >> lane & 1 ? out.address[lane] : some;
    }
    const Survey all = survey(out.address, bytes);
    // Addresses beyond 2^63 would confuse the comparisons below; no space has them.
    if ((all.bits & (bytes - 1)) != 0 || all.bits >> 63 != 0) return resolve_each(c, kind, space, bytes, out);
    const auto set_pattern = [&](std::uint8_t* base) {
        out.base = base;
        if (all.least == all.greatest)
            out.pattern = Lanes::Pattern::uniform;
        else if (all.consecutive && c.active == all_lanes)
            out.pattern = Lanes::Pattern::consecutive;
        else
            out.pattern = Lanes::Pattern::scattered;
    };
    // In numbers, for a global address is a host address: it is no offset from a pointer.
    const auto linear = [&](const std::uint8_t* bytes_of_space, Address origin) {
        const auto host_of = [base = reinterpret_cast<std::uintptr_t>(bytes_of_space) - origin](Address address) {
            return reinterpret_cast<std::uint8_t*>(static_cast<std::uintptr_t>(base + address));
        };
        set_pattern(host_of(out.address[0]));
        if (out.pattern != Lanes::Pattern::scattered) return true;
        for (int lane = 0; lane < warp_lanes; ++lane) out.host[lane] = host_of(out.address[lane]);
        return true;
    };
    const bool generic = space == Space::generic;
    if (space == Space::global || space == Space::constant || (generic && all.greatest < machine::window_base)) {
        out.space = space == Space::constant ? space : Space::global;
        if (!in_cached_range(c.code.site, kind, all.least, all.greatest + bytes))
            return resolve_global(c, kind, bytes, out);
        return linear(nullptr, 0);
    }
    machine::Cta& cta = c.warp.cta->state;
    if (space == Space::shared || space == Space::shared_cluster || generic) {
        const Address window = generic ? machine::shared_window : 0;
        const Address origin = window + machine::shared_address(cta.rank, 0);
        if (all.least >= origin + launch_.shared_begin && all.greatest + bytes <= origin + launch_.shared_end) {
            out.space = Space::shared;
            linear(cta.shared.data(), origin);
            for (int lane = 0; generic && lane < warp_lanes; ++lane) out.address[lane] -= window;
            return true;
        }
        CtaRun* const peer = space == Space::shared || all.least < window
                                 ? nullptr
                                 : peer_holding(*c.warp.cta, all.least - window, all.greatest + bytes - window);
        if (peer != nullptr) {
            out.space = Space::shared_cluster;
            linear(peer->state.shared.data(), window + machine::shared_address(peer->state.rank, 0));
            for (int lane = 0; generic && lane < warp_lanes; ++lane) out.address[lane] -= window;
            return true;
        }
    }
    if (space == Space::param && kind == Access::Kind::read && all.greatest + bytes <= launch_.parameters.size()) {
        out.space = space;
        return linear(launch_.parameters.data(), 0);  // only read
    }
    return resolve_each(c, kind, space, bytes, out);
}

/// The other CTA of the cluster, still running, whose shared memory holds [first, end).
CtaRun* Executor::peer_holding(const CtaRun& own, Address first, Address end) const {
    CtaRun* const peer = launch_.ctas_per_cluster == 1 ? nullptr : cta_of(own, first);
    if (peer == nullptr || peer->state.live_threads == 0) return nullptr;
    const Address origin = machine::shared_address(peer->state.rank, 0);
    const bool inside = first >= origin + launch_.shared_begin && end <= origin + launch_.shared_end;
    return inside ? peer : nullptr;
}

/// Whether the range that this operation last accessed holds [first, end).
bool Executor::in_cached_range(std::uint32_t site, Access::Kind kind, Address first, Address end) {
    const std::uint64_t generation = launch_.memory.generation();
    if (generation != ranges_generation_) {
        ranges_.assign(ranges_.size(), {});
        ranges_generation_ = generation;
    }
    CachedRange& range = ranges_[site];
    const auto holds = [&] {
        return first >= range.begin && end <= range.end && (kind == Access::Kind::read || !range.read_only);
    };
    if (holds()) return true;
    if (const auto found = launch_.memory.find(first)) range = {found->begin, found->end, found->read_only};
    return holds();
}

/// Lanes that access several allocations, or one that none holds.
bool Executor::resolve_global(Context& c, Access::Kind kind, std::uint32_t bytes, Lanes& out) {
    out.pattern = Lanes::Pattern::scattered;
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (lane > 0 && out.address[lane] == out.address[lane - 1]) {
            out.host[lane] = out.host[lane - 1];
            continue;
        }
        out.host[lane] =
            resolve_one(c, kind, lane,
                        {c.code.space == Space::constant ? Space::constant : Space::global, out.address[lane]}, bytes);
        if (out.host[lane] == nullptr) return false;
    }
    return true;
}

/// One event per space that the lanes access.
void Executor::observe_access(Context& c, Access::Kind kind, std::uint32_t bytes, const Lanes& lanes,
                              const Address* mbarriers) {
    Access event{site(c), kind, lanes.space, bytes, std::span<const Address, 32>(lanes.address), mbarriers};
    if (!lanes.mixed) return observer_->access(event);
    for (LaneMask left = c.active; left != 0;) {
        event.space = lanes.spaces[std::countr_zero(left)];
        event.site.lanes = 0;
        for (int lane = 0; lane < warp_lanes; ++lane)
            if ((left >> lane & 1) && lanes.spaces[lane] == event.space) event.site.lanes |= 1u << lane;
        left &= ~event.site.lanes;
        observer_->access(event);
    }
}

}  // namespace tilepath::exec
