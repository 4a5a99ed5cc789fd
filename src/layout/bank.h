#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "layout/swizzle.h"

namespace tilepath::layout {

/// Shared memory has 32 banks of 4-byte words: bank = address / 4 mod 32. Lanes of one phase that want one word share
/// it; different words of one bank are served one after the other. Accesses of up to 4 bytes run in one phase of 32
/// lanes, of 8 bytes in two of 16, of 16 bytes in four of 8. (NVIDIA's Volta talk GTC s81006 and three public
/// implementations agree.)
constexpr int bank_count = 32;

/// One phase of a warp's access: which words each bank is asked for.
struct BankPhase {
    std::vector<int> lanes;
    std::vector<std::vector<std::uint64_t>> words;  ///< per bank, the distinct words, ascending
    int cycles = 0;                                 ///< the most words of one bank: 1 is free of conflicts
};

struct BankCost {
    std::vector<BankPhase> phases;
    int wavefronts = 0;  ///< sum of the phases' cycles
    int ideal = 0;       ///< phases with an active lane
    bool conflict_free() const { return wavefronts == ideal; }
};

/// The cost of a warp's access of `bytes` (1, 2, 4, 8 or 16) at each lane's byte address; inactive lanes have none. An
/// ldmatrix of n matrices is an access of 16 bytes by its first 8n lanes.
Result<BankCost> bank_cost(std::span<const std::optional<std::uint64_t>> addresses, int bytes);

/// A warp's access as bits: lane bit i adds (as XOR) `lane_bits[i]` to the byte address. Further bits (loop counters,
/// warps) only move whole accesses and do not count.
struct AccessPattern {
    std::string name;
    int bytes = 16;                        ///< per lane: 4, 8 or 16
    std::vector<std::uint64_t> lane_bits;  ///< at most five, lowest lane bit first
};

/// x with the higher address bits XORed into the bank bits: bit `7 + i` set adds `columns[i]`.
struct BankSwizzle {
    std::optional<Swizzle> named;  ///< the Swizzle<B,M,S> that it is, if it is one
    std::vector<std::uint64_t> columns;
    std::uint64_t operator()(std::uint64_t address) const;
};

struct BankSwizzleProof {
    BankSwizzle swizzle;
    std::vector<std::string> lines;  ///< why every pattern is free of conflicts: the ranks, by pattern
};

/// A swizzle of a buffer of 2^`address_bits` bytes under which no pattern has a conflict, with the reason why; or an
/// error if no XOR of higher address bits into bank bits does it. Prefers the hardware's modes, then a Swizzle<B,M,S>,
/// then any XOR.
Result<BankSwizzleProof> conflict_free_swizzle(std::span<const AccessPattern> patterns, int address_bits);

}  // namespace tilepath::layout
