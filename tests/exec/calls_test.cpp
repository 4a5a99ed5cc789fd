// Functions: parameters, recursion, indirect and divergent calls, printf, malloc, assert.
#include "kernel.h"

namespace tilepath::exec {
namespace {

constexpr const char* slot = "mov.u32 %r0, %tid.x; mul.wide.u32 %q10, %r0, 4; add.u64 %q10, %q0, %q10;\n";

TEST(Calls, ParametersAndResults) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(64);
    const auto program = compile(std::string(slot) + R"(
        { .param .b32 a; .param .align 8 .b8 pair[16]; .param .b32 r;
          st.param.b32 [a], %r0;
          st.param.b64 [pair], 1000; st.param.b64 [pair+8], 7;
          call (r), f, (a, pair);
          ld.param.b32 %r1, [r]; }
        st.global.u32 [%q10], %r1;)",
                                 1, R"(
        .func (.param .b32 r) f(.param .b32 a, .param .align 8 .b8 pair[16]) {
            .reg .b32 %r<4>; .reg .b64 %q<4>;
            ld.param.u32 %r0, [a]; ld.param.u64 %q0, [pair]; ld.param.u64 %q1, [pair+8];
            cvt.u32.u64 %r1, %q0; cvt.u32.u64 %r2, %q1;
            mad.lo.u32 %r3, %r0, %r2, %r1;
            st.param.b32 [r], %r3; ret; })");
    gpu.run_clean(program, blocks(1, 64), out);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 1000 + 7 * i);
}

TEST(Calls, RegisterParameters) {
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(1);
    gpu.run_clean(compile("mov.u64 %q1, 40; call (%q2), f, (%q1, 2); st.global.u64 [%q0], %q2;", 1,
                          ".func (.reg .b64 %r) f(.reg .b64 %a, .reg .b64 %b) { add.u64 %r, %a, %b; ret; }"),
                  blocks(1, 1), out);
    EXPECT_EQ(*out, 42u);
}

// Each lane recurses to a depth of its own.
TEST(Calls, Recursion) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    const auto program = compile(std::string(slot) + R"(
        rem.u32 %r1, %r0, 11;
        { .param .b32 n; .param .b32 r; st.param.b32 [n], %r1; call (r), fibonacci, (n); ld.param.b32 %r2, [r]; }
        st.global.u32 [%q10], %r2;)",
                                 1, R"(
        .func (.param .b32 r) fibonacci(.param .b32 n) {
            .reg .b32 %r<8>; .reg .pred %p;
            ld.param.u32 %r0, [n]; mov.u32 %r5, %r0;
            setp.lt.u32 %p, %r0, 2; @%p bra done;
            sub.u32 %r1, %r0, 1;
            { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), fibonacci, (a); ld.param.b32 %r3, [b]; }
            sub.u32 %r2, %r0, 2;
            { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), fibonacci, (a); ld.param.b32 %r4, [b]; }
            add.u32 %r5, %r3, %r4;
        done:
            st.param.b32 [r], %r5; ret; })");
    gpu.run_clean(program, blocks(1, 32), out);
    constexpr std::uint32_t fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], fibonacci[i % 11]) << i;
}

TEST(Calls, LanesOfAPredicatedCallMeetBehindIt) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    gpu.run_clean(compile(std::string(slot) + R"(
        mov.u32 %r1, 5; and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0;
        @%p0 call (%r1), f, (%r0);
        activemask.b32 %r3; setp.eq.u32 %p1, %r3, 0xFFFFFFFF; @!%p1 mov.u32 %r1, 0;
        st.global.u32 [%q10], %r1;)",
                          1, ".func (.reg .b32 %r) f(.reg .b32 %a) { add.u32 %r, %a, 100; ret; }"),
                  blocks(1, 32), out);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 ? 5u : 100 + i) << i;
}

TEST(Calls, FunctionPointersFromMemoryDifferByLane) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    gpu.run_clean(compile(std::string(slot) + R"(
        prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
        rem.u32 %r1, %r0, 3; mul.wide.u32 %q1, %r1, 8; mov.u64 %q2, table; add.u64 %q2, %q2, %q1;
        ld.global.u64 %q3, [%q2];
        { .param .b32 a; .param .b32 r; st.param.b32 [a], %r0; call (r), %q3, (a), prototype; ld.param.b32 %r2, [r]; }
        st.global.u32 [%q10], %r2;)",
                          1, R"(
        .func (.param .b32 r) one(.param .b32 a) { .reg .b32 %a; ld.param.b32 %a, [a]; add.u32 %a, %a, 1000; st.param.b32 [r], %a; ret; }
        .func (.param .b32 r) two(.param .b32 a) { .reg .b32 %a; ld.param.b32 %a, [a]; add.u32 %a, %a, 2000; st.param.b32 [r], %a; ret; }
        .func (.param .b32 r) three(.param .b32 a) { .reg .b32 %a; ld.param.b32 %a, [a]; add.u32 %a, %a, 3000; st.param.b32 [r], %a; ret; }
        .global .align 8 .u64 table[3] = {one, two, three};)"),
                  blocks(1, 32), out);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 1000 * (i % 3 + 1) + i) << i;
}

