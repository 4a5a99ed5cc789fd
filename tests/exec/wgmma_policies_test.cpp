// When wgmma reads and writes: under each completion policy right kernels compute the same, and wrong ones show.
#include "wgmma_case.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;

LaunchOptions with(CopyPolicy policy, std::uint64_t seed = 1) {
    LaunchOptions options;
    options.copies = policy;
    options.seed = seed;
    return options;
}

WgmmaCase small_case(bool a_in_registers) {
    WgmmaCase test{.n = 32, .a_in_registers = a_in_registers, .steps = 3};
    test.in_a = {.width = 8, .start = 1024, .stride = 1024};
    test.in_b = {.width = 8, .start = 17 * 1024, .stride = 1024};
    return test;
}

/// Whether the kernel computes what a right one does.
bool right(const WgmmaCase& test, const LaunchOptions& options) {
    const WgmmaData data = random_data(test);
    return run_wgmma(test, data, options) == model_wgmma(test, data);
}

TEST(WgmmaPolicies, RightKernelsComputeTheSame) {
    for (const bool in_registers : {false, true}) {
        const WgmmaCase test = small_case(in_registers);
        EXPECT_TRUE(right(test, with(CopyPolicy::eager)));
        EXPECT_TRUE(right(test, with(CopyPolicy::late)));
        for (std::uint64_t seed = 1; seed < 20; ++seed) EXPECT_TRUE(right(test, with(CopyPolicy::random, seed)));
    }
}

/// Planted: what stands between commit_group and wait_group. Eager does not notice it, late always does.
void expect_late_notices(const WgmmaCase& wrong) {
    EXPECT_TRUE(right(wrong, with(CopyPolicy::eager)));
    EXPECT_FALSE(right(wrong, with(CopyPolicy::late)));
    bool noticed = false;
    for (std::uint64_t seed = 1; seed < 40; ++seed) noticed = noticed || !right(wrong, with(CopyPolicy::random, seed));
    EXPECT_TRUE(noticed);
}

TEST(WgmmaPolicies, ARegistersOverwrittenBeforeTheWait) {
    WgmmaCase wrong = small_case(true);
    wrong.before_wait = "xor.b32 %a5, %a5, 0x00FF00FF;\n";
    expect_late_notices(wrong);
    std::swap(wrong.before_wait, wrong.after_wait);
    EXPECT_TRUE(right(wrong, with(CopyPolicy::late)));
}

TEST(WgmmaPolicies, SharedMemoryOverwrittenBeforeTheWait) {
    WgmmaCase wrong = small_case(false);
    wrong.before_wait = fmt::format(
        "add.u32 %r5, %r2, 0x4000; add.u32 %r5, %r5, %r1; st.shared.b32 [%r5], 0x3c003c00;\n{}", publish_shared);
    EXPECT_FALSE(right(wrong, with(CopyPolicy::late)));
    std::swap(wrong.before_wait, wrong.after_wait);
    EXPECT_TRUE(right(wrong, with(CopyPolicy::late)));
}

// ptxas waits for the results where such a kernel is compiled (advisory C7514), so it computes; PTX leaves it
// undefined.
TEST(WgmmaPolicies, ResultsReadBeforeTheWait) {
    WgmmaCase wrong = small_case(false);
    wrong.before_wait = "xor.b32 %r9, %d3, 0;\n";
    wrong.after_wait = "mov.b32 %d3, %r9;\n";
    EXPECT_TRUE(right(wrong, with(CopyPolicy::eager)));
    EXPECT_FALSE(right(wrong, with(CopyPolicy::late)));
}

// A compiler may copy accumulators anywhere: the copies are the accumulators.
TEST(WgmmaPolicies, CopiesOfResultsBeforeTheWait) {
    WgmmaCase test = small_case(false);
    test.before_wait = "mov.b32 %r9, %d3; mov.b32 %r10, %d4;\n";
    test.after_wait = "mov.b32 %d3, %r9; mov.b32 %d4, %r10;\n";
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random})
        EXPECT_TRUE(right(test, with(policy)));
}

/// One warp is late, by many instructions, at the place given; another overwrites the operands once it has waited.
/// Recorded on an H200: no wait ends before all four warps have come to the operation.
std::string late_warp(int warp) {
    return fmt::format(R"(
    shr.u32 %r6, %r0, 5; setp.ne.u32 %p3, %r6, {}; mov.u32 %r7, 0;
    @%p3 bra on_time;
delay:
    add.u32 %r7, %r7, 1; setp.lt.u32 %p4, %r7, 200000; @%p4 bra delay;
on_time:
)",
                       warp);
}

TEST(WgmmaPolicies, AWaitLastsUntilTheSlowestWarpHasIssued) {
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        for (const int slow : {0, 3}) {
            WgmmaCase test = small_case(false);
            test.before_first = late_warp(slow);
            test.after_wait = fmt::format(R"(
    setp.ne.u32 %p5, %r6, {};
    @%p5 bra over;
    and.b32 %r3, %r1, 127;
erase:
    add.u32 %r5, %r2, %r3; st.shared.b32 [%r5], 0; add.u32 %r3, %r3, 128; setp.lt.u32 %p6, %r3, 65536; @%p6 bra erase;
    {}
over:
)",
                                          slow == 0 ? 1 : 0, publish_shared);
            EXPECT_TRUE(right(test, with(policy)));
        }
    }
}

}  // namespace
}  // namespace tilepath::exec
