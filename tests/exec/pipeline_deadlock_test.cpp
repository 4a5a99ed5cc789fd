// Ten bugs of pipelines and clusters: each ends in a deadlock or a fault that names barrier, phase, counts and lines.
#include <gmock/gmock.h>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// `line`: where `text` stands in the module that compile() makes.
unsigned line_of(const program::Program& program, const std::string& text) {
    const std::string_view all = program.source->text();
    const std::size_t at = all.find(text);
    EXPECT_NE(at, std::string_view::npos) << text;
    return static_cast<unsigned>(std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
}

std::string line(const program::Program& program, const std::string& text) {
    return fmt::format("line {}", line_of(program, text));
}

/// The text of the deadlock in which the kernel ends, under every policy and several orders of warps: the same.
std::string deadlock_of(const program::Program& program, std::uint32_t ctas, std::uint32_t threads) {
    std::string text;
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        for (const std::optional<std::uint64_t> seed : {std::optional<std::uint64_t>{}, {5}, {6}}) {
            Device gpu;
            auto* buffer = gpu.buffer<std::uint32_t>(64);
            LaunchOptions options;
            options.copies = policy;
            options.seed = seed;
            const LaunchReport report =
                gpu.run(program, {{ctas, 1, 1}, {threads, 1, 1}, {ctas, 1, 1}, 0}, options, buffer);
            if (report.fault) ADD_FAILURE() << to_string(*report.fault);
            EXPECT_TRUE(report.deadlock) << "no deadlock";
            if (!report.deadlock) return "";
            const std::string here = to_string(*report.deadlock);
            if (!text.empty()) {
                EXPECT_EQ(here, text);
            }
            text = here;
        }
    }
    return text;
}

/// A producer warp fills `data`, a consumer warp waits; both know `full` and `empty`, one stage.
program::Program pipeline(const std::string& producer, const std::string& consumer,
                          const std::string& arrivals_of_full = "1") {
    return compile(R"(
.shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 16 .b32 data[32];
mov.u32 %r0, %tid.x; mov.u32 %r1, full; mov.u32 %r2, empty; mov.u32 %r3, data; mov.u32 %r30, 0;
setp.ne.u32 %p0, %r0, 0; @%p0 bra ready;
mbarrier.init.shared.b64 [%r1], )" +
                   arrivals_of_full + R"(;
mbarrier.init.shared.b64 [%r2], 1;
fence.mbarrier_init.release.cluster;
ready:
bar.sync 0;
setp.ge.u32 %p1, %r0, 32; @%p1 bra consumer;
setp.ne.u32 %p2, %r0, 0; @%p2 bra done;
)" + producer + R"(
bra done;
consumer:
)" + consumer + R"(
done:)");
}

constexpr const char* wait_full =
    "wait_full:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0;\n@!%p3 bra wait_full;\n";

