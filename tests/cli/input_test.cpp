// What a user sees of bad input: exit status 2, what is wrong, where, what to do; and the clean and the different run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/examples.h"

namespace tilepath::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The README's saxpy.
struct Saxpy : Examples {
    /// The launch file with one piece of text replaced.
    void change(const std::string& from, const std::string& to) const {
        std::string text = read("saxpy.toml");
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        write("saxpy.toml", text.replace(at, from.size(), to));
    }
};

void expect_bad_input(const Finished& ran, std::initializer_list<const char*> texts) {
    EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
    for (const char* text : texts) EXPECT_THAT(ran.err, HasSubstr(text));
    EXPECT_THAT(ran.out, IsEmpty());
}

TEST(Input, ACleanRun) {
    const Saxpy folder;
    const Finished ran = folder.shell("tilepath run saxpy.toml");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("y: 1000 elements as expected\n"));
    EXPECT_THAT(ran.err, IsEmpty());
    const Finished json = folder.shell("tilepath run saxpy.toml --json");
    EXPECT_EQ(json.status, 0);
    const auto parsed = nlohmann::json::parse(json.out, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded()) << json.out;
    EXPECT_EQ(parsed["exit_status"], 0);
    EXPECT_EQ(parsed["launches"][0]["entry"], "saxpy");
    EXPECT_EQ(parsed["launches"][0]["ctas"], 8);
    EXPECT_EQ(parsed["buffers"][0]["different"], 0);
    EXPECT_THAT(folder.shell("tilepath run saxpy.toml --counts").out, HasSubstr("ld.global"));
}

TEST(Input, ADifferenceIsStatusOne) {
    const Saxpy folder;
    folder.change("value = 2.0", "value = 3.0");
    const Finished ran = folder.shell("tilepath run saxpy.toml");
    EXPECT_EQ(ran.status, 1);
    // x counts from 0: only element 0 is as before.
    EXPECT_THAT(ran.out, HasSubstr("y: 999 of 1000 elements differ from what is expected\n"));
    EXPECT_THAT(ran.out, HasSubstr("y[1] = 4 (0x40800000), expected 3 (0x40400000)\n"));
    const Finished json = folder.shell("tilepath run saxpy.toml --json");
    EXPECT_EQ(json.status, 1);
    const auto parsed = nlohmann::json::parse(json.out, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded()) << json.out;
    EXPECT_EQ(parsed["buffers"][0]["different"], 999);
    EXPECT_EQ(parsed["buffers"][0]["first"][0]["index"][0], 1);
}

TEST(Input, APartOfTheGrid) {
    const Saxpy folder;
    const Finished ran = folder.shell("tilepath run saxpy.toml --ctas 1:3");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.out, HasSubstr("saxpy: 2 CTAs"));
    EXPECT_THAT(ran.out, HasSubstr("y[1] = 1 (0x3f800000), expected 3"));
    expect_bad_input(folder.shell("tilepath run saxpy.toml --ctas 7:9"), {"expected CTAs within 0 to 7"});
}

TEST(Input, Files) {
    const Saxpy folder;
    expect_bad_input(folder.shell("tilepath run no_such.toml"),
                     {"cannot read no_such.toml: No such file or directory"});
    expect_bad_input(folder.shell("tilepath run ."), {"cannot read .: it is a directory"});
    expect_bad_input(folder.shell("tilepath run saxpy.ptx"), {"saxpy.ptx:", "this is no TOML"});
    folder.change("saxpy.ptx", "missing.ptx");
    expect_bad_input(folder.shell("tilepath run saxpy.toml"), {"cannot read missing.ptx: No such file or directory"});
    folder.change("missing.ptx", "saxpy.y.npy");
    expect_bad_input(folder.shell("tilepath run saxpy.toml"), {"saxpy.y.npy", "binary file"});
    folder.change("saxpy.y.npy", "cut.ptx");
    const std::string whole = folder.read("saxpy.ptx");
    folder.write("cut.ptx", whole.substr(0, whole.size() * 2 / 3));
    expect_bad_input(folder.shell("tilepath run saxpy.toml"), {"cut.ptx:", "error:", "^"});
    folder.write("cut.ptx", "");
    expect_bad_input(folder.shell("tilepath run saxpy.toml"), {"cut.ptx", "found an empty file"});
    // An ELF file, such as a cubin.
    expect_bad_input(folder.shell("head -c 4096 \"$(command -v tilepath)\" >cut.ptx; tilepath run saxpy.toml"),
                     {"ELF file"});
    EXPECT_EQ(folder.shell("head -c 9999 /dev/urandom >cut.ptx; tilepath run saxpy.toml").status, 2);
}

