// ptxas as the judge of operands: literals and their types, addresses as values, negations, parts, vectors. Skipped
// where it is not installed.
#include "agreement.h"

namespace tilepath::isa {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;  // head, operands with @

void add(std::vector<std::string>& lines, const Pairs& heads, const std::vector<std::string>& values) {
    for (const auto& [head, operands] : heads)
        for (const std::string& value : values) {
            std::string text = head + " " + operands + ";";
            for (std::size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, value);
            lines.push_back(text);
        }
}

std::vector<std::string> literals() {
    std::vector<std::string> lines;
    add(lines,
        {{"add.u32", "r0, r1, @"},
         {"add.s64", "q0, q1, @"},
         {"add.u16", "h0, h1, @"},
         {"add.f32", "r0, r1, @"},
         {"add.f64", "q0, q1, @"},
         {"add.f16", "h0, h1, @"},
         {"and.b16", "h0, h1, @"},
         {"and.b32", "r0, r1, @"},
         {"and.b64", "q0, q1, @"},
         {"and.pred", "p0, p1, @"},
         {"setp.eq.f32", "p0, r1, @"},
         {"setp.eq.b32", "p0, r1, @"},
         {"setp.lt.and.s32", "p0, r1, r2, @"},
         {"selp.b32", "r0, @, r1, p0"},
         {"selp.f32", "r0, @, r1, p0"},
         {"slct.b32.f32", "r0, r1, r2, @"},
         {"fma.rn.f32", "r0, r1, @, r2"},
         {"fma.rn.f16x2", "r0, r1, r2, @"},
         {"min.f16x2", "r0, r1, @"},
         {"shl.b32", "r0, r1, @"},
         {"mul.wide.s32", "q0, r1, @"},
         {"cvt.rn.f32.s32", "r0, @"},
         {"cvt.rzi.s32.f32", "r0, @"},
         {"cvt.f64.f32", "q0, @"},
         {"cvt.rn.f16x2.f32", "r0, @, @"},
         {"st.global.u32", "[q0], @"},
         {"st.global.b32", "[q0], @"},
         {"st.global.f32", "[q0], @"},
         {"st.global.b64", "[q0], @"},
         {"st.global.f64", "[q0], @"},
         {"st.global.v2.f32", "[q0], {@, @}"},
         {"atom.global.add.f32", "r0, [q0], @"},
         {"red.global.or.b32", "[q0], @"},
         {"shfl.sync.idx.b32", "r0, @, 1, 31, -1"},
         {"redux.sync.add.u32", "r0, @, -1"},
         {"popc.b32", "r0, @"},
         {"neg.s32", "r0, @"},
         {"abs.f32", "r0, @"},
         {"mov.b16", "h0, @"},
         {"mov.b32", "r0, @"},
         {"mov.b64", "q0, @"},
         {"mov.f32", "r0, @"},
         {"mov.f64", "q0, @"},
         {"mov.u32", "r0, @"},
         {"testp.finite.f32", "p0, @"},
         {"copysign.f32", "r0, r1, @"}},
        {"5", "-5", "0x10", "7U", "1.5", "-1.5", "0f3F800000", "0d3FF0000000000000"});
    return lines;
}

std::vector<std::string> names_and_selections() {
    std::vector<std::string> lines;
    add(lines,
        {{"add.u64", "q0, @, 8"},
         {"add.s64", "q0, q1, @"},
         {"st.global.u64", "[q0], @"},
         {"selp.b64", "q0, @, q1, p0"},
         {"cvt.u64.u64", "q0, @"},
         {"mov.u64", "q0, @"},
         {"mov.u32", "r0, @"},
         {"mov.f64", "q0, @"},
         {"cvta.global.u64", "q0, @"},
         {"cvta.shared.u64", "q0, @"},
         {"cvta.local.u64", "q0, @"},
         {"cvta.param.u64", "q0, @"},
         {"cvta.const.u64", "q0, @"},
         {"cvta.to.global.u64", "q0, @"},
         {"isspacep.global", "p0, @"},
         {"bar.sync", "@"}},
        {"g", "s", "l", "a"});
    add(lines, {{"ld.u32", "r0, [@]"}, {"ld.local.u32", "r0, [@]"}, {"ld.param.u32", "r0, [@]"}},
        {"q0", "q0+4", "a", "a+4", "l", "l+4"});
    add(lines, {{"add.u32", "r0, @, r2"}, {"mov.u32", "r0, @"}, {"setp.eq.u32", "p0, @, r2"}},
        {"r1", "-r1", "!r1", "r1.x", "r1+4"});
    add(lines, {{"and.pred", "p0, @, p2"}, {"selp.b32", "r0, r1, r2, @"}, {"vote.sync.any.pred", "p0, @, -1"}},
        {"p1", "!p1", "-p1"});
    for (const char* line : {"mov.u32 r0, g.x;",
                             "add.u32 r0, g.x, r2;",
                             "add.u32 r0+4, r1, r2;",
                             "ld.global.u32 r0, g[1];",
                             "ld.shared.u32 r0, s[r1];",
                             "mov.u64 q0, g[1];",
                             "st.global.u32 [q0], r1+4;",
                             "ld.shared.u32 r0, [4];",
                             "ld.local.u32 r0, [4];",
                             "st.param.u32 [a], r0;",
                             "ld.global.v2.u32 {_, r1}, [q0];",
                             "mov.b64 {r0, _}, q0;",
                             "atom.global.add.u32 _, [q0], r0;",
                             "setp.eq.u32 _, r0, r1;",
                             "match.all.sync.b32 _|p0, r0, -1;",
                             "shfl.sync.idx.b32 r1|_, r0, 0, 31, -1;",
                             "mov.u32 {h0, h1}, r1;",
                             "mov.b32 {h0, h1}, r1;",
                             "mov.u64 q0, {r0, r1};",
                             "mov.f32 r0, {h0, h1};",
                             "mov.v2.u32 {r0, r1}, {r2, r3};",
                             "mov.v4.f32 {r0, r1, r2, r3}, {r4, r5, r6, r7};",
                             "mov.v2.b64 {q0, q1}, q2;",
                             "mov.v4.b64 {q0, q1, q2, q3}, q4;",
                             "mov.v4.u32 {r0, r1, r2, r3}, %tid;",
                             "mov.v2.u32 {r0, r1}, 1;",
                             "mov.v2.f32 {r0, r1}, 1.5;",
                             "bar.sync 1, 0;",
                             "bar.arrive 1, 0;",
                             "bar.red.popc.u32 r0, 1, 0, p0;",
                             "prefetch.L2::evict_last [q0];",
                             "createpolicy.fractional.L2::evict_last.L2::evict_first.b64 q0, 0.5;",
                             "createpolicy.fractional.L2::evict_first.L2::evict_last.b64 q0, 0.5;",
                             "createpolicy.fractional.L2::evict_last.b64 q0, 1.5;",
                             "createpolicy.fractional.L2::evict_last.b64 q0, 0.0;"})
        lines.push_back(line);
    return lines;
}

TEST(OperandLegality, OfLiterals) { expect_agreement("sm_89", "9.0", literals()); }
TEST(OperandLegality, OfNamesAndSelections) { expect_agreement("sm_89", "9.0", names_and_selections()); }

// Without .sync, until PTX ISA 6.3 on sm_70 and later.
TEST(OperandLegality, OfVotesAndShufflesWithoutSync) {
    const std::vector<std::string> lines{"vote.ballot.b32 r0, !p1;",   "vote.any.pred p0, p1;",
                                         "vote.uni.pred p0, p1;",      "vote.all.pred p0, !p1;",
                                         "shfl.up.b32 r0, r1, r2, 0;", "shfl.idx.b32 r0|p0, r1, 3, 31;"};
    expect_agreement("sm_75", "6.3", lines);
    expect_agreement("sm_75", "6.4", lines);
    expect_agreement("sm_89", "9.0", lines);
}

// Of matrices ptxas judges operands only when it generates code: each line by itself, ptxas 13.0 takes the first three.
TEST(OperandLegality, OfMatrices) {
    const std::vector<std::string> lines{
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {r0, r1}, {r2}, {r3}, {5, r4};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {r0, r1, r2, r3}, {r4, r5}, {r6}, {0f00000000, r7, r8, r9};",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {q0, q1}, {q2}, {1.5}, {0d3FF0000000000000, q3};",
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {r0, r1}, {r2}, {5}, {r3, r4};",
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {r0, r1}, {r2}, {r3}, {0f00000000, r4};",
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {r0, r1}, {r2, r3}, {r4}, {0, r5};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {r0, r1, r2, r3}, {r4, r5}, {r6}, {0, r7, r8, r9};",
        "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {r0, r1}, {r2, r3}, {r4, r5}, {r6, r7}, 5, 0;"};
    EXPECT_EQ(refused_by_us("sm_80", "9.0", lines), (std::set<std::size_t>{3, 4, 5, 6, 7}));
}

// As ptxas 13.0 has it (OperandForms asks it of every form): the even lines are taken, the odd ones refused.
TEST(OperandLegality, OfSinksLiteralsAndWidths) {
    const std::vector<std::string> lines{"lop3.and.b32 _|p1, r1, r2, r3, 0x5a, p0;",
                                         "lop3.and.b32 r0|_, r1, r2, r3, 0x5a, p0;",
                                         "ld.global.v2.u32 {_, r0}, [q0];",
                                         "ld.global.v2.u32 {_, _}, [q0];",
                                         "ld.global.v2.u32 {q0, q1}, [q2];",
                                         "ld.global.v2.u32 {r0, q1}, [q2];",
                                         "movmatrix.sync.aligned.m8n8.trans.b16 r0, r1;",
                                         "movmatrix.sync.aligned.m8n8.trans.b16 r0, 5;",
                                         "cvt.f32.bf16 r0, h0;",
                                         "cvt.f32.bf16 r0, r1;",
                                         "cvt.rn.bf16.f32 h0, r0;",
                                         "cvt.rn.bf16.f32 r0, r0;",
                                         "cvt.rn.f16x2.f32 r0, r1, r2;",
                                         "cvt.rn.f16x2.f32 r0, {r1, r2}, r2;",
                                         "bfe.u32 r0, r1, 255, r2;",
                                         "bfe.u32 r0, r1, 256, r2;",
                                         "redux.sync.and.b32 r0, r1, 5;",
                                         "redux.sync.and.b32 r0, r1, 0f3F800000;",
                                         "mbarrier.init.b64 [s], r0;",
                                         "mbarrier.init.b64 [g], r0;",
                                         "mbarrier.test_wait.parity.b64 p0, [s], 1;",
                                         "mbarrier.test_wait.parity.b64 p0, [s], 2;",
                                         "isspacep.shared p0, r0;",
                                         "isspacep.shared p0, h0;"};
    std::set<std::size_t> odd;
    for (std::size_t i = 1; i < lines.size(); i += 2) odd.insert(i);
    EXPECT_EQ(refused_by_us("sm_89", "9.0", lines), odd);
}

TEST(OutOfScope, IsCalledByItsName) {
    const auto message = [](const std::string& line) {
        const Diagnostics faults = faults_of(module_text("sm_80", "8.0", {line}));
        return faults.empty() ? std::string() : faults.front().message;
    };
    EXPECT_EQ(message("tex.2d.v4.f32.f32 {r0, r1, r2, r3}, [g, {r4, r5}];").substr(0, 38),
              "tilepath leaves 'tex' out: textures ar");
    EXPECT_EQ(message("suld.b.1d.b32.trap {r0}, [g, {r4}];").substr(0, 34), "tilepath leaves 'suld' out: surfac");
    EXPECT_EQ(message("multimem.red.global.add.u32 [q0], r1;").substr(0, 60),
              "tilepath leaves 'multimem' out: multimem addresses name the ");
    EXPECT_EQ(message("vadd.s32.s32.s32 r0, r1, r2;").substr(0, 33), "tilepath leaves 'vadd' out: video");
    EXPECT_EQ(message("addd.s32 r0, r1, r2;"), "'addd' is not an instruction that tilepath supports");
}

}  // namespace
}  // namespace tilepath::isa
