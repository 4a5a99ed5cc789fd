// --stop-at: what is shown there, and what is said of lines, registers and memory that are none.
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
    Finished stop(const std::string& arguments, const std::string& file = "saxpy.toml") const {
        return shell("tilepath run " + file + " --schedule 1 --stop-at " + arguments);
    }
};

/// The lines of examples/saxpy.ptx that the tests speak of.
constexpr const char *setp = "27", *branch = "28", *fma = "39", *store = "40", *ret = "42";

TEST(StopAt, ShowsRegistersByTheirTypes) {
    const Saxpy folder;
    const Finished ran = folder.stop(std::string(fma) + " --cta 2 --warp 1 --show %f1,%f2,%r5,%r2,%rd3:u64,%r3:u32");
    EXPECT_EQ(ran.status, 0) << ran.err;
    // Element i of x is i; warp 1 of CTA 2 has elements 288 to 319.
    EXPECT_THAT(ran.out, testing::StartsWith(
                             "stopped before saxpy.ptx:39: fma.rn.f32 %f4, %f1, %f2, %f3;\n"
                             "  in saxpy, CTA (2, 0, 0), warp 1, all lanes\n"
                             "%f1 (.f32) = 2 (0x40000000) in all lanes\n"
                             "%f2 (.f32), by lane\n"
                             "    0:  288 (0x43900000)  289 (0x43908000)  290 (0x43910000)  291 (0x43918000)\n"));
    EXPECT_THAT(ran.out,
                HasSubstr("\n   28:  316 (0x439e0000)  317 (0x439e8000)  318 (0x439f0000)  319 (0x439f8000)\n"));
    EXPECT_THAT(ran.out, HasSubstr("%r5 (.b32), dead here, its last value, by lane\n    0:  0x00000120  0x00000121"));
    EXPECT_THAT(ran.out, HasSubstr("%r2 (.b32), dead here, its last value = 0x00000002 in all lanes\n"));
    EXPECT_THAT(ran.out, HasSubstr("%r3 (.b32), dead here, its last value = 128"));
}

TEST(StopAt, ARegisterThatIsNotWrittenYetIsNotShown) {
    const Finished ran = Saxpy().stop(std::string(setp) + " --show %f4,%p1,%r5");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("%f4 (.f32): dead here: nothing reads it before it is written\n"),
                               HasSubstr("%p1 (.pred): dead here"), HasSubstr("%r5 (.b32), by lane")));
}

TEST(StopAt, Predicates) {
    // 1,000 elements: of CTA 7's 128 threads the last 24 have none, 24 of warp 3's lanes.
    const Saxpy folder;
    EXPECT_THAT(folder.stop(std::string(branch) + " --cta 7 --warp 3 --show %p1").out,
                HasSubstr("%p1 (.pred) = true in lanes 8-31\n"));
    EXPECT_THAT(folder.stop(std::string(branch) + " --cta 7 --warp 2 --show %p1").out,
                HasSubstr("%p1 (.pred) = false\n"));
    // Those lanes are not at the store.
    const Finished store_of_some = folder.stop(std::string(store) + " --cta 7 --warp 3 --show %f4");
    EXPECT_THAT(store_of_some.out,
                AllOf(HasSubstr("warp 3, lanes 0-7\n"), HasSubstr("%f4 (.f32), by lane\n    0:  1985 (0x44f82000)"),
                      Not(HasSubstr("    8:"))));
}

