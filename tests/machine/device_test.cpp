#include "machine/device.h"

#include <gtest/gtest.h>

namespace tilepath::machine {
namespace {

// Read off an H200: 132 multiprocessors, 64 warps each, 233,472 and 232,448 bytes of shared memory.
TEST(Device, HopperIsWhatAnH200Says) {
    const Device device = *device_named("sm_90a");
    EXPECT_EQ(device.multiprocessors, 132u);
    EXPECT_EQ(device.warps_per_multiprocessor(), 64u);
    EXPECT_EQ(device.shared_per_multiprocessor, 233472u);
    EXPECT_EQ(device.shared_per_block, 232448u);
    EXPECT_EQ(device.generation, number::Generation::hopper);
}

TEST(Device, EveryDeviceIsKnownToNumber) {
    for (const Device& device : all_devices()) {
        auto generation = number::generation_of(device.name);
        ASSERT_TRUE(generation) << device.name;
        EXPECT_EQ(*generation, device.generation) << device.name;
        EXPECT_EQ("sm_" + std::to_string(device.architecture), device.name);
    }
}

TEST(Device, UnknownNamesAreErrorsThatListTheKnown) {
    for (const char* bad : {"", "sm_70", "sm_90b", "90", "sm_"}) {
        auto device = device_named(bad);
        ASSERT_FALSE(device) << bad;
        EXPECT_NE(to_string(device.error()).find("sm_80"), std::string::npos);
    }
}

// CUDA's occupancy calculator for sm_80: 256 threads: 8 blocks; 48 KiB each: 164 / 49 = 3.
TEST(Device, ResidentBlocks) {
    const Device device = *device_named("sm_80");
    EXPECT_EQ(resident_blocks(device, 256, 0), 8u);
    EXPECT_EQ(resident_blocks(device, 32, 0), 32u);
    EXPECT_EQ(resident_blocks(device, 1024, 0), 2u);
    EXPECT_EQ(resident_blocks(device, 128, 48 << 10), 3u);
    EXPECT_EQ(resident_blocks(device, 128, 163 << 10), 1u);
}

}  // namespace
}  // namespace tilepath::machine
