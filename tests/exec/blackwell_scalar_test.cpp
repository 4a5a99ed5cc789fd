// What sm_100 added beside its Tensor Cores: f32x2, vectors of 256 bits, minima and maxima of three, redux of floats,
// st.bulk. Expected values are the host's own binary32 arithmetic, or by hand from the manual.
#include <cfenv>
#include <cmath>
#include <random>

#include "kernel.h"

namespace tilepath::exec {
namespace {

constexpr std::uint32_t canonical_nan = 0x7FFFFFFF;

// PTX ISA 9.7.3.3 to 9.7.3.6: each half for itself, as the f32 instruction of the same words.
TEST(BlackwellScalar, PairsOfSingles) {
    std::mt19937 random(3);
    for (const auto& [words, mode] :
         {std::pair{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}}) {
        Device gpu("sm_100a");
        auto* in = gpu.buffer<std::uint32_t>(32 * 6);
        auto* out = gpu.buffer<std::uint32_t>(32 * 8);
        for (int i = 0; i < 32 * 6; ++i)
            in[i] = (random() & 0x80FFFFFF) | (110 + random() % 30) << 23;  // no subnormals, no overflow
        gpu.run_clean(
            compile(fmt::format("mov.u32 %r0, %tid.x; mul.wide.u32 %q2, %r0, 24; add.u64 %q2, %q2, %q0;\n"
                                "mul.wide.u32 %q3, %r0, 32; add.u64 %q3, %q3, %q1;\n"
                                "ld.global.b64 %q4, [%q2]; ld.global.b64 %q5, [%q2+8]; ld.global.b64 %q6, [%q2+16];\n"
                                "add.{0}.f32x2 %q7, %q4, %q5; sub.{0}.f32x2 %q8, %q4, %q5;\n"
                                "mul.{0}.f32x2 %q9, %q4, %q5; fma.{0}.f32x2 %q10, %q4, %q5, %q6;\n"
                                "st.global.v4.b64 [%q3], {{%q7, %q8, %q9, %q10}};",
                                words),
                    2, "", "sm_100a"),
            blocks(1, 32), in, out);
        for (int lane = 0; lane < 32; ++lane) {
            for (int half = 0; half < 2; ++half) {
                const auto operand = [&](int i) { return std::bit_cast<float>(in[6 * lane + 2 * i + half]); };
                const volatile float a = operand(0), b = operand(1), c = operand(2);
                std::fesetround(mode);
                const volatile float sum = a + b, difference = a - b, product = a * b, fused = std::fma(a, b, c);
                std::fesetround(FE_TONEAREST);
                const float expected[] = {sum, difference, product, fused};
                for (int i = 0; i < 4; ++i)
                    ASSERT_EQ(out[8 * lane + 2 * i + half], std::bit_cast<std::uint32_t>(expected[i]))
                        << words << " operation " << i << " of " << a << ", " << b << ", " << c;
            }
        }
    }
}

TEST(BlackwellScalar, PairsFlushEachHalf) {
    Device gpu("sm_100a");
    auto* out = gpu.buffer<std::uint32_t>(4);
    gpu.run_clean(compile(R"(
        mov.b64 %q1, 0x8000000100000001; mov.b64 %q2, 0x3F80000080000002;  // (1 ulp, −1 ulp) and (−2 ulps, 1)
        add.rn.f32x2 %q3, %q1, %q2; add.rn.ftz.f32x2 %q4, %q1, %q2; st.global.v2.b64 [%q0], {%q3, %q4};)",
                          1, "", "sm_100a"),
                  blocks(1, 1), out);
    EXPECT_EQ(out[0], 0x80000001u);
    EXPECT_EQ(out[1], 0x3F800000u);
    EXPECT_EQ(out[2], 0u) << "0 + −0";
    EXPECT_EQ(out[3], 0x3F800000u);
}

// PTX ISA 9.7.9.8, 9.7.9.9, 9.7.9.11, from 8.8 on.
TEST(BlackwellScalar, VectorsOf256Bits) {
    Device gpu("sm_100a");
    auto* in = gpu.buffer<std::uint32_t>(32 * 8);
    auto* out = gpu.buffer<std::uint32_t>(2 * 32 * 8);
    for (std::uint32_t i = 0; i < 256; ++i) in[i] = i * 0x9E3779B1u;
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %tid.x; mul.wide.u32 %q2, %r0, 32; add.u64 %q3, %q2, %q0; add.u64 %q4, %q2, %q1;
        ld.global.nc.L1::no_allocate.L2::evict_last.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%q3];
        st.global.L1::no_allocate.L2::evict_first.v8.b32 [%q4], {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1};
        ld.relaxed.gpu.global.v4.b64 {%q5, _, %q7, %q8}, [%q3]; mov.b64 %q6, 7;
        st.v4.b64 [%q4+1024], {%q5, %q6, %q7, %q8};)",
                          2, "", "sm_100a"),
                  blocks(1, 32), in, out);
    for (std::uint32_t i = 0; i < 256; ++i) {
        ASSERT_EQ(out[i], in[i / 8 * 8 + 7 - i % 8]) << i;
        ASSERT_EQ(out[256 + i], i % 8 == 2 ? 7 : i % 8 == 3 ? 0 : in[i]) << i;
    }
    const LaunchReport report =
        gpu.run(compile("add.u64 %q0, %q0, 16; ld.global.v4.b64 {%q1, %q2, %q3, %q4}, [%q0];", 1, "", "sm_100a"),
                blocks(1, 1), {}, in);
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::misaligned);
}