TEST(Input, SavingWhereNothingCanBeWritten) {
    const Saxpy folder;
    folder.change("expect = {", "save = \"no/such/folder.bin\"\nexpect = {");
    const Finished ran = folder.shell("tilepath run saxpy.toml");
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("cannot write no/such/folder.bin: No such file or directory"));
}

TEST(Input, Launches) {
    struct Row {
        const char *from, *to, *says;
    };
    const Row rows[] = {
        {"module = \"saxpy.ptx\"", "module = \"saxpy.ptx\"\nentry = \"saxpi\"", "has no entry 'saxpi'"},
        {"grid   = [8]", "grid = [0]", "grid.x: expected 1 to 2147483647, found 0"},
        {"grid   = [8]", "grid = [1, 65536]", "grid.y: expected 1 to 65535, found 65536"},
        {"grid   = [8]", "grid = [4294967295]", "grid.x: expected 1 to 2147483647, found 4294967295"},
        {"block  = [128]", "block = [0]", "block.x: expected 1 to 1024, found 0"},
        {"block  = [128]", "block = [1025]", "block.x: expected 1 to 1024, found 1025"},
        {"block  = [128]", "block = [512, 4]", "block: expected at most 1024 threads"},
        {"block  = [128]", "block = [1, 1, 65]", "block.z: expected 1 to 64, found 65"},
        {"block  = [128]", "block = [128]\ndynamic_shared_bytes = 166913",
         "shared memory: sm_80 has at most 166912 bytes"},
        {"arch   = \"sm_80\"", "arch = \"sm_70\"", "expected a device, found \"sm_70\""},
        {"[[arg]]\nvalue = 1000\n", "", "'saxpy' has 4 parameters, found 3"},
        {"value = 1000", "value = 4294967296", "4294967296 does not fit"},
        {"value = 1000", "value = 1.5", "is an integer; found the number 1.5"},
        {"value = 1000", "buffer = \"x\"", "an address has 8 bytes"},
        {"shape = [1000]", "shape = \"1000\"", "expected 'shape' to be an array of integers, found a string"},
        {"grid   = [8]", "grid = [8]\ngrids = 1", "unknown key 'grids'"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.to);
        const Saxpy folder;
        folder.change(row.from, row.to);
        expect_bad_input(folder.shell("tilepath run saxpy.toml"), {row.says});
        const Finished json = folder.shell("tilepath run saxpy.toml --json");
        EXPECT_EQ(json.status, 2);
    }
}

TEST(Input, UnsupportedInstructionsAreNamedBeforeAnythingRuns) {
    const Saxpy folder;
    folder.change("saxpy.ptx", "other.ptx");
    std::string text = folder.read("saxpy.ptx");
    const std::size_t body = text.find("ret;");
    ASSERT_NE(body, std::string::npos);
    folder.write("other.ptx", text.substr(0, body) + "frobnicate.b32 %r1, %r1;\n    add.s99 %r1, %r1, %r1;\n    " +
                                  text.substr(body));
    expect_bad_input(folder.shell("tilepath run saxpy.toml"), {"other.ptx:", "frobnicate", "add.s99"});
}

