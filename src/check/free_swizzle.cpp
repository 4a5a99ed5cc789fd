#include "check/free_swizzle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "check/bank_conflicts.h"
#include "layout/bank.h"

namespace tilepath::check {
namespace {

using layout::Swizzle;
using layout::SwizzleMode;

WarpAccess swizzled(WarpAccess access, const Swizzle& swizzle) {
    for (machine::Address& address : access.addresses) address = swizzle(address);
    return access;
}

bool frees(std::span<const WarpAccess> accesses, const Swizzle& swizzle) {
    return std::ranges::all_of(accesses, [&](const WarpAccess& access) {
        const Wavefronts count = count_wavefronts(swizzled(access, swizzle));
        return count.taken == count.ideal;
    });
}

/// The hardware's modes, whose unit is 16 bytes, then every Swizzle<B,M,S> that keeps the widest access whole.
std::vector<Swizzle> candidates(std::uint32_t widest) {
    std::vector<Swizzle> out;
    for (SwizzleMode mode : {SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128})
        out.push_back(layout::traits(mode).bytes);
    const int unit = std::max(2, std::countr_zero(widest));
    for (int bits = 1; bits <= 5; ++bits)
        for (int base = unit; base + bits <= 7; ++base)
            for (int shift = 7 - base; base + shift + bits <= 16; ++shift)
                if (const Swizzle swizzle{bits, base, shift}; swizzle.valid()) out.push_back(swizzle);
    return out;
}

std::string name_of(const Swizzle& swizzle) {
    for (const layout::SwizzleTraits& mode : layout::all_swizzle_modes())
        if (mode.bytes == swizzle) return fmt::format("the {} swizzle, {}", mode.name, layout::to_string(swizzle));
    return "the swizzle " + layout::to_string(swizzle);
}

/// The pattern as bits, where lane bits only XOR; a phase's cost does not depend on more.
std::optional<layout::AccessPattern> as_bits(const WarpAccess& access, std::string name) {
    if (access.lanes != ~0u || access.bytes < 4) return std::nullopt;
    layout::AccessPattern out{std::move(name), static_cast<int>(access.bytes), {}};
    for (std::size_t bit = 0; bit < 5; ++bit)
        out.lane_bits.push_back(access.addresses[std::size_t{1} << bit] ^ access.addresses[0]);
    for (std::size_t lane = 0; lane < 32; ++lane) {
        std::uint64_t sum = access.addresses[0];
        for (std::size_t bit = 0; bit < 5; ++bit) sum ^= (lane >> bit & 1) != 0 ? out.lane_bits[bit] : 0;
        if (sum != access.addresses[lane]) return std::nullopt;
    }
    return out;
}

/// Any XOR of address bits, by linear algebra, where all accesses are of that kind.
std::optional<std::string> free_matrix(std::span<const WarpAccess> accesses) {
    std::vector<layout::AccessPattern> patterns;
    for (const WarpAccess& access : accesses) {
        auto pattern = as_bits(access, fmt::format("access {}", patterns.size()));
        if (!pattern) return std::nullopt;
        patterns.push_back(std::move(*pattern));
    }
    const auto found = layout::conflict_free_swizzle(patterns, 16);
    if (!found) return std::nullopt;
    std::string columns;
    for (std::size_t i = 0; i < found->swizzle.columns.size(); ++i)
        if (const std::uint64_t column = found->swizzle.columns[i]; column != 0)
            columns += fmt::format("{}bit {} into {:#x}", columns.empty() ? "" : ", ", i + 7, column);
    return fmt::format("XOR address bits into the bank: {}", columns);
}

}  // namespace

std::string free_swizzle(std::span<const WarpAccess> accesses, std::size_t instructions) {
    std::uint32_t widest = 4;
    for (const WarpAccess& access : accesses) widest = std::max(widest, access.bytes);
    const std::string whom = instructions == 1
                                 ? "this instruction"
                                 : fmt::format("all {} instructions that touch this memory", instructions);
    for (const Swizzle& swizzle : candidates(widest))
        if (frees(accesses, swizzle))
            return fmt::format("{} of the byte address frees {} of conflicts", name_of(swizzle), whom);
    if (const auto matrix = free_matrix(accesses)) return fmt::format("{}: frees {} of conflicts", *matrix, whom);
    return fmt::format(
        "no Swizzle<B,M,S> frees {} of conflicts: pad the rows (a pitch of 4 bytes more, or 16 for "
        "ldmatrix), or change one of the access patterns",
        whom);
}

}  // namespace tilepath::check
