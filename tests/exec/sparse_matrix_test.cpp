// mma.sp: metadata selects what takes part, worked out by hand.
#include "kernel.h"

namespace tilepath::exec {
namespace {

// mma.sp with metadata that keeps elements 1 and 3 of every four (0b1101): as a dense product of those.
TEST(Matrix, SparseSelectsWhatTheMetadataSays) {
    Device gpu("sm_80");
    auto* out = gpu.buffer<float>(128);
    // A = 1 everywhere stored; B(k, n) = k: row k is in lane t of quad g, registers as the manual says.
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %laneid; and.b32 %r1, %r0, 3; shl.b32 %r1, %r1, 1; cvt.rn.f32.u32 %f0, %r1;
        add.f32 %f1, %f0, 0f3F800000; cvt.rn.f16x2.f32 %r2, %f1, %f0;
        add.f32 %f2, %f0, 0f41000000; add.f32 %f3, %f1, 0f41000000; cvt.rn.f16x2.f32 %r3, %f3, %f2;
        mov.u32 %r4, 0x3C003C00; mov.f32 %f4, 0f00000000; mov.b32 %r5, 0xDDDDDDDD;
        mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r4, %r4}, {%r2, %r3},
            {%f4, %f4, %f4, %f4}, %r5, 0x0;
        mul.wide.u32 %q1, %r0, 16; add.u64 %q1, %q1, %q0; st.global.v4.f32 [%q1], {%f5, %f6, %f7, %f8};)",
                          1, "", "sm_80"),
                  blocks(1, 32), out);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(out[i], 1 + 3 + 5 + 7 + 9 + 11 + 13 + 15) << i;
}

// An infinity that no stored element of A meets is no operand: B(k, n) = infinity for even k, k for odd ones.
TEST(Matrix, SparseLeavesOutWhatIsNotSelected) {
    Device gpu("sm_80");
    auto* out = gpu.buffer<float>(128);
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %laneid; and.b32 %r1, %r0, 3; shl.b32 %r1, %r1, 1; cvt.rn.f32.u32 %f0, %r1;
        add.f32 %f1, %f0, 0f3F800000; add.f32 %f3, %f1, 0f41000000; mov.f32 %f0, 0f7F800000;
        cvt.rn.f16x2.f32 %r2, %f1, %f0; cvt.rn.f16x2.f32 %r3, %f3, %f0;
        mov.u32 %r4, 0x3C003C00; mov.f32 %f4, 0f00000000; mov.u32 %r5, 0xDDDDDDDD;
        mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r4, %r4}, {%r2, %r3},
            {%f4, %f4, %f4, %f4}, %r5, 0x0;
        mul.wide.u32 %q1, %r0, 16; add.u64 %q1, %q1, %q0; st.global.v4.f32 [%q1], {%f5, %f6, %f7, %f8};)",
                          1, "", "sm_80"),
                  blocks(1, 32), out);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(out[i], 64) << i;
}

// Metadata 0xE9D4 keeps, of four chunks, elements (0, 1), (1, 3), (1, 2), (2, 3); of 4-bit types, such pairs of
// elements. s8: A's stored elements are −1 and 2 by turns, B(k, n) = k. s4: A's are 1, 2, −1, 3 by turns, B(k, n) = k
// mod 8.
TEST(Matrix, SparseIntegers) {
    int s8 = 5, s4 = 0;
    constexpr int kept[4][2] = {{0, 1}, {1, 3}, {1, 2}, {2, 3}};
    for (int chunk = 0; chunk < 8; ++chunk) {
        const auto& [first, second] = kept[chunk % 4];
        s8 += -(4 * chunk + first) + 2 * (4 * chunk + second);
        s4 += 2 * first + 2 * (2 * first + 1) - 2 * second + 3 * (2 * second + 1);
    }
    Device gpu("sm_80");
    auto* out = gpu.buffer<std::int32_t>(384);
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %laneid; and.b32 %r1, %r0, 3; mad.lo.u32 %r2, %r1, 0x04040404, 0x03020100;
        add.u32 %r3, %r2, 0x10101010; mov.u32 %r4, 0x02FF02FF; mov.u32 %r5, 5; mov.u32 %r6, 0xE9D4E9D4;
        mul.wide.u32 %q1, %r0, 16; add.u64 %q1, %q1, %q0;
        mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r8, %r9, %r10, %r11}, {%r4, %r4}, {%r2, %r3},
            {%r5, %r5, %r5, %r5}, %r6, 0x0;
        st.global.v4.u32 [%q1], {%r8, %r9, %r10, %r11};
        mov.u32 %r2, 0x76543210; mov.u32 %r4, 0x3F213F21; mov.u32 %r5, 2147483600; mov.u32 %r7, -7;
        mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r8, %r9, %r10, %r11}, {%r4, %r4}, {%r2, %r2},
            {%r7, %r7, %r7, %r7}, %r6, 0x0;
        st.global.v4.u32 [%q1+512], {%r8, %r9, %r10, %r11};
        mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32 {%r8, %r9, %r10, %r11}, {%r4, %r4}, {%r2, %r2},
            {%r5, %r5, %r5, %r5}, %r6, 0x0;
        st.global.v4.u32 [%q1+1024], {%r8, %r9, %r10, %r11};)",
                          1, "", "sm_80"),
                  blocks(1, 32), out);
    for (int i = 0; i < 128; ++i) {
        EXPECT_EQ(out[i], s8) << i;
        EXPECT_EQ(out[128 + i], s4 - 7) << i;
        EXPECT_EQ(out[256 + i], INT32_MAX) << i;
    }
}

}  // namespace
}  // namespace tilepath::exec
