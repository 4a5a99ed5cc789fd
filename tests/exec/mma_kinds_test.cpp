// mma.sync and mma.sp with a .kind on sm_120a: fragments, scales and metadata by the manual's words (PTX ISA 9.7.14.3,
// 9.7.14.5, 9.7.14.6), products in double where they are exact, and any bits at all against number/'s scalar reference.
#include <array>
#include <cmath>
#include <random>

#include "kernel.h"
#include "number/fused_dot.h"
#include "number/recipe.h"

namespace tilepath::exec {
namespace {

using number::Format;

struct KindCase {
    const char* name;
    const char* kind;   ///< with .block_scale and .scale_vec
    const char* types;  ///< d.a.b.c[.scale]
    int k;
    Format a, b, d;
    int factors;  ///< of scales; 0: none
    Format scale = Format::ue8m0;
    bool sparse = false;
    bool nibbles = false;  ///< e2m1 two in a byte
};

/// Sign, exponent, fraction, as OCP and PTX ISA 5.2.3 give the formats; NaN and infinities are not asked for.
double value(Format format, std::uint64_t code) {
    struct Fields {
        Format format;
        int exponent, fraction, bias;
    };
    constexpr Fields rows[] = {{Format::e4m3, 4, 3, 7}, {Format::e5m2, 5, 2, 15}, {Format::e3m2, 3, 2, 3},
                               {Format::e2m3, 2, 3, 1}, {Format::e2m1, 2, 1, 1},  {Format::ue4m3, 4, 3, 7}};
    if (format == Format::ue8m0) return std::ldexp(1.0, static_cast<int>(code) - 127);
    for (const auto& [name, exponent, fraction, bias] : rows) {
        if (name != format) continue;
        const auto e = static_cast<int>(code >> fraction & ((1u << exponent) - 1));
        const auto f = static_cast<double>(code & ((1u << fraction) - 1)) / (1 << fraction);
        const double magnitude = e == 0 ? std::ldexp(f, 1 - bias) : std::ldexp(1 + f, e - bias);
        return code >> (exponent + fraction) & 1 ? -magnitude : magnitude;
    }
    return 0;
}

int bits_of(Format format) {
    return format == Format::e2m1 ? 4 : format == Format::e3m2 || format == Format::e2m3 ? 6 : 8;
}

constexpr int pairs[6][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};

/// One warp's operands: matrices, and the words of each lane (A 0–3, B 4–7, C 8–11, metadata 12, scales 13 and 14).
struct Warp {
    Warp(const KindCase& kind, std::mt19937& random, bool exact) : of(kind), any(random) {
        stored = of.sparse ? of.k / 2 : of.k;
        a.resize(static_cast<std::size_t>(16 * stored)), b.resize(static_cast<std::size_t>(8 * of.k)), c.resize(128);
        for (auto& each : a) each = element(of.a, exact);
        for (auto& each : b) each = element(of.b, exact);
        for (auto& each : c)
            each = of.d == Format::f16 ? any() & 0xFFFF
                   : exact             ? std::bit_cast<std::uint32_t>(static_cast<float>(any() % 200) - 100)
                                       : any();
        sa.resize(static_cast<std::size_t>(16 * of.factors)), sb.resize(static_cast<std::size_t>(8 * of.factors));
        for (auto* scales : {&sa, &sb})
            for (auto& each : *scales)
                each = !exact ? any() & 0xFF : of.scale == Format::ue8m0 ? 126 + any() % 3 : 0x30 + any() % 0x11;
        chunk = of.nibbles ? 8 : 4;
        for (int i = 0; i < 16 * of.k / chunk; ++i) chosen.push_back(static_cast<int>(any() % 6));
    }
    std::uint64_t element(Format format, bool exact) {
        while (true) {
            const std::uint64_t code = any() & ((1u << bits_of(format)) - 1);
            const double v = value(format, code);
            if (!exact || (std::abs(v) <= 6 && v * 64 == std::floor(v * 64))) return code;
        }
    }
    /// With padding bits that count for nothing.
    std::uint32_t in_register(Format format, std::uint64_t code) {
        const auto noise = static_cast<std::uint32_t>(any() & 0xFF);
        if (of.nibbles || bits_of(format) == 8) return static_cast<std::uint32_t>(code);
        if (bits_of(format) == 6) return static_cast<std::uint32_t>(code) | (noise & 0xC0);
        return static_cast<std::uint32_t>(code << 2) | (noise & 0xC3);
    }
    /// The column of a row's stored element.
    int column(int row, int i) const {
        if (!of.sparse) return i;
        const int per_chunk = chunk / 2, width = chunk / 4;  // 4-bit elements are kept in pairs
        const auto& pair = pairs[chosen[static_cast<std::size_t>(row * (of.k / chunk) + i / per_chunk)]];
        return i / per_chunk * chunk + pair[i % per_chunk / width] * width + i % width;
    }
    void fill(std::uint32_t* words, int byte_a, int thread_a, int byte_b, int thread_b) {
        const int e = of.nibbles ? 8 : 4, pitch = 32 / e;
        for (int lane = 0; lane < 32; ++lane) {
            std::uint32_t* const mine = words + 16 * lane;
            const int g = lane / 4, t = lane % 4;
            for (int i = 0; i < 16; ++i) mine[i] = i < 12 ? 0 : static_cast<std::uint32_t>(any());
            for (int r = 0; r < 16 * stored / 32 / e; ++r)
                for (int j = 0; j < e; ++j)
                    mine[r] |=
                        in_register(
                            of.a, a[static_cast<std::size_t>((g + 8 * (r % 2)) * stored + t * e + j + 4 * e * (r / 2))])
                        << pitch * j;
            for (int r = 0; r < 8 * of.k / 32 / e; ++r)
                for (int j = 0; j < e; ++j)
                    mine[4 + r] |= in_register(of.b, b[static_cast<std::size_t>(g * of.k + t * e + j + 4 * e * r)])
                                   << pitch * j;
            for (int i = 0; i < 4; ++i) {
                const auto word =
                    static_cast<std::uint32_t>(c[static_cast<std::size_t>((g + 8 * (i / 2)) * 8 + 2 * t + i % 2)]);
                if (of.d == Format::f16)
                    mine[8 + i / 2] |= word << 16 * (i % 2);
                else
                    mine[8 + i] = word;
            }
            if (of.sparse) {  // lane t: row g + 8 (t % 2), half t / 2 of the row's chunks
                mine[12] = 0;
                const int row = g + 8 * (t % 2);
                for (int i = 0; i < 8; ++i) {
                    const auto& pair = pairs[chosen[static_cast<std::size_t>(row * (of.k / chunk) + 8 * (t / 2) + i)]];
                    mine[12] |= static_cast<std::uint32_t>(pair[0] | pair[1] << 2) << 4 * i;
                }
            }
            for (int f = 0; f < of.factors; ++f) {
                const auto put = [&](std::uint32_t& word, int byte, std::uint64_t scale) {
                    word = (word & ~(0xFFu << 8 * byte)) | static_cast<std::uint32_t>(scale) << 8 * byte;
                };
                if (t / 2 == thread_a)
                    put(mine[13], byte_a + f, sa[static_cast<std::size_t>((g + 8 * (t % 2)) * of.factors + f)]);
                if (t == thread_b) put(mine[14], byte_b + f, sb[static_cast<std::size_t>(g * of.factors + f)]);
            }
        }
    }