TEST(Calls, LocalMemoryOfEachFrameIsItsOwn) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    gpu.run_clean(compile(std::string(slot) + R"(
        .local .align 4 .b32 mine[2];
        st.local.u32 [mine], %r0; st.local.u32 [mine+4], 17;
        mov.u64 %q1, mine; cvta.local.u64 %q1, %q1;
        call f, (%q1);
        ld.local.u32 %r1, [mine]; ld.local.u32 %r2, [mine+4]; mad.lo.u32 %r1, %r2, 1000, %r1;
        st.global.u32 [%q10], %r1;)",
                          1, R"(
        .func f(.reg .b64 %p) { .local .align 4 .b32 theirs[2]; .reg .b32 %a;
            st.local.u32 [theirs], 99; st.local.u32 [theirs+4], 99;
            ld.u32 %a, [%p]; add.u32 %a, %a, 500; st.u32 [%p], %a; ret; })"),
                  blocks(1, 32), out);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 17000 + 500 + i) << i;
}

constexpr const char* print_declaration = R"(
    .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
    .global .align 1 .b8 format[] = {0x69,0x3d,0x25,0x64,0x20,0x66,0x3d,0x25,0x2e,0x32,0x66,0x20,0x73,0x3d,0x25,0x73,0x20,0x25,0x6c,0x6c,0x78,0x25,0x25,0x0a,0};
    .global .align 1 .b8 word[] = {0x68,0x69,0};)";  // "i=%d f=%.2f s=%s %llx%%\n", "hi"

TEST(Calls, PrintfWritesLinesInOrder) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(4);
    std::string text;
    LaunchOptions options;
    options.seed = 1;
    options.print = [&](std::string_view line) { text += line; };
    EXPECT_TRUE(gpu.run(compile(std::string(slot) + R"(
        .local .align 8 .b8 stack[32];
        mov.u64 %q1, stack; cvta.local.u64 %q2, %q1;
        sub.u32 %r1, 0, %r0; st.local.u32 [stack], %r1;
        cvt.rn.f64.u32 %d0, %r0; add.f64 %d0, %d0, 0d3FE0000000000000; st.local.f64 [stack+8], %d0;
        mov.u64 %q3, word; cvta.global.u64 %q3, %q3; st.local.u64 [stack+16], %q3;
        st.local.u64 [stack+24], 0xABCDEF0123;
        mov.u64 %q4, format; cvta.global.u64 %q4, %q4;
        { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %q4; st.param.b64 [a], %q2;
          call (r), vprintf, (f, a); ld.param.b32 %r2, [r]; }
        st.global.u32 [%q10], %r2;)",
                                1, print_declaration),
                        blocks(1, 3), options, out)
                    .ok());
    EXPECT_EQ(text, "i=0 f=0.50 s=hi abcdef0123%\ni=-1 f=1.50 s=hi abcdef0123%\ni=-2 f=2.50 s=hi abcdef0123%\n");
    EXPECT_EQ(out[2], 4u);
}

TEST(Calls, MallocGivesEachThreadItsOwn) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(64);
    gpu.run_clean(
        compile(std::string(slot) + R"(
        { .param .b64 s; .param .b64 r; st.param.b64 [s], 100; call (r), malloc, (s); ld.param.b64 %q1, [r]; }
        st.u32 [%q1+96], %r0;
        bar.sync 0;
        ld.u32 %r1, [%q1+96];
        { .param .b64 p; st.param.b64 [p], %q1; call free, (p); }
        st.global.u32 [%q10], %r1;)",
                1, ".extern .func (.param .b64 r) malloc(.param .b64 s);\n.extern .func free(.param .b64 p);"),
        blocks(1, 64), out);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i);
}

TEST(Calls, MallocOfTooMuchIsNull) {
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(1);
    *out = 1;
    gpu.run_clean(compile(R"(
        { .param .b64 s; .param .b64 r; st.param.b64 [s], 9000000; call (r), malloc, (s); ld.param.b64 %q1, [r]; }
        st.global.u64 [%q0], %q1;)",
                          1, ".extern .func (.param .b64 r) malloc(.param .b64 s);"),
                  blocks(1, 1), out);
    EXPECT_EQ(*out, 0u);
}

TEST(Calls, AssertionsAreFaultsWithTheirText) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(1);
    const LaunchReport report = gpu.run(
        compile(
            R"(
        mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 3; @%p0 bra done;
        mov.u64 %q1, word; cvta.global.u64 %q1, %q1;
        { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;
          st.param.b64 [m], %q1; st.param.b64 [f], %q1; st.param.b32 [l], 12; st.param.b64 [n], %q1; st.param.b64 [c], 1;
          call __assertfail, (m, f, l, n, c); }
    done:)",
            1,
            ".global .align 1 .b8 word[] = {0x68,0x69,0};\n"
            ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);"),
        blocks(1, 32), {}, out);
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::assertion);
    EXPECT_EQ(report.fault->lane, 3u);
    EXPECT_EQ(report.fault->message, "hi:12: hi: assertion `hi` failed");
}

}  // namespace
}  // namespace tilepath::exec
