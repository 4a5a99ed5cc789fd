#pragma once
#include <cstdint>

namespace tilepath::machine {

/// An mbarrier object, as it lies in 8 bytes of shared memory (PTX ISA 9.7.13.15): a phase bit, the arrivals expected
/// per phase and still pending in this one, and the bytes of asynchronous transactions still under way.
struct Mbarrier {
    bool phase = false;
    std::uint32_t expected = 0, pending = 0;
    std::int32_t transactions = 0;

    static constexpr std::uint32_t count_limit = (1u << 20) - 1;

    friend bool operator==(const Mbarrier&, const Mbarrier&) = default;
};

/// What can be wrong with an operation on an mbarrier.
enum class MbarrierError : std::uint8_t {
    none,
    not_initialised,  ///< the bytes do not hold an mbarrier
    count,            ///< a count outside 1 … 2^20 − 1, or more arrivals than are pending
    transactions,     ///< the transaction count left its range ±(2^20 − 1)
    completes         ///< `.noComplete`, but it was the last arrival
};

/// The 8 bytes. Zero is no mbarrier, so that forgotten initialisation is noticed.
std::uint64_t encode(const Mbarrier& barrier);
/// False if the word holds none.
bool decode(std::uint64_t word, Mbarrier& barrier);

MbarrierError init(Mbarrier& barrier, std::uint64_t count);
/// `count` arrivals; the phase ends if nothing is pending any more. Gives true in `completed` then.
MbarrierError arrive(Mbarrier& barrier, std::uint32_t count, bool& completed);
/// `drop`: as many arrivals fewer are expected from the next phase on.
MbarrierError arrive_no_complete(Mbarrier& barrier, std::uint32_t count, bool drop = false);
/// As arrive, and as many arrivals fewer are expected from the next phase on.
MbarrierError arrive_drop(Mbarrier& barrier, std::uint32_t count, bool& completed);
/// Positive: expect_tx; negative: complete_tx. Either can end a phase (expect_tx: recorded on an H200).
MbarrierError transact(Mbarrier& barrier, std::int64_t bytes, bool& completed);
/// One more arrival is pending in this phase: cp.async.mbarrier.arrive without .noinc.
MbarrierError raise_pending(Mbarrier& barrier, std::uint32_t count);

// The state token that an arrival returns: the word before the arrival.
bool state_phase(std::uint64_t state);
std::uint32_t state_pending(std::uint64_t state);
/// Whether the phase that `state` names has completed; it must be the current or the immediately preceding one.
bool phase_completed(const Mbarrier& barrier, std::uint64_t state);
/// `.parity`: whether the phase of that parity is the last one that completed. A fresh barrier passes parity 1.
bool parity_completed(const Mbarrier& barrier, bool parity);

}  // namespace tilepath::machine
