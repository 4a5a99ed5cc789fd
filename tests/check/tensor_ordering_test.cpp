// TMA: clusters that load for one another, tensor maps that kernels edit, boxes that waste sectors.
#include "exec/tensors.h"
#include "small_kernel.h"

namespace tilepath::check {
namespace {

using exec::LaunchReport;
using testing::HasSubstr;

/// Findings of a kernel of one warp a CTA, with one tensor map of a matrix of f16, 64 rows of `columns`, boxes of 8
/// rows of `box` elements; %r2: 16 KiB of shared memory, %r3: an mbarrier, %q40: the map, %q0: 4 KiB of global memory.
std::vector<Finding> findings_with_map(const std::string& body, std::uint32_t ctas = 1, std::uint32_t box = 64,
                                       std::uint32_t columns = 256, std::uint64_t offset = 0) {
    const auto program = exec::compile_with_maps(
        ".shared .align 1024 .b8 tile[16384]; .shared .align 128 .b8 map[128]; .shared .align 8 .b64 full;\n"
        "mov.u32 %r2, tile; mov.u32 %r3, full; mov.u32 %r4, map; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 mbarrier.init.shared.b64 [%r3], 1; @%p1 fence.mbarrier_init.release.cluster;\n"
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" +
            body + "\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        1, 1);
    exec::Device gpu("sm_90a");
    auto* const data = gpu.buffer<std::uint16_t>(65536);
    auto* const scratch = gpu.buffer<std::uint8_t>(4096);
    machine::TensorMap map;
    map.type = machine::TensorType::f16;
    map.rank = 2;
    map.address = reinterpret_cast<std::uintptr_t>(data) + offset;
    map.dims = {columns, 64, 1, 1, 1};
    map.strides = {columns * 2, 0, 0, 0};
    map.box = {box, 8, 1, 1, 1};
    Checks checks;
    exec::LaunchOptions options;
    options.observer = &checks;
    const LaunchReport report =
        run_with_maps(gpu, program, {{ctas, 1, 1}, {32, 1, 1}, {ctas, 1, 1}, 0}, options, {map}, {scratch});
    EXPECT_FALSE(report.fault) << exec::to_string(*report.fault);
    EXPECT_FALSE(report.deadlock) << exec::to_string(*report.deadlock);
    return checks.findings(program);
}

const std::string expect = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 1024;\n";
const std::string wait = "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0; @!%p3 bra W;\n";
const std::string read = "mad.lo.u32 %r5, %r1, 4, %r2; ld.shared.u32 %r6, [%r5];\n";
std::string load(const std::string& map) {
    return "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [" + map +
           ", {0, 0}], [%r3];\n";
}

TEST(TensorCopies, AreWaitedFor) {
    expect_none(findings_with_map(expect + load("%q40") + wait + read));
    expect_one(findings_with_map(expect + load("%q40") + read + wait), "read-too-early", "ld.shared.u32", "try_wait");
}

TEST(TensorCopies, OfAPeerAreWaitedForToo) {
    // CTA 0 loads for both.
    const std::string both =
        "mov.u32 %r7, %cluster_ctarank; setp.eq.and.u32 %p2, %r7, 0, %p1; mov.b16 %h1, 3;\n" + expect +
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
        "@%p2 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%r2], "
        "[%q40, {0, 0}], [%r3], %h1;\n";
    expect_none(findings_with_map(both + wait + read, 2));
    const auto found =
        findings_with_map(both + "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" + read + wait, 2);
    expect_one(found, "read-too-early", "ld.shared.u32", "try_wait");
    // CTA 1 must not load into CTA 0 what CTA 0 still reads.
    const std::string again =
        "setp.eq.and.u32 %p4, %r7, 1, %p1;\n@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 1024;\n"
        "@%p4 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%r2], "
        "[%q40, {0, 0}], [%r3], %h1;\nX: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 1; @!%p3 bra X;\n";
    expect_none(findings_with_map(
        both + wait + read + "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" + again, 2));
    const auto soon = findings_with_map(both + wait + read + "bar.warp.sync 0xffffffff;\n" + again, 2);
    ASSERT_FALSE(soon.empty());
    EXPECT_THAT(listing(soon), HasSubstr("multicast::cluster"));
}

TEST(TensorMaps, EditedOnesAreFenced) {
    // A copy of the map in shared memory is edited and published to global memory.
    const auto with = [](const std::string& publish, const std::string& acquire) {
        return "mul.wide.u32 %q1, %r1, 4; add.u64 %q2, %q40, %q1; ld.u32 %r8, [%q2];\n"
               "mad.lo.u32 %r9, %r1, 4, %r4; st.shared.u32 [%r9], %r8; bar.warp.sync 0xffffffff;\n"
               "@%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r4], 1, 32;\nbar.warp.sync "
               "0xffffffff;\n" +
               publish + acquire + expect + load("%q0") + wait;
    };
    const std::string publish =
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%q0], [%r4], 128;\n";
    const std::string acquire = "fence.proxy.tensormap::generic.acquire.gpu [%q0], 128;\n";
    expect_none(findings_with_map(with(publish, acquire)));
    expect_one(findings_with_map(with(publish, "")), "tensormap-fence", "cp.async.bulk.tensor",
               "fence.proxy.tensormap::generic.acquire");
    // Published by plain stores, which release nothing to the copies.
    const std::string plain =
        "ld.shared.u32 %r8, [%r9]; add.u64 %q3, %q0, %q1; st.global.u32 [%q3], %r8; bar.warp.sync 0xffffffff;\n";
    expect_one(findings_with_map(with(plain, acquire)), "tensormap-fence", "cp.async.bulk.tensor",
               "fence.proxy.tensormap::generic.release");
    expect_none(findings_with_map(with(plain + "fence.proxy.tensormap::generic.release.gpu;\n", acquire)));
}

TEST(Coalescing, BoxesThatWasteSectors) {
    // Rows of 16 bytes fill half a sector each.
    const std::string small = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 128;\n" + load("%q40") + wait;
    expect_one(findings_with_map(small, 1, 8), "coalescing", "cp.async.bulk.tensor", "a multiple of 32 bytes");
    // Rows of 128 bytes that begin in the middle of a sector touch five.
    const auto found = findings_with_map(expect + load("%q40") + wait, 1, 64, 256, 16);
    expect_none(found);  // 5 for 4 is within the threshold
    const std::string narrow = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;\n" + load("%q40") + wait;
    expect_one(findings_with_map(narrow, 1, 16, 256, 16), "coalescing", "cp.async.bulk.tensor",
               "multiples of 32 bytes");
    expect_none(findings_with_map(narrow, 1, 16));
}

/// As the epilogues of CUTLASS have it: the whole warp stores the box. Each lane's copy is carried out; the bytes are
/// the same.
TEST(TensorCopies, AreIssuedByOneLane) {
    const std::string fill =
        "mad.lo.u32 %r5, %r1, 16, %r2;\nst.shared.v4.u32 [%r5], {%r1, %r1, %r1, %r1};\n"
        "st.shared.v4.u32 [%r5+512], {%r1, %r1, %r1, %r1};\nfence.proxy.async;\nbar.sync 0;\n";
    const auto store = [&](const std::string& guard) {
        return fill + guard + "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%q40, {0, 0}], [%r2];\n" +
               guard + "cp.async.bulk.commit_group;\n" + guard + "cp.async.bulk.wait_group 0;\n";
    };
    expect_none(findings_with_map(store("@%p1 ")));
    const auto found = findings_with_map(store(""));
    expect_one(found, "coalescing", "cp.async.bulk.tensor", "elect.sync");
    EXPECT_THAT(found[0].message, HasSubstr("32 times the sectors"));
    EXPECT_THAT(listing(found), HasSubstr("31 of the 32 copies repeat"));
}

}  // namespace
}  // namespace tilepath::check
