#include "program/slots.h"

#include <algorithm>
#include <bit>

#include "program/uses.h"

namespace tilepath::program {
namespace {

using Bits = std::vector<std::uint64_t>;

bool test(const Bits& bits, RegisterId r) { return bits[r / 64] >> (r % 64) & 1; }
void set(Bits& bits, RegisterId r) { bits[r / 64] |= std::uint64_t(1) << (r % 64); }
void clear(Bits& bits, RegisterId r) { bits[r / 64] &= ~(std::uint64_t(1) << (r % 64)); }

template <class Visit>
void for_each_bit(const Bits& bits, Visit visit) {
    for (std::size_t word = 0; word < bits.size(); ++word)
        for (std::uint64_t rest = bits[word]; rest; rest &= rest - 1)
            visit(static_cast<RegisterId>(word * 64 + std::countr_zero(rest)));
}

bool is_predicate(const Function& function, RegisterId r) { return function.registers[r].type == DataType::pred; }

/// Rows of 32 × 32 bits that a register takes.
std::uint32_t rows_of(const Function& function, RegisterId r) {
    return std::max(1, bits(function.registers[r].type) / 32);
}

/// A guarded write leaves the other lanes' value alive, so it ends no range.
bool kills(const MicroOp& op) { return op.guard.kind == Operand::Kind::none; }

/// Half-open range of ops during which a register must keep its place.
struct Range {
    std::uint32_t begin, end;
};
using Ranges = std::vector<Range>;

/// Each register's ranges, ascending. A source and a destination of one op both hold that op: bodies may write a
/// destination before they have read all sources.
std::vector<Ranges> live_ranges(const Function& function) {
    const Liveness live = liveness(function);
    std::vector<Ranges> ranges(function.registers.size());
    std::vector<std::uint32_t> end(function.registers.size());
    auto add = [&](RegisterId r, std::uint32_t from, std::uint32_t to) {
        // Blocks and ops come in descending order; touching ranges join.
        if (!ranges[r].empty() && ranges[r].back().begin <= to)
            ranges[r].back().begin = std::min(ranges[r].back().begin, from);
        else
            ranges[r].push_back({from, to});
    };
    for (std::size_t b = function.blocks.size(); b-- > 0;) {
        const Block& block = function.blocks[b];
        Bits alive = live.live_out[b];
        for_each_bit(alive, [&](RegisterId r) { end[r] = block.last; });
        for (std::uint32_t i = block.last; i-- > block.first;) {
            const MicroOp& op = function.ops[i];
            for_each_def(function, op, [&](RegisterId r) {
                if (!test(alive, r)) add(r, i, i + 1);
                else if (kills(op)) add(r, i, end[r]), clear(alive, r);
            });
            for_each_use(function, op, [&](RegisterId r) {
                if (test(alive, r)) return;
                set(alive, r);
                end[r] = i + 1;
            });
        }
        for_each_bit(alive, [&](RegisterId r) { add(r, block.first, end[r]); });
    }
    for (Ranges& list : ranges) std::reverse(list.begin(), list.end());
    return ranges;
}

/// The times at which one row is taken.
class Occupancy {
  public:
    bool free_during(const Ranges& ranges) const {
        for (Range range : ranges) {
            auto next = std::upper_bound(taken_.begin(), taken_.end(), range.begin,
                                         [](std::uint32_t at, Range r) { return at < r.begin; });
            if (next != taken_.end() && next->begin < range.end) return false;
            if (next != taken_.begin() && std::prev(next)->end > range.begin) return false;
        }
        return true;
    }

    void take(const Ranges& ranges) {
        std::size_t middle = taken_.size();
        taken_.insert(taken_.end(), ranges.begin(), ranges.end());
        std::inplace_merge(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(middle), taken_.end(),
                           [](Range a, Range b) { return a.begin < b.begin; });
    }

