#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace tilepath::machine {

/// One of a CTA's sixteen barriers (PTX ISA 9.7.13.1): counts threads, those of an aligned arrival by whole warps.
struct NamedBarrier {
    static constexpr int count = 16;
    static constexpr int max_warps = 32;

    std::uint64_t generation = 0;  ///< phases completed
    std::uint32_t expected = 0;    ///< threads that the instructions of this phase name; 0: every thread of the CTA
    std::uint32_t arrived = 0;     ///< threads so far
    std::array<std::uint32_t, max_warps> lanes{};  ///< which lanes of each warp have arrived
    // Reduction of barrier.red over all arrivals that bring a predicate.
    std::uint32_t votes = 0, voters = 0;

    bool in_use() const { return arrived != 0; }

    /// Lanes of a warp arrive. A warp whose live lanes have all arrived counts as a whole one, as hardware counts it.
    void arrive(std::uint32_t warp, std::uint32_t arriving, std::uint32_t live) {
        if (lanes[warp] == 0 && arriving == live) {
            lanes[warp] = arriving;
            arrived += 32;
            return;
        }
        const auto before = static_cast<std::uint32_t>(std::popcount(lanes[warp]));
        const bool again = (lanes[warp] & arriving) != 0;  // a second arrival within a phase counts anew
        const bool whole = ((lanes[warp] | arriving) & live) == live;
        lanes[warp] |= arriving;
        if (again)
            arrived += whole ? 32u : static_cast<std::uint32_t>(std::popcount(arriving));
        else
            arrived += whole ? 32 - before : static_cast<std::uint32_t>(std::popcount(arriving));
    }
    void vote(std::uint32_t arriving, std::uint32_t predicate) {
        voters += static_cast<std::uint32_t>(std::popcount(arriving));
        votes += static_cast<std::uint32_t>(std::popcount(arriving & predicate));
    }
    void complete() {
        ++generation;
        expected = arrived = votes = voters = 0;
        lanes.fill(0);
    }
};

}  // namespace tilepath::machine
