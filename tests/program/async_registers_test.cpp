#include "program/async_registers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "op_by_op.h"
#include "program/slots.h"

namespace tilepath::program {
namespace {

/// Registers 0 to 31 and one descriptor.
class Builder : public OpByOp {
  public:
    Builder() : OpByOp(descriptor, DataType::b64) { function_.mmas.emplace_back(); }
    void wgmma(std::vector<RegisterId> d, std::vector<RegisterId> a) {
        std::vector<RegisterId> sources = a;
        sources.push_back(descriptor);
        sources.insert(sources.end(), d.begin(), d.end());
        op(Op::wgmma, d, sources);
    }
    void wait(int keep) { op(Op::wgmma_wait).immediate = keep; }
    Function& function() { return function_; }

    static constexpr RegisterId descriptor = 32;
};

std::vector<RegisterId> sources_of(const Function& function, std::size_t op) {
    std::vector<RegisterId> out;
    for (Operand operand : function.sources(function.ops[op])) out.push_back(operand.index);
    return out;
}

std::vector<std::size_t> all(const Function& function, Op op) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < function.ops.size(); ++i)
        if (function.ops[i].op == op) out.push_back(i);
    return out;
}

using Registers = std::vector<RegisterId>;

TEST(AsyncRegisters, AWaitUsesWhatItCompletes) {
    Builder b;
    b.op(Op::unpack, {0, 1, 4, 5, Builder::descriptor});
    b.wgmma({0, 1}, {4, 5});
    b.op(Op::wgmma_commit);
    b.wait(0);
    b.op(Op::st, {}, {0, 1});
    complete_async_registers(b.function());
    EXPECT_EQ(sources_of(b.function(), all(b.function(), Op::wgmma_wait)[0]), (Registers{0, 1, 4, 5}));
    EXPECT_TRUE(missing_async_uses(b.function()).empty());
}

// Register 10 is written while the wgmma still reads registers 4 and 5, which nothing else reads: it gets no row of
// theirs.
TEST(AsyncRegisters, NoRowIsSharedBeforeTheWait) {
    for (const bool completed : {false, true}) {
        Builder b;
        b.op(Op::unpack, {0, 1, 4, 5, Builder::descriptor});
        b.wgmma({0, 1}, {4, 5});
        b.op(Op::wgmma_commit);
        b.op(Op::unpack, {10});
        b.op(Op::st, {}, {10});
        b.wait(0);
        b.op(Op::unpack, {11});
        b.op(Op::st, {}, {0, 1, 11});
        if (completed) complete_async_registers(b.function());
        assign_slots(b.function());
        const std::vector<std::uint32_t>& rows = b.function().slots.of_register;
        const auto shares = [&](RegisterId r) { return rows[r] == rows[4] || rows[r] == rows[5]; };
        EXPECT_EQ(shares(10), !completed);
        EXPECT_TRUE(shares(11)) << "after the wait a row of A's is free";
    }
}

// A path on which nothing waits ends with the lanes: until then the rows are taken.
TEST(AsyncRegisters, APathWithoutAWait) {
    Builder b;
    b.op(Op::unpack, {0, 1, 4, 5, Builder::descriptor});
    b.wgmma({0, 1}, {4, 5});
    b.op(Op::wgmma_commit);
    b.op(Op::unpack, {10});
    b.op(Op::st, {}, {10});
    b.op(Op::exit);
    complete_async_registers(b.function());
    const auto settles = all(b.function(), Op::wgmma_settle);
    ASSERT_EQ(settles.size(), 1u);
    EXPECT_EQ(b.function().ops[settles[0]].variant, static_cast<std::uint8_t>(Settle::mark));
    assign_slots(b.function());
    const std::vector<std::uint32_t>& rows = b.function().slots.of_register;
    for (RegisterId r : {0u, 1u, 4u, 5u}) EXPECT_NE(rows[10], rows[r]);
}

// A loop that keeps one group on the way: the wait completes the group before.
TEST(AsyncRegisters, GroupsAreCountedAroundLoops) {
    Builder b;
    b.op(Op::unpack, {0, 1, 4, 5, 6, 7, Builder::descriptor});
    b.goes_to({1});
    b.begin_block();
    b.wgmma({0}, {4, 5});
    b.op(Op::wgmma_commit);
    b.wait(1);
    b.wgmma({1}, {6, 7});
    b.op(Op::wgmma_commit);
    b.wait(1);
    b.op(Op::bra);
    b.goes_to({1, 2});
    b.begin_block();
    b.wait(0);
    b.op(Op::st, {}, {0, 1});
    complete_async_registers(b.function());
    const auto waits = all(b.function(), Op::wgmma_wait);
    ASSERT_EQ(waits.size(), 3u);
    EXPECT_EQ(sources_of(b.function(), waits[0]), (Registers{1, 6, 7}));
    EXPECT_EQ(sources_of(b.function(), waits[1]), (Registers{0, 4, 5}));
    EXPECT_EQ(sources_of(b.function(), waits[2]), (Registers{1, 6, 7}));
}

TEST(AsyncRegisters, EarlyUsesAreSettled) {
    struct Row {
        Op op;
        Registers destinations, sources;
        std::optional<Settle> expected;
    };
    const Row rows[] = {
        {Op::mov, {10}, {0}, Settle::land},  // a copy of an accumulator
        {Op::add, {10}, {0, 11}, Settle::early}, {Op::add, {0}, {11, 12}, Settle::early},
        {Op::add, {4}, {11, 12}, Settle::early}, {Op::add, {10}, {4, 11}, {}},  // A may be read
        {Op::call, {}, {}, Settle::land},
    };
    for (const Row& row : rows) {
        Builder b;
        b.function().calls.emplace_back();
        b.op(Op::unpack, {0, 1, 4, 5, 11, 12, Builder::descriptor});
        b.wgmma({0, 1}, {4, 5});
        b.op(Op::wgmma_commit);
        b.op(row.op, row.destinations, row.sources);
        b.wait(0);
        b.op(Op::st, {}, {0, 1});
        complete_async_registers(b.function());
        const auto settles = all(b.function(), Op::wgmma_settle);
        ASSERT_EQ(settles.size(), row.expected ? 1u : 0u) << traits(row.op).name;
        if (!row.expected) continue;
        EXPECT_EQ(b.function().ops[settles[0]].variant, static_cast<std::uint8_t>(*row.expected));
        EXPECT_EQ(b.function().ops[settles[0] + 1].op, row.op);
        EXPECT_EQ(sources_of(b.function(), settles[0]), (Registers{0, 1, 4, 5}));
    }
}

TEST(AsyncRegisters, AWaitThatNamesTooLittleIsAFaultOfOurs) {
    Builder b;
    b.op(Op::unpack, {0, 4, Builder::descriptor});
    b.wgmma({0}, {4});
    b.op(Op::wgmma_commit);
    b.wait(0);
    EXPECT_EQ(missing_async_uses(b.function()).size(), 2u);
}

}  // namespace
}  // namespace tilepath::program
