#include "machine/address_map.h"

#include <gtest/gtest.h>

namespace tilepath::machine {
namespace {

using program::Space;

// Recorded on an H200: cvta.to.shared in CTA 2 of a cluster gives 0x02000420 for offset 0x420, and the generic address
// is a window whose base has 32 zero low bits plus that.
TEST(AddressMap, SharedAddressesHoldTheRank) {
    EXPECT_EQ(shared_address(2, 0x420), 0x02000420u);
    EXPECT_EQ(shared_rank(0x02000420), 2u);
    EXPECT_EQ(shared_offset(0x02000420), 0x420u);
    EXPECT_EQ(shared_window & 0xFFFFFFFF, 0u);
    const Address generic = generic_address(Space::shared, 0x02000420);
    EXPECT_EQ(generic, shared_window + 0x02000420);
    EXPECT_EQ(space_address(Space::shared, generic), 0x02000420u);
}

TEST(AddressMap, EveryWindowIsFoundAgain) {
    for (Space space : {Space::shared, Space::local, Space::param}) {
        for (Address address : {Address{0}, Address{0x1234}, Address{0xFFFFFFFF}}) {
            const Place place = place_of_generic(generic_address(space, address));
            EXPECT_EQ(place.space, space);
            EXPECT_EQ(place.address, address);
        }
    }
    for (Address address : {Address{0}, device_memory_base, window_base - 1, windows_end, ~Address{0}}) {
        EXPECT_EQ(place_of_generic(address).space, Space::global);
        EXPECT_EQ(place_of_generic(address).address, address);
        EXPECT_EQ(generic_address(Space::global, address), address);
    }
}

TEST(AddressMap, FunctionPointersAreNeverNullAndNothingElse) {
    EXPECT_NE(function_address(0), 0u);
    for (std::uint32_t index : {0u, 1u, 500u}) EXPECT_EQ(function_index(function_address(index)), index);
    EXPECT_LT(function_index(0), 0);
    EXPECT_LT(function_index(function_window), 0);
    EXPECT_LT(function_index(function_address(3) + 1), 0);
    EXPECT_LT(function_index(device_memory_base), 0);
}

}  // namespace
}  // namespace tilepath::machine