TEST(PipelineDeadlock, MoreBytesAreExpectedThanAreCopied) {
    const program::Program program = pipeline(
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;\nmbarrier.complete_tx.shared.b64 [%r1], 96;", wait_full);
    const std::string text = deadlock_of(program, 1, 64);
    EXPECT_THAT(text, AllOf(HasSubstr("waits for the mbarrier at shared 0x400 (full) (phase 0, parity 0): 0 of 1 "
                                      "arrivals and 32 bytes are missing"),
                            HasSubstr("last expected bytes: " + line(program, "expect_tx") + ", by warp 0"),
                            HasSubstr("last completed bytes: " + line(program, "complete_tx") + ", by warp 0"),
                            HasSubstr("could complete it: " + line(program, "complete_tx"))));
    EXPECT_THAT(text, HasSubstr("mbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0;"));
}

TEST(PipelineDeadlock, AnArrivalIsMissing) {
    const program::Program program = pipeline("mbarrier.arrive.shared.b64 _, [%r1];", wait_full, "2");
    EXPECT_THAT(deadlock_of(program, 1, 64),
                AllOf(HasSubstr("(full) (phase 0, parity 0): 1 of 2 arrivals and 0 bytes are missing"),
                      HasSubstr("initialised: " + line(program, "mbarrier.init.shared.b64 [%r1], 2")),
                      HasSubstr("last arrival: " + line(program, "mbarrier.arrive"))));
}

// The producer's first wait for an empty slot names parity 0, the phase that runs, where 1 would pass at once.
TEST(PipelineDeadlock, TheParityIsWrong) {
    const program::Program program = pipeline(
        "wait_empty:\nmbarrier.try_wait.parity.shared.b64 %p4, [%r2], 0;\n@!%p4 bra wait_empty;\n"
        "mbarrier.arrive.shared.b64 _, [%r1];",
        std::string(wait_full) + "mbarrier.arrive.shared.b64 _, [%r2];");
    const std::string could = fmt::format("lines {}, {}", line_of(program, "mbarrier.arrive.shared.b64 _, [%r1]"),
                                          line_of(program, "mbarrier.arrive.shared.b64 _, [%r2]"));
    EXPECT_THAT(deadlock_of(program, 1, 64),
                AllOf(HasSubstr("warp 0, lane 0: waits for the mbarrier at shared 0x408 (empty) (phase 0, parity 0): 1 "
                                "of 1 arrivals and 0 bytes are missing"),
                      HasSubstr("warp 1, lanes 0-31: waits for the mbarrier at shared 0x400 (full) (phase 0, parity "
                                "0): 1 of 1 arrivals"),
                      HasSubstr("no arrival yet; could complete it: " + could)));
}

// 32 consumers arrive, but 64 were announced.
TEST(PipelineDeadlock, TheBarrierCountIsWrong) {
    const program::Program program =
        pipeline(wait_full,
                 "mbarrier.arrive.shared.b64 _, [%r1];\n"
                 "late:\nmbarrier.test_wait.parity.shared.b64 %p3, [%r1], 0;\n@!%p3 bra late;",
                 "64");
    EXPECT_THAT(deadlock_of(program, 1, 64),
                AllOf(HasSubstr("waits for the mbarrier at shared 0x400 (full) (phase 0, parity 0): 32 of 64"),
                      HasSubstr("tests again and again in vain the mbarrier at shared 0x400 (full)")));
}

// The producer wants the slot back, which the consumer never releases.
TEST(PipelineDeadlock, TheEmptySlotIsNeverReleased) {
    const program::Program program = pipeline(
        "mbarrier.arrive.shared.b64 _, [%r1];\n"
        "wait_empty:\nmbarrier.try_wait.parity.shared.b64 %p4, [%r2], 0;\n@!%p4 bra wait_empty;\n"
        "mbarrier.arrive.shared.b64 _, [%r1];",
        wait_full);
    EXPECT_THAT(deadlock_of(program, 1, 64),
                AllOf(HasSubstr("CTA (0, 0, 0), warp 0, lane 0: waits for the mbarrier at shared 0x408 (empty) (phase "
                                "0, parity 0): 1 of 1 arrivals"),
                      HasSubstr("; no arrival yet")));
}

TEST(PipelineDeadlock, OneCtaLeavesTheClustersBarrierOut) {
    const program::Program program = compile(R"(
mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 2; @%p0 bra other;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
bra done;
other:
bar.sync 1, 128;
done:)");
    const std::string text = deadlock_of(program, 4, 64);
    EXPECT_THAT(text, AllOf(HasSubstr("CTA (1, 0, 0) (rank 1 of 4 in its cluster), warp 0, lanes 0-31: waits at the "
                                      "barrier of its cluster (phase 0): 192 of 256 threads have arrived; not there: "
                                      "warps 0, 1 of the CTA of rank 2"),
                            HasSubstr("waits at barrier 1 (phase 0): 64 of 128 threads have arrived"),
                            HasSubstr("barrier.cluster.wait.aligned;"),
                            HasSubstr(fmt::format("test.ptx:{}", line_of(program, "bar.sync 1, 128")))));
}

// CTA 1 signals itself instead of CTA 0.
TEST(PipelineDeadlock, AnArrivalGoesToTheWrongCta) {
    const program::Program program = compile(R"(
.shared .align 8 .b64 bar;
mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, bar; mbarrier.init.shared.b64 [%r2], 2;
barrier.cluster.arrive; barrier.cluster.wait;
mapa.shared::cluster.u32 %r3, %r2, %r1;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
setp.ne.u32 %p0, %r1, 0; @%p0 bra done;
wait:
mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p1, [%r2], 0;
@!%p1 bra wait;
done:
barrier.cluster.arrive; barrier.cluster.wait;)");
    EXPECT_THAT(deadlock_of(program, 2, 1),
                AllOf(HasSubstr("waits for the mbarrier at shared 0x400 (bar) (phase 0, parity 0): 1 of 2 arrivals"),
                      HasSubstr("last arrival: " + line(program, "mbarrier.arrive.release") + ", by rank 0 warp 0"),
                      HasSubstr("waits at the barrier of its cluster (phase 1): 1 of 2 threads have arrived; not "
                                "there: warp 0 of the CTA of rank 0")));
}

TEST(PipelineDeadlock, ANamedBarriersCountDoesNotFit) {
    const program::Program program = pipeline("", "barrier.sync 3, 96;");
    EXPECT_THAT(deadlock_of(program, 1, 64), HasSubstr("waits at barrier 3 (phase 0): 32 of 96 threads have arrived"));
}

// The bytes land where they should, but are counted on another mbarrier.
TEST(PipelineDeadlock, AnAsynchronousStoreNamesTheWrongMbarrier) {
    const program::Program program = compile(R"(
.shared .align 8 .b64 bars[2]; .shared .align 8 .b64 data;
mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, bars; mov.u32 %r3, data; mov.b64 %q1, 7;
mbarrier.init.shared.b64 [%r2], 1; mbarrier.init.shared.b64 [%r2+8], 1;
mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 8;
barrier.cluster.arrive; barrier.cluster.wait;
xor.b32 %r4, %r1, 1; mapa.shared::cluster.u32 %r5, %r2, %r4; mapa.shared::cluster.u32 %r6, %r3, %r4;
st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r6], %q1, [%r5+8];
wait:
mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0, 100;
@!%p1 bra wait;)");
    EXPECT_THAT(
        deadlock_of(program, 2, 1),
        AllOf(HasSubstr("waits for the mbarrier at shared 0x1000400 (bars) (phase 0, parity 0): 0 of 1 "
                        "arrivals and 8 bytes are missing"),
              HasSubstr("; no completed bytes yet"), HasSubstr("could complete it: " + line(program, "st.async"))));
}

// Once per phase is enough: the second wait with the next parity is for a phase that has not begun.
TEST(PipelineDeadlock, AConsumerWaitsTwiceOnAPhase) {
    const program::Program program =
        pipeline("mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;\nmbarrier.complete_tx.shared.b64 [%r1], 16;",
                 "mov.u32 %r4, 0; mov.u32 %r5, 0;\n"
                 "again:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r1], %r4;\n@!%p3 bra again;\n"
                 "xor.b32 %r4, %r4, 1; add.u32 %r5, %r5, 1; setp.lt.u32 %p4, %r5, 2; @%p4 bra again;");
    EXPECT_THAT(deadlock_of(program, 1, 64),
                AllOf(HasSubstr("(full) (phase 1, parity 1): 1 of 1 arrivals and 0 bytes are missing"),
                      HasSubstr("last completed bytes, in phase 0,: " + line(program, "complete_tx"))));
}

}  // namespace
}  // namespace tilepath::exec
