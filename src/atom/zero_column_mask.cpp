#include "atom/zero_column_mask.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "atom/bit_field.h"

namespace tilepath::atom {
namespace {

constexpr BitField generates_field{39, 1}, skip_field{40, 8}, use_field{48, 8}, shift_field{56, 6};
constexpr BitField start_field(int part) { return {8 * part, 8}; }
constexpr BitField first_field(int part) { return {32 + part, 1}; }

std::uint64_t named() {
    std::uint64_t all = generates_field.mask() | skip_field.mask() | use_field.mask() | shift_field.mask();
    for (int part = 0; part < 4; ++part) all |= start_field(part).mask() | first_field(part).mask();
    return all;
}

}  // namespace

ZeroColumnMask decode_zero_column_mask(std::uint64_t bits) {
    ZeroColumnMask mask;
    for (int part = 0; part < 4; ++part) {
        mask.start_counts[static_cast<std::size_t>(part)] = static_cast<int>(start_field(part).get(bits));
        mask.first[static_cast<std::size_t>(part)] = first_field(part).get(bits) != 0;
    }
    mask.generates = generates_field.get(bits) != 0;
    mask.skip_span = static_cast<int>(skip_field.get(bits));
    mask.use_span = static_cast<int>(use_field.get(bits));
    mask.column_shift = static_cast<int>(shift_field.get(bits));
    mask.reserved = bits & ~named();
    return mask;
}

Result<std::uint64_t> encode(const ZeroColumnMask& mask) {
    std::uint64_t word = mask.reserved;
    if ((mask.reserved & named()) != 0) return fail("reserved bits overlap the fields");
    for (const auto& [name, value, field] : {std::tuple{"start count 0", mask.start_counts[0], start_field(0)},
                                             {"start count 1", mask.start_counts[1], start_field(1)},
                                             {"start count 2", mask.start_counts[2], start_field(2)},
                                             {"start count 3", mask.start_counts[3], start_field(3)},
                                             {"the skip span", mask.skip_span, skip_field},
                                             {"the use span", mask.use_span, use_field},
                                             {"the column shift", mask.column_shift, shift_field}}) {
        if (value < 0 || !field.holds(static_cast<std::uint64_t>(value)))
            return fail(fmt::format("{} must be 0 to {}, found {}", name, (1 << field.bits) - 1, value));
        word |= field.put(static_cast<std::uint64_t>(value));
    }
    for (int part = 0; part < 4; ++part)
        word |= first_field(part).put(mask.first[static_cast<std::size_t>(part)] ? 1 : 0);
    return word | generates_field.put(mask.generates ? 1 : 0);
}

Result<std::vector<bool>> zeroed_columns(const ZeroColumnMask& mask, int m, int n) {
    if (m != 32 && m != 64 && m != 128) return fail(fmt::format("tcgen05.mma.ws has m of 32, 64 or 128, found {}", m));
    if (n != 64 && n != 128 && n != 256)
        return fail(fmt::format("tcgen05.mma.ws has n of 64, 128 or 256, found {}", n));
    const int most = m == 32 ? 16 : 32;
    if (mask.column_shift > most)
        return fail(fmt::format("the column shift is at most {} for m of {}, found {}", most, m, mask.column_shift));
    std::vector<bool> zeroed(static_cast<std::size_t>(n), false);
    if (!mask.generates) return zeroed;
    const int parts = 128 / m, width = n / parts, used = mask.use_span + 1, skipped = mask.skip_span + 1;
    for (int part = 0; part < parts; ++part) {
        const bool first = mask.first[static_cast<std::size_t>(part)];
        const int start = std::min(mask.start_counts[static_cast<std::size_t>(part)], (first ? skipped : used) - 1);
        for (int column = 0; column < width; ++column) {
            const int at = (column + start) % (used + skipped);
            const bool in_first = at < (first ? skipped : used);
            zeroed[static_cast<std::size_t>(part * width + column)] = in_first == first;
        }
    }
    return zeroed;
}

std::vector<FieldText> fields(const ZeroColumnMask& mask) {
    std::vector<int> first(mask.first.begin(), mask.first.end());
    std::vector<FieldText> all{
        {"0-31", "start counts", fmt::format("{}", fmt::join(mask.start_counts, " "))},
        {"32-35", "first values", fmt::format("{}", fmt::join(first, " "))},
        {"39", "mask is generated", mask.generates ? "1" : "0: every column is used"},
        {"40-47", "skip span", fmt::format("{}: {} columns zeroed", mask.skip_span, mask.skip_span + 1)},
        {"48-55", "use span", fmt::format("{}: {} columns used", mask.use_span, mask.use_span + 1)},
        {"56-61", "column shift", std::to_string(mask.column_shift)},
    };
    if (mask.reserved != 0) all.push_back({"others", "reserved, must be 0", fmt::format("0x{:016x}", mask.reserved)});
    return all;
}

}  // namespace tilepath::atom
