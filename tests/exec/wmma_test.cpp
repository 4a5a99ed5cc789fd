// wmma.load, wmma.mma, wmma.store: whole matrices in memory, in every order.
#include "kernel.h"

namespace tilepath::exec {
namespace {

/// D = A B + C for one m16n16k16 tile of small integers; A(i, k) = (i + 2 k) % 7 − 3, B(k, n) = (3 k + n) % 5 − 2.
struct Tile {
    static int a(int i, int k) { return (i + 2 * k) % 7 - 3; }
    static int b(int k, int n) { return (3 * k + n) % 5 - 2; }
    static int c(int i, int n) { return i - n; }
    static int d(int i, int n) {
        int sum = c(i, n);
        for (int k = 0; k < 16; ++k) sum += a(i, k) * b(k, n);
        return sum;
    }
};

std::uint16_t half(int value) { return static_cast<std::uint16_t>(number::from_double(value, number::Format::f16)); }

TEST(Wmma, EveryOrderInMemoryGivesTheProduct) {
    constexpr int stride = 24;  // elements; a multiple of 8, more than a line
    for (int orders = 0; orders < 8; ++orders) {
        const bool a_column = orders & 1, b_row = orders & 2, c_column = orders & 4;
        for (const bool shared : {false, true}) {
            Device gpu;
            auto* a = gpu.buffer<std::uint16_t>(16 * stride, "a");
            auto* b = gpu.buffer<std::uint16_t>(16 * stride, "b");
            auto* c = gpu.buffer<float>(16 * stride, "c");
            for (int i = 0; i < 16; ++i) {
                for (int j = 0; j < 16; ++j) {
                    a[a_column ? j * stride + i : i * stride + j] = half(Tile::a(i, j));
                    b[b_row ? i * stride + j : j * stride + i] = half(Tile::b(i, j));
                    c[c_column ? j * stride + i : i * stride + j] = static_cast<float>(Tile::c(i, j));
                }
            }
            // Through shared memory the A matrix is copied first, by one lane.
            const std::string copy = shared ? R"(
                .shared .align 16 .b8 tile[768];
                mov.u64 %q5, %q0; mov.u32 %r50, tile; mov.u32 %r51, 0;
            copy:
                ld.global.u32 %r52, [%q5]; st.shared.u32 [%r50], %r52; add.u64 %q5, %q5, 4; add.u32 %r50, %r50, 4;
                add.u32 %r51, %r51, 4; setp.lt.u32 %p0, %r51, 768; @%p0 bra copy;
                bar.warp.sync 0xFFFFFFFF; mov.u64 %q0, tile;)"
                                            : "";
            const auto list = [](const char* kind, int first) {
                std::string out = "{";
                for (int i = 0; i < 8; ++i) out += fmt::format("{}%{}{}", i ? "," : "", kind, first + i);
                return out + "}";
            };
            gpu.run_clean(
                compile(fmt::format(R"({0}
                mov.u32 %r60, {1};
                wmma.load.a.sync.aligned.{2}.m16n16k16.{3}.f16 {4}, [%q0], %r60;
                wmma.load.b.sync.aligned.{5}.m16n16k16.global.f16 {6}, [%q1], %r60;
                wmma.load.c.sync.aligned.{7}.m16n16k16.global.f32 {8}, [%q2], %r60;
                wmma.mma.sync.aligned.{2}.{5}.m16n16k16.f32.f32 {8}, {4}, {6}, {8};
                wmma.store.d.sync.aligned.{7}.m16n16k16.global.f32 [%q2], {8}, %r60;)",
                                    copy, stride, a_column ? "col" : "row", shared ? "shared" : "global", list("r", 0),
                                    b_row ? "row" : "col", list("r", 8), c_column ? "col" : "row", list("f", 0)),
                        3),
                blocks(1, 32), a, b, c);
            for (int i = 0; i < 16; ++i)
                for (int j = 0; j < 16; ++j)
                    ASSERT_EQ(c[c_column ? j * stride + i : i * stride + j], Tile::d(i, j))
                        << orders << " " << i << " " << j;
            EXPECT_EQ(c[16], 0.0f);  // between the lines
        }
    }
}

