#include "check/warp_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "machine/lanes.h"

namespace tilepath::check {

WarpAccess WarpAccess::of(const machine::Access& event) {
    WarpAccess out;
    std::ranges::copy(event.addresses, out.addresses.begin());
    out.lanes = event.site.lanes;
    out.bytes = event.bytes;
    out.cta = event.site.cta, out.warp = event.site.warp;
    return out;
}

bool WarpAccess::consecutive() const {
    if (lanes != ~0u) return false;
    std::uint64_t wrong = 0;
    for (std::size_t lane = 0; lane < 32; ++lane) wrong |= addresses[lane] ^ (addresses[0] + lane * bytes);
    return wrong == 0;
}

std::optional<std::int64_t> WarpAccess::stride() const {
    std::optional<std::int64_t> out;
    int before = -1;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (before >= 0) {
            const auto step = static_cast<std::int64_t>(addresses[static_cast<std::size_t>(lane)] -
                                                        addresses[static_cast<std::size_t>(before)]);
            if (lane != before + 1 || (out && *out != step)) return std::nullopt;
            out = step;
        }
        before = lane;
    }
    return out;
}

std::string describe(const WarpAccess& access) {
    const std::string who = fmt::format("CTA {}, warp {}, {}: {} bytes each", access.cta, access.warp,
                                        machine::describe_lanes(access.lanes), access.bytes);
    const machine::Address first = access.addresses[static_cast<std::size_t>(std::countr_zero(access.lanes))];
    if (const auto stride = access.stride())
        return fmt::format("{}, {} bytes apart from {:#x} on", who, *stride, first);
    std::string places;
    int told = 0;
    constexpr int most = 8;
    for (std::uint32_t left = access.lanes; left != 0 && told < most; left &= left - 1, ++told)
        places += fmt::format(
            "{}{:+}", told == 0 ? "" : " ",
            static_cast<std::int64_t>(access.addresses[static_cast<std::size_t>(std::countr_zero(left))] - first));
    return fmt::format("{}, at {:#x} {}{}", who, first, places, std::popcount(access.lanes) > most ? " …" : "");
}

std::optional<std::pair<machine::EventSite, WarpAccess>> CopyGatherer::take() {
    if (access_.lanes == 0) return std::nullopt;
    std::pair out{site_, access_};
    access_.lanes = 0;
    return out;
}

std::optional<std::pair<machine::EventSite, WarpAccess>> CopyGatherer::add(const machine::Copy& event,
                                                                           bool from_source) {
    const bool same = access_.lanes != 0 && event.site.op == site_.op && event.site.warp == site_.warp &&
                      event.site.cta == site_.cta && event.lane > last_lane_;
    std::optional<std::pair<machine::EventSite, WarpAccess>> before;
    if (!same) before = take();
    const std::uint32_t bytes = from_source ? event.source_bytes : event.bytes;
    if (bytes == 0) return before;
    site_ = event.site;
    last_lane_ = event.lane;
    access_.lanes |= 1u << event.lane;
    access_.bytes = event.bytes;
    access_.cta = event.site.cta, access_.warp = event.site.warp;
    access_.addresses[event.lane] = from_source ? event.source : event.destination;
    return before;
}

}  // namespace tilepath::check
