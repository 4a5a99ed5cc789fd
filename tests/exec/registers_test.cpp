// setmaxnreg and the CTA's pool of registers.
#include <gmock/gmock.h>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using ::testing::HasSubstr;

program::Program kernel(const std::string& directives, const std::string& body) {
    return compile_module(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) " +
                          directives +
                          " {\n.reg .b32 %r<9>; .reg .b64 %q<9>; .reg .pred %p<9>;\nld.param.u64 %q0, [p];\n"
                          "mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 128;\n" +
                          body + "\nret;\n}\n");
}

LaunchReport run(const program::Program& program, std::uint32_t threads) {
    Device gpu;
    auto* buffer = gpu.buffer<std::uint32_t>(16);
    return gpu.run(program, blocks(1, threads), {}, buffer);
}

/// Recorded on an H200: kernels of 64 registers that ended, and those that never did.
TEST(Registers, AKernelEndsOrHangsAsOnAnH200) {
    const std::string inc_72 = "setmaxnreg.inc.sync.aligned.u32 72;", inc_64 = "setmaxnreg.inc.sync.aligned.u32 64;",
                      dec_24 = "setmaxnreg.dec.sync.aligned.u32 24;", dec_32 = "setmaxnreg.dec.sync.aligned.u32 32;",
                      wait = "nanosleep.u32 900000;";
    const auto first_asks = [&](int count, const std::string& others) {
        return fmt::format("@%p0 bra L; setmaxnreg.inc.sync.aligned.u32 {}; ret; L: {}", count, others);
    };
    struct Case {
        std::string body;
        bool ends[3];  ///< with 128, 256 and 512 threads
    };
    const Case cases[] = {
        {inc_72, {false, false, false}},
        {"@%p0 bra L; " + wait + inc_72 + "ret; L:", {false, false, false}},
        {first_asks(96, wait + dec_32), {false, true, true}},
        {first_asks(104, dec_32), {false, false, true}},
        {inc_64, {true, true, true}},
        {dec_24 + inc_64, {true, true, true}},
        {dec_24 + inc_72, {false, false, false}},
        {first_asks(96, dec_32 + wait + inc_64), {false, false, false}},
    };
    for (const Case& each : cases) {
        const program::Program program = kernel(".maxntid 512 .maxnreg 64", each.body);
        for (int i = 0; i < 3; ++i) {
            const LaunchReport report = run(program, 128u << i);
            ASSERT_FALSE(report.fault) << to_string(*report.fault);
            EXPECT_EQ(!report.deadlock, each.ends[i]) << each.body << ' ' << (128 << i);
        }
    }
}

/// The registers at the entry, as ptxas 13.0 reported them for these directives (-v), told by the greatest .dec that is
/// no fault.
TEST(Registers, DirectivesSayHowManyThereAreAtFirst) {
    const std::tuple<const char*, int, int> cases[] = {
        {".maxntid 384 .minnctapersm 1", 240, 168},
        {".maxntid 384 .minnctapersm 2", 256, 80},
        {".maxntid 512 .minnctapersm 1", 160, 128},
        {".reqntid 512 .minnctapersm 1", 160, 128},
        {".reqntid 640 .minnctapersm 1", 160, 96},
        {".maxntid 256 .minnctapersm 1", 232, 232},
        {".maxntid 384 .minnctapersm 1 .maxnreg 104", 160, 104},
    };
    for (const auto& [directives, most, expected] : cases)
        for (const int count : {expected, expected + 8}) {
            // %p1 is false: only the first is executed.
            const program::Program program = kernel(
                directives, fmt::format("setp.ne.u32 %p1, %r0, %r0; @!%p1 bra L; setmaxnreg.inc.sync.aligned.u32 "
                                        "{}; L: setmaxnreg.dec.sync.aligned.u32 {};",
                                        most, std::min(count, 256)));
            const std::uint32_t threads =
                program.bounds.required_threads[0] != 0 ? program.bounds.required_threads[0] : 128;
            const LaunchReport report = run(program, threads);
            if (count == expected || count > most) {
                EXPECT_TRUE(report.ok() || count > most) << directives;
                continue;
            }
            ASSERT_TRUE(report.fault) << directives;
            EXPECT_EQ(report.fault->kind, FaultKind::registers);
            EXPECT_THAT(report.fault->message, HasSubstr(fmt::format("asks for {} registers per thread, but the warp "
                                                                     "has {}",
                                                                     count, expected)));
        }
}

TEST(Registers, WithoutDirectivesNothingIsCounted) {
    EXPECT_TRUE(run(kernel("", "setmaxnreg.inc.sync.aligned.u32 240;"), 256).ok());
    EXPECT_TRUE(run(kernel(".maxntid 384", "setmaxnreg.inc.sync.aligned.u32 240;"), 256).ok());
}

TEST(Registers, AWarpgroupThatWaitsForMoreSaysWhatThereIs) {
    const LaunchReport report = run(kernel(".maxntid 384 .minnctapersm 1",
                                           "@%p0 bra L; setmaxnreg.inc.sync.aligned.u32 240; ret;"
                                           "L: setmaxnreg.dec.sync.aligned.u32 152;"),
                                    384);
    ASSERT_TRUE(report.deadlock);
    const std::string text = to_string(*report.deadlock);
    EXPECT_THAT(text, HasSubstr("setmaxnreg.inc.sync.aligned.u32 240;"));
    // 8 warps gave 16 registers each; the first of the four that want 72 takes its share, the others wait for theirs.
    EXPECT_THAT(text, HasSubstr("it has 168 per thread and wants 240, but the CTA's pool holds 56 of the 72 more"));
    EXPECT_THAT(text, HasSubstr("warps 4 to 7 have 152 (and have exited without giving them back)"));
}

}  // namespace
}  // namespace tilepath::exec
