// --device gpu, with a driver that is none: what runs there is compared with what tilepath computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/examples.h"

namespace tilepath::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Saxpy : Examples {
    Finished run(const std::string& arguments, const std::string& wrong = "") const {
        return shell((wrong.empty() ? "" : "FAKE_DRIVER_WRONG=" + wrong + " ") +
                     "LD_LIBRARY_PATH='" TILEPATH_FAKE_DRIVER "' ASAN_OPTIONS=detect_leaks=0 tilepath run saxpy.toml " +
                     arguments);
    }
};

TEST(DeviceGpu, AgreesToTheBit) {
    const Finished ran = Saxpy().run("--device gpu");
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("saxpy: ran on the GPU\n"),
                               HasSubstr("x: 1000 elements are the same on the GPU and in tilepath\n"),
                               HasSubstr("y: 1000 elements are the same on the GPU and in tilepath\n"),
                               HasSubstr("y: 1000 elements as expected\n")));
}

TEST(DeviceGpu, TellsTheFirstDifferingElements) {
    const Saxpy folder;
    const Finished ran = folder.run("--device gpu", "7");
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("y: 1 of 1000 elements differ between the GPU and tilepath\n"
                                   "  y[7] = 16 (0x41800000) on the GPU, 15 (0x41700000) in tilepath\n"));
    EXPECT_THAT(ran.out, HasSubstr("y[7] = 16 (0x41800000), expected 15 (0x41700000)\n"));
    const auto json = nlohmann::json::parse(folder.run("--device gpu --json", "7").out, nullptr, false);
    ASSERT_FALSE(json.is_discarded());
    EXPECT_EQ(json["exit_status"], 1);
    EXPECT_EQ(json["gpu_and_tilepath"][1]["first"][0]["index"][0], 7);
    EXPECT_EQ(json["gpu_and_tilepath"][1]["first"][0]["gpu"], "16 (0x41800000)");
    EXPECT_EQ(json["gpu_and_tilepath"][1]["first"][0]["tilepath"], "15 (0x41700000)");
}

TEST(DeviceGpu, AloneWhenAskedTo) {
    const Finished ran = Saxpy().run("--device gpu-alone", "7");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("expected 15"), Not(HasSubstr("in tilepath"))));
}

}  // namespace
}  // namespace tilepath::cli
