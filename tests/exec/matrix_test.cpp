// ldmatrix, stmatrix, movmatrix and mma.sync against the manual's formulas and number/'s scalar reference.
#include <algorithm>
#include <random>

#include "kernel.h"
#include "number/fused_dot.h"
#include "number/recipe.h"

namespace tilepath::exec {
namespace {

using number::Format;

/// 16-bit element (row, column) of matrix m is 64 m + 8 row + column.
program::Program load_matrices(int count, bool transposed) {
    std::string registers;
    for (int i = 0; i < count; ++i) registers += fmt::format("{}%r{}", i ? ", " : "", 10 + i);
    std::string stores;
    for (int i = 0; i < count; ++i) stores += fmt::format("st.global.u32 [%q1+{}], %r{};\n", 128 * i, 10 + i);
    return compile(fmt::format(R"(
        .shared .align 16 .b8 tile[512];
        mov.u32 %r0, %laneid;
        // Lane l writes elements 8 l … 8 l + 7: row l % 8 of matrix l / 8.
        mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2;
        shl.b32 %r3, %r0, 3; mov.u32 %r4, 0;
    fill:
        add.u32 %r5, %r3, %r4; shl.b32 %r6, %r4, 1; add.u32 %r6, %r6, %r1; cvt.u16.u32 %h0, %r5; st.shared.u16 [%r6], %h0;
        add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 8; @%p0 bra fill;
        bar.warp.sync 0xFFFFFFFF;
        ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {{{}}}, [%r1];
        mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q1, %q0;
        {})",
                               count, transposed ? ".trans" : "", registers, stores));
}

// PTX ISA 9.7.14.5.15: lane l holds row l / 4, columns 2 (l % 4) and the next; transposed, rows and columns change
// places.
TEST(Matrix, LdmatrixGivesEachLaneItsPair) {
    for (const int count : {1, 2, 4}) {
        for (const bool transposed : {false, true}) {
            Device gpu;
            auto* out = gpu.buffer<std::uint32_t>(128);
            gpu.run_clean(load_matrices(count, transposed), blocks(1, 32), out);
            for (int m = 0; m < count; ++m) {
                for (int lane = 0; lane < 32; ++lane) {
                    const auto element = [&](int half) {
                        const int row = lane / 4, column = 2 * (lane % 4) + half;
                        return static_cast<std::uint32_t>(64 * m + (transposed ? 8 * column + row : 8 * row + column));
                    };
                    ASSERT_EQ(out[32 * m + lane], element(0) | element(1) << 16)
                        << count << " " << transposed << " " << lane;
                }
            }
        }
    }
}

TEST(Matrix, StmatrixIsTheWayBackAndMovmatrixTransposes) {
    Device gpu;
    auto* out = gpu.buffer<std::uint16_t>(128);
    gpu.run_clean(compile(R"(
        .shared .align 16 .b8 tile[256];
        mov.u32 %r0, %laneid; shl.b32 %r2, %r0, 1; add.u32 %r3, %r2, 1; shl.b32 %r3, %r3, 16; or.b32 %r4, %r2, %r3;
        movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r4;
        mov.u32 %r1, tile; and.b32 %r6, %r0, 15; shl.b32 %r6, %r6, 4; add.u32 %r1, %r1, %r6;
        stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%r4, %r5};
        bar.warp.sync 0xFFFFFFFF;
        mov.u32 %r1, tile; shl.b32 %r6, %r0, 3; add.u32 %r1, %r1, %r6; ld.shared.b64 %q2, [%r1];
        mul.wide.u32 %q1, %r0, 8; add.u64 %q1, %q1, %q0; st.global.u64 [%q1], %q2;)"),
                  blocks(1, 32), out);
    for (int row = 0; row < 8; ++row) {
        for (int column = 0; column < 8; ++column) {
            EXPECT_EQ(out[8 * row + column], 8 * row + column);
            EXPECT_EQ(out[64 + 8 * row + column], 8 * column + row);
        }
    }
}

struct MmaCase {
    int m, n, k;
    const char* types;  ///< d.a.b.c
    Format a, b, d;
    const char* extra = "";  ///< .satfinite, or .and.popc behind the types
    bool exclusive_or = false;
};

int element_bits(Format format) {
    return number::traits(format).floating ? number::traits(format).container_bits : number::traits(format).bits;
}

/// Elements of the fragments of mma.sync, by the manual's one rule (PTX ISA 9.7.14.5; E elements fill a register): A:
/// row g + 8 (r % 2), k = t E + j + 4 E (r / 2); B: k = t E + j + 4 E r, n = g; C: row g + 8 (i / 2), column 2 t + i
/// % 2.
struct Fragments {
    int m, k, e;
    std::pair<int, int> a(int lane, int reg, int j) const {
        const int g = lane / 4, t = lane % 4;
        if (m == 8) return {g, t * e + j + 4 * e * reg};
        return {g + 8 * (reg % 2), t * e + j + 4 * e * (reg / 2)};
    }
    std::pair<int, int> b(int lane, int reg, int j) const { return {(lane % 4) * e + j + 4 * e * reg, lane / 4}; }
    static std::pair<int, int> c(int lane, int i) { return {lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2}; }
};