// PTX ISA 9.7.3.11, 9.7.3.12: of three; .abs takes magnitudes first; without .NaN what is no number does not count.
TEST(BlackwellScalar, MinimaAndMaximaOfThree) {
    struct Row {
        const char* words;
        std::uint32_t a, b, c, expected;
    };
    constexpr Row rows[] = {
        {"min.f32", 0x3F800000, 0xC0000000, 0x40400000, 0xC0000000},
        {"max.f32", 0x3F800000, 0xC0800000, 0x40400000, 0x40400000},
        {"max.abs.f32", 0x3F800000, 0xC0800000, 0x40400000, 0x40800000},
        {"min.abs.f32", 0xBF800000, 0xC0800000, 0x40400000, 0x3F800000},
        {"min.f32", 0x7FC00000, 0x40000000, 0x7F800001, 0x40000000},
        {"min.f32", 0x7FC00000, 0xFFC00000, 0x7F800001, canonical_nan},
        {"max.NaN.f32", 0x3F800000, 0x40000000, 0x7F800001, canonical_nan},
        {"max.f32", 0x80000000, 0x80000000, 0x00000000, 0x00000000},
        {"min.f32", 0x00000000, 0x80000000, 0x00000000, 0x80000000},
        {"max.f32", 0x00000001, 0x80000001, 0x80000000, 0x00000001},
        {"max.ftz.f32", 0x00000001, 0x80000001, 0x80000000, 0x00000000},
        {"max.ftz.NaN.abs.f32", 0xC0A00000, 0x40000000, 0x80000001, 0x40A00000},
    };
    for (const Row& row : rows) {
        Device gpu("sm_120");
        auto* out = gpu.buffer<std::uint32_t>(1);
        gpu.run_clean(compile(fmt::format("mov.b32 %f1, {:#x}; mov.b32 %f2, {:#x}; mov.b32 %f3, {:#x};\n"
                                          "{} %f0, %f1, %f2, %f3; st.global.f32 [%q0], %f0;",
                                          row.a, row.b, row.c, row.words),
                              1, "", "sm_120"),
                      blocks(1, 1), out);
        EXPECT_EQ(*out, row.expected) << row.words << std::hex << " " << row.a << " " << row.b << " " << row.c;
    }
}

