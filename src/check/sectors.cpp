#include "check/sectors.h"

#include <algorithm>
#include <bit>

namespace tilepath::check {
namespace {

constexpr std::uint64_t sector_bytes = 32, line_bytes = 128;

std::uint32_t units(std::uint64_t bytes, std::uint64_t unit) {
    return static_cast<std::uint32_t>((bytes + unit - 1) / unit);
}
std::uint32_t units_between(std::uint64_t begin, std::uint64_t end, std::uint64_t unit) {
    return static_cast<std::uint32_t>((end - 1) / unit - begin / unit + 1);
}

}  // namespace

SectorCount count_sectors(const WarpAccess& access) {
    SectorCount out;
    if (access.consecutive()) {
        const std::uint64_t begin = access.addresses[0], bytes = std::uint64_t{32} * access.bytes;
        return {units_between(begin, begin + bytes, sector_bytes), units_between(begin, begin + bytes, line_bytes),
                units(bytes, sector_bytes), units(bytes, line_bytes)};
    }
    // Ascending, each sector, line and byte is counted where it first appears.
    std::array<machine::Address, 32> begins;
    std::size_t count = 0;
    for (std::uint32_t left = access.lanes; left != 0; left &= left - 1)
        begins[count++] = access.addresses[static_cast<std::size_t>(std::countr_zero(left))];
    std::sort(begins.begin(), begins.begin() + static_cast<std::ptrdiff_t>(count));
    std::uint64_t useful = 0, end = 0, next_sector = 0, next_line = 0;  // all below are counted
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t first = begins[i], last = first + access.bytes;
        useful += last - std::clamp(end, first, last);
        end = std::max(end, last);
        const auto add = [&](std::uint64_t unit, std::uint64_t& next, std::uint32_t& sum) {
            const std::uint64_t from = std::max(first / unit, next), to = (last - 1) / unit + 1;
            if (to > from) sum += static_cast<std::uint32_t>(to - from);
            next = std::max(next, to);
        };
        add(sector_bytes, next_sector, out.sectors);
        add(line_bytes, next_line, out.lines);
    }
    out.fewest_sectors = units(useful, sector_bytes);
    out.fewest_lines = units(useful, line_bytes);
    return out;
}

}  // namespace tilepath::check