class MmaOnDevice : public ::testing::TestWithParam<std::tuple<const char*, MmaCase>> {};

TEST_P(MmaOnDevice, EqualsTheScalarReference) {
    const auto& [arch, mma] = GetParam();
    const int bits = element_bits(mma.a), e = 32 / bits;
    const Fragments fragments{mma.m, mma.k, e};
    const bool half = mma.d == Format::f16;
    const int a_registers = mma.m * mma.k / 32 / e, b_registers = mma.n * mma.k / 32 / e, c_values = mma.m * mma.n / 32;
    const int c_registers = half ? c_values / 2 : c_values;
    const auto list = [](int first, int count) {
        std::string out = "{";
        for (int i = 0; i < count; ++i) out += fmt::format("{}%r{}", i ? ", " : "", first + i);
        return out + "}";
    };
    std::string body = "mov.u32 %r0, %laneid; mul.wide.u32 %q1, %r0, 64; add.u64 %q1, %q1, %q0;\n";
    for (int i = 0; i < 12; ++i) body += fmt::format("ld.global.u32 %r{}, [%q1+{}];\n", 10 + i, 4 * i);
    const bool popc = number::traits(mma.a).bits == 1;
    body += fmt::format("mma.sync.aligned.m{}n{}k{}.row.col{}.{}{} {}, {}, {}, {};\n", mma.m, mma.n, mma.k,
                        popc ? "" : mma.extra, mma.types, popc ? mma.extra : "", list(30, c_registers),
                        list(10, a_registers), list(14, b_registers), list(18, c_registers));
    for (int i = 0; i < c_registers; ++i) body += fmt::format("st.global.u32 [%q1+{}], %r{};\n", 4 * i, 30 + i);
    const auto program = compile(body, 1, "", arch);

    number::DotRequest request;
    request.device = *number::generation_of(arch);
    request.a = mma.a, request.b = mma.b, request.d = mma.d;
    request.saturate = std::string(mma.extra) == ".satfinite";
    request.exclusive_or = mma.exclusive_or;
    const auto recipe = number::recipe(request);
    ASSERT_TRUE(recipe) << to_string(recipe.error());

    std::mt19937_64 random(7);
    for (int round = 0; round < 20; ++round) {
        Device gpu(arch);
        auto* words = gpu.buffer<std::uint32_t>(32 * 16);
        // Early rounds have moderate exponents, late ones any bits at all.
        const auto random_element = [&](Format format) -> std::uint64_t {
            const std::uint64_t bits_of_it =
                random() & ((element_bits(format) == 64 ? 0 : 1ull << element_bits(format)) - 1);
            if (!number::traits(format).floating || round >= 15) return bits_of_it;
            const double value = (static_cast<double>(random() % 2000) - 1000) / 64 * (1 << random() % 4);
            return number::from_double(value, format == Format::tf32 ? Format::f32 : format);
        };
        for (int i = 0; i < 32 * 16; ++i) words[i] = 0;
        std::vector<std::uint64_t> a(static_cast<std::size_t>(mma.m * mma.k)),
            b(static_cast<std::size_t>(mma.n * mma.k)), c(static_cast<std::size_t>(mma.m * mma.n));
        for (auto& each : a) each = random_element(mma.a);
        for (auto& each : b) each = random_element(mma.b);
        for (auto& each : c) each = random_element(mma.d);
        for (int lane = 0; lane < 32; ++lane) {
            std::uint32_t* const mine = words + 16 * lane;
            for (int reg = 0; reg < a_registers; ++reg)
                for (int j = 0; j < e; ++j) {
                    const auto [row, k] = fragments.a(lane, reg, j);
                    mine[reg] |= static_cast<std::uint32_t>(a[static_cast<std::size_t>(row * mma.k + k)] << bits * j);
                }
            for (int reg = 0; reg < b_registers; ++reg)
                for (int j = 0; j < e; ++j) {
                    const auto [k, n] = fragments.b(lane, reg, j);
                    mine[4 + reg] |= static_cast<std::uint32_t>(b[static_cast<std::size_t>(n * mma.k + k)] << bits * j);
                }
            for (int i = 0; i < c_values; ++i) {
                const auto [row, n] = Fragments::c(lane, i);
                const auto value = static_cast<std::uint32_t>(c[static_cast<std::size_t>(row * mma.n + n)]);
                mine[8 + (half ? i / 2 : i)] |= half ? value << 16 * (i % 2) : value;
            }
        }
        gpu.run_clean(program, blocks(1, 32), words);
        for (int lane = 0; lane < 32; ++lane) {
            for (int i = 0; i < c_values; ++i) {
                const auto [row, n] = Fragments::c(lane, i);
                const auto at = [&](std::vector<std::uint64_t>& of, int r, int stride) {
                    return std::span<const std::uint64_t>(of).subspan(static_cast<std::size_t>(r * stride),
                                                                      static_cast<std::size_t>(stride));
                };
                const std::uint64_t expected = number::dot(*recipe, at(a, row, mma.k), at(b, n, mma.k),
                                                           c[static_cast<std::size_t>(row * mma.n + n)]);
                const std::uint32_t word = words[16 * lane + (half ? i / 2 : i)];
                ASSERT_EQ(half ? word >> 16 * (i % 2) & 0xFFFF : word, expected)
                    << mma.types << " on " << arch << ", round " << round << ", element " << row << ", " << n;
            }
        }
    }
}