TEST(Input, Options) {
    const Saxpy folder;
    for (const char* arguments :
         {"", "frobnicate", "run", "run saxpy.toml --copies sometimes", "run saxpy.toml --timeout soon", "run saxpy.toml --timeout 0",
          "run saxpy.toml --timeout -1", "run saxpy.toml --ctas 3:2", "run saxpy.toml --ctas x", "run saxpy.toml --device tpu",
          "run saxpy.toml --schedule x", "run saxpy.toml --threads -1", "run saxpy.toml --arch sm_1", "run saxpy.toml more.toml",
          "run saxpy.toml --frobnicate", "check", "check no_such.toml", "check saxpy.toml --device gpu", "gemm --dtype f99", "gemm --layout xy", "gemm -m 0", "gemm -m x", "gemm -k -1", "gemm --arch sm_1",
          "gemm --dtype f32", "gemm --epilogue linear --dtype s8 --layout nt --simt", "init", "init no_such.ptx", "isa --frobnicate",
          "dot --types f16"}) {
        SCOPED_TRACE(arguments);
        const Finished ran = folder.shell(std::string("tilepath ") + arguments);
        EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
        EXPECT_THAT(ran.err, Not(IsEmpty()));
    }
}

TEST(Input, HelpAndVersion) {
    const Folder folder;
    const Finished help = folder.shell("tilepath --help");
    EXPECT_EQ(help.status, 0);
    for (const char* command : {"gemm", "run", "init", "dot", "isa", "Exit status"})
        EXPECT_THAT(help.out, HasSubstr(command));
    EXPECT_THAT(folder.shell("tilepath --version").out, testing::StartsWith("tilepath "));
    EXPECT_THAT(folder.shell("tilepath run --help").out, HasSubstr("--timeout"));
}

TEST(Input, Init) {
    const Saxpy folder;
    expect_bad_input(folder.shell("tilepath init saxpy.ptx"), {"saxpy.toml exists already", "--force"});
    expect_bad_input(folder.shell("tilepath init saxpy.toml"), {"saxpy.toml:"});
    expect_bad_input(folder.shell("tilepath init saxpy.ptx --entry other"), {"has no entry 'other'"});
    const Finished ran = folder.shell("tilepath init saxpy.ptx -o mine.toml && tilepath run mine.toml");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("wrote mine.toml"), HasSubstr("saxpy: 1 CTAs")));
    EXPECT_EQ(folder.shell("tilepath init saxpy.ptx --force").status, 0);
}

TEST(Input, Gemm) {
    const Folder folder;
    const Finished ran = folder.shell("tilepath gemm --arch sm_80 -m 20 -n 24 -k 40 --json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto parsed = nlohmann::json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded()) << ran.out;
    EXPECT_EQ(parsed["compared"], 20 * 24);
    EXPECT_EQ(parsed["different"], 0);
    EXPECT_EQ(parsed["exit_status"], 0);
    // Without --arch: each generation in turn.
    const Finished all = folder.shell("tilepath gemm -m 20 -n 24 -k 40 --json");
    EXPECT_EQ(all.status, 0) << all.err;
    const auto list = nlohmann::json::parse(all.out, nullptr, false);
    ASSERT_EQ(list.size(), 4u) << all.out;
    for (std::size_t i = 0; const char* arch : {"sm_80", "sm_90a", "sm_100a", "sm_120a"}) {
        EXPECT_EQ(list[i]["arch"], arch);
        EXPECT_EQ(list[i++]["different"], 0);
    }
    // One step of k, four products; the warp of lanes 0 to 31 reads the 20 rows, 32 columns at once.
    EXPECT_EQ(list[2]["accumulator"]["updates"], 4);
    EXPECT_EQ(list[2]["accumulator"]["loads"], 1);
    const Finished text = folder.shell("tilepath gemm -m 20 -n 24 -k 40");
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, AllOf(HasSubstr("gemm_f16_tn on sm_80"), HasSubstr("cp.async"), HasSubstr("ldmatrix"),
                                HasSubstr("mma.sync"), HasSubstr("verified: all 480 elements of D")));
    EXPECT_THAT(text.out, AllOf(HasSubstr("hopper_f16_tn on sm_90a"), HasSubstr("cp.async.bulk.tensor"),
                                HasSubstr("wgmma.mma_async"), HasSubstr("verified: all 480 elements of D")));
    EXPECT_THAT(text.out, AllOf(HasSubstr("blackwell_f16_tn on sm_100a"), HasSubstr("updated 4 times by tcgen05.mma"),
                                HasSubstr("read by 1 tcgen05.ld, the first when 4 of its 4 products had landed"),
                                HasSubstr("warp 4: 1 loads, lanes 0 to 31, its columns 0 to 31")));
}

}  // namespace
}  // namespace tilepath::cli