TEST(StopAt, Memory) {
    const Saxpy folder;
    const Finished ran = folder.stop(
        std::string(ret) + " --warp 0 --cta 0 --show y[4]+12,global:x+8:u32,param:0+8,param:4+4:f32,x[3996]+4");
    EXPECT_EQ(ran.status, 0) << ran.err;
    // The store has been executed: y is 2 i + 1.
    EXPECT_THAT(ran.out, HasSubstr("y[4]+12\n  0x0004:  3 (0x40400000)  5 (0x40a00000)  7 (0x40e00000)\n"));
    EXPECT_THAT(ran.out, HasSubstr("global:x+8:u32\n  0x0000:  0 (0x00000000)  1065353216 (0x3f800000)\n"));
    EXPECT_THAT(ran.out, HasSubstr("param:0+8\n  0x0000:  000003e8  40000000\n"));
    EXPECT_THAT(ran.out, HasSubstr("param:4+4:f32\n  0x0004:  2 (0x40000000)\n"));
    EXPECT_THAT(ran.out, HasSubstr("x[3996]+4\n  0x0f9c:  999 (0x4479c000)\n"));
    const Finished beyond =
        folder.stop(std::string(ret) + " --show y[3999]+4,shared:0x1000+4,local:0+4,global:16+4,param:99+1");
    EXPECT_EQ(beyond.status, 0);
    EXPECT_THAT(beyond.out, AllOf(HasSubstr("y[3999]+4: not within 'y', which has 4000 bytes\n"),
                                  HasSubstr("shared:0x1000+4: not within the CTA's shared memory"),
                                  HasSubstr("local:0+4: beyond the 0 bytes of local memory"),
                                  HasSubstr("global:16+4: no allocation is there\n"),
                                  HasSubstr("param:99+1: not within the kernel's 24 bytes")));
    // By the address in a register of the first lane.
    EXPECT_THAT(folder.stop(std::string(fma) + " --cta 0 --warp 1 --show global:%rd6+8").out,
                AllOf(HasSubstr("in lane 0\n"), HasSubstr("32 (0x42000000)  33 (0x42040000)")));
}

TEST(StopAt, SharedAndLocalMemoryAndSourceLines) {
    const Folder folder;
    folder.write("k.ptx",
                 ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"/src/dir/k.cu\"\n.visible .entry k()\n{\n"
                 "    .shared .align 4 .b32 s[32];\n    .local .align 4 .b32 l[2];\n    .reg .b32 %r<5>;\n    .reg "
                 ".pred %p<2>;\n"
                 "    .loc 1 3 0\n    mov.u32 %r1, %tid.x;\n    shl.b32 %r2, %r1, 2;\n    mov.u32 %r3, s;\n    add.u32 "
                 "%r3, %r3, %r2;\n"
                 "    .loc 1 4 0\n    st.shared.b32 [%r3], %r1;\n    st.local.b32 [l+4], %r1;\n    mov.u32 %r4, 0;\n"
                 "L:\n    .loc 1 5 0\n    add.u32 %r4, %r4, 1;\n    setp.lt.u32 %p1, %r4, 5;\n    @%p1 bra L;\n    "
                 ".loc 1 6 0\n    ret;\n}\n");
    folder.write("k.toml", "module = \"k.ptx\"\ngrid = [1]\nblock = [32]\n");
    auto stop = [&](const std::string& arguments) {
        return folder.shell("tilepath run k.toml --stop-at " + arguments);
    };
    const Finished ran = stop("k.cu:6 --show shared:0x404+8:u32,local:4+4,shared:%r3+4");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, testing::StartsWith("stopped before k.ptx:26: ret;  (/src/dir/k.cu:6)\n"));
    EXPECT_THAT(ran.out, HasSubstr("shared:0x404+8:u32\n  0x0404:  1 (0x00000001)  2 (0x00000002)\n"));
    EXPECT_THAT(ran.out, HasSubstr("local:4+4\n lane 0\n  0x0004:  00000000\n lane 1\n  0x0004:  00000001\n"));
    // The third time that the warp comes to line 5, twice has been added.
    EXPECT_THAT(stop("dir/k.cu:5 --count 3 --show %r4:u32").out,
                HasSubstr("%r4 (.b32) = 2 (0x00000002) in all lanes\n"));
    EXPECT_THAT(stop("22 --count 5 --show %r4:u32").out, HasSubstr("%r4 (.b32) = 4 (0x00000004) in all lanes\n"));
    struct Row {
        const char *arguments, *says;
    };
    for (const Row& row :
         {Row{"22 --count 6", "a warp came there 5 times, not 6"}, Row{"k.cu:9", "the nearest: line 6"},
          Row{"k.cu:1", "the nearest: line 3"}, Row{"b.cu:3", "no instruction of 'b.cu'"},
          Row{"r/k.cu:5", "its lines are of k.ptx and /src/dir/k.cu"}}) {
        const Finished bad = stop(row.arguments);
        EXPECT_EQ(bad.status, 2) << row.arguments;
        EXPECT_THAT(bad.err, HasSubstr(row.says)) << row.arguments;
    }
}

