// Shared memory of other CTAs of the cluster: rank << 24 | offset (recorded on an H200).
#include <gmock/gmock.h>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using ::testing::HasSubstr;

LaunchShape clusters(std::uint32_t grid, std::uint32_t cluster, std::uint32_t threads) {
    return {{grid, 1, 1}, {threads, 1, 1}, {cluster, 1, 1}, 0};
}

// CTA 2 of a cluster sees its own byte 0x400 at 0x02000400; the same variable in CTA 1 is at 0x01000400.
TEST(ClusterMemory, AddressesBeginWithTheRank) {
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(32);
    gpu.run_clean(compile(R"(
        .shared .b32 here;
        .reg .b64 %generic;
        mov.u32 %r0, %ctaid.x; mul.wide.u32 %q1, %r0, 32; add.u64 %q0, %q0, %q1;
        mov.u32 %r1, here; cvt.u64.u32 %q2, %r1; st.global.u64 [%q0], %q2;
        mov.u64 %generic, here; cvta.shared.u64 %generic, %generic; cvta.to.shared.u64 %q3, %generic;
        st.global.u64 [%q0+8], %q3;
        st.shared.u32 [here], %r0; ld.u32 %r2, [%generic]; cvt.u64.u32 %q4, %r2; st.global.u64 [%q0+16], %q4;
        { .param .b64 result; call (result), address_in_callee, (); ld.param.b64 %q5, [result]; }
        st.global.u64 [%q0+24], %q5;)",
                          1, R"(.func (.param .b64 r) address_in_callee() {
            .shared .b32 there; .reg .b32 %r; .reg .b64 %q;
            mov.u32 %r, there; cvt.u64.u32 %q, %r; st.param.b64 [r], %q; ret; })"),
                  clusters(8, 4, 1), out);
    for (std::uint64_t cta = 0; cta < 8; ++cta) {
        const std::uint64_t rank = cta % 4;
        EXPECT_EQ(out[4 * cta], rank << 24 | 0x400);
        EXPECT_EQ(out[4 * cta + 1], rank << 24 | 0x400);
        EXPECT_EQ(out[4 * cta + 2], cta);
        EXPECT_EQ(out[4 * cta + 3], rank << 24 | 0x404);
    }
}

// Every CTA writes into its right neighbour's memory, by shared::cluster and by generic addresses.
std::string neighbour(const std::string& access) {
    return R"(
        .shared .align 16 .b32 data[64]; .shared .b32 flag;
        mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; and.b32 %r2, %r1, 3; add.u32 %r3, %r2, 1; and.b32 %r3, %r3, 3;
        mov.u32 %r4, data; and.b32 %r5, %r4, 0x00FFFFFF; shl.b32 %r6, %r3, 24; or.b32 %r6, %r6, %r5;
        shl.b32 %r7, %r0, 2; add.u32 %r6, %r6, %r7; add.u32 %r4, %r4, %r7;
        cvt.u64.u32 %q2, %r6; cvta.shared.u64 %q2, %q2;
        mad.lo.u32 %r8, %r1, 100, %r0;
        setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [flag], 0; bar.sync 0;
        st.shared.u32 [%r4], 5;
        atom.global.add.u32 %r20, [%q0+1024], 1;
    all_here:
        ld.volatile.global.u32 %r20, [%q0+1024]; setp.lt.u32 %p1, %r20, 256; @%p1 bra all_here;
    )" + access +
           R"(
        atom.global.add.u32 %r20, [%q0+1028], 1;
    all_done:
        ld.volatile.global.u32 %r20, [%q0+1028]; setp.lt.u32 %p1, %r20, 256; @%p1 bra all_done;
        ld.shared.u32 %r9, [%r4];
        mad.lo.u32 %r10, %r1, 32, %r0; mul.wide.u32 %q3, %r10, 4; add.u64 %q3, %q0, %q3; st.global.u32 [%q3], %r9;
        atom.global.add.u32 %r20, [%q0+1032], 1;
    all_read:
        ld.volatile.global.u32 %r20, [%q0+1032]; setp.lt.u32 %p1, %r20, 256; @%p1 bra all_read;)";
}

