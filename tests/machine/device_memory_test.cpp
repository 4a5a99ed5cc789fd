#include "machine/device_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

namespace tilepath::machine {
namespace {

std::unique_ptr<DeviceMemory> make() {
    auto memory = DeviceMemory::create();
    if (!memory) ADD_FAILURE() << to_string(memory.error());
    return std::move(*memory);
}

TEST(DeviceMemory, AllocationsLieApartAndAligned) {
    auto memory = make();
    const Address a = *memory->allocate(1000, "a"), b = *memory->allocate(1, "b");
    EXPECT_EQ(a % 512, 0u);
    EXPECT_EQ(b % 512, 0u);
    EXPECT_GE(b, a + 4096 + 4096);  // a page of bytes, a page without access rights
    std::memset(reinterpret_cast<void*>(a), 0xFF, 1000);
    EXPECT_EQ(*reinterpret_cast<std::uint8_t*>(b), 0);
}

TEST(DeviceMemory, AddressesAreTheSameInEveryRun) {
    std::vector<Address> runs[2];
    for (auto& run : runs) {
        auto memory = make();
        for (int i = 0; i < 3; ++i) run.push_back(*memory->allocate(5000u << i, "x"));
    }
    EXPECT_EQ(runs[0][0], device_memory_base + 4096);
    EXPECT_EQ(runs[0], runs[1]);
}

TEST(DeviceMemory, FindsExactBytes) {
    auto memory = make();
    const Address a = *memory->allocate(1000, "a");
    EXPECT_EQ(memory->find(a)->end, a + 1000);
    EXPECT_TRUE(memory->find(a + 999));
    EXPECT_FALSE(memory->find(a + 1000));
    EXPECT_FALSE(memory->find(a - 1));
    EXPECT_FALSE(memory->find(0));
    EXPECT_FALSE(memory->find(~0ull));
}

TEST(DeviceMemory, NamesTheNearestAllocation) {
    auto memory = make();
    const Address a = *memory->allocate(1000, "a"), b = *memory->allocate(1000, "b");
    EXPECT_EQ(memory->nearest(a + 1001)->name, "a");
    EXPECT_EQ(memory->nearest(b - 1)->name, "b");
    EXPECT_EQ(memory->nearest(0)->name, "a");
    EXPECT_EQ(memory->nearest(~0ull)->name, "b");
}

TEST(DeviceMemory, ReleaseTakesAwayTheBytesAndTheCachedRanges) {
    auto memory = make();
    const Address a = *memory->allocate(1000, "a");
    *reinterpret_cast<std::uint8_t*>(a) = 7;
    const auto generation = memory->generation();
    EXPECT_FALSE(memory->release(a + 1));
    ASSERT_TRUE(memory->release(a));
    EXPECT_NE(memory->generation(), generation);
    EXPECT_FALSE(memory->find(a));
    EXPECT_FALSE(memory->release(a));
    const Address again = *memory->allocate(1000, "again");
    EXPECT_EQ(again, a);
    EXPECT_EQ(*reinterpret_cast<std::uint8_t*>(again), 0);
}

TEST(DeviceMemory, TooMuchIsAnError) {
    auto memory = make();
    EXPECT_FALSE(memory->allocate(device_memory_bytes, "all"));
    EXPECT_FALSE(memory->allocate(~0ull, "more"));
}

TEST(DeviceMemory, HoldsSeveralAtOnceUpToALimit) {
    std::vector<std::unique_ptr<DeviceMemory>> all;
    for (int i = 0; i < device_memories; ++i) all.push_back(make());
    EXPECT_FALSE(DeviceMemory::create());
    all.pop_back();
    EXPECT_TRUE(DeviceMemory::create());
}

TEST(DeviceMemory, NoHostMappingCanLandInAWindow) {
    auto memory = make();
    void* const at = reinterpret_cast<void*>(shared_window);
    void* const got = mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    EXPECT_EQ(got, MAP_FAILED);
}

TEST(DeviceMemory, HeapBlocksAreExactAndGoBack) {
    auto memory = make();
    const Address a = memory->heap_allocate(24), b = memory->heap_allocate(24);
    ASSERT_NE(a, 0u);
    EXPECT_EQ(a % 16, 0u);
    EXPECT_GE(b, a + 32);
    EXPECT_EQ(memory->find(a)->end, a + 24);
    EXPECT_FALSE(memory->find(a + 24));
    EXPECT_FALSE(memory->heap_release(a + 8));
    EXPECT_TRUE(memory->heap_release(a));
    EXPECT_FALSE(memory->heap_release(a));
    EXPECT_FALSE(memory->find(a));
    EXPECT_EQ(memory->heap_allocate(16), a);
    EXPECT_EQ(memory->heap_allocate(DeviceMemory::heap_bytes), 0u);
}

}  // namespace
}  // namespace tilepath::machine
