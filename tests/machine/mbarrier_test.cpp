#include "machine/mbarrier.h"

#include <gtest/gtest.h>

namespace tilepath::machine {
namespace {

Mbarrier made(std::uint32_t count) {
    Mbarrier barrier;
    EXPECT_EQ(init(barrier, count), MbarrierError::none);
    return barrier;
}

TEST(Mbarrier, SurvivesItsEightBytes) {
    for (bool phase : {false, true}) {
        for (std::uint32_t expected : {1u, 77u, Mbarrier::count_limit}) {
            for (std::int32_t transactions : {0, 1, -1, (1 << 20) - 1, -(1 << 20) + 1}) {
                const Mbarrier barrier{phase, expected, expected / 2, transactions};
                Mbarrier back;
                ASSERT_TRUE(decode(encode(barrier), back));
                EXPECT_EQ(back, barrier);
            }
        }
    }
}

TEST(Mbarrier, ZeroAndPoisonedCountsAreNone) {
    Mbarrier barrier;
    EXPECT_FALSE(decode(0, barrier));
    EXPECT_EQ(init(barrier, 0), MbarrierError::count);
    EXPECT_EQ(init(barrier, 1u << 20), MbarrierError::count);
}

TEST(Mbarrier, TheLastArrivalEndsThePhase) {
    Mbarrier barrier = made(3);
    bool completed = false;
    ASSERT_EQ(arrive(barrier, 2, completed), MbarrierError::none);
    EXPECT_FALSE(completed);
    const std::uint64_t state = encode(barrier);
    EXPECT_FALSE(phase_completed(barrier, state));
    ASSERT_EQ(arrive(barrier, 1, completed), MbarrierError::none);
    EXPECT_TRUE(completed);
    EXPECT_EQ(barrier, (Mbarrier{true, 3, 3, 0}));
    EXPECT_TRUE(phase_completed(barrier, state));
    EXPECT_EQ(arrive(barrier, 4, completed), MbarrierError::count);
}

// A fresh barrier passes parity 1: the phase before the first counts as completed (PTX ISA 9.7.13.15.16).
TEST(Mbarrier, ParityNamesTheLastCompletedPhase) {
    Mbarrier barrier = made(1);
    EXPECT_TRUE(parity_completed(barrier, true));
    EXPECT_FALSE(parity_completed(barrier, false));
    bool completed = false;
    (void)arrive(barrier, 1, completed);
    EXPECT_TRUE(parity_completed(barrier, false));
    EXPECT_FALSE(parity_completed(barrier, true));
}

TEST(Mbarrier, DropLowersLaterPhases) {
    Mbarrier barrier = made(2);
    bool completed = false;
    ASSERT_EQ(arrive_drop(barrier, 1, completed), MbarrierError::none);
    EXPECT_FALSE(completed);
    ASSERT_EQ(arrive(barrier, 1, completed), MbarrierError::none);
    EXPECT_TRUE(completed);
    EXPECT_EQ(barrier.pending, 1u);
    EXPECT_EQ(barrier.expected, 1u);
}

TEST(Mbarrier, NoCompleteMustNotComplete) {
    Mbarrier barrier = made(2);
    EXPECT_EQ(arrive_no_complete(barrier, 2), MbarrierError::completes);
    EXPECT_EQ(arrive_no_complete(barrier, 1), MbarrierError::none);
    EXPECT_EQ(state_pending(encode(barrier)), 1u);
}

// Recorded on an H200: complete_tx 16, arrive (test_wait false), expect_tx 16, test_wait true.
TEST(Mbarrier, ExpectTxCanEndAPhase) {
    Mbarrier barrier = made(1);
    const std::uint64_t state = encode(barrier);
    bool completed = false;
    ASSERT_EQ(transact(barrier, -16, completed), MbarrierError::none);
    ASSERT_EQ(arrive(barrier, 1, completed), MbarrierError::none);
    EXPECT_FALSE(phase_completed(barrier, state));
    ASSERT_EQ(transact(barrier, 16, completed), MbarrierError::none);
    EXPECT_TRUE(phase_completed(barrier, state));
}

TEST(Mbarrier, TransactionsKeepTheirRange) {
    Mbarrier barrier = made(1);
    bool completed = false;
    ASSERT_EQ(transact(barrier, (1 << 20) - 1, completed), MbarrierError::none);
    EXPECT_EQ(transact(barrier, 1, completed), MbarrierError::transactions);
}

}  // namespace
}  // namespace tilepath::machine
