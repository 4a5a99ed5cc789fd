// What instructions become: for each family, the micro-operations as program/print.h writes them. What they compute is
// tested where they run.
#include <gtest/gtest.h>

#include <regex>

#include "isa/build.h"
#include "modules.h"
#include "program/print.h"
#include "program/verify.h"

namespace tilepath::isa {
namespace {

using program::DataType;

/// Registers by the names that module_text() gives them; those that the lowering made: t0, t1, …
std::string name_of(std::size_t index) {
    constexpr std::pair<char, std::size_t> declared[] = {{'p', 16}, {'c', 4},  {'h', 16},
                                                         {'r', 64}, {'q', 32}, {'x', 8}};
    for (auto [letter, count] : declared) {
        if (index < count) return fmt::format("{}{}", letter, index);
        index -= count;
    }
    return fmt::format("t{}", index);
}

struct Lowered {
    program::Program program;
    std::string text;  ///< a line for each micro-operation but the closing ret
    const program::MicroOp& op(std::size_t index) const { return program.functions[0].ops[index]; }
    const program::Mma& mma() const { return program.functions[0].mmas.at(0); }
};

Lowered lowered(const std::string& line, const std::string& target = "sm_90", const std::string& version = "9.0") {
    auto module = ptx::read(Source("test.ptx", module_text(target, version, {line})));
    if (!module) return {{}, to_string(module.error())};
    auto program = build(*module, "k");
    if (!program) return {{}, to_string(program.error())};
    for (const std::string& fault : program::verify(*program)) ADD_FAILURE() << line << ": " << fault;
    Lowered out{std::move(*program), {}};
    const program::Function& function = out.program.functions[0];
    for (const program::MicroOp& op : function.ops) {
        if (op.op == program::Op::ret) continue;
        const std::string printed = program::print(function, op);
        // r12 and p3 stand at a word's start; opcodes and types never look like that.
        static const std::regex reg(R"((^|[ @!])[rp](\d+)\b)");
        std::string named;
        auto last = printed.begin();
        for (std::sregex_iterator at(printed.begin(), printed.end(), reg), end; at != end; ++at) {
            named.append(last, printed.begin() + at->position());
            named += (*at)[1].str() + name_of(std::stoul((*at)[2]));
            last = printed.begin() + at->position() + at->length();
        }
        named.append(last, printed.end());
        out.text += (out.text.empty() ? "" : "\n") + named;
    }
    return out;
}

std::string text(const std::string& line, const std::string& target = "sm_90") { return lowered(line, target).text; }

TEST(Lowering, IntegerArithmetic) {
    EXPECT_EQ(text("add.s32 r0, r1, -1;"), "add.s32 r0 <- r1, 0xffffffff");
    EXPECT_EQ(text("add.sat.s32 r0, r1, r2;"), "add.s32.sat r0 <- r1, r2");
    EXPECT_EQ(text("mul.lo.s32 r0, r1, r2;"), "mul.s32 r0 <- r1, r2");
    EXPECT_EQ(text("mul.hi.u64 q0, q1, q2;"), "mul.u64.variant1 q0 <- q1, q2");
    EXPECT_EQ(text("mul.wide.s16 r0, h1, -2;"), "mul.s16.variant2 r0 <- h1, 0xfffe");
    EXPECT_EQ(text("mad.wide.u32 q0, r1, r2, q3;"), "mad.u32.variant2 q0 <- r1, r2, q3");
    EXPECT_EQ(text("mad24.hi.sat.s32 r0, r1, r2, r3;"), "mad24.s32.sat.variant1 r0 <- r1, r2, r3");
    EXPECT_EQ(text("clz.b64 r0, q1;"), "clz.b64 r0 <- q1");
    EXPECT_EQ(text("bfind.shiftamt.u32 r0, r1;"), "bfind.u32.variant1 r0 <- r1");
    EXPECT_EQ(text("bfi.b64 q0, q1, q2, 8, 16;"), "bfi.b64 q0 <- q1, q2, 0x8, 0x10");
    EXPECT_EQ(text("dp4a.s32.u32 r0, r1, r2, r3;"), "dp4a.s32.u32 r0 <- r1, r2, r3");
    EXPECT_EQ(text("dp2a.hi.u32.u32 r0, r1, r2, r3;"), "dp2a.u32.u32.variant1 r0 <- r1, r2, r3");
    EXPECT_EQ(text("szext.wrap.s32 r0, r1, r2;"), "szext.s32.variant1 r0 <- r1, r2");
    EXPECT_EQ(text("min.relu.s16x2 r0, r1, r2;"), "min.s16x2.relu r0 <- r1, r2");
}

TEST(Lowering, CarryChains) {
    // The flag is one predicate register: last destination, last source.
    EXPECT_EQ(text("add.cc.u32 r0, r1, r2; addc.cc.u32 r3, r4, r5; addc.u32 r6, r7, 0;"),
              "add_carry.u32.carry_out r0, t0 <- r1, r2\n"
              "add_carry.u32.carry_in.carry_out r3, t0 <- r4, r5, t0\n"
              "add_carry.u32.carry_in r6 <- r7, 0x0, t0");
    EXPECT_EQ(text("madc.hi.cc.u64 q0, q1, q2, q3;"),
              "mad_carry.u64.carry_in.carry_out.variant1 q0, t0 <- q1, q2, q3, t0");
}

TEST(Lowering, FloatArithmetic) {
    EXPECT_EQ(text("add.f32 r0, r1, 0f3F800000;"), "add.f32 r0 <- r1, 0x3f800000");
    EXPECT_EQ(text("add.rz.ftz.sat.f32 r0, r1, r2;"), "add.f32.rz.ftz.sat r0 <- r1, r2");
    EXPECT_EQ(text("mad.rn.f64 q0, q1, q2, q3;"), "fma.f64.rn q0 <- q1, q2, q3");
    EXPECT_EQ(text("div.full.ftz.f32 r0, r1, r2;"), "div.f32.ftz.full r0 <- r1, r2");
    EXPECT_EQ(text("max.NaN.xorsign.abs.f32 r0, r1, r2;"), "max.f32.nan.xorsign_abs r0 <- r1, r2");
    EXPECT_EQ(text("testp.subnormal.f64 p0, q1;"), "testp.f64.variant5 p0 <- q1");
    EXPECT_EQ(text("rcp.approx.ftz.f64 q0, q1;"), "rcp.f64.ftz.approx q0 <- q1");
    EXPECT_EQ(text("sqrt.rp.f32 r0, r1;"), "sqrt.f32.rp r0 <- r1");
    EXPECT_EQ(text("ex2.approx.ftz.bf16x2 r0, r1;"), "ex2.bf16x2.ftz.approx r0 <- r1");
    EXPECT_EQ(text("fma.rn.relu.bf16 h0, h1, h2, h3;"), "fma.bf16.rn.relu h0 <- h1, h2, h3");
    EXPECT_EQ(text("fma.rm.f32.bf16 r0, h1, h2, r3;", "sm_100"),
              "cvt.f32.bf16 t0 <- h1\ncvt.f32.bf16 t1 <- h2\nfma.f32.rm r0 <- t0, t1, r3");
}

TEST(Lowering, LogicAndShift) {
    EXPECT_EQ(text("and.pred p0, p1, !p2;"), "and.pred p0 <- p1, !p2");
    EXPECT_EQ(text("lop3.b32 r0, r1, r2, r3, 0x96;"), "lop3.b32 r0 <- r1, r2, r3 [150]");
    EXPECT_EQ(text("lop3.and.b32 r0|p0, r1, r2, r3, 1, !p1;"), "lop3.b32 r0, p0 <- r1, r2, r3, !p1 [1]");
    EXPECT_EQ(lowered("lop3.or.b32 _|p0, r1, r2, r3, 1, p1;").op(0).bool_op, program::BoolOp::or_);
    EXPECT_EQ(text("shf.r.clamp.b32 r0, r1, r2, 5;"), "shf.b32.variant3 r0 <- r1, r2, 0x5");
    EXPECT_EQ(text("shr.s64 q0, q1, r2;"), "shr.s64 q0 <- q1, r2");
    EXPECT_EQ(text("prmt.b32.rc16 r0, r1, r2, r3;"), "prmt.b32.variant6 r0 <- r1, r2, r3");
    EXPECT_EQ(text("prmt.b32 r0, r1, r2, 0x3210;"), "prmt.b32 r0 <- r1, r2, 0x3210");
}

TEST(Lowering, ComparisonAndSelection) {
    EXPECT_EQ(text("@!p3 setp.ltu.and.ftz.f32 p0|p1, r0, r1, !p2;"), "@!p3 setp.f32.ftz p0, p1 <- r0, r1, !p2");
    const Lowered setp = lowered("setp.hs.xor.u32 p0, r0, r1, p2;");
    EXPECT_EQ(setp.op(0).compare, program::Compare::hs);
    EXPECT_EQ(setp.op(0).bool_op, program::BoolOp::xor_);
    EXPECT_EQ(text("set.nan.f32.f64 r0, q0, q1;"), "set.f32.f64 r0 <- q0, q1");
    EXPECT_EQ(lowered("set.nan.f32.f64 r0, q0, q1;").op(0).compare, program::Compare::nan);
    EXPECT_EQ(text("selp.b64 q0, q1, 7, p0;"), "select.b64 q0 <- q1, 0x7, p0");
    EXPECT_EQ(text("slct.ftz.u64.f32 q0, q1, q2, r3;"), "slct.u64.f32.ftz q0 <- q1, q2, r3");
}

TEST(Lowering, Conversion) {
    EXPECT_EQ(text("cvt.rzi.sat.u8.f32 r0, r1;"), "cvt.u8.f32.rzi.sat r0 <- r1");
    EXPECT_EQ(text("cvt.rn.relu.bf16x2.f32 r0, r1, r2;"), "cvt.bf16x2.f32.rn.relu r0 <- r1, r2");
    EXPECT_EQ(text("cvt.rna.tf32.f32 r0, r1;"), "cvt.tf32.f32.rna r0 <- r1");
    EXPECT_EQ(text("cvt.rs.satfinite.e4m3x4.f32 r0, {r1, r2, r3, r4}, r5;", "sm_100a"),
              "cvt.e4m3x4.f32.rs.satfinite r0 <- r1, r2, r3, r4, r5");
    EXPECT_EQ(text("cvt.pack.sat.u4.s32.b32 r0, r1, r2, r3;"), "cvt_pack.b32.sat.v4 r0 <- r1, r2, r3");
    EXPECT_EQ(text("cvt.pack.sat.s16.s32 r0, r1, r2;"), "cvt_pack.b32.sat.v16.variant1 r0 <- r1, r2");
}

TEST(Lowering, Atomics) {
    EXPECT_EQ(text("atom.acq_rel.gpu.global.cas.b64 q0, [q1+8], q2, q3;"),
              "atom.global.b64.variant1 q0 <- q1, q2, q3 [8]");
    EXPECT_EQ(text("atom.shared.exch.b32 _, [r0], 1;"), "atom.shared.b32 r0, 0x1");
    EXPECT_EQ(text("red.add.noftz.f16x2 [q0], r0;"), "atom.generic.f16x2.variant2 q0, r0");
    EXPECT_EQ(text("atom.global.max.noftz.v2.bf16 {h0, h1}, [q0], {h2, h3};"),
              "atom.global.bf16.v2.variant6 h0, h1 <- q0, h2, h3");
}

TEST(Lowering, AsynchronousCopies) {
    EXPECT_EQ(text("cp.async.ca.shared.global [r0+4], [q0], 8;"), "cp_async.shared.b32.v8 r0, q0 [4]");
    EXPECT_EQ(text("cp.async.cg.shared.global.L2::128B [r0], [q0+32], 16, r1;"),
              "add.u64 t0 <- q0, 0x20\ncp_async.shared.b32.v16 r0, t0, r1");
    EXPECT_EQ(text("cp.async.ca.shared.global [r0], [q0], 4, p1;"), "cp_async.shared.b32.v4 r0, q0, p1");
    EXPECT_EQ(text("cp.async.wait_group 2;"), "cp_async_wait [2]");
    EXPECT_EQ(text("cp.async.wait_all;"), "cp_async_wait [-1]");
    EXPECT_EQ(text("cp.async.mbarrier.arrive.noinc.shared.b64 [r0];"), "cp_async_mbarrier_arrive.b64.variant1 r0");
}

TEST(Lowering, Mbarriers) {
    EXPECT_EQ(text("mbarrier.init.shared.b64 [r0+8], 32;"), "mbarrier_init.shared.b64 r0, 0x20 [8]");
    EXPECT_EQ(text("mbarrier.arrive_drop.noComplete.shared.b64 q0, [r0], 1;"),
              "mbarrier_arrive.shared.b64.variant3 q0 <- r0, 0x1");
    EXPECT_EQ(text("mbarrier.arrive.release.cta.shared::cta.b64 _, [r0];"), "mbarrier_arrive.shared.b64 r0");
    EXPECT_EQ(text("mbarrier.try_wait.parity.shared.b64 p0, [r0], r1, 100;"),
              "mbarrier_test_wait.shared.b64.variant3 p0 <- r0, r1, 0x64");
    EXPECT_EQ(text("mbarrier.pending_count.b64 r0, q0;"), "mbarrier_pending_count.b64 r0 <- q0");
    EXPECT_EQ(text("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [r0], r1;"),
              "mbarrier_arrive.shared::cluster.b64.variant4 r0, r1");
    EXPECT_EQ(text("mbarrier.expect_tx.relaxed.cta.shared.b64 [r0], 16;"), "mbarrier_transact.shared.b64 r0, 0x10");
    EXPECT_EQ(text("mbarrier.complete_tx.b64 [q0+8], r1;"), "mbarrier_transact.generic.b64.variant1 q0, r1 [8]");
}

TEST(Lowering, Clusters) {
    EXPECT_EQ(text("mapa.shared::cluster.u32 r0, r1, r2;"), "mapa.u32 r0 <- r1, r2");
    EXPECT_EQ(text("mapa.u64 q0, q1, 3;"), "mapa.u64 q0 <- q1, 0x3");
    EXPECT_EQ(text("mapa.shared::cluster.u32 r0, s+4, r2;"), "mapa.u32 r0 <- shared+0x404, r2");
    EXPECT_EQ(text("getctarank.shared::cluster.u64 r0, q1;"), "getctarank.u64 r0 <- q1");
    EXPECT_EQ(text("barrier.cluster.arrive.relaxed.aligned;"), "cluster_barrier.aligned.variant2");
    EXPECT_EQ(text("barrier.cluster.wait.acquire;"), "cluster_barrier.variant1");
    EXPECT_EQ(text("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [r0+8], {r1, r2}, [r3+16];"),
              "add.u32 t0 <- r3, 0x10\nst_async.shared::cluster.b32.v2 r0, r1, r2, t0 [8]");
    EXPECT_EQ(text("red.async.relaxed.cluster.mbarrier::complete_tx::bytes.max.s32 [q0], r1, [q2];"),
              "red_async.generic.s32.variant6 q0, r1, q2");
    EXPECT_EQ(text("griddepcontrol.wait;"), "");
    EXPECT_EQ(lowered("setmaxnreg.inc.sync.aligned.u32 232;", "sm_90a").text, "setmaxnreg.u32.aligned.variant1 [232]");
}

// FenceKind tells what a fence orders.
TEST(Lowering, FencesOfProxies) {
    const auto kind = [](const std::string& line) {
        return static_cast<program::FenceKind>(lowered(line).op(0).variant);
    };
    using program::FenceKind;
    EXPECT_EQ(kind("fence.acq_rel.cluster;"), FenceKind::thread);
    EXPECT_EQ(kind("fence.acquire.sync_restrict::shared::cluster.cluster;"), FenceKind::thread);
    EXPECT_EQ(kind("membar.proxy.alias;"), FenceKind::proxy_alias);
    EXPECT_EQ(kind("fence.proxy.async;"), FenceKind::proxy_async);
    EXPECT_EQ(kind("fence.proxy.async.global;"), FenceKind::proxy_async_global);
    EXPECT_EQ(kind("fence.proxy.async.shared::cta;"), FenceKind::proxy_async_shared_cta);
    EXPECT_EQ(kind("fence.proxy.async.shared::cluster;"), FenceKind::proxy_async_shared_cluster);
    EXPECT_EQ(kind("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;"),
              FenceKind::async_after_generic_acquire);
    EXPECT_EQ(kind("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"),
              FenceKind::async_after_generic_release);
    EXPECT_EQ(kind("fence.proxy.tensormap::generic.release.gpu;"), FenceKind::tensormap_release);
    EXPECT_EQ(kind("fence.proxy.tensormap::generic.acquire.sys [q0], 128;"), FenceKind::tensormap_acquire);
    EXPECT_EQ(kind("fence.mbarrier_init.release.cluster;"), FenceKind::mbarrier_init);
}

TEST(Lowering, Barriers) {
    EXPECT_EQ(text("bar.sync 0;"), "barrier.u32.aligned 0x0, _");
    EXPECT_EQ(text("barrier.arrive r0, 64;"), "barrier.u32.variant1 r0, 0x40");
    EXPECT_EQ(text("barrier.red.or.aligned.pred p0, 1, !p1;"), "barrier.u32.aligned.variant4 p0 <- 0x1, _, !p1");
    EXPECT_EQ(text("bar.red.popc.u32 r0, 1, 64, p1;"), "barrier.u32.aligned.variant2 r0 <- 0x1, 0x40, p1");
    EXPECT_EQ(text("bar.warp.sync -1;"), "bar_warp_sync.b32 0xffffffff");
}

TEST(Lowering, LanesOfAWarp) {
    EXPECT_EQ(text("shfl.sync.bfly.b32 r0|p0, r1, 16, 31, -1;"),
              "shfl.b32.variant2 r0, p0 <- r1, 0x10, 0x1f, 0xffffffff");
    EXPECT_EQ(text("vote.sync.ballot.b32 r0, !p1, -1;"), "vote.b32.variant3 r0 <- !p1, 0xffffffff");
    EXPECT_EQ(text("vote.sync.uni.pred p0, p1, r0;"), "vote.pred.variant2 p0 <- p1, r0");
    EXPECT_EQ(text("match.all.sync.b64 r0|p0, q0, -1;"), "match.b64.variant1 r0, p0 <- q0, 0xffffffff");
    EXPECT_EQ(text("redux.sync.xor.b32 r0, r1, -1;"), "redux.b32.variant5 r0 <- r1, 0xffffffff");
    EXPECT_EQ(text("elect.sync _|p0, -1;"), "elect.b32 _, p0 <- 0xffffffff");
    EXPECT_EQ(text("activemask.b32 r0;"), "activemask.b32 r0");
}

TEST(Lowering, Matrices) {
    EXPECT_EQ(text("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {r0, r1}, [r2+16];"),
              "ldmatrix.shared.b16.aligned.v2.variant1 r0, r1 <- r2 [16]");
    EXPECT_EQ(text("stmatrix.sync.aligned.m8n8.x1.shared.b16 [r2], {r0};"), "stmatrix.shared.b16.aligned r2, r0");
    EXPECT_EQ(text("movmatrix.sync.aligned.m8n8.trans.b16 r0, r1;"), "movmatrix.b16.aligned r0 <- r1");
    const Lowered mma =
        lowered("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 {r0, r1}, {r2}, {r3}, {r4, r5};");
    EXPECT_EQ(mma.text, "mma.s32.satfinite.aligned r0, r1 <- r2, r3, r4, r5");
    EXPECT_EQ(mma.mma().m, 8);
    EXPECT_EQ(mma.mma().k, 16);
    EXPECT_EQ(mma.mma().a, DataType::u8);
    EXPECT_EQ(mma.mma().b, DataType::s8);
    EXPECT_TRUE(mma.mma().saturate);
    EXPECT_FALSE(mma.mma().sparse || mma.mma().a_column_major || mma.mma().b_row_major);
    const Lowered sparse = lowered(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {r0, r1, r2, r3}, {r4, r5}, {r6, "
        "r7}, {r0, r1, r2, r3}, "
        "r8, 3;");
    EXPECT_EQ(sparse.text, "mma.f32.aligned r0, r1, r2, r3 <- r4, r5, r6, r7, r0, r1, r2, r3, r8");
    EXPECT_TRUE(sparse.mma().sparse);
    EXPECT_EQ(sparse.mma().selector, 3);
    const Lowered bits =
        lowered("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {r0, r1}, {r2}, {r3}, {r4, r5};");
    EXPECT_EQ(bits.mma().bit_op, program::Mma::BitOp::xor_popc);
}

TEST(Lowering, Wmma) {
    const Lowered load = lowered("wmma.load.b.sync.aligned.row.m16n16k16.shared.u8 {r0, r1}, [r2], 16;");
    EXPECT_EQ(load.text, "wmma_load.shared.u8.aligned.variant1 r0, r1 <- r2, 0x10");
    EXPECT_TRUE(load.mma().wmma && load.mma().b_row_major);
    EXPECT_EQ(load.mma().b, DataType::u8);
    const Lowered store = lowered("wmma.store.d.sync.aligned.col.m8n8k4.global.f64 [q0], {q1, q2};");
    EXPECT_EQ(store.text, "wmma_store.global.f64.aligned q0, q1, q2");
    EXPECT_TRUE(store.mma().c_column_major);
    const Lowered product =
        lowered("wmma.mma.sync.aligned.col.row.m8n8k4.rz.f64.f64.f64.f64 {q0, q1}, {q2}, {q3}, {q4, q5};");
    EXPECT_EQ(product.text, "mma.f64.rz.aligned q0, q1 <- q2, q3, q4, q5");
    EXPECT_TRUE(product.mma().wmma && product.mma().a_column_major && product.mma().b_row_major);
    EXPECT_EQ(product.mma().rounding, number::Rounding::rz);
}

TEST(Lowering, FencesHintsAndTheRest) {
    EXPECT_EQ(text("fence.sc.cta; membar.gl;"), "fence\nfence");
    EXPECT_EQ(text("prefetch.global.L2 [q0+64];"), "prefetch q0 [64]");
    EXPECT_EQ(text("createpolicy.fractional.L2::evict_first.b64 q0, 0.5;"), "mov.b64 q0 <- 0x0");
    EXPECT_EQ(text("vabsdiff4.u32.u32.u32.add r0, r1, r2, r3;"), "vabsdiff4.u32.u32.variant1 r0 <- r1, r2, r3");
    EXPECT_EQ(text("alloca.u64 q0, q1, 16;"), "alloca.u64 q0 <- q1 [16]");
    EXPECT_EQ(text("stacksave.u64 q0; stackrestore.u64 q0;"), "stacksave.u64 q0\nstackrestore.u64 q0");
    EXPECT_EQ(text("@p0 nanosleep.u32 100;"), "@p0 nanosleep.u32 0x64");
    EXPECT_EQ(text("pmevent 3;"), "");
}

TEST(Lowering, MemoryAndMoves) {
    EXPECT_EQ(text("ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {r0, _}, [q0+8];"),
              "ld.global.u32.v2 r0, _ <- q0 [8]");
    EXPECT_EQ(text("st.relaxed.gpu.global.L2::cache_hint.f32 [q0], r0, q1;"), "st.global.f32 q0, r0");
    EXPECT_EQ(text("mov.b64 {r0, r1}, q0;"), "unpack.b32.b64 r0, r1 <- q0");
    EXPECT_EQ(text("mov.b32 r0, {h0, h1};"), "pack.b32.b16 r0 <- h0, h1");
    EXPECT_EQ(text("cvta.to.shared.u64 q0, q1;"), "cvta_to.u64 q0 <- q1");
    EXPECT_EQ(lowered("isspacep.shared p0, q0;").op(0).space, program::Space::shared);
}

}  // namespace
}  // namespace tilepath::isa