/// Every lane gets what the members have together.
TEST(BlackwellScalar, ReducesFloats) {
    struct Row {
        const char* words;
        std::uint32_t lane0, lane1, others, expected;
        std::uint32_t mask = 0xFFFFFFFF;
    };
    constexpr Row rows[] = {
        {"min", 0x40000000, 0xBF800000, 0x40400000, 0xBF800000},
        {"max", 0x40000000, 0xC1000000, 0x3F800000, 0x40000000},
        {"max.abs", 0x40000000, 0xC1000000, 0x3F800000, 0x41000000},
        {"min", 0x7FC00000, 0x40000000, 0x40400000, 0x40000000},
        {"max.NaN", 0x7F800001, 0x40000000, 0x40400000, canonical_nan},
        {"min.NaN", 0x40000000, 0xFFC00000, 0x40400000, canonical_nan},
        {"min", 0x7F800001, 0xFFC00000, 0x7FC00000, canonical_nan},
        {"max", 0x80000000, 0x00000000, 0x80000000, 0x00000000},
        {"min", 0x00000000, 0x80000000, 0x00000000, 0x80000000},
        {"min.abs.NaN", 0x80000000, 0xC0000000, 0x3F800000, 0x00000000},
        {"max", 0x00000003, 0x80000001, 0x00000002, 0x00000003},
    };
    for (const Row& row : rows) {
        Device gpu("sm_103a");
        auto* out = gpu.buffer<std::uint32_t>(32);
        gpu.run_clean(compile(fmt::format("mov.u32 %r0, %laneid; setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 1;\n"
                                          "mov.b32 %f1, {:#x}; @%p0 mov.b32 %f1, {:#x}; @%p1 mov.b32 %f1, {:#x};\n"
                                          "redux.sync.{}.f32 %f0, %f1, 0xFFFFFFFF;\n"
                                          "mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q1, %q0; st.global.f32 [%q1], %f0;",
                                          row.others, row.lane0, row.lane1, row.words),
                              1, "", "sm_103a"),
                      blocks(1, 32), out);
        for (int lane = 0; lane < 32; ++lane) ASSERT_EQ(out[lane], row.expected) << row.words << " lane " << lane;
    }
}

// PTX ISA 9.7.9.13.
TEST(BlackwellScalar, BulkStoresWriteZerosToSharedMemory) {
    const auto program = compile(R"(
        .shared .align 16 .b8 tile[64];
        mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, tile; add.u32 %r3, %r2, %r1; mov.u32 %r4, 0xFFFFFFFF;
        st.shared.u32 [%r3], %r4; bar.sync 0; ld.param.u64 %q1, [p1];
        setp.eq.u32 %p0, %r0, 0; @%p0 st.bulk.weak.shared::cta [%r2+8], %q1, 0;
        setp.eq.u32 %p1, %r0, 1; cvta.shared.u64 %q3, tile; cvt.u64.u32 %q4, %r2; cvta.shared.u64 %q4, %q4;
        @%p1 st.bulk [%q4+48], 8, 0;
        bar.sync 0; ld.shared.u32 %r5, [%r3]; mul.wide.u32 %q2, %r0, 4; add.u64 %q2, %q2, %q0; st.global.u32 [%q2], %r5;)",
                                 2, "", "sm_100");
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(16);
    const auto bytes = [](std::uint64_t size) { return reinterpret_cast<void*>(size); };
    gpu.run_clean(program, blocks(1, 16), out, bytes(24));
    for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], (i >= 2 && i < 8) || i == 12 || i == 13 ? 0 : 0xFFFFFFFF) << i;
    for (const auto& [size, what] : {std::pair{20ull, "multiple of 8"}, {1ull << 20, "ends at"}}) {
        const LaunchReport report = gpu.run(program, blocks(1, 16), {}, out, bytes(size));
        ASSERT_TRUE(report.fault) << size;
        EXPECT_NE(to_string(*report.fault).find(what), std::string::npos) << to_string(*report.fault);
    }
}

}  // namespace
}  // namespace tilepath::exec
