#include "machine/tensor_memory.h"

#include <gtest/gtest.h>

namespace tilepath::machine {
namespace {

TensorMemory fresh() {
    TensorMemory memory;
    memory.reset();
    return memory;
}

TEST(TensorMemory, AllocatesPowersOfTwoFrom32To512) {
    const TensorMemory memory = fresh();
    for (std::uint32_t count : {32u, 64u, 128u, 256u, 512u})
        EXPECT_EQ(memory.check_allocation(count), TensorMemoryError::none);
    for (std::uint32_t count : {0u, 16u, 48u, 96u, 608u, 1024u})
        EXPECT_EQ(memory.check_allocation(count), TensorMemoryError::columns) << count;
}

TEST(TensorMemory, NoRoomMeansWaiting) {
    TensorMemory memory = fresh();
    EXPECT_EQ(memory.allocate(256), 0u);
    EXPECT_EQ(memory.allocate(128), 256u);
    EXPECT_EQ(memory.allocate(256), std::nullopt);
    EXPECT_EQ(memory.deallocate(0, 256), TensorMemoryError::none);
    EXPECT_EQ(memory.allocate(256), 0u);
    EXPECT_EQ(memory.allocate(128), 384u);
    EXPECT_EQ(memory.allocate(32), std::nullopt);
}

TEST(TensorMemory, OnlyWhatWasAllocatedIsFreed) {
    TensorMemory memory = fresh();
    EXPECT_EQ(memory.allocate(64), 0u);
    EXPECT_EQ(memory.deallocate(0, 32), TensorMemoryError::not_allocated);
    EXPECT_EQ(memory.deallocate(32, 32), TensorMemoryError::not_allocated);
    EXPECT_EQ(memory.deallocate(0, 48), TensorMemoryError::columns);
    EXPECT_EQ(memory.describe_allocations(), "columns 0-63");
    EXPECT_EQ(memory.deallocate(0, 64), TensorMemoryError::none);
    EXPECT_EQ(memory.deallocate(0, 64), TensorMemoryError::not_allocated);
    EXPECT_FALSE(memory.any_allocated());
}

TEST(TensorMemory, ARelinquishedPermitIsGone) {
    TensorMemory memory = fresh();
    memory.relinquish_permit();
    EXPECT_EQ(memory.check_allocation(32), TensorMemoryError::no_permit);
    memory.reset();
    EXPECT_EQ(memory.check_allocation(32), TensorMemoryError::none);
}

TEST(TensorMemory, KnowsWhichColumnsAreAllocated) {
    TensorMemory memory = fresh();
    EXPECT_EQ(memory.allocate(64), 0u);
    EXPECT_EQ(memory.allocate(32), 64u);
    EXPECT_EQ(memory.allocate(32), 96u);
    EXPECT_EQ(memory.deallocate(64, 32), TensorMemoryError::none);
    EXPECT_TRUE(memory.allocated(0, 64));
    EXPECT_TRUE(memory.allocated(63, 1));
    EXPECT_FALSE(memory.allocated(63, 2));
    EXPECT_FALSE(memory.allocated(64, 32));
    EXPECT_TRUE(memory.allocated(96, 32));
    EXPECT_FALSE(memory.allocated(96, 33));
    EXPECT_FALSE(memory.allocated(60, 40));
    EXPECT_FALSE(memory.allocated(511, 2));
    EXPECT_FALSE(memory.allocated(512, 1));
    EXPECT_EQ(memory.allocate(32), 64u);
    EXPECT_TRUE(memory.allocated(0, 128));
}

TEST(TensorMemory, CellsKnowWhetherTheyWereWritten) {
    TensorMemory memory = fresh();
    EXPECT_EQ(memory.column(5)[100], 0xA5A5A5A5u);
    EXPECT_EQ(memory.written(5, 3), 0u);
    ASSERT_EQ(memory.allocate(32), 0u);
    memory.set_written(5, 3, 1u << 4);
    EXPECT_EQ(memory.written(5, 3), 1u << 4);
    EXPECT_EQ(memory.written(5, 2), 0u);
    EXPECT_EQ(memory.deallocate(0, 32), TensorMemoryError::none);
    EXPECT_EQ(memory.written(5, 3), 0u);
}

TEST(TensorMemory, ThreadsSeeWhatAFenceShows) {
    TensorMemory memory = fresh();
    EXPECT_EQ(memory.seen(5), memory.column(5));
    memory.keep_apart();
    memory.column(5)[7] = 1;
    memory.column(6)[7] = 2;
    memory.set_unseen(5, 1);
    EXPECT_TRUE(memory.unseen(4, 2));
    EXPECT_FALSE(memory.unseen(6, 4));
    EXPECT_EQ(memory.seen(5)[7], 0xA5A5A5A5u);
    memory.show();
    EXPECT_EQ(memory.seen(5)[7], 1u);
    EXPECT_FALSE(memory.unseen(5, 1));
    memory.reset();
    EXPECT_EQ(memory.seen(5), memory.column(5));
}

TEST(TensorMemory, AddressesAreLaneAndColumn) {
    EXPECT_EQ(TensorMemoryAddress::of(0x00200010).lane, 32u);
    EXPECT_EQ(TensorMemoryAddress::of(0x00200010).column, 16u);
    EXPECT_EQ((TensorMemoryAddress{96, 511}.bits()), 0x006001FFu);
}

}  // namespace
}  // namespace tilepath::machine
