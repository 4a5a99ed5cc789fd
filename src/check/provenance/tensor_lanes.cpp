// Addresses of Tensor Memory that name other lanes than the warp's.
#include <fmt/format.h>

#include <bit>

#include "check/provenance/provenance.h"

namespace tilepath::check {

/// A warp reaches the 32 lanes from 32 * (warp mod 4) on (PTX ISA 9.7.16.8.1). Hardware takes an address without them
/// as theirs, and kernels rely on it; code compiled for debugging traps.
void Provenance::note_lanes(const WarpRegisters& r, const machine::EventSite& site) {
    const auto lane = static_cast<int>(std::countr_zero(r.lanes()));
    const std::uint32_t address = r.value(r.source_place(0), lane) + static_cast<std::uint32_t>(r.op().immediate);
    const std::uint32_t first = 32 * (site.warp % 4), named = (address >> 16) % 128 / 32 * 32;
    if (named == first) return;
    Tally& tally = lanes_.of(site);
    if (tally.times++ != 0) return;
    tally.message = fmt::format("the address names lanes {} to {}, which are not this warp's", named, named + 31);
    tally.facts = {fmt::format("CTA {}, warp {} reaches lanes {} to {}; its address is {:#x}", site.cta, site.warp,
                               first, first + 31, address)};
    tally.advice = fmt::format(
        "add (warp mod 4) << 21 to the address, {:#x} for this warp: hardware ignores that it is "
        "missing, code compiled with -G traps",
        first << 16);
}

}  // namespace tilepath::check
