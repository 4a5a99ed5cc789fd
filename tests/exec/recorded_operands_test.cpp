// What operands and counts mean that the manual is silent or vague about, as an H200 computed it.
#include "kernel.h"

namespace tilepath::exec {
namespace {

/// 64 threads; a row of 16 words for each. The kernel ran on an H200 with driver-compiled PTX, and gave the values
/// below.
constexpr const char* kernel = R"(.version 6.3
.target sm_60
.address_size 64
.const .align 4 .u32 a[8] = {100, 101, 102, 103, 104, 105, 106, 107};
.visible .entry k(.param .u64 out) {
    .reg .b32 r<20>; .reg .b64 q<9>; .reg .pred p<9>;
    .shared .align 4 .b8 s[512];
    ld.param.u64 q0, [out]; mov.u32 r0, %tid.x; mul.wide.u32 q1, r0, 64; add.u64 q0, q0, q1;
    setp.lt.u32 p0, r0, 32; mov.u32 r1, 0;
    @p0 bra together;
late:
    ld.volatile.global.u32 r2, [q0]; add.u32 r1, r1, 1; setp.lt.u32 p1, r1, 3000;
    @p1 bra late;
together:
    shl.b32 r1, r0, 2; mov.u32 r2, s; add.u32 r3, r2, r1; st.shared.u32 [r3], r0;
    bar.sync 1, 0;
    xor.b32 r3, r1, 128; add.u32 r3, r2, r3; ld.shared.u32 r4, [r3]; st.global.u32 [q0], r4;
    bar.red.popc.u32 r4, 2, 0, p0; st.global.u32 [q0+4], r4;
    ld.const.u32 r4, a[4]; st.global.u32 [q0+8], r4;
    mov.u32 r7, 4; mov.u32 r4, r7+4; st.global.u32 [q0+12], r4;
    add.u32 r4, r7+4, r7; st.global.u32 [q0+16], r4;
    mov.u64 q3, a; mov.u64 q4, a[2]; sub.u64 q4, q4, q3; cvt.u32.u64 r4, q4; st.global.u32 [q0+20], r4;
    ld.const.u32 r4, a[r7]; st.global.u32 [q0+24], r4;
    st.global.u32 [q0+28], r7+4;
    and.b32 r1, r0, 3; setp.eq.u32 p0, r1, 0;
    vote.ballot.b32 r2, p0; st.global.u32 [q0+32], r2;
    vote.any.pred p1, p0; vote.all.pred p2, p0; vote.uni.pred p3, p0;
    selp.u32 r3, 1, 0, p1; @p2 or.b32 r3, r3, 2; @p3 or.b32 r3, r3, 4; st.global.u32 [q0+36], r3;
    shfl.up.b32 r6|p4, r0, 3, 0; st.global.u32 [q0+40], r6;
    shfl.bfly.b32 r7, r0, 5, 31; st.global.u32 [q0+44], r7;
    shfl.down.b32 r9|p5, r0, 2, 0x1807; selp.u32 r1, 1, 0, p5;
    st.global.u32 [q0+48], r9; st.global.u32 [q0+52], r1;
    setp.lt.u32 p6, r0, 12; mov.u32 r1, 0;
    @p6 vote.ballot.b32 r1, p0;
    st.global.u32 [q0+56], r1;
    ret;
})";

TEST(RecordedOperands, MeanWhatAnH200Computed) {
    Device gpu("sm_90");
    auto* out = gpu.buffer<std::uint32_t>(64 * 16);
    gpu.run_clean(compile_module(kernel), blocks(1, 64), out);
    // Of lanes 0 to 15 of warp 0; the other half and warp 1 gave the same, 16 and 32 higher where lanes are told.
    constexpr std::uint32_t up[] = {0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    constexpr std::uint32_t bfly[] = {5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8, 11, 10};
    constexpr std::uint32_t down[] = {2, 3, 4, 5, 6, 7, 6, 7, 10, 11, 12, 13, 14, 15, 14, 15};
    for (std::uint32_t thread = 0; thread < 64; ++thread) {
        const std::uint32_t* row = out + 16 * thread;
        const std::uint32_t lane = thread % 16, more = thread - lane;
        EXPECT_EQ(row[0], thread ^ 32) << "bar.sync with no threads waits for all";
        EXPECT_EQ(row[1], 32u) << "bar.red too";
        EXPECT_EQ(row[2], 104u) << "an index counts elements";
        EXPECT_EQ(row[3], 8u) << "register plus offset";
        EXPECT_EQ(row[4], 12u);
        EXPECT_EQ(row[5], 8u) << "address of a[2]";
        EXPECT_EQ(row[6], 104u) << "a register as index";
        EXPECT_EQ(row[7], 8u);
        EXPECT_EQ(row[8], 0x11111111u);
        EXPECT_EQ(row[9], 1u);
        const bool crosses = thread % 32 == 16 || thread % 32 == 17 || thread % 32 == 18;
        EXPECT_EQ(row[10], crosses ? thread - 3 : up[lane] + more) << thread;
        EXPECT_EQ(row[11], bfly[lane] + more) << thread;
        EXPECT_EQ(row[12], down[lane] + more) << thread;
        EXPECT_EQ(row[13], thread % 8 < 6 ? 1u : 0u) << thread;
        EXPECT_EQ(row[14], thread < 12 ? 0x111u : 0u) << thread;
    }
}

// PTX ISA 6.4.3. Registers trade places, one value goes to all, a special register gives its components.
TEST(RecordedOperands, VectorsMoveElementByElement) {
    Device gpu("sm_80");
    auto* out = gpu.buffer<std::uint32_t>(12);
    gpu.run_clean(compile(R"(
        mov.u32 %r0, 1; mov.u32 %r1, 2; mov.v2.u32 {%r0, %r1}, {%r1, %r0};
        mov.v4.b32 {%r2, %r3, %r4, %r5}, 7; mov.v4.u32 {%r6, %r7, %r8, %r9}, %ntid; mov.v2.u32 {%r10, %r11}, %r0;
        st.global.v4.u32 [%q0], {%r0, %r1, %r2, %r5}; st.global.v4.u32 [%q0+16], {%r6, %r7, %r8, %r9};
        st.global.v2.u32 [%q0+32], {%r10, %r11};)"),
                  LaunchShape{{1, 1, 1}, {4, 2, 1}, {1, 1, 1}, 0}, out);
    constexpr std::uint32_t expected[] = {2, 1, 7, 7, 4, 2, 1, 0, 2, 2};
    for (int i = 0; i < 10; ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

}  // namespace
}  // namespace tilepath::exec