    const KindCase& of;
    std::mt19937& any;
    int stored = 0, chunk = 0;
    std::vector<std::uint64_t> a, b, c, sa, sb;
    std::vector<int> chosen;
};

program::Program product(const KindCase& of, const std::string& selectors_a, const std::string& selectors_b) {
    const auto list = [](int first, int count) {
        std::string out = "{";
        for (int i = 0; i < count; ++i) out += fmt::format("{}%r{}", i ? ", " : "", first + i);
        return out + "}";
    };
    const int e = of.nibbles ? 8 : 4, c_registers = of.d == Format::f16 ? 2 : 4;
    const int a_registers = (of.sparse ? of.k / 2 : of.k) / 2 / e, b_registers = of.k / 4 / e;
    std::string body = "mov.u32 %r0, %laneid; mul.wide.u32 %q1, %r0, 64; add.u64 %q1, %q1, %q0;\n";
    for (int i = 0; i < 15; ++i) body += fmt::format("ld.global.u32 %r{}, [%q1+{}];\n", 10 + i, 4 * i);
    body += "mov.u16 %h0, 0; mov.u16 %h1, 1; mov.u16 %h2, 2; mov.u16 %h3, 3;\n";
    body +=
        fmt::format("mma{}.sync.aligned.m16n8k{}.row.col.{}.{} {}, {}, {}, {}{}{};\n",
                    of.sparse ? ".sp::ordered_metadata" : "", of.k, of.kind, of.types, list(30, c_registers),
                    list(10, a_registers), list(14, b_registers), list(18, c_registers), of.sparse ? ", %r22, 0" : "",
                    of.factors ? fmt::format(", %r23, {}, %r24, {}", selectors_a, selectors_b) : "");
    for (int i = 0; i < c_registers; ++i) body += fmt::format("st.global.u32 [%q1+{}], %r{};\n", 4 * i, 30 + i);
    return compile(body, 1, "", "sm_120a");
}

class MmaKinds : public ::testing::TestWithParam<KindCase> {
  protected:
    /// Runs one warp and compares all of D.
    void run(bool exact, const program::Program& program, int byte_a, int thread_a, int byte_b, int thread_b) {
        const KindCase& of = GetParam();
        Warp warp(of, random_, exact);
        Device gpu("sm_120a");
        auto* words = gpu.buffer<std::uint32_t>(32 * 16);
        warp.fill(words, byte_a, thread_a, byte_b, thread_b);
        gpu.run_clean(program, blocks(1, 32), words);
        for (int m = 0; m < 16; ++m) {
            for (int n = 0; n < 8; ++n) {
                const int lane = m % 8 * 4 + n / 2, i = m / 8 * 2 + n % 2;
                const std::uint32_t word =
                    of.d == Format::f16 ? words[16 * lane + i / 2] >> 16 * (i % 2) & 0xFFFF : words[16 * lane + i];
                ASSERT_EQ(word, exact ? in_double(warp, m, n) : by_reference(warp, m, n))
                    << m << ", " << n << (exact ? " exact" : " any bits");
            }
        }
    }

