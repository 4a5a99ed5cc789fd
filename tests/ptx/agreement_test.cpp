// What the reader takes and refuses, row by row; and, where ptxas is installed, that ptxas judges the rows alike.
#include <array>
#include <cstdio>
#include <fstream>

#include "../ptxas.h"
#include "read_text.h"

namespace tilepath::ptx {
namespace {

struct Row {
    const char* body;
    const char* module_level = "";
};

const Row valid[] = {
    {"add .u32 %r1, %r2, %r3;"},
    {"ld .global .u32 %r1, [%rd1];"},
    {"{ bra L; } L:"},
    {"{ .reg .b32 %r1; mov.b32 %r1, 0; }"},
    {"{ .reg .b64 %r<2>; mov.b32 %r2, 3; }"},
    {"ld.global.u32 %r1, [%rd1+4+4];"},
    {"ld.global.u32 %r1, [%rd1+(4*2)];"},
    {"ld.global.u32 %r1, [%rd1+-4];"},
    {"mov.u64 %rd1, g+4; mov.u64 %rd1, g+-4;", ".global .u32 g[8];"},
    {"ld.global.u32 %r1, g[1]; mov.u64 %rd1, g[1]; ld.global.u32 %r1, g[%rd1+1];", ".global .u32 g[8];"},
    {"mov.u32 %r1, (.s64)3; mov.u32 %r1, (.u64)-3; mov.u32 %r1, 1?2:3; mov.u32 %r2, WARP_SZ*2;"},
    {"mov.f32 %f1, 1.5; mov.f32 %f2, .5; mov.f32 %f3, 5.; mov.f32 %f1, 1e3; mov.f32 %f1, 1.5E-3; mov.f32 %f1, "
     "0F3F800000; mov.f32 %f1, 1.0+2.0;"},
    {"mov.b32 %r1, -0x5; mov.b32 %r1, - 5; mov.b32 %r1, ~5; mov.b32 %r1, !5; mov.u32 %r1, 5U; mov.u64 %rd1, "
     "18446744073709551615;"},
    {"{ } { { } }"},
    {"{ .param .b32 q; st.param.b32 [q], 3; }"},
    {".shared .align 16 .b8 s[16]; .local .b8 l[4]; .global .b32 gg = 4;"},
    {".reg .pred a,b,c; .shared .b32 x, y[4]; .reg .b32 d<3>, e, f<4>;"},
    {"add: bra add; .reg .b32 x; mov.b32 x, 1;"},
    {"mov.u32 %r1, %tid.r; .reg .b32 %tid; mov.b32 %tid, 1;"},
    {"A: B: bra A;"},
    {".reg .align 8 .b32 s;"},
    {"\n# 5 \"foo.c\"\n #line 7 \"g.c\"\n"},
    {".loc 1 2 3\n", ".file 1 \"a\""},
    {".pragma \"nounroll\";"},
    {".reg .b64 fp; mov.u64 fp, f; P: .callprototype _ (.param .b32 _) ; { .param .b32 a; st.param.b32 [a], %r1; call "
     "fp, (a), P; }",
     ".func f(.param .b32 x) {ret;}"},
    {"P: .callprototype _ (.param .f32 _) .noreturn; Q: .callprototype _ (.param .f32 _) .abi_preserve 10 "
     ".abi_preserve_control 3; R: .callprototype _;"},
    {"A: N0: N1: T: .branchtargets A, N<2>; @%p1 brx.idx %r1, T;"},
    {"T: .branchtargets N0, N1; brx.idx %r1, T; N0: N1:"},
    {".reg .b64 fp; mov.u64 fp, f; T: .calltargets f, g; call fp, T; ld.global.u64 fp, [tab]; call fp, tab;",
     ".func f() {ret;} .func g() {ret;} .global .u64 tab[2] = {f, g};"},
    {"call b;", ".func f() {ret;} .func b(); .alias b, f;"},
    {"", ".func b(); .func f(); .alias b, f; .func f() {ret;}"},
    {"", ".global .attribute(.managed) .s32 g; .visible .global .align 8 .attribute(.managed) .b8 h[3];"},
    {"",
     ".global .u32 foo; .global .u8 addr[] = {0xff(foo), 0xff00(foo+4), 0xff0000(generic(foo)+4), 0xFF(1000+546)}; "
     ".global .u64 a = generic(foo)+8;"},
    {"",
     ".global .s32 x[3][2] = { {1,2}, {3} }; .global .s32 y[][2] = { {-1, 0}, {0, -1} }; .global .s32 z[3] = {}; "
     ".global .s32 w = 3*4+(1<<2);"},
    {"",
     ".const .f32 v[8] = { 0.33, .25, 0.125, -1.0, 0f3f800000, 1e-3 }; .global .v2 .f32 u = {1.0, 2.0}; .global .v4 "
     ".b8 t; .global .v2 .s32 x[2] = {{1,2},{3,4}};"},
    {"", ".extern .shared .align 16 .b8 dyn[];"},
    {"", ".weak .global .b32 w = 3; .common .global .b32 c; .shared .b32 sf<4>;"},
    {".param .b32 rv; call (rv), f, (); call (rv), g;",
     ".func (.param .b32 r) f() { st.param.b32 [r], 1; ret; } .func (.param .b32 r) g { st.param.b32 [r], 1; ret; }"},
    {".reg .b32 rv; call (rv), f, (%r1); call (rv), f, (5);",
     ".func (.reg .b32 r) f(.reg .b32 a) { mov.b32 r, a; ret; }"},
    {"",
     ".func (.param .u32 rval) bar(.param .u32 N, .param .align 4 .b8 numbers[]) { ret; } .func foo .noreturn { exit; "
     "} .func p(.reg .pred q) .abi_preserve 8 { ret; }"},
    {"",
     ".entry k2(.param .u64 .ptr.global.align 16 p, .param .u64 .ptr .align 4 q, .param .u64 .ptr r) { ret; } .entry "
     "k3(.param .u64 p); .entry k3(.param .u64 p) {ret;} .entry k4 { ret; }"},
    {"",
     ".entry k2() .maxntid 16,16,4 .minnctapersm 2 .maxnreg 32 .pragma \"nounroll\"; { ret; } .entry k3() .reqntid "
     "32,1,1 .reqnctapercluster 2, 1, 1 .explicitcluster .blocksareclusters { ret; } .entry k4() .maxclusterrank 8 { "
     "ret; }"},
    {".loc 1 21 3\n.loc 1 9 3, function_name s0, inlined_at 1 21 3\n.loc 1 9 3, function_name .debug_str+1, inlined_at "
     "1 21 3\n",
     ".file 1 \"a.cu\", 1339013327, 64118\n.section .debug_str { s0: .b8 95, 90\n .b8 0 }\n.section .debug_info { .b32 "
     "11430\n.b8 2, 0\n .b32 .debug_str\n .b64 s0\n .b32 s0+12\n .b64 -1\n .b16 -5\n}"},
    {"setp.eq.s32 _|%p1, %r1, 2; setp.eq.s32 %p1|_, %r1, 2; elect.sync _|%p1, -1; setp.eq.and.s32 %p1, %r1, 2, !%p2;"},
    {"vadd.s32.s32.s32 %r1, %r2.b0, %r3.h1; vmad.s32.s32.s32 %r1, -%r2.b0, %r3.h1, %r4;"},
    {".reg .v4 .f32 V; mov.f32 %f1, V.x; mov.f32 V.w, %f2; mov.v4.f32 {%f0,%f1,%f2,%f3}, V;"},
    {"ld.global.b32 %r1, [%rd1].unified;"},
    {"tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [t, {%f1,%f2}];", ".global .texref t;"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {0, %r2}], [%r4];"},
    {"ld.param.u64 %rd1, [p0];", ".global .u32 p0;"},
    {"add/* x */.u32 %r1, %r2, %r3;"},
    {"mov.b32 %r01, 1;"},
    {".reg .b32 x<0>;"},
    {"@ %p1 bra L; @! %p1 bra L; L:"},
    {"mov.b32 %r1, {%r2};"},
    {"{ %r1: }"},
    {".reg .b32 $a, %$b, a$; mov.b32 $a, a$;"},
};

const Row invalid[] = {
    {"bra L; { L: }"},
    {"{ L: } { bra L; }"},
    {".reg .b32 L; L:"},
    {".reg .b32 %r1;"},
    {".reg .b32 a; .reg .b32 a;"},
    {".reg .b32 %r<3>;"},
    {"mov.b32 zz, 0; .reg .b32 zz;"},
    {"call f;"},
    {"", ".global .u64 q = f; .func f(){ret;}"},
    {"", ".global .u64 q = g; .global .u32 g;"},
    {"", ".global .b8 s[4] = \"abc\";"},
    {"ld.global.u32 %r1, [4+%rd1];"},
    {"ld.global.u32 %r1, [g[1]];", ".global .u32 g[8];"},
    {".reg .bf16 b;"},
    {".reg .e4m3 b;"},
    {".reg .v8 .b32 b;"},
    {".reg .v4 .f64 b;"},
    {".reg .v3 .f32 b;"},
    {";;"},
    {"add.u32 %r1, %r2, %r3\n"},
    {"mov.b64 %rd1, {};"},
    {"\n#define A 1\n"},
    {".file 1 \"a\"\n"},
    {"mov.u32 %r1, 08;"},
    {"mov.f32 %f1, -0f3f800000;"},
    {"mov.f32 %f1, 0f3f80000;"},
    {"mov.u32 %r1, 5u;"},
    {".reg .b32 q = 5;"},
    {"add.u32 %r1, %r2, %r3,;"},
    {"add.u32 %r1, (%r2), %r3;"},
    {".extern .shared .b8 s[];"},
    {"WARP_SZ: "},
    {"A: A: bra A;"},
    {"_: "},
    {".reg .b32 _;"},
    {"p0: "},
    {"brx.idx %r1, T; N0: N1: T: .branchtargets N0, N1; "},
    {"P: .callprototype _; P: .callprototype _;"},
    {"bra L;", ".func f() { L: ret; }"},
    {"", ".global .s32 x[2] = {1,2,3};"},
    {"", ".global .s32 x = {1};"},
    {"", ".global .s32 x[2][2] = {1,2,3,4};"},
    {"", ".global .s32 x[2][2] = {1,{2}};"},
    {"", ".global .v2 .s32 x = {1,2,3};"},
    {"", ".global .s32 x[2] = 1;"},
    {"", ".global .s32 x = 1.5;"},
    {"", ".global .f32 x = 1;"},
    {"", ".global .u32 a; .global .u8 x = a;"},
    {"", ".global .u32 a; .global .f32 x = a;"},
    {"", ".global .f16 x = 1.0;"},
    {"", ".global .s32 x[] = {};"},
    {"", ".global .s32 x[][] = {{1}};"},
    {"", ".global .s32 x[0];"},
    {"", ".global .align 3 .b8 x;"},
    {"", ".shared .b8 dyn[];"},
    {"", ".func f(.param .u64 .ptr .global .align 4 p) { ret; }"},
    {"", ".entry f(.reg .b32 p) { ret; }"},
    {"", ".entry (.param .b32 r) f() { ret; }"},
    {"", ".func f() { ret; } .func f() { ret; }"},
    {"", ".func f(.param .b32 a); .func f(.param .b64 a) { ret; }"},
    {"", ".func f() .foo 3 { ret; }"},
    {"", ".entry f() .noreturn { ret; }"},
    {"", ".entry k2() .maxntid 1,2,3,4 { ret; }"},
    {"", ".entry k2 .maxntid 32 () { ret; }"},
    {"", ".func f(.param .b32 a, .param .b32 a) { ret; }"},
    {"", ".global .u32 f; .func f(){ret;}"},
    {"", ".reg .b32 g;"},
    {".reg .b64 p0;"},
    {"mov.f32 %f1, 1+2.0; "},
    {"mov.f32 %f1, 0f3f800000+0f3f800000; "},
    {"", ".global .visible .u32 x;"},
    {"", ".visible .weak .global .u32 x;"},
    {".reg .b32 aa, .b64 bb;"},
    {"", ".version 9.0"},
};

bool ptxas_takes(const std::string& ptxas, const std::string& text) {
    const std::string path = testing::TempDir() + "/agreement_" + std::to_string(getpid()) + ".ptx";
    std::ofstream(path) << text;
    const int status = std::system((ptxas + " -arch sm_90a " + path + " -o /dev/null >/dev/null 2>&1").c_str());
    std::remove(path.c_str());
    return status == 0;
}

TEST(Agreement, TheReaderTakesWhatIsValid) {
    for (const Row& row : valid) {
        const auto module = read(Source("valid.ptx", wrap(row.body, row.module_level)));
        ASSERT_TRUE(module) << to_string(module.error());
        const auto again = read(Source("printed.ptx", print(*module)));
        ASSERT_TRUE(again) << to_string(again.error());
        EXPECT_TRUE(same_tree(*module, *again)) << print(*module);
    }
}

TEST(Agreement, TheReaderRefusesWhatIsNot) {
    for (const Row& row : invalid)
        EXPECT_FALSE(read(Source("invalid.ptx", wrap(row.body, row.module_level)))) << row.body << row.module_level;
}

TEST(Agreement, PtxasJudgesAlike) {
    const auto ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
    for (const Row& row : valid)
        EXPECT_TRUE(ptxas_takes(*ptxas, wrap(row.body, row.module_level))) << row.body << row.module_level;
    for (const Row& row : invalid)
        EXPECT_FALSE(ptxas_takes(*ptxas, wrap(row.body, row.module_level))) << row.body << row.module_level;
}

}  // namespace
}  // namespace tilepath::ptx
