#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "layout/bank.h"
#include "layout/gf2.h"

namespace tilepath::layout {
namespace {

constexpr int first_high_bit = 7;  // of a byte address: bits 2 to 6 are the bank
constexpr std::uint64_t low_mask = 127;

/// The lane bits that run within one phase.
std::span<const std::uint64_t> phase_bits(const AccessPattern& pattern) {
    std::size_t in_phase =
        static_cast<std::size_t>(first_high_bit - std::countr_zero(static_cast<unsigned>(pattern.bytes)));
    return std::span(pattern.lane_bits).first(std::min(in_phase, pattern.lane_bits.size()));
}

/// A sum of lane bits whose two ends must not meet in a bank: the columns of `high` may not sum to `low`.
struct Forbidden {
    std::uint64_t high;  ///< address bits from 7 on
    std::uint64_t low;   ///< bank bits, in place
    int last_column;     ///< the highest set bit of `high`
};

Result<std::vector<Forbidden>> forbidden_sums(std::span<const AccessPattern> patterns, int address_bits,
                                              int vector_bits) {
    std::vector<Forbidden> all;
    for (const AccessPattern& pattern : patterns) {
        std::span<const std::uint64_t> bits = phase_bits(pattern);
        for (std::uint64_t set = 1; set < std::uint64_t{1} << bits.size(); ++set) {
            std::uint64_t sum = 0;
            for (std::size_t i = 0; i < bits.size(); ++i) sum ^= (set >> i & 1) != 0 ? bits[i] : 0;
            if (sum == 0) continue;  // the same address: shared
            if (sum >> address_bits != 0) {
                return fail(fmt::format("pattern '{}' leaves the buffer of 2^{} bytes", pattern.name, address_bits));
            }
            // A difference in bits that no swizzle moves keeps the lanes in different banks.
            if ((sum & ((std::uint64_t{1} << vector_bits) - 1)) != 0) continue;
            std::uint64_t high = sum >> first_high_bit;
            if (high == 0) continue;
            all.push_back({high, sum & low_mask, static_cast<int>(std::bit_width(high)) - 1});
        }
    }
    return all;
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& columns, std::uint64_t high) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) sum ^= (high >> i & 1) != 0 ? columns[i] : 0;
    return sum;
}

bool satisfied(const std::vector<std::uint64_t>& columns, std::span<const Forbidden> all) {
    return std::ranges::none_of(all, [&](const Forbidden& one) { return sum_of(columns, one.high) == one.low; });
}

/// The columns of a Swizzle<B,M,S> that moves bits from 7 on into bits below; nothing if it does something else.
std::optional<std::vector<std::uint64_t>> columns_of(const Swizzle& swizzle, int address_bits, int vector_bits) {
    if (swizzle.base < vector_bits || swizzle.base + swizzle.bits > first_high_bit) return std::nullopt;
    if (swizzle.shift < 0 || swizzle.base + swizzle.shift < first_high_bit) return std::nullopt;
    std::vector<std::uint64_t> columns(static_cast<std::size_t>(std::max(0, address_bits - first_high_bit)));
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::uint64_t bit = std::uint64_t{1} << (i + first_high_bit);
        columns[i] = swizzle(bit) ^ bit;
    }
    return columns;
}

/// The hardware's modes first, then every Swizzle<B,M,S>, fewest bits first.
std::optional<BankSwizzle> named_swizzle(std::span<const Forbidden> all, int address_bits, int vector_bits) {
    std::vector<Swizzle> candidates{{0, 4, 3}};
    for (SwizzleMode mode : {SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128})
        candidates.push_back(traits(mode).bytes);
    for (int bits = 1; bits <= 5; ++bits)
        for (int base = vector_bits; base + bits <= first_high_bit; ++base)
            for (int shift = first_high_bit - base; base + shift + bits <= address_bits; ++shift)
                candidates.push_back({bits, base, shift});
    for (const Swizzle& swizzle : candidates) {
        if (!swizzle.valid()) continue;
        auto columns = columns_of(swizzle, address_bits, std::min(vector_bits, swizzle.base));
        if (swizzle.bits != 0 && swizzle.base < vector_bits) continue;
        if (columns && satisfied(*columns, all)) return BankSwizzle{swizzle, *std::move(columns)};
    }
    return std::nullopt;
}

