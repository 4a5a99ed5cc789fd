#include "machine/async_copy.h"

#include <gtest/gtest.h>

namespace tilepath::machine {
namespace {

PendingCopy copy(int lane, std::uint64_t id) {
    PendingCopy out;
    out.lane = static_cast<std::uint8_t>(lane);
    out.id = id;
    return out;
}

struct Landed {
    std::vector<std::uint64_t> ids;
    auto note() {
        return [this](const PendingCopy& each) { ids.push_back(each.id); };
    }
};

TEST(AsyncCopies, WaitGroupLandsAllButTheNewestGroups) {
    AsyncCopies copies;
    for (std::uint64_t group = 0; group < 3; ++group) {
        copies.issue(copy(0, 10 * group));
        copies.issue(copy(0, 10 * group + 1));
        copies.commit(1);
    }
    copies.issue(copy(0, 99));  // open group
    Landed landed;
    copies.wait_groups(1, 2, landed.note());
    EXPECT_EQ(landed.ids, (std::vector<std::uint64_t>{0, 1}));
    copies.wait_groups(1, 0, landed.note());
    EXPECT_EQ(landed.ids, (std::vector<std::uint64_t>{0, 1, 10, 11, 20, 21}));
    EXPECT_EQ(copies.size(), 1u);
    copies.wait_all(1, landed.note());
    EXPECT_TRUE(copies.empty());
}

TEST(AsyncCopies, LanesHaveGroupsOfTheirOwn) {
    AsyncCopies copies;
    copies.issue(copy(0, 1));
    copies.issue(copy(5, 2));
    copies.commit(1u << 5);
    Landed landed;
    copies.wait_groups(~0u, 0, landed.note());
    EXPECT_EQ(landed.ids, (std::vector<std::uint64_t>{2}));
}

// cp.async.mbarrier.arrive waits for the lane's copies before it, not for others (PTX ISA 9.7.13.15.15).
TEST(AsyncCopies, ArrivalsFollowTheirLanesCopies) {
    AsyncCopies copies;
    copies.issue(copy(0, 1));
    copies.issue(copy(1, 2));
    PendingCopy arrival = copy(0, 3);
    arrival.arrival = true;
    copies.issue(arrival);
    Landed landed;
    copies.land_if([](const PendingCopy& each) { return each.id == 2; }, landed.note());
    EXPECT_EQ(landed.ids, (std::vector<std::uint64_t>{2}));
    copies.land_if([](const PendingCopy& each) { return each.id == 1; }, landed.note());
    EXPECT_EQ(landed.ids, (std::vector<std::uint64_t>{2, 1, 3}));
}

}  // namespace
}  // namespace tilepath::machine
