// Every asynchronous operation has its span: from the issue to when somebody has waited for it.
#include "check/timeline.h"

#include "check/small_kernel.h"

namespace tilepath::check {
namespace {

const std::string init = "    @%p1 mbarrier.init.shared.b64 [%r3], 1;\n    @%p1 fence.proxy.async;\n    bar.sync 0;\n";
const std::string wait = "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n    @!%p3 bra W;\n";

std::vector<Span> spans_of(const std::string& body, const std::string& target, std::uint32_t warps = 2,
                           std::uint32_t ctas = 1) {
    Timeline timeline;
    (void)findings_of(body, {.warps = warps, .ctas = ctas, .also = &timeline, .target = target});
    return timeline.spans();
}

/// The only span of that name.
Span one(const std::vector<Span>& spans, const std::string& name) {
    EXPECT_EQ(std::ranges::count(spans, name, &Span::name), 1) << name;
    const auto found = std::ranges::find(spans, name, &Span::name);
    return found == spans.end() ? Span{} : *found;
}

/// It begins within the phase of the mbarrier that it counts on, and ends behind it, where a warp has waited.
void expect_until_waited(const std::vector<Span>& spans, const std::string& name) {
    const Span span = one(spans, name), phase = one(spans, "phase 0");
    EXPECT_EQ(phase.track, "mbarrier 0x8400");
    EXPECT_LE(span.begin, phase.end);
    EXPECT_GT(span.end, phase.end);
}

TEST(Timeline, BulkCopiesLastUntilTheyAreWaitedFor) {
    const auto spans = spans_of(
        init +
            "    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;\n"
            "    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [%r3];\n" +
            wait,
        "sm_90a");
    expect_until_waited(spans, "bulk load");
}

TEST(Timeline, CopiesOfAThreadLastUntilTheirGroupIsWaitedFor) {
    const std::string copy =
        "    mad.lo.u32 %r7, %r1, 16, %r2;\n    cp.async.ca.shared.global [%r7], [%rd1], 16;\n"
        "    cp.async.commit_group;\n    bar.sync 0;\n    bar.sync 0;\n";
    const Span waited = one(spans_of(copy + "    cp.async.wait_group 0;\n", "sm_90a", 1), "cp.async");
    const Span landed = one(spans_of(copy, "sm_90a", 1), "cp.async");
    EXPECT_EQ(waited.begin, landed.begin);
    EXPECT_GT(waited.end, landed.end) << "without a wait: until the copies have landed";
}

TEST(Timeline, AnswersOfTryCancelArriveOnTheirBarrier) {
    const auto spans = spans_of(
        init +
            "    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 16;\n"
            "    @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], "
            "[%r3];\n" +
            wait,
        "sm_100a");
    EXPECT_EQ(one(spans, "try_cancel").track, "clusterlaunchcontrol.try_cancel");
    expect_until_waited(spans, "try_cancel");
}

TEST(Timeline, StoresIntoTheClusterArriveOnTheirBarrier) {
    const auto spans = spans_of(
        init +
            "    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 4;\n    mapa.shared::cluster.u32 %r7, %r2, 0;\n"
            "    mapa.shared::cluster.u32 %r8, %r3, 0;\n"
            "    @%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %r1, [%r8];\n" +
            wait,
        "sm_90a");
    expect_until_waited(spans, "st.async");
    EXPECT_EQ(one(spans, "st.async").detail, "1 lanes, 4 bytes each");
}

TEST(Timeline, TensorOperationsLastUntilTheirCommitIsWaitedFor) {
    const auto spans =
        spans_of(init +
                     "    @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32;\n    bar.sync 0;\n"
                     "    ld.shared.u32 %r20, [%r2];\n    mov.u32 %r21, 0;\n"
                     "    shl.b32 %r22, %r4, 21;\n    add.u32 %r22, %r22, %r20;\n"
                     "    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {%r21};\n    tcgen05.wait::st.sync.aligned;\n"
                     "    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r23}, [%r22];\n    tcgen05.wait::ld.sync.aligned;\n"
                     "    @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];\n" +
                     wait + "    bar.sync 0;\n    @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 32;\n",
                 "sm_100a", 4);
    for (const std::string name : {"tcgen05.st", "tcgen05.ld"}) {
        EXPECT_EQ(std::ranges::count(spans, name, &Span::name), 4) << name;
        for (const Span& span : spans)
            if (span.name == name) {
                EXPECT_LT(span.begin, span.end);
            }
    }
    expect_until_waited(spans, "tcgen05.commit");
}

}  // namespace
}  // namespace tilepath::check
