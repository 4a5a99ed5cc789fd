// Loads, arithmetic, stores, branches and bar.sync, from PTX to memory.
#include <numeric>

#include "kernel.h"

namespace tilepath::exec {
namespace {

constexpr const char* global_index = R"(
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r0, %r1, %r2;
)";

TEST(StraightLine, AddsTwoVectors) {
    Device gpu;
    constexpr int n = 1000;
    auto* a = gpu.buffer<float>(n);
    auto* b = gpu.buffer<float>(n);
    std::iota(a, a + n, 0.0f);
    std::iota(b, b + n, 0.5f);
    const auto program = compile(std::string(global_index) + R"(
        setp.ge.u32 %p0, %r3, 1000;
        @%p0 bra done;
        mul.wide.u32 %q2, %r3, 4;
        add.u64 %q3, %q0, %q2; add.u64 %q4, %q1, %q2;
        ld.global.f32 %f0, [%q3]; ld.global.f32 %f1, [%q4];
        add.f32 %f2, %f0, %f1;
        st.global.f32 [%q3], %f2;
    done:)",
                                 2);
    gpu.run_clean(program, blocks(8, 128), a, b);
    for (int i = 0; i < n; ++i) ASSERT_EQ(a[i], 2 * i + 0.5f) << i;
}

TEST(StraightLine, ReversesThroughSharedMemory) {
    Device gpu;
    auto* a = gpu.buffer<std::uint32_t>(256);
    std::iota(a, a + 256, 0u);
    const auto program = compile(R"(
        .shared .align 4 .b32 tile[256];
        mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;
        mov.u32 %r2, tile; add.u32 %r3, %r2, %r1;
        cvt.u64.u32 %q1, %r1; add.u64 %q2, %q0, %q1;
        ld.global.u32 %r4, [%q2];
        st.shared.u32 [%r3], %r4;
        bar.sync 0;
        sub.u32 %r5, 1020, %r1; add.u32 %r5, %r5, %r2;
        ld.shared.u32 %r6, [%r5];
        st.global.u32 [%q2], %r6;)");
    gpu.run_clean(program, blocks(1, 256), a);
    for (std::uint32_t i = 0; i < 256; ++i) ASSERT_EQ(a[i], 255 - i);
}

TEST(StraightLine, LoopsUntilEachLaneIsDone) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(64);
    // Lane i adds 1 … i.
    const auto program = compile(R"(
        mov.u32 %r0, %tid.x; mov.u32 %r1, 0; mov.u32 %r2, 0;
    again:
        setp.ge.u32 %p0, %r1, %r0;
        @%p0 bra done;
        add.u32 %r1, %r1, 1; add.u32 %r2, %r2, %r1;
        bra again;
    done:
        mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q0, %q1;
        st.global.u32 [%q1], %r2;)");
    gpu.run_clean(program, blocks(1, 64), out);
    for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(out[i], i * (i + 1) / 2);
}

}  // namespace
}  // namespace tilepath::exec