  private:
    std::vector<Range> taken_;
};

/// The first place that is free during `ranges`; takes it.
std::uint32_t first_fit(std::vector<Occupancy>& places, const Ranges& ranges) {
    std::uint32_t at = 0;
    while (at < places.size() && !places[at].free_during(ranges)) ++at;
    if (at == places.size()) places.emplace_back();
    places[at].take(ranges);
    return at;
}

}  // namespace

Liveness liveness(const Function& function) {
    const std::size_t blocks = function.blocks.size(), words = (function.registers.size() + 63) / 64;
    std::vector<Bits> used(blocks, Bits(words)), killed(blocks, Bits(words));
    for (std::size_t b = 0; b < blocks; ++b)
        for (std::uint32_t i = function.blocks[b].first; i < function.blocks[b].last; ++i) {
            const MicroOp& op = function.ops[i];
            for_each_use(function, op, [&](RegisterId r) {
                if (!test(killed[b], r)) set(used[b], r);
            });
            if (kills(op)) for_each_def(function, op, [&](RegisterId r) { set(killed[b], r); });
        }
    Liveness live{used, std::vector<Bits>(blocks, Bits(words))};
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t b = blocks; b-- > 0;) {
            Bits& out = live.live_out[b];
            for (BlockId next : function.blocks[b].successors)
                for (std::size_t w = 0; w < words; ++w) out[w] |= live.live_in[next][w];
            for (std::size_t w = 0; w < words; ++w) {
                std::uint64_t in = live.live_in[b][w] | (out[w] & ~killed[b][w]);
                if (in != live.live_in[b][w]) live.live_in[b][w] = in, changed = true;
            }
        }
    }
    return live;
}

std::uint32_t peak_live_rows(const Function& function) {
    std::vector<std::int64_t> change(function.ops.size() + 1);
    std::vector<Ranges> ranges = live_ranges(function);
    for (RegisterId r = 0; r < ranges.size(); ++r)
        if (!is_predicate(function, r))
            for (Range range : ranges[r]) {
                change[range.begin] += rows_of(function, r);
                change[range.end] -= rows_of(function, r);
            }
    std::int64_t now = 0, peak = 0;
    for (std::int64_t step : change) peak = std::max(peak, now += step);
    return static_cast<std::uint32_t>(peak);
}

void assign_slots(Function& function) {
    const std::vector<Ranges> ranges = live_ranges(function);
    std::vector<RegisterId> order;
    for (RegisterId r = 0; r < ranges.size(); ++r)
        if (!ranges[r].empty()) order.push_back(r);
    // By the start of life, as linear scan does.
    std::stable_sort(order.begin(), order.end(),
                     [&](RegisterId a, RegisterId b) { return ranges[a].front().begin < ranges[b].front().begin; });
    // Registers of different widths never share: lane 1 of a 32-bit row lies where a 64-bit register has the upper half of
    // lane 0, and in a diverged warp one lane's register may be dead while the other's lives.
    std::vector<Occupancy> predicates;
    constexpr std::uint32_t widths[] = {1, 2, 4};
    std::vector<Occupancy> places[std::size(widths)];
    function.slots.of_register.assign(function.registers.size(), 0);
    auto pool = [&](RegisterId r) { return std::countr_zero(rows_of(function, r)); };
    for (RegisterId r : order)
        function.slots.of_register[r] = first_fit(is_predicate(function, r) ? predicates : places[pool(r)], ranges[r]);
    std::uint32_t begin[std::size(widths)], rows = 0;
    for (std::size_t i = 0; i < std::size(widths); ++i) {
        begin[i] = rows;
        rows += static_cast<std::uint32_t>(places[i].size()) * widths[i];
    }
    for (RegisterId r : order)
        if (!is_predicate(function, r))
            function.slots.of_register[r] = begin[pool(r)] + function.slots.of_register[r] * widths[pool(r)];
    function.slots.rows = rows;
    function.slots.predicates = static_cast<std::uint32_t>(predicates.size());
}

}  // namespace tilepath::program
