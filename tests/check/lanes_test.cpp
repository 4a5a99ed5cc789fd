// Lanes of a warp are threads of their own: what one has waited for, and what one tells others.
#include "small_kernel.h"

namespace tilepath::check {
namespace {

using testing::HasSubstr;

const std::string meet = "    bar.warp.sync 0xffffffff;\n";
/// Warp 0 writes a word a lane and arrives on the mbarrier, which counts `count`; warp 1 waits and reads.
std::string handed_over(int count, const std::string& arrive) {
    return fmt::format("    @%p1 mbarrier.init.shared.b64 [%r3], {};\n    bar.sync 0;\n", count) + R"(
    mad.lo.u32 %r10, %r6, 4, %r2;
    @!%p2 bra READER;
    st.shared.u32 [%r10], %r1;
)" + arrive +
           R"(
    ret;
READER:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;
    @!%p3 bra READER;
    ld.shared.u32 %r12, [%r10];
)";
}

TEST(Lanes, AnElectedLaneArrivesForItselfOnly) {
    const std::string one = "    @%p1 mbarrier.arrive.shared.b64 _, [%r3];\n";
    expect_one(findings_of(handed_over(1, one)), "race", "ld.shared.u32", "bar.warp.sync");
    expect_none(findings_of(handed_over(1, meet + one)));
    expect_none(findings_of(handed_over(32, "    mbarrier.arrive.shared.b64 _, [%r3];\n")));
    // The other half of the warp arrives alone.
    const std::string half = "    setp.lt.u32 %p4, %r6, 16;\n    @%p4 mbarrier.arrive.shared.b64 _, [%r3];\n";
    const auto found = findings_of(handed_over(16, half));
    expect_one(found, "race", "ld.shared.u32", "bar.warp.sync");
    EXPECT_THAT(listing(found), HasSubstr("first CTA 0, warp 0, lane 16 writes"));
}

TEST(Lanes, AnElectedLaneHandsOnWhatWasReadToo) {
    // Warp 1 reads what warp 0 overwrites once it has been told so.
    const auto with = [](const std::string& arrive) {
        return "    @%p1 mbarrier.init.shared.b64 [%r3], 1;\n    bar.sync 0;\n" + std::string(R"(
    mad.lo.u32 %r10, %r6, 4, %r2;
    setp.eq.u32 %p4, %r6, 0;
    @%p2 bra WRITER;
    ld.shared.u32 %r12, [%r10];
)") + arrive + R"(
    ret;
WRITER:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;
    @!%p3 bra WRITER;
    st.shared.u32 [%r10], %r1;
)";
    };
    const std::string one = "    @%p4 mbarrier.arrive.shared.b64 _, [%r3];\n";
    expect_one(findings_of(with(one)), "race", "st.shared.u32", "bar.warp.sync");
    expect_none(findings_of(with(meet + one)));
}

TEST(Lanes, AnElectedLaneWaitsForItselfOnly) {
    const auto with = [](const std::string& between) {
        return "    @%p1 mbarrier.init.shared.b64 [%r3], 1;\n    @%p1 fence.mbarrier_init.release.cluster;\n"
               "    bar.sync 0;\n"
               "    @!%p1 bra BEHIND;\n    mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 128;\n"
               "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [%r3];\n"
               "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n    @!%p3 bra W;\nBEHIND:\n" +
               between + "    mad.lo.u32 %r10, %r6, 4, %r2;\n    ld.shared.u32 %r12, [%r10];\n";
    };
    expect_one(findings_of(with(""), {.warps = 1}), "read-too-early", "ld.shared.u32",
               "another lane of the warp has waited");
    expect_none(findings_of(with(meet), {.warps = 1}));
    // What waits for every lane brings them together too.
    expect_none(findings_of(with("    vote.sync.all.pred %p4, %p1, 0xffffffff;\n"), {.warps = 1}));
}

