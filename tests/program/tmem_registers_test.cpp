#include "program/tmem_registers.h"

#include <gtest/gtest.h>

#include "op_by_op.h"
#include "program/slots.h"

namespace tilepath::program {
namespace {

/// Registers 0 to 7 and the predicate 8.
class Builder : public OpByOp {
  public:
    Builder() : OpByOp(predicate, DataType::pred) { function_.tmem_transfers.emplace_back(); }
    Function& complete() {
        complete_tmem_registers(function_);
        return function_;
    }

    static constexpr RegisterId predicate = 8;
};

constexpr std::uint8_t loads = 0, stores = 1;

/// `mov settle:1,2 …`: the operations in order, with the registers of those that only this pass writes.
std::string text_of(const Function& function) {
    std::string text;
    for (const MicroOp& op : function.ops) {
        text += (text.empty() ? "" : " ") + std::string(traits(op.op).name);
        if (op.op != Op::tcgen05_settle && op.op != Op::tcgen05_wait) continue;
        text += op.variant == 0 ? ":" : "'";
        for (Operand r : function.sources(op)) text += std::to_string(r.index);
    }
    return text;
}

TEST(TmemRegisters, AWaitNamesWhatItCompletes) {
    Builder b;
    b.op(Op::tcgen05_ld, {1, 2}, {0});
    b.op(Op::tcgen05_st, {}, {0, 3, 4});
    b.op(Op::tcgen05_wait).variant = loads;
    b.op(Op::tcgen05_wait).variant = stores;
    b.op(Op::st, {}, {1, 2});
    b.op(Op::mov, {3}, {4});
    EXPECT_EQ(text_of(b.complete()), "tcgen05_ld tcgen05_st tcgen05_wait:12 tcgen05_wait'34 st mov");
}

TEST(TmemRegisters, WhatTouchesThemFirstWaits) {
    Builder b;
    b.op(Op::tcgen05_ld, {1, 2}, {0});
    b.op(Op::mov, {0}, {3});  // the address was read when the load was issued
    b.op(Op::mov, {3}, {1});
    b.op(Op::mov, {2}, {3});
    b.op(Op::tcgen05_st, {}, {0, 3});
    b.op(Op::mov, {4}, {3});  // reading what is stored is no harm
    b.op(Op::mov, {3}, {4});
    EXPECT_EQ(text_of(b.complete()),
              "tcgen05_ld mov tcgen05_settle:1 mov tcgen05_settle:2 mov tcgen05_st mov tcgen05_settle:3 mov");
}

TEST(TmemRegisters, OnSomePath) {
    // One arm loads, the other does not; both meet, and loop.
    Builder b;
    b.op(Op::bra).guard = Operand::reg(Builder::predicate);
    b.goes_to({1, 2});
    b.begin_block();
    b.op(Op::tcgen05_ld, {1}, {0});
    b.goes_to({2});
    b.begin_block();
    b.op(Op::mov, {2}, {1});
    b.op(Op::tcgen05_ld, {1}, {0});
    b.op(Op::bra).guard = Operand::reg(Builder::predicate);
    b.goes_to({2, 3});
    b.begin_block();
    b.op(Op::tcgen05_wait).variant = loads;
    b.op(Op::exit);
    EXPECT_EQ(text_of(b.complete()), "bra tcgen05_ld tcgen05_settle:1 mov tcgen05_ld bra tcgen05_wait:1 exit");
}

TEST(TmemRegisters, LanesThatLeaveOrCall) {
    // A guard on the exit or on the wait keeps some lanes here, whose loads are still under way.
    Builder b;
    b.op(Op::tcgen05_ld, {1, 2}, {0});
    MicroOp& wait = b.op(Op::tcgen05_wait);
    wait.variant = loads, wait.guard = Operand::reg(Builder::predicate);
    b.op(Op::exit).guard = Operand::reg(Builder::predicate);
    b.goes_to({1});
    b.begin_block();
    b.op(Op::mov, {3}, {1});
    b.op(Op::exit);
    EXPECT_EQ(text_of(b.complete()),
              "tcgen05_ld tcgen05_wait:12 tcgen05_settle'12 exit tcgen05_settle:1 mov tcgen05_settle'2 exit");
    Builder c;
    c.op(Op::tcgen05_ld, {1, 2}, {0});
    c.op(Op::ret);
    Function& function = c.complete();
    EXPECT_EQ(text_of(function), "tcgen05_ld tcgen05_settle'12 ret");
    Builder d;
    d.op(Op::tcgen05_st, {}, {0, 1});
    d.op(Op::trap);
    EXPECT_EQ(text_of(d.complete()), "tcgen05_st tcgen05_settle'1 trap");
}

/// A row is nobody else's while its transfer is under way, though no operation reads the register any more.
TEST(TmemRegisters, KeepTheirRows) {
    Builder b;
    b.op(Op::mov, {0}, {7});
    b.op(Op::tcgen05_ld, {1}, {0});
    b.op(Op::tcgen05_st, {}, {0, 2});
    b.op(Op::mov, {3}, {0});
    b.op(Op::mov, {4}, {3});
    b.op(Op::st, {}, {3, 4});
    b.op(Op::tcgen05_wait).variant = loads;
    b.op(Op::tcgen05_wait).variant = stores;
    Function& function = b.complete();
    assign_slots(function);
    for (RegisterId moving : {1, 2})
        for (RegisterId other : {3, 4})
            EXPECT_NE(function.slots.of_register[moving], function.slots.of_register[other]);
}

}  // namespace
}  // namespace tilepath::program
