// ptxas as the judge of who has what sm_100 added to bulk copies, cluster launches and stores. Skipped without it.
#include "agreement.h"

namespace tilepath::isa {
namespace {

std::vector<std::string> tensor_lines() {
    std::vector<std::string> lines;
    const std::string done = "mbarrier::complete_tx::bytes";
    const std::tuple<const char*, const char*, const char*> modes[] = {
        {"2d", "tile::gather4", "{r1, r2, r3, r4, r5}"},
        {"2d", "tile::gather4", "{r1, r2}"},
        {"3d", "tile::gather4", "{r1, r2, r3, r4, r5}"},
        {"2d", "tile", "{r1, r2}"},
        {"4d", "im2col", "{r1, r2, r3, r4}"},
        {"4d", "im2col::w", "{r1, r2, r3, r4}"},
        {"4d", "im2col::w::128", "{r1, r2, r3, r4}"},
        {"2d", "im2col::w", "{r1, r2}"},
    };
    for (const auto& [dim, mode, at] : modes) {
        const std::string offsets = std::string(mode).starts_with("im2col") ? ", {h0, h1}" : "";
        for (const char* to : {"shared::cta", "shared::cluster"})
            for (const char* pair : {"", ".cta_group::1", ".cta_group::2"}) {
                lines.push_back(fmt::format("cp.async.bulk.tensor.{}.{}.global.{}.{}{} [s], [q0, {}], [s+1024]{};", dim,
                                            to, mode, done, pair, at, offsets));
                lines.push_back(fmt::format(
                    "cp.async.bulk.tensor.{}.{}.global.{}.{}.multicast::cluster{} [s], [q0, {}], [s+1024]{}, h2;", dim,
                    to, mode, done, pair, at, offsets));
            }
        lines.push_back(
            fmt::format("cp.async.bulk.prefetch.tensor.{}.L2.global.{} [q0, {}]{};", dim, mode, at, offsets));
        lines.push_back(fmt::format(
            "cp.async.bulk.tensor.{}.shared::cta.global.{}.{}.L2::cache_hint [s], [q0, {}], [s+1024]{}, q1;", dim, mode,
            done, at, offsets));
    }
    for (const char* line :
         {"cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [q0, {r1, r2, r3, r4, r5}], [s];",
          "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [q0, {r1, r2}], [s];",
          "cp.async.bulk.tensor.3d.global.shared::cta.tile::scatter4.bulk_group [q0, {r1, r2, r3, r4, r5}], [s];",
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group [q0, {r1, r2, r3, r4, r5}], "
          "[s];",
          "cp.async.bulk.tensor.4d.global.shared::cta.im2col::w.bulk_group [q0, {r1, r2, r3, r4}], [s];",
          "cp.async.bulk.tensor.2d.global.shared::cta.im2col_no_offs.bulk_group [q0, {r1, r2}], [s];"})
        lines.push_back(line);
    return lines;
}

std::vector<std::string> other_lines() {
    return {
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [q0], [s], 64, h0;",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [q0], [s], 64, 3;",
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [q0], [s], 64, q1, h0;",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask.L2::cache_hint [q0], [s], 64, q1, h0;",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [q0], [s], 64;",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [q0], [s], 64, r1;",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.cp_mask [s], [q0], 64, [s+512], h0;",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [r0], [r1];",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s], [s+16];",
        "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [q0], [q1];",
        "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [r0], [r1];",
        "clusterlaunchcontrol.try_cancel.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [r0], [r1];",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b64 [r0], [r1];",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
        "[r0], [r1];",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p0, x0;",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 r0, x0;",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p0, q0;",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {r0, r1, r2, r3}, x0;",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {r0, r1, r2, _}, x0;",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {r0, r1, r2}, x0;",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 r0, x0;",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 r0, x0;",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 q0, x0;",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::w.b32.b128 r0, x0;",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.b32.b128 r0, x0;",
        "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [q0], 3;",
        "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [q0], 4;",
        "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [q0], 5;",
        "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [q0], 3;",
        "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [q0], 4;",
        "tensormap.replace.tile.elemtype.global.b1024.b32 [q0], 12;",
        "tensormap.replace.tile.elemtype.global.b1024.b32 [q0], 13;",
        "tensormap.replace.tile.elemtype.global.b1024.b32 [q0], 15;",
        "tensormap.replace.tile.elemtype.global.b1024.b32 [q0], 16;",
        "st.async.release.gpu.global.b32 [q0], r0;",
        "st.async.release.sys.global.b8 [q0], c0;",
        "st.async.release.sys.global.b8 [q0], h0;",
        "st.async.release.gpu.global.u16 [q0], h0;",
        "st.async.mmio.release.sys.global.u64 [q0], q1;",
        "st.async.release.gpu.b32 [q0], r0;",
        "st.async.release.cta.global.b32 [q0], r0;",
        "st.async.release.gpu.global.v2.b32 [q0], {r0, r1};",
        "st.async.release.gpu.global.f16 [q0], h0;",
        "red.async.relaxed.gpu.global.add.u32 [q0], r0;",
        "red.async.release.gpu.global.min.s32 [q0], r0;",
        "red.async.mmio.release.sys.global.add.u64 [q0], q1;",
        "red.async.mmio.relaxed.sys.global.add.u64 [q0], q1;",
        "red.async.release.gpu.global.max.u64 [q0], q1;",
        "red.async.release.gpu.global.and.b32 [q0], r0;",
        "red.async.release.gpu.global.and.b64 [q0], q1;",
        "red.async.release.cta.global.add.u32 [q0], r0;",
    };
}

class BlackwellCopies : public ::testing::TestWithParam<const char*> {};
TEST_P(BlackwellCopies, TensorsAsPtxasHasThem) { expect_agreement(GetParam(), "9.0", tensor_lines()); }
TEST_P(BlackwellCopies, OthersAsPtxasHasThem) { expect_agreement(GetParam(), "9.0", other_lines()); }
INSTANTIATE_TEST_SUITE_P(Targets, BlackwellCopies,
                         ::testing::Values("sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_120",
                                           "sm_120a", "sm_121a"));
TEST(BlackwellCopiesOfOldVersions, AsPtxasHasThem) { expect_agreement("sm_100a", "8.6", other_lines()); }

}  // namespace
}  // namespace tilepath::isa