  private:
    static std::uint32_t in_double(const Warp& warp, int m, int n) {
        const KindCase& of = warp.of;
        double sum = std::bit_cast<float>(static_cast<std::uint32_t>(warp.c[static_cast<std::size_t>(m * 8 + n)]));
        for (int i = 0; i < warp.stored; ++i) {
            const int k = warp.column(m, i);
            double term = value(of.a, warp.a[static_cast<std::size_t>(m * warp.stored + i)]) *
                          value(of.b, warp.b[static_cast<std::size_t>(n * of.k + k)]);
            if (of.factors > 0) {
                const int f = k / (of.k / of.factors);
                term *= value(of.scale, warp.sa[static_cast<std::size_t>(m * of.factors + f)]) *
                        value(of.scale, warp.sb[static_cast<std::size_t>(n * of.factors + f)]);
            }
            sum += term;
        }
        const auto rounded = static_cast<float>(sum);
        EXPECT_EQ(static_cast<double>(rounded), sum) << "the test's numbers are too large";
        return std::bit_cast<std::uint32_t>(rounded);
    }
    static std::uint32_t by_reference(const Warp& warp, int m, int n) {
        const KindCase& of = warp.of;
        number::DotRequest request;
        request.device = number::Generation::blackwell_rtx;
        request.a = of.a, request.b = of.b, request.d = of.d;
        if (of.factors > 0) {
            request.scaling = of.nibbles ? number::Scaling::per_group : number::Scaling::per_dot;
            request.scale = of.scale, request.scale_block = warp.stored / of.factors;
        }
        const auto recipe = number::recipe(request);
        EXPECT_TRUE(recipe);
        std::vector<std::uint64_t> row, column;
        for (int i = 0; i < warp.stored; ++i) {
            row.push_back(warp.a[static_cast<std::size_t>(m * warp.stored + i)]);
            column.push_back(warp.b[static_cast<std::size_t>(n * of.k + warp.column(m, i))]);
        }
        const auto scales = [&](const std::vector<std::uint64_t>& all, int i) {
            return std::span(all).subspan(static_cast<std::size_t>(i * of.factors),
                                          static_cast<std::size_t>(of.factors));
        };
        return static_cast<std::uint32_t>(number::dot(*recipe, row, column, warp.c[static_cast<std::size_t>(m * 8 + n)],
                                                      {scales(warp.sa, m), scales(warp.sb, n)}));
    }
    std::mt19937 random_{11};
};

TEST_P(MmaKinds, EverySelectorReadsItsScales) {
    const KindCase& of = GetParam();
    for (int byte_a = 0; byte_a < 4; ++byte_a) {
        for (int thread_a = 0; thread_a < 2; ++thread_a) {
            const int byte_b = (byte_a + 2) % 4, thread_b = (2 * byte_a + thread_a + 1) % 4;
            if (byte_a % std::max(of.factors, 1) != 0) continue;
            const int b = of.factors == 4 ? 0 : byte_b;
            const auto program =
                product(of, fmt::format("{{{}, {}}}", byte_a, thread_a), fmt::format("{{%h{}, %h{}}}", b, thread_b));
            if (of.d == Format::f32) run(true, program, byte_a, thread_a, b, thread_b);
            for (int round = 0; round < 4; ++round) run(false, program, byte_a, thread_a, b, thread_b);
            if (of.factors == 0) return;
        }
    }
}

constexpr KindCase kind_cases[] = {
    {"bytes", "kind::f8f6f4", "f32.e4m3.e5m2.f32", 32, Format::e4m3, Format::e5m2, Format::f32, 0},
    {"short_bytes", "kind::f8f6f4", "f32.e5m2.e4m3.f32", 16, Format::e5m2, Format::e4m3, Format::f32, 0},
    {"six_four", "kind::f8f6f4", "f32.e3m2.e2m1.f32", 32, Format::e3m2, Format::e2m1, Format::f32, 0},
    {"four_six_to_half", "kind::f8f6f4", "f16.e2m1.e2m3.f16", 32, Format::e2m1, Format::e2m3, Format::f16, 0},
    {"mx_bytes", "kind::mxf8f6f4.block_scale", "f32.e4m3.e5m2.f32.ue8m0", 32, Format::e4m3, Format::e5m2, Format::f32,
     1},
    {"mx_six_four", "kind::mxf8f6f4.block_scale.scale_vec::1X", "f32.e2m3.e2m1.f32.ue8m0", 32, Format::e2m3,
     Format::e2m1, Format::f32, 1},
    {"mxf4", "kind::mxf4.block_scale", "f32.e2m1.e2m1.f32.ue8m0", 64, Format::e2m1, Format::e2m1, Format::f32, 2,
     Format::ue8m0, false, true},
    {"nvf4_by_32", "kind::mxf4nvf4.block_scale.scale_vec::2X", "f32.e2m1.e2m1.f32.ue8m0", 64, Format::e2m1,
     Format::e2m1, Format::f32, 2, Format::ue8m0, false, true},
    {"nvf4", "kind::mxf4nvf4.block_scale.scale_vec::4X", "f32.e2m1.e2m1.f32.ue4m3", 64, Format::e2m1, Format::e2m1,
     Format::f32, 4, Format::ue4m3, false, true},
    {"sparse_bytes", "kind::f8f6f4", "f32.e4m3.e3m2.f32", 64, Format::e4m3, Format::e3m2, Format::f32, 0, Format::ue8m0,
     true},
    {"sparse_mx", "kind::mxf8f6f4.block_scale", "f32.e2m1.e5m2.f32.ue8m0", 64, Format::e2m1, Format::e5m2, Format::f32,
     1, Format::ue8m0, true},
    {"sparse_mxf4", "kind::mxf4.block_scale", "f32.e2m1.e2m1.f32.ue8m0", 128, Format::e2m1, Format::e2m1, Format::f32,
     2, Format::ue8m0, true, true},
    {"sparse_nvf4", "kind::mxf4nvf4.block_scale.scale_vec::4X", "f32.e2m1.e2m1.f32.ue4m3", 128, Format::e2m1,
     Format::e2m1, Format::f32, 4, Format::ue4m3, true, true},
};
INSTANTIATE_TEST_SUITE_P(Sm120a, MmaKinds, ::testing::ValuesIn(kind_cases),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(MmaKindFaults, SelectorsThatSelectNothingAreFaults) {
    const KindCase& of = kind_cases[6];
    for (const auto& [selectors, what] : {std::pair{"{%h1, 0}", "byte-id 1 and thread-id 0 select no scales"},
                                          {"{0, %h2}", "byte-id 0 and thread-id 2 select no scales"}}) {
        Device gpu("sm_120a");
        auto* words = gpu.buffer<std::uint32_t>(32 * 16);
        const LaunchReport report = gpu.run(product(of, selectors, "{0, 0}"), blocks(1, 32), {}, words);
        ASSERT_TRUE(report.fault);
        EXPECT_NE(to_string(*report.fault).find(what), std::string::npos) << to_string(*report.fault);
    }
}

}  // namespace
}  // namespace tilepath::exec
