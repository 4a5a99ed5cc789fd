#include "program/slots.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "program/uses.h"

namespace tilepath::program {
namespace {

/// Appends `destinations <- sources` as a mov-like op; guard −1: none.
void add_op(Function& function, std::vector<RegisterId> destinations, std::vector<RegisterId> sources, int guard = -1) {
    MicroOp op;
    op.op = Op::unpack;
    op.first_operand = static_cast<std::uint32_t>(function.operands.size());
    op.destinations = static_cast<std::uint16_t>(destinations.size());
    op.sources = static_cast<std::uint16_t>(sources.size());
    if (guard >= 0) op.guard = Operand::reg(static_cast<RegisterId>(guard));
    for (RegisterId r : destinations) function.operands.push_back(Operand::reg(r));
    for (RegisterId r : sources) function.operands.push_back(Operand::reg(r));
    function.ops.push_back(op);
}

TEST(Slots, TwoThousandRegistersOf128LiveFitIn160Rows) {
    Function function;
    function.registers.assign(2000, {DataType::b32, {}});
    for (RegisterId r = 0; r < 2000; ++r)
        add_op(function, {r}, r < 127 ? std::vector<RegisterId>{} : std::vector<RegisterId>{r - 127});
    for (RegisterId r = 2000 - 127; r < 2000; ++r) add_op(function, {}, {r});
    function.blocks = {{0, static_cast<std::uint32_t>(function.ops.size()), {}}};
    ASSERT_EQ(peak_live_rows(function), 128u);
    assign_slots(function);
    EXPECT_LE(function.slots.rows, 160u);
}

TEST(Slots, MixedWidthsStayNearTheirPeak) {
    // Registers of 32 and 64 bits in turn, each read 60 steps later.
    Function function;
    for (RegisterId r = 0; r < 2000; ++r) {
        function.registers.push_back({r % 3 ? DataType::b32 : DataType::b64, {}});
        add_op(function, {r}, r < 60 ? std::vector<RegisterId>{} : std::vector<RegisterId>{r - 60});
    }
    function.blocks = {{0, static_cast<std::uint32_t>(function.ops.size()), {}}};
    assign_slots(function);
    EXPECT_LE(function.slots.rows, peak_live_rows(function) * 5 / 4);
}

/// A random function; walking it along random paths, each read must find the register that was written last in its rows.
/// The walk knows nothing of liveness.
void check_random_function(unsigned seed) {
    std::mt19937 random(seed);
    auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    Function function;
    const unsigned registers = 8 + pick(60), block_count = 1 + pick(10);
    const DataType types[] = {DataType::b32, DataType::b64, DataType::pred, DataType::b128, DataType::f16};
    for (unsigned r = 0; r < registers; ++r) function.registers.push_back({types[pick(5)], {}});
    std::vector<int> predicates;
    for (unsigned r = 0; r < registers; ++r)
        if (function.registers[r].type == DataType::pred) predicates.push_back(static_cast<int>(r));
    for (unsigned b = 0; b < block_count; ++b) {
        Block block{static_cast<std::uint32_t>(function.ops.size()), 0, {}};
        for (unsigned i = pick(12); i-- > 0;) {
            std::vector<RegisterId> d, s;
            for (unsigned n = pick(3); n-- > 0;) d.push_back(pick(registers));
            for (unsigned n = pick(4); n-- > 0;) s.push_back(pick(registers));
            add_op(function, d, s, pick(3) || predicates.empty() ? -1 : predicates[pick(static_cast<unsigned>(predicates.size()))]);
        }
        block.last = static_cast<std::uint32_t>(function.ops.size());
        for (unsigned n = pick(3); n-- > 0;) block.successors.push_back(pick(block_count));
        function.blocks.push_back(block);
    }
    assign_slots(function);
    // Where lane `lane` keeps a register: masks by (predicate, lane), rows by 32-bit cells.
    auto cells = [&](RegisterId r, std::uint32_t lane) {
        std::vector<std::pair<bool, std::uint32_t>> out;
        const bool predicate = function.registers[r].type == DataType::pred;
        const auto words = static_cast<std::uint32_t>(std::max(1, bits(function.registers[r].type) / 32));
        for (std::uint32_t i = 0; i < words; ++i) out.emplace_back(predicate, function.slots.of_register[r] * 32 + lane * words + i);
        return out;
    };
    // Two lanes of one warp walk paths of their own: what one writes must not reach what the other still reads.
    struct Lane {
        std::map<RegisterId, bool> written;
        BlockId at = 0;
        bool ended = false;
    };
    for (int walk = 0; walk < 20; ++walk) {
        std::map<std::pair<bool, std::uint32_t>, std::pair<RegisterId, std::uint32_t>> holds;
        Lane lanes[2];
        for (int steps = 0; steps < 60; ++steps) {
            const std::uint32_t lane = pick(2);
            Lane& self = lanes[lane];
            if (self.ended) continue;
            for (std::uint32_t i = function.blocks[self.at].first; i < function.blocks[self.at].last; ++i) {
                const MicroOp& op = function.ops[i];
                const bool runs = op.guard.kind == Operand::Kind::none || pick(2);
                for_each_use(function, op, [&](RegisterId r) {
                    if (!self.written[r]) return;
                    for (auto cell : cells(r, lane)) {
                        ASSERT_EQ(holds[cell], std::pair(r, lane)) << "seed " << seed << ", op " << i;
                    }
                });
                if (!runs) continue;
                for_each_def(function, op, [&](RegisterId r) {
                    // A destination must not land on a source of the same op either.
                    for_each_use(function, op, [&](RegisterId s) {
                        if (s == r) return;
                        for (auto cell : cells(r, lane)) {
                            for (auto other : cells(s, lane)) {
                                ASSERT_NE(cell, other) << "seed " << seed << ", op " << i;
                            }
                        }
                    });
                    for (auto cell : cells(r, lane)) holds[cell] = {r, lane};
                    self.written[r] = true;
                });
            }
            const std::vector<BlockId>& next = function.blocks[self.at].successors;
            if (next.empty()) self.ended = true;
            else self.at = next[pick(static_cast<unsigned>(next.size()))];
        }
    }
}

TEST(Slots, RandomFunctionsFindTheirValues) {
    for (unsigned seed = 0; seed < 300; ++seed) check_random_function(seed);
}

}  // namespace
}  // namespace tilepath::program