// Recorded on an H200: with C in f32 and D in f16 the sum is f32, and rounded once at the end. 1 + 2^-11 + 2^-12 is
// 1 + 2^-10 then; C rounded first would give 1.
TEST(Wmma, MixedAccumulatorsSumInF32) {
    Device gpu;
    auto* d = gpu.buffer<std::uint16_t>(256);
    auto* sums = gpu.buffer<float>(256);
    // A fragment full of 2^-8, B of 2^-8: each element of D gains 16 × 2^-16 = 2^-12.
    gpu.run_clean(compile(R"(
        mov.u32 %r0, 0x1C001C00; mov.f32 %f0, 0f3F801000;
        wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32 {%r1, %r2, %r3, %r4}, {%r0,%r0,%r0,%r0,%r0,%r0,%r0,%r0},
            {%r0,%r0,%r0,%r0,%r0,%r0,%r0,%r0}, {%f0,%f0,%f0,%f0,%f0,%f0,%f0,%f0};
        wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%q0], {%r1, %r2, %r3, %r4};
        mov.u32 %r5, 0x3C013C01;
        wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, {%r0,%r0,%r0,%r0,%r0,%r0,%r0,%r0},
            {%r0,%r0,%r0,%r0,%r0,%r0,%r0,%r0}, {%r5, %r5, %r5, %r5};
        wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%q1], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};)",
                          2),
                  blocks(1, 32), d, sums);
    for (int i = 0; i < 256; ++i) {
        EXPECT_EQ(d[i], 0x3C01);
        EXPECT_EQ(sums[i], 1.0f + 0x1p-10f + 0x1p-12f);
    }
}

TEST(Wmma, BytesAndDoubles) {
    Device gpu;
    auto* a = gpu.buffer<std::int8_t>(256);
    auto* b = gpu.buffer<std::int8_t>(256);
    auto* d = gpu.buffer<std::int32_t>(256);
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) {
            a[16 * i + j] = static_cast<std::int8_t>(Tile::a(i, j));
            b[16 * j + i] = static_cast<std::int8_t>(Tile::b(i, j));
            d[16 * i + j] = Tile::c(i, j);
        }
    gpu.run_clean(compile(R"(
        wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%q0];
        wmma.load.b.sync.aligned.col.m16n16k16.global.s8 {%r2,%r3}, [%q1];
        wmma.load.c.sync.aligned.row.m16n16k16.global.s32 {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [%q2];
        wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, {%r0,%r1}, {%r2,%r3},
            {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11};
        wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%q2], {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11};)",
                          3),
                  blocks(1, 32), a, b, d);
    for (int i = 0; i < 256; ++i) ASSERT_EQ(d[i], Tile::d(i / 16, i % 16)) << i;

    auto* x = gpu.buffer<double>(32);
    auto* y = gpu.buffer<double>(32);
    auto* z = gpu.buffer<double>(64);
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 4; ++k) x[4 * i + k] = Tile::a(i, k), y[4 * i + k] = Tile::b(k, i);
    gpu.run_clean(compile(R"(
        wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%d0}, [%q0];
        wmma.load.b.sync.aligned.col.m8n8k4.global.f64 {%d1}, [%q1];
        mov.f64 %d2, 0d0000000000000000;
        wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%d3,%d4}, {%d0}, {%d1}, {%d2,%d2};
        wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%q2], {%d3,%d4};)",
                          3),
                  blocks(1, 32), x, y, z);
    for (int i = 0; i < 8; ++i)
        for (int n = 0; n < 8; ++n) {
            int sum = 0;
            for (int k = 0; k < 4; ++k) sum += Tile::a(i, k) * Tile::b(k, n);
            EXPECT_EQ(z[8 * i + n], sum);
        }
}

TEST(Wmma, AccessesAreChecked) {
    Device gpu;
    auto* small = gpu.buffer<std::uint16_t>(255, "small");
    const LaunchReport report =
        gpu.run(compile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%q0];"),
                blocks(1, 32), {}, small);
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::out_of_bounds);
    EXPECT_EQ(report.fault->nearest->name, "small");
}

}  // namespace
}  // namespace tilepath::exec