/// Column by column, each of the values that no sum forbids, within `budget` tries.
bool search(std::vector<std::uint64_t>& columns, std::size_t next, std::span<const Forbidden> all, int vector_bits,
            int& budget) {
    if (next == columns.size()) return true;
    for (std::uint64_t value = 0; value <= low_mask; value += std::uint64_t{1} << vector_bits) {
        if (--budget < 0) return false;
        columns[next] = value;
        bool fits = std::ranges::none_of(all, [&](const Forbidden& one) {
            return one.last_column == static_cast<int>(next) && sum_of(columns, one.high) == one.low;
        });
        if (fits && search(columns, next + 1, all, vector_bits, budget)) return true;
    }
    columns[next] = 0;
    return false;
}

std::string hex(std::span<const std::uint64_t> values) {
    std::vector<std::string> texts;
    for (std::uint64_t value : values) texts.push_back(fmt::format("0x{:x}", value));
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

/// Conflict-free means: what tells two addresses of a phase apart tells their banks apart, so both maps have one rank.
std::string proof_line(const AccessPattern& pattern, const BankSwizzle& swizzle) {
    std::vector<std::uint64_t> before, after, banks;
    std::uint64_t unit = static_cast<std::uint64_t>(std::max(pattern.bytes, 4));
    for (std::uint64_t bit : phase_bits(pattern)) {
        before.push_back(bit);
        after.push_back(swizzle(bit) / unit);
        banks.push_back((swizzle(bit) & low_mask) / unit);
    }
    return fmt::format(
        "{}: lane bits of a phase move {}; swizzled, they move banks (in units of {} bytes) by {}: rank {} of "
        "addresses, {} of banks",
        pattern.name, hex(before), unit, hex(banks), ColumnSpace(after).rank(), ColumnSpace(banks).rank());
}

}  // namespace

std::uint64_t BankSwizzle::operator()(std::uint64_t address) const {
    return address ^ sum_of(columns, address >> first_high_bit);
}

Result<BankSwizzleProof> conflict_free_swizzle(std::span<const AccessPattern> patterns, int address_bits) {
    if (address_bits < 2 || address_bits > 20) {
        return fail(fmt::format("expected a buffer of 2^2 to 2^20 bytes, found 2^{}", address_bits));
    }
    int vector_bits = 2;
    for (const AccessPattern& pattern : patterns) {
        if (pattern.bytes != 4 && pattern.bytes != 8 && pattern.bytes != 16) {
            return fail(
                fmt::format("pattern '{}': expected 4, 8 or 16 bytes per lane, found {}", pattern.name, pattern.bytes));
        }
        if (pattern.lane_bits.size() > 5)
            return fail(fmt::format("pattern '{}' has more than five lane bits", pattern.name));
        for (std::uint64_t bit : pattern.lane_bits) {
            if (bit % static_cast<std::uint64_t>(pattern.bytes) == 0) continue;
            return fail(
                fmt::format("pattern '{}': a lane bit moves {} bytes, no multiple of the access", pattern.name, bit));
        }
        vector_bits = std::max(vector_bits, std::countr_zero(static_cast<unsigned>(pattern.bytes)));
    }
    Result<std::vector<Forbidden>> all = forbidden_sums(patterns, address_bits, vector_bits);
    if (!all) return std::unexpected(all.error());
    std::optional<BankSwizzle> found = named_swizzle(*all, address_bits, vector_bits);
    if (!found) {
        std::vector<std::uint64_t> columns(static_cast<std::size_t>(std::max(0, address_bits - first_high_bit)));
        int budget = 1'000'000;
        if (!search(columns, 0, *all, vector_bits, budget)) {
            if (budget < 0)
                return fail("no swizzle found within a million tries", "try fewer patterns or a smaller buffer");
            return fail("no XOR of higher address bits into the banks frees these patterns of conflicts",
                        "pad the rows, or change one of the access patterns");
        }
        found = BankSwizzle{std::nullopt, std::move(columns)};
    }
    BankSwizzleProof proof{*std::move(found), {}};
    for (const AccessPattern& pattern : patterns) proof.lines.push_back(proof_line(pattern, proof.swizzle));
    return proof;
}

}  // namespace tilepath::layout
