#include "machine/mbarrier.h"

namespace tilepath::machine {
namespace {

// Bit 63 marks an initialised mbarrier; bit 62 is the phase; then transactions (21 bits, two's complement), expected,
// pending.
constexpr int expected_at = 20, transactions_at = 40, phase_at = 62, valid_at = 63;
constexpr std::uint64_t count_mask = Mbarrier::count_limit;
constexpr std::uint64_t transactions_mask = (1u << 21) - 1;
constexpr std::int64_t transactions_limit = (1 << 20) - 1;

bool complete_if_done(Mbarrier& barrier) {
    if (barrier.pending != 0 || barrier.transactions != 0) return false;
    barrier.phase = !barrier.phase;
    barrier.pending = barrier.expected;
    return true;
}

}  // namespace

std::uint64_t encode(const Mbarrier& barrier) {
    return 1ull << valid_at | std::uint64_t(barrier.phase) << phase_at |
           (static_cast<std::uint64_t>(barrier.transactions) & transactions_mask) << transactions_at |
           std::uint64_t(barrier.expected) << expected_at | barrier.pending;
}

bool decode(std::uint64_t word, Mbarrier& barrier) {
    if ((word >> valid_at & 1) == 0) return false;
    barrier.phase = word >> phase_at & 1;
    barrier.expected = static_cast<std::uint32_t>(word >> expected_at & count_mask);
    barrier.pending = static_cast<std::uint32_t>(word & count_mask);
    const auto field = static_cast<std::int64_t>(word >> transactions_at & transactions_mask);
    barrier.transactions = static_cast<std::int32_t>(field > transactions_limit ? field - (1 << 21) : field);
    return true;
}

MbarrierError init(Mbarrier& barrier, std::uint64_t count) {
    if (count == 0 || count > Mbarrier::count_limit) return MbarrierError::count;
    const auto arrivals = static_cast<std::uint32_t>(count);
    barrier = {false, arrivals, arrivals, 0};
    return MbarrierError::none;
}

MbarrierError arrive(Mbarrier& barrier, std::uint32_t count, bool& completed) {
    if (count == 0 || count > barrier.pending) return MbarrierError::count;
    barrier.pending -= count;
    completed = complete_if_done(barrier);
    return MbarrierError::none;
}

MbarrierError arrive_no_complete(Mbarrier& barrier, std::uint32_t count, bool drop) {
    if (count == 0 || count > barrier.pending || (drop && count > barrier.expected)) return MbarrierError::count;
    if (count == barrier.pending && barrier.transactions == 0) return MbarrierError::completes;
    if (drop) barrier.expected -= count;
    barrier.pending -= count;
    return MbarrierError::none;
}

MbarrierError arrive_drop(Mbarrier& barrier, std::uint32_t count, bool& completed) {
    if (count == 0 || count > barrier.pending || count > barrier.expected) return MbarrierError::count;
    barrier.expected -= count;
    return arrive(barrier, count, completed);
}

MbarrierError transact(Mbarrier& barrier, std::int64_t bytes, bool& completed) {
    const std::int64_t next = barrier.transactions + bytes;
    if (next > transactions_limit || next < -transactions_limit) return MbarrierError::transactions;
    barrier.transactions = static_cast<std::int32_t>(next);
    completed = complete_if_done(barrier);
    return MbarrierError::none;
}

MbarrierError raise_pending(Mbarrier& barrier, std::uint32_t count) {
    if (barrier.pending + count > Mbarrier::count_limit) return MbarrierError::count;
    barrier.pending += count;
    return MbarrierError::none;
}

bool state_phase(std::uint64_t state) { return state >> phase_at & 1; }
std::uint32_t state_pending(std::uint64_t state) { return static_cast<std::uint32_t>(state & count_mask); }

bool phase_completed(const Mbarrier& barrier, std::uint64_t state) { return barrier.phase != state_phase(state); }
bool parity_completed(const Mbarrier& barrier, bool parity) { return barrier.phase != parity; }

}  // namespace tilepath::machine