TEST(ClusterMemory, LoadsStoresAndAtomicsReachANeighbour) {
    const std::pair<const char*, int> accesses[] = {
        {"st.shared::cluster.u32 [%r6], %r8;", 0},
        {"st.u32 [%q2], %r8;", 0},
        {"atom.shared::cluster.add.u32 %r11, [%r6], %r8; add.u32 %r8, %r8, %r11;", 5},
        {"red.shared::cluster.add.u32 [%r6], %r8;", 5},
        {"red.add.u32 [%q2], %r8;", 5},
        {"ld.shared::cluster.u32 %r11, [%r6]; add.u32 %r8, %r8, %r11; st.shared::cluster.u32 [%r6], %r8;", 5},
        // Backwards, so that the lanes' addresses are not consecutive.
        {"sub.u32 %r12, 31, %r0; shl.b32 %r12, %r12, 2; sub.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r12; mad.lo.u32 %r8, "
         "%r1, 100, 31; sub.u32 %r8, %r8, %r0; st.shared::cluster.u32 [%r6], %r8;",
         0}};
    for (const auto& [access, more] : accesses) {
        for (const std::optional<std::uint64_t> seed :
             {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{3}}) {
            Device gpu;
            auto* out = gpu.buffer<std::uint32_t>(300);
            LaunchOptions options;
            options.seed = seed;
            const LaunchReport report = gpu.run(compile(neighbour(access)), clusters(8, 4, 32), options, out);
            ASSERT_TRUE(report.ok()) << access << (report.fault ? to_string(*report.fault) : "");
            for (std::uint32_t cta = 0; cta < 8; ++cta)
                for (std::uint32_t thread = 0; thread < 32; ++thread)
                    EXPECT_EQ(out[32 * cta + thread],
                              100 * (cta / 4 * 4 + (cta + 3) % 4) + thread + static_cast<std::uint32_t>(more))
                        << access;
        }
    }
}

Fault fault_of(const std::string& body) {
    Device gpu;
    auto* buffer = gpu.buffer<std::uint32_t>(100);
    const LaunchReport report = gpu.run(compile(body), clusters(2, 2, 32), {}, buffer);
    EXPECT_TRUE(report.fault) << body;
    return report.fault.value_or(Fault{});
}

TEST(ClusterMemory, FaultsNameTheRank) {
    constexpr const char* declare =
        ".shared .b32 data[4]; mov.u32 %r1, data; xor.b32 %r1, %r1, 0x01000000; mov.u32 %r0, %ctaid.x;"
        "setp.eq.u32 %p0, %r0, 0;";
    const Fault own_only = fault_of(std::string(declare) + "st.shared.u32 [%r1], %r0;");
    EXPECT_EQ(own_only.kind, FaultKind::out_of_bounds);
    EXPECT_THAT(own_only.message, HasSubstr("CTA of rank 1, which needs .shared::cluster"));
    EXPECT_THAT(to_string(own_only), HasSubstr("(rank 0 of 2 in its cluster)"));
    const Fault none =
        fault_of(std::string(declare) + "or.b32 %r1, %r1, 0x05000000; st.shared::cluster.u32 [%r1], %r0;");
    EXPECT_THAT(none.message, HasSubstr("the cluster has 2 CTAs, and none of rank 5"));
    const Fault behind = fault_of(std::string(declare) + "st.shared::cluster.u32 [%r1+16], %r0;");
    EXPECT_EQ(behind.kind, FaultKind::out_of_bounds);
    // CTA 1 leaves; then CTA 0 writes into its memory.
    const Fault gone = fault_of(std::string(declare) + R"(
        @!%p0 exit;
        nanosleep.u32 100000;
        st.shared::cluster.u32 [%r1], %r0;)");
    EXPECT_EQ(gone.kind, FaultKind::exited_cta);
    EXPECT_THAT(gone.message, HasSubstr("the CTA of rank 1 in the cluster, whose memory this is, has exited"));
}

}  // namespace
}  // namespace tilepath::exec