TEST(StopAt, SaysWhatIsWrong) {
    const Saxpy folder;
    struct Row {
        std::string arguments;
        const char* says;
    };
    const std::string at = fma;
    for (const Row& row : {Row{"24x", "expected --stop-at LINE or FILE:LINE, found '24x'"},
                           Row{"0", "expected --stop-at LINE"},
                           Row{"saxpy.ptx:", "expected --stop-at LINE"},
                           Row{"20", "no instruction of the kernel is on that line"},
                           Row{"20", "the nearest: line 22: ld.param.u32 %r1, [n];"},
                           Row{"999", "the nearest: line 42: ret;"},
                           Row{"saxpy.cu:3", "names no source lines: compile with nvcc -lineinfo"},
                           Row{at + " --show %r9", "saxpy has no register '%r9'"},
                           Row{at + " --show %r9", "its registers: %f0-%f4, %p0-%p1, %r0-%r5, %rd0-%rd7"},
                           Row{at + " --show z+4", "there is no buffer or variable 'z'"},
                           Row{at + " --show z+4", "there are: x, y"},
                           Row{at + " --show shared:0", "how many bytes?"},
                           Row{at + " --show shared:zz+4", "'zz' is no address"},
                           Row{at + " --show shared:0+0", "expected 1 to 65536 bytes"},
                           Row{at + " --show x[z]+4", "expected the buffer's byte"},
                           Row{at + " --show %r1:f99", "'f99' is no dtype"},
                           Row{at + " --warp 9", "the kernel ended, and warp 9 never came there"},
                           Row{at + " --warp 9", "leave out --warp or --cta"},
                           Row{at + " --count 0", "--count"},
                           Row{at + " --device gpu", "not a GPU"}}) {
        const Finished ran = folder.stop(row.arguments);
        EXPECT_EQ(ran.status, 2) << row.arguments;
        EXPECT_THAT(ran.err, HasSubstr(row.says)) << row.arguments;
    }
    EXPECT_THAT(folder.shell("tilepath run saxpy.toml --show %r1").err, HasSubstr("--stop-at"));
    const auto json = nlohmann::json::parse(folder.stop(at + " --json --show %f1").out, nullptr, false);
    ASSERT_FALSE(json.is_discarded());
    EXPECT_THAT(json["stop"], HasSubstr("%f1 (.f32) = 2"));
}

TEST(StopAt, AFaultBeforeItIsTheFault) {
    const Folder folder;
    std::filesystem::copy_file(TILEPATH_TEST_DIR "/cli/faults.ptx", folder.path() / "faults.ptx");
    folder.write("a.toml",
                 "module = \"faults.ptx\"\nentry = \"global_null\"\ngrid = [1]\nblock = 32\n[[arg]]\nbuffer = "
                 "\"data\"\n[buffer.data]\ndtype = \"u32\"\nshape = [4]\n");
    const Finished ran = folder.shell("tilepath run a.toml --stop-at 32");
    EXPECT_EQ(ran.status, 3) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("fault (out of bounds)"));
}

}  // namespace
}  // namespace tilepath::cli