/// CTA 0 writes a word a lane and sets a flag; CTA 1 waits for the flag and reads.
std::string flagged(const std::string& say) {
    return R"(
    mul.wide.u32 %rd2, %r6, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r20, 1;
    setp.ne.u32 %p3, %r5, 0;
    @%p3 bra READER;
    st.global.u32 [%rd3+4096], %r1;
)" + say + R"(
    ret;
READER:
    ld.acquire.gpu.global.u32 %r21, [%rd1];
    setp.eq.u32 %p4, %r21, 0;
    @%p4 bra READER;
    ld.global.u32 %r22, [%rd3+4096];
)";
}

TEST(Lanes, AnElectedLaneSetsAFlagForItselfOnly) {
    const SmallLaunch two{.warps = 1, .ctas = 2};
    const std::string release = "    @%p1 st.release.gpu.global.u32 [%rd1], %r20;\n";
    expect_one(findings_of(flagged(release), two), "race", "ld.global.u32", "bar.warp.sync");
    expect_none(findings_of(flagged(meet + release), two));
    const std::string fence = "    fence.acq_rel.gpu;\n",
                      relaxed = "    @%p1 st.relaxed.gpu.global.u32 [%rd1], %r20;\n";
    expect_one(findings_of(flagged(fence + relaxed), two), "race", "ld.global.u32", "bar.warp.sync");
    expect_none(findings_of(flagged(fence + meet + relaxed), two));
    expect_none(findings_of(flagged(meet + fence + relaxed), two));
}

TEST(Lanes, WaitForBulkStoresTheyHaveIssued) {
    const auto with = [](const std::string& between) {
        return "    mad.lo.u32 %r10, %r6, 4, %r2;\n    st.shared.u32 [%r10], %r1;\n    "
               "fence.proxy.async.shared::cta;\n" +
               meet +
               "    @!%p1 bra BEHIND;\n    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 128;\n"
               "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\nBEHIND:\n" +
               between + "    st.shared.u32 [%r10], %r4;\n";
    };
    expect_one(findings_of(with(""), {.warps = 1}), "overwritten-too-soon", "st.shared.u32",
               "another lane of the warp has waited");
    expect_none(findings_of(with(meet), {.warps = 1}));
}

TEST(Lanes, WaitForCopiesOfTheirOwn) {
    const auto with = [](const std::string& between) {
        return "    mad.lo.u32 %r10, %r1, 16, %r2;\n    xor.b32 %r11, %r10, 16;\n    mul.wide.u32 %rd2, %r1, 16;\n"
               "    add.s64 %rd3, %rd1, %rd2;\n    cp.async.cg.shared.global [%r10], [%rd3], 16;\n"
               "    cp.async.wait_all;\n" +
               between + "    ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];\n";
    };
    expect_one(findings_of(with(""), {.warps = 1}), "race", "ld.shared.v4.u32", "__syncwarp");
    expect_none(findings_of(with(meet), {.warps = 1}));
}

TEST(Lanes, SomeOfThemMeet) {
    // Lanes 2 i and 2 i + 1 exchange, the lower half meets with a mask of its own; then all read across the halves.
    const auto with = [](const std::string& masks, int apart) {
        return "    mad.lo.u32 %r10, %r6, 4, %r2;\n    st.shared.u32 [%r10], %r6;\n" + masks +
               fmt::format(
                   "    xor.b32 %r11, %r6, {};\n    mad.lo.u32 %r11, %r11, 4, %r2;\n    ld.shared.u32 %r12, "
                   "[%r11];\n",
                   apart);
    };
    const std::string halves =
        "    setp.lt.u32 %p4, %r6, 16;\n    @!%p4 bra UPPER;\n    bar.warp.sync 0x0000ffff;\n    bra BEHIND;\n"
        "UPPER:\n    bar.warp.sync 0xffff0000;\nBEHIND:\n";
    expect_none(findings_of(with(halves, 8), {.warps = 1}));
    expect_one(findings_of(with(halves, 16), {.warps = 1}), "race", "ld.shared.u32", "__syncwarp");
    expect_none(findings_of(with(meet, 16), {.warps = 1}));
}

}  // namespace
}  // namespace tilepath::check
