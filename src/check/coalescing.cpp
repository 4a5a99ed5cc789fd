#include "check/coalescing.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "machine/tma.h"

namespace tilepath::check {
namespace {

using program::Space;

/// From the lowest byte that the lanes touch to behind the highest.
std::pair<machine::Address, machine::Address> span_of(const WarpAccess& access) {
    machine::Address begin = ~machine::Address{0}, end = 0;
    for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
        const machine::Address at = access.addresses[static_cast<std::size_t>(std::countr_zero(left))];
        begin = std::min(begin, at), end = std::max(end, at + access.bytes);
    }
    return {begin, end};
}

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
    const auto [begin, end] = span_of(access);
    if (end - begin <= std::uint64_t{count_sectors(access).fewest_sectors} * 32)
        return fmt::format(
            "what the lanes touch lies together, but begins {} bytes behind a sector: align the base address and the "
            "row "
            "pitch to 32 bytes",
            begin % 32);
    return "bring what the lanes of a warp touch together: through shared memory, or by another order of the lanes";
}

}  // namespace

bool Coalescing::concerns(Space space) const { return space == Space::global || space == Space::constant; }

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

/// Rows of a box, each with its sectors; a sector that two neighbouring rows share counts once.
void Coalescing::bulk_issued(const machine::BulkCopy& event) {
    if (event.box == nullptr) return;
    BoxTally& tally = boxes_.of(event.site);
    machine::BoxWalk walk = *event.box;
    machine::BoxRow row;
    SectorCount count;
    BoxTally shape;
    std::uint64_t bytes = 0;
    machine::Address sectors_end = 0, lines_end = 0;
    while (walk.next(row)) {
        if (row.begin == row.end) continue;
        const machine::Address first = row.global + row.begin, end = row.global + row.end;
        if (shape.rows == 0) shape.first = first;
        if (shape.rows == 1) shape.second = first;
        ++shape.rows;
        shape.row_bytes = row.end - row.begin;
        bytes += row.end - row.begin;
        const auto touched = [&](std::uint64_t unit, machine::Address& behind) {
            const machine::Address begin = first / unit, last = (end - 1) / unit + 1;
            const machine::Address fresh = last - std::min(last, std::max(begin, behind));
            behind = std::max(behind, last);
            return static_cast<std::uint32_t>(fresh);
        };
        // Rows that go back in memory begin anew.
        if (first / 32 < sectors_end && end / 32 + 1 < sectors_end) sectors_end = lines_end = 0;
        count.sectors += touched(32, sectors_end);
        count.lines += touched(128, lines_end);
    }
    const bool again = repeated_.repeats(event) && !event.bulk->reduces;
    tally.repeated += again;
    count.fewest_sectors = again ? 0 : static_cast<std::uint32_t>((bytes + 31) / 32);
    count.fewest_lines = again ? 0 : static_cast<std::uint32_t>((bytes + 127) / 128);
    ++tally.times;
    tally.all.sectors += count.sectors, tally.all.lines += count.lines;
    tally.all.fewest_sectors += count.fewest_sectors, tally.all.fewest_lines += count.fewest_lines;
    if (again ||
        (count.sectors - count.fewest_sectors <= tally.worst.sectors - tally.worst.fewest_sectors && tally.times > 1))
        return;
    tally.worst = count;
    tally.rows = shape.rows, tally.row_bytes = shape.row_bytes;
    tally.first = shape.first, tally.second = shape.second;
}

std::vector<Finding> Coalescing::box_findings(const program::Programs& programs) const {
    std::vector<Finding> out;
    for (const auto& [op, tally] : boxes_) {
        const double ratio =
            tally.all.fewest_sectors == 0 ? 1 : static_cast<double>(tally.all.sectors) / tally.all.fewest_sectors;
        if (ratio <= threshold) continue;
        Finding finding = finding_at("coalescing", programs, op, tally);
        finding.message = fmt::format(
            "{:.3g} times the sectors that the boxes' bytes fill: {} of 32 bytes where {} would do, {} lines of 128 "
            "bytes "
            "where {} would do",
            ratio, tally.all.sectors, tally.all.fewest_sectors, tally.all.lines, tally.all.fewest_lines);
        finding.facts = {fmt::format(
            "a box of {} rows of {} bytes{}: {} sectors in {} lines, {} in {} would do", tally.rows, tally.row_bytes,
            tally.rows > 1 ? fmt::format(", {} bytes apart", tally.second - tally.first) : "", tally.worst.sectors,
            tally.worst.lines, tally.worst.fewest_sectors, tally.worst.fewest_lines)};
        if (tally.repeated != 0)
            finding.facts.push_back(
                fmt::format("{} of the {} copies repeat what a lower lane of the warp copies by the same execution: "
                            "each lane that comes "
                            "here issues one",
                            tally.repeated, tally.times));
        finding.advice =
            tally.repeated != 0 ? "let one lane issue the copy (and commit and wait for its group): elect.sync"
            : tally.row_bytes % 32 != 0
                ? "make the box's rows a multiple of 32 bytes, 128 where the swizzle allows: more of dimension 0, "
                  "fewer rows"
                : fmt::format(
                      "rows begin {} bytes behind a sector: let the tensor's address, its strides and "
                      "the first coordinate be multiples of 32 bytes",
                      tally.first % 32);
        finding.weight = static_cast<double>(tally.all.sectors - tally.all.fewest_sectors);
        out.push_back(std::move(finding));
    }
    return out;
}

std::vector<Finding> Coalescing::findings(const program::Programs& programs) {
    end_copies();
    std::vector<Finding> out = box_findings(programs);
    for (const auto& [op, tally] : tallies_) {
        const double ratio = static_cast<double>(tally.sectors) / static_cast<double>(tally.fewest_sectors);
        if (tally.worst_excess == 0 || ratio <= threshold) continue;
        const SectorCount worst = count_sectors(tally.worst);
        Finding finding = finding_at("coalescing", programs, op, tally);
        finding.message = fmt::format(
            "{:.3g} times the sectors that its bytes fill: {} of 32 bytes where {} would do, {} lines of "
            "128 bytes where {} would do",
            ratio, tally.sectors, tally.fewest_sectors, tally.lines, tally.fewest_lines);
        finding.facts = {fmt::format("{}: {} sectors in {} lines, {} in {} would do", describe(tally.worst),
                                     worst.sectors, worst.lines, worst.fewest_sectors, worst.fewest_lines)};
        finding.advice = advice_for(tally.worst);
        finding.weight = static_cast<double>(tally.sectors - tally.fewest_sectors);
        out.push_back(std::move(finding));
    }
    return out;
}

}  // namespace tilepath::check
