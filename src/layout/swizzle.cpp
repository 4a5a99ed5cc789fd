#include "layout/swizzle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tilepath::layout {
namespace {

using enum SwizzleMode;
constexpr auto no = std::nullopt;
// mode, name, swizzle of bytes, row span, pattern period; tensor map, wgmma, tcgen05; tensormap.replace mode and
// atomicity
constexpr std::array<SwizzleTraits, 8> rows{{
    {none, "none", {0, 4, 3}, 16, 16, 0, 0, 0, 0, 0},
    {b32, "32B", {1, 4, 3}, 32, 256, 1, 3, 6, 1, 0},
    {b64, "64B", {2, 4, 3}, 64, 512, 2, 2, 4, 2, 0},
    {b128, "128B", {3, 4, 3}, 128, 1024, 3, 1, 2, 3, 0},
    {b128_atom_32b, "128B_atom_32B", {2, 5, 2}, 128, 512, 4, no, 1, 3, 1},
    {b128_atom_32b_flip_8b, "128B_atom_32B_flip_8B", {2, 5, 2}, 128, 512, 5, no, no, 3, 2},
    {b128_atom_64b, "128B_atom_64B", {1, 6, 1}, 128, 256, 6, no, no, 3, 3},
    {b96, "96B", {1, 4, 3}, 96, 256, no, no, no, 4, 0},
}};

constexpr bool in_order() {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (static_cast<std::size_t>(rows[i].mode) != i) return false;
    return true;
}
static_assert(in_order());

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

bool Swizzle::valid() const {
    return bits >= 0 && base >= 0 && std::abs(shift) >= bits && bits + base + std::abs(shift) <= 62;
}

std::string to_string(const Swizzle& swizzle) {
    return fmt::format("Sw<{},{},{}>", swizzle.bits, swizzle.base, swizzle.shift);
}

const SwizzleTraits& traits(SwizzleMode mode) { return rows[static_cast<std::size_t>(mode)]; }

std::span<const SwizzleTraits> all_swizzle_modes() { return rows; }

std::optional<SwizzleMode> swizzle_mode_named(std::string_view name) {
    for (const SwizzleTraits& row : rows)
        if (std::ranges::equal(row.name, name, {}, lower, lower)) return row.mode;
    return std::nullopt;
}

std::uint64_t swizzled(SwizzleMode mode, std::uint64_t address) {
    std::uint64_t moved = traits(mode).bytes(address);
    if (mode == b128_atom_32b_flip_8b && (address >> 7 & 1) != 0) moved ^= 8;
    return moved;
}

}  // namespace tilepath::layout