constexpr MmaCase mma_cases[] = {
    {16, 8, 16, "f32.f16.f16.f32", Format::f16, Format::f16, Format::f32},
    {16, 8, 8, "f32.f16.f16.f32", Format::f16, Format::f16, Format::f32},
    {16, 8, 16, "f16.f16.f16.f16", Format::f16, Format::f16, Format::f16},
    {16, 8, 16, "f32.bf16.bf16.f32", Format::bf16, Format::bf16, Format::f32},
    {16, 8, 8, "f32.tf32.tf32.f32", Format::tf32, Format::tf32, Format::f32},
    {16, 8, 4, "f32.tf32.tf32.f32", Format::tf32, Format::tf32, Format::f32},
    {16, 8, 32, "s32.s8.u8.s32", Format::s8, Format::u8, Format::s32},
    {16, 8, 16, "s32.s8.s8.s32", Format::s8, Format::s8, Format::s32, ".satfinite"},
    {8, 8, 16, "s32.u8.s8.s32", Format::u8, Format::s8, Format::s32},
    {16, 8, 64, "s32.s4.u4.s32", Format::s4, Format::u4, Format::s32},
    {8, 8, 32, "s32.s4.s4.s32", Format::s4, Format::s4, Format::s32},
    {16, 8, 256, "s32.b1.b1.s32", Format::b1, Format::b1, Format::s32, ".and.popc"},
    {8, 8, 128, "s32.b1.b1.s32", Format::b1, Format::b1, Format::s32, ".xor.popc", true},
};
INSTANTIATE_TEST_SUITE_P(Devices, MmaOnDevice,
                         ::testing::Combine(::testing::Values("sm_80", "sm_89", "sm_90", "sm_120"),
                                            ::testing::ValuesIn(mma_cases)),
                         [](const auto& each) {
                             std::string name =
                                 fmt::format("{}_m{}n{}k{}_{}{}", std::get<0>(each.param), std::get<1>(each.param).m,
                                             std::get<1>(each.param).n, std::get<1>(each.param).k,
                                             std::get<1>(each.param).types, std::get<1>(each.param).extra);
                             std::ranges::replace(name, '.', '_');
                             return name;
                         });

constexpr MmaCase fp8_case{16, 8, 32, "f32.e4m3.e5m2.f32", Format::e4m3, Format::e5m2, Format::f32};
INSTANTIATE_TEST_SUITE_P(Fp8, MmaOnDevice,
                         ::testing::Combine(::testing::Values("sm_89", "sm_90", "sm_120"),
                                            ::testing::Values(fp8_case)));

TEST(Matrix, F64) {
    Device gpu("sm_80");
    auto* out = gpu.buffer<double>(64);
    // A(row, k) = row + k / 4, B(k, n) = 2^k: D(row, n) = 15 row + (0 + 2 + 8 + 24) / 4.
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %laneid; shr.u32 %r1, %r0, 2; and.b32 %r2, %r0, 3;
        cvt.rn.f64.u32 %d0, %r1; cvt.rn.f64.u32 %d1, %r2; fma.rn.f64 %d0, %d1, 0d3FD0000000000000, %d0;
        mov.u32 %r3, 1; shl.b32 %r3, %r3, %r2; cvt.rn.f64.u32 %d2, %r3; mov.f64 %d3, 0d0000000000000000;
        mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, %d5}, {%d0}, {%d2}, {%d3, %d3};
        mul.wide.u32 %q1, %r0, 16; add.u64 %q1, %q1, %q0; st.global.v2.f64 [%q1], {%d4, %d5};)",
                          1, "", "sm_80"),
                  blocks(1, 32), out);
    for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(out[2 * lane], 15.0 * (lane / 4) + 8.5) << lane;
}

}  // namespace
}  // namespace tilepath::exec
