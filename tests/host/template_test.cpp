// `tilepath init`: what it writes can be read, and runs.
#include <gtest/gtest.h>

#include "host/launch_file.h"
#include "host/npy.h"

namespace tilepath::host {
namespace {

const std::string module_path = TILEPATH_TEST_DIR "/host/launches/kernels.ptx";

TEST(Template, RunsAsItIs) {
    for (const std::string entry : {"copy_bytes", "parameters", "variables", "demanding", "double_each"}) {
        SCOPED_TRACE(entry);
        const auto text = launch_file_template(module_path, entry);
        ASSERT_TRUE(text) << to_string(text.error());
        const auto file = read_launch_text(TILEPATH_TEST_DIR "/host/launches/init.toml", *text);
        ASSERT_TRUE(file) << to_string(file.error());
        const auto job = prepare(*file);
        ASSERT_TRUE(job) << to_string(job.error());
        const auto outcome = run_on_cpu(*job, {});
        ASSERT_TRUE(outcome) << to_string(outcome.error());
        // How much dynamic shared memory a kernel needs, and for how many threads its own variables have room, only its
        // author knows: the file says 0 bytes and 128 threads.
        const auto& fault = outcome->reports.front().fault;
        EXPECT_EQ(fault.has_value(), entry == "demanding" || entry == "variables")
            << (fault ? exec::to_string(*fault) : "");
    }
}

TEST(Template, SaysWhatTheParametersAre) {
    const auto text = launch_file_template(module_path, "parameters");
    ASSERT_TRUE(text) << to_string(text.error());
    EXPECT_NE(text->find("module = \"kernels.ptx\"\nentry  = \"parameters\"\narch   = \"sm_80\"\n"), std::string::npos)
        << *text;
    for (const char* line : {"# .u64 out\nbuffer = \"p0\"\n", "# .u8 p1\nvalue = 0\n", "# .f32 p4\nvalue = 1.0\n",
                             "# .b8 p7[24]\nsize = 24\nfields = []", "[buffer.p0]\n"})
        EXPECT_NE(text->find(line), std::string::npos) << line << "\n" << *text;
    const auto demanding = launch_file_template(module_path, "demanding");
    ASSERT_TRUE(demanding);
    EXPECT_NE(demanding->find("block  = [32, 2, 1]            # .reqntid says so"), std::string::npos) << *demanding;
}

TEST(Template, AsksWhichEntry) {
    const auto none = launch_file_template(module_path, "");
    ASSERT_FALSE(none);
    EXPECT_NE(to_string(none.error()).find("5 entries; say which one to run"), std::string::npos)
        << to_string(none.error());
    const auto wrong = launch_file_template(module_path, "copy");
    ASSERT_FALSE(wrong);
    EXPECT_NE(to_string(wrong.error()).find("has no entry 'copy'"), std::string::npos) << to_string(wrong.error());
    EXPECT_FALSE(launch_file_template("/no/such.ptx", ""));
}

TEST(Template, ModulePathsWithQuotesAreWrittenAsToml) {
    const std::string path = testing::TempDir() + "tilepath a\"b\\c.ptx";
    ASSERT_TRUE(write_bytes(path, *read_bytes(module_path)));
    const auto text = launch_file_template(path, "double_each");
    ASSERT_TRUE(text) << to_string(text.error());
    const auto file = read_launch_text(testing::TempDir() + "init.toml", *text);
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_TRUE(prepare(*file));
}

}  // namespace
}  // namespace tilepath::host
