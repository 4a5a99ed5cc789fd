// What a user sees when the running kernel does something wrong: exit status 3, and where it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace tilepath::cli {
namespace {

using testing::HasSubstr;

/// A folder with faults.ptx and a launch file for one of its kernels.
struct Launch : Folder {
    explicit Launch(const std::string& entry, int threads = 32) {
        std::filesystem::copy_file(TILEPATH_TEST_DIR "/cli/faults.ptx", path() / "faults.ptx");
        write("launch.toml", "module = \"faults.ptx\"\nentry = \"" + entry + "\"\ngrid = [2, 1, 1]\nblock = " + std::to_string(threads) +
                                 "\n[[arg]]\nbuffer = \"data\"\n"
                                 "[buffer.data]\ndtype = \"u32\"\nshape = [4]\ninit = { zero = true }\n");
    }
};

struct Row {
    const char* entry;
    std::vector<const char*> says;
};

class Faults : public testing::TestWithParam<Row> {};

TEST_P(Faults, AreToldWithTheirPlace) {
    const Row& row = GetParam();
    const Launch folder(row.entry, 128);
    // One order of warps, so that the same warp is the first to fault.
    const Finished ran = folder.shell("tilepath run launch.toml --schedule 1 --timeout 20");
    EXPECT_EQ(ran.status, 3) << ran.out << ran.err;
    for (const char* text : row.says) EXPECT_THAT(ran.err, HasSubstr(text));
    EXPECT_THAT(ran.err, HasSubstr("faults.ptx:"));
    EXPECT_THAT(ran.err, HasSubstr(std::string("in ") + row.entry));
    EXPECT_THAT(ran.err, HasSubstr("CTA ("));

    const Finished json = folder.shell("tilepath run launch.toml --schedule 1 --timeout 20 --json");
    EXPECT_EQ(json.status, 3);
    const auto parsed = nlohmann::json::parse(json.out, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded()) << json.out;
    EXPECT_EQ(parsed["exit_status"], 3);
    const auto& launch = parsed["launches"][0];
    ASSERT_NE(launch.contains("fault"), launch.contains("deadlock")) << json.out;
    const std::string told = launch.contains("fault") ? launch["fault"]["text"] : launch["deadlock"]["text"];
    EXPECT_EQ(told, ran.err);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Faults,
    testing::Values(
        Row{"global_out_of_bounds", {"fault (out of bounds): read of 4 bytes", "ld.global.u32 %r, [%a]", "bytes behind data (16 bytes at"}},
        Row{"global_before", {"fault (out of bounds): write of 8 bytes", "st.global.u64 [%a-8], %a", "8 bytes before data"}},
        Row{"global_null", {"fault (out of bounds): write of 4 bytes", "4 bytes at global address 0x0"}},
        Row{"global_misaligned", {"fault (misaligned): read of 16 bytes", "ld.global.v4.u32", "byte 8 of data"}},
        Row{"global_atomic", {"fault (out of bounds): atomic operation of 4 bytes", "0 bytes behind data"}},
        Row{"generic_out_of_bounds", {"fault (out of bounds): write of 4 bytes", "at shared address 0x1400"}},
        Row{"shared_out_of_bounds", {"fault (out of bounds): write of 8 bytes", "at shared address 0x420"}},
        Row{"shared_misaligned", {"fault (misaligned): read of 4 bytes", "at shared address 0x402"}},
        Row{"local_out_of_bounds", {"fault (out of bounds): write of 4 bytes", "at local address"}},
        Row{"local_misaligned", {"fault (misaligned): write of 4 bytes", "at local address"}},
        Row{"param_out_of_bounds", {"fault (out of bounds): read of 4 bytes", "at param address"}},
        Row{"param_misaligned", {"fault (misaligned): read of 4 bytes", "at param address"}},
        Row{"const_out_of_bounds", {"fault (out of bounds): read of 4 bytes", "0 bytes behind table (16 bytes at"}},
        Row{"const_misaligned", {"fault (misaligned): read of 4 bytes", "byte 3 of table"}},
        Row{"const_written", {"fault (write to read-only memory): write of 4 bytes", "byte 0 of table"}},
        Row{"polling", {"deadlock: everything that is resident waits", "polls memory that nobody changes any more"}},
        Row{"two_barriers",
            {"deadlock: everything that is resident waits", "waits at barrier 0", "32 of 128 threads have arrived", "waits at barrier 1",
             "96 of 128 threads have arrived", "bar.sync 1, 128"}},
        Row{"diverged", {"fault (diverged warp)", "bar.sync"}}, Row{"traps", {"fault (trap)", "trap"}}),
    [](const auto& each) { return each.param.entry; });

TEST(KernelFaults, AnEndlessLoopStopsAtTheTimeLimit) {
    const Launch folder("endless");
    const Finished ran = folder.shell("tilepath run launch.toml --timeout 0.2");
    EXPECT_EQ(ran.status, 3) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("time limit: the launch was stopped"));
    EXPECT_THAT(ran.err, HasSubstr("in endless, faults.ptx:"));
    EXPECT_THAT(folder.shell("tilepath run launch.toml --timeout 0.2 --threads 2").err, HasSubstr("time limit"));
    const auto json = nlohmann::json::parse(folder.shell("tilepath run launch.toml --timeout 0.2 --json").out, nullptr, false);
    ASSERT_FALSE(json.is_discarded());
    EXPECT_EQ(json["launches"][0]["deadlock"]["timed_out"], true);
}

TEST(KernelFaults, SeveralThreadsFindThemToo) {
    for (const char* entry : {"global_out_of_bounds", "two_barriers", "diverged"}) {
        const Launch folder(entry, 128);
        const Finished ran = folder.shell("tilepath run launch.toml --threads 2 --timeout 20");
        EXPECT_EQ(ran.status, 3) << entry << ran.out << ran.err;
    }
}

}  // namespace
}  // namespace tilepath::cli
