#include "check/coalescing.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>

namespace tilepath::check {
namespace {

using program::Space;

std::string advice_for(const WarpAccess& access) {
    const auto stride = access.stride();
    const auto bytes = static_cast<std::int64_t>(access.bytes);
    const machine::Address first = access.addresses[static_cast<std::size_t>(std::countr_zero(access.lanes))];
    if (stride && std::abs(*stride) == bytes)
        return fmt::format(
            "the lanes are neighbours, but begin {} bytes behind a sector: align the base address and "
            "the row pitch to 32 bytes",
            first % 32);
    if (stride && *stride > bytes && *stride <= 16 && std::has_single_bit(static_cast<std::uint64_t>(*stride)) &&
        first % static_cast<std::uint64_t>(*stride) == 0)
        return fmt::format(
            "a lane's neighbouring elements lie in the {} bytes up to the next lane: read or write them "
            "with one vector access of {} bytes",
            *stride, *stride);
    if (stride && std::abs(*stride) > bytes)
        return fmt::format(
            "let neighbouring lanes take neighbouring elements ({} bytes apart, not {}): exchange the "
            "roles of the indices, or go through shared memory",
            bytes, *stride);
    return "bring what the lanes of a warp touch together: through shared memory, or by another order of the lanes";
}

}  // namespace

void Coalescing::access(const machine::Access& event) {
    if (event.space == Space::global || event.space == Space::constant) add(event.site, WarpAccess::of(event));
}

void Coalescing::copy_issued(const machine::Copy& event) {
    if (const auto whole = copies_.add(event, true)) add(whole->first, whole->second);
}

void Coalescing::add(const machine::EventSite& site, const WarpAccess& access) {
    Tally& tally = tallies_.of(site);
    const SectorCount count = count_sectors(access);
    ++tally.times;
    tally.sectors += count.sectors, tally.lines += count.lines;
    tally.fewest_sectors += count.fewest_sectors, tally.fewest_lines += count.fewest_lines;
    const std::uint32_t excess = count.sectors - count.fewest_sectors;
    if (excess <= tally.worst_excess) return;
    tally.worst_excess = excess;
    tally.worst = access;
}

std::vector<Finding> Coalescing::findings(const program::Program& program) {
    if (const auto whole = copies_.take()) add(whole->first, whole->second);
    std::vector<Finding> out;
    for (const auto& [op, tally] : tallies_) {
        const double ratio = static_cast<double>(tally.sectors) / static_cast<double>(tally.fewest_sectors);
        if (tally.worst_excess == 0 || ratio <= threshold) continue;
        const SectorCount worst = count_sectors(tally.worst);
        Finding finding;
        finding.check = "coalescing";
        finding.message = fmt::format(
            "{:.3g} times the sectors that its bytes fill: {} of 32 bytes where {} would do, {} lines of "
            "128 bytes where {} would do",
            ratio, tally.sectors, tally.fewest_sectors, tally.lines, tally.fewest_lines);
        finding.place = program::code_place(program, *tally.function, op);
        finding.facts = {fmt::format("{}: {} sectors in {} lines, {} in {} would do", describe(tally.worst),
                                     worst.sectors, worst.lines, worst.fewest_sectors, worst.fewest_lines)};
        finding.advice = advice_for(tally.worst);
        finding.times = tally.times;
        finding.weight = static_cast<double>(tally.sectors - tally.fewest_sectors);
        out.push_back(std::move(finding));
    }
    return out;
}

}  // namespace tilepath::check
