// cvt between f32, f16, bf16 and the floats of 4, 6 and 8 bits, as kernels on sm_100a, for every code and every 16-bit
// source, against a model of its own: the nearest of all codes, found by looking at each (PTX ISA 9.7.9.21; OCP
// Microscaling Formats 1.0).
#include <cmath>
#include <optional>

#include "kernel.h"

namespace tilepath::exec {
namespace {

struct Narrow {
    const char* name;
    int exponent, fraction, bias;
    int codes;  ///< of magnitude, those of NaN and infinity left out
    std::uint32_t nan;
    int spacing;  ///< bits from one element of a pair to the next
};
constexpr Narrow e4m3{"e4m3x2", 4, 3, 7, 0x7F, 0x7F, 8}, e5m2{"e5m2x2", 5, 2, 15, 0x7C, 0x7F, 8},
    e3m2{"e3m2x2", 3, 2, 3, 0x20, 0x1F, 8}, e2m3{"e2m3x2", 2, 3, 1, 0x20, 0x1F, 8}, e2m1{"e2m1x2", 2, 1, 1, 8, 0x7, 4};

double magnitude(const Narrow& of, std::uint32_t code) {
    const auto e = static_cast<int>(code >> of.fraction);
    const double f = std::ldexp(code & ((1u << of.fraction) - 1), -of.fraction);
    return e == 0 ? std::ldexp(f, 1 - of.bias) : std::ldexp(1 + f, e - of.bias);
}

/// To nearest, ties to the even code; what is too large gives the largest, NaN the code for it or the largest.
class Nearest {
  public:
    explicit Nearest(const Narrow& of) : of_(of) {
        for (int code = 0; code < of.codes; ++code) sizes_.push_back(magnitude(of, static_cast<std::uint32_t>(code)));
    }
    std::uint32_t operator()(double x, bool relu) const {
        if (std::isnan(x)) return of_.nan;
        if (relu && std::signbit(x)) return 0;
        const double size = std::min(std::abs(x), sizes_.back());
        std::uint32_t best = 0;
        for (std::uint32_t code = 1; code < sizes_.size(); ++code) {
            const double now = std::abs(sizes_[code] - size), before = std::abs(sizes_[best] - size);
            if (now < before || (now == before && code % 2 == 0)) best = code;
        }
        return best | (std::signbit(x) ? 1u << (of_.exponent + of_.fraction) : 0);
    }

  private:
    Narrow of_;
    std::vector<double> sizes_;
};

double half(std::uint32_t bits) {
    const auto e = static_cast<int>(bits >> 10 & 31);
    const double f = std::ldexp(bits & 0x3FF, -10), sign = bits >> 15 ? -1 : 1;
    if (e == 31) return bits & 0x3FF ? std::nan("") : sign * INFINITY;
    return sign * (e == 0 ? std::ldexp(f, -14) : std::ldexp(1 + f, e - 15));
}

double single(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// Runs `body`, which reads %r1 (and %r2) of 2^16 threads, each its number and the words of `low`, and leaves %r3.
std::vector<std::uint32_t> run(const std::string& body) {
    Device gpu("sm_100a");
    auto* out = gpu.buffer<std::uint32_t>(65536);
    gpu.run_clean(
        compile("mov.u32 %r0, %ctaid.x; mov.u32 %r10, %tid.x; shl.b32 %r0, %r0, 10; add.u32 %r0, %r0, %r10;\n" + body +
                    "mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q1, %q0; st.global.u32 [%q1], %r3;",
                1, "", "sm_100a"),
        blocks(64, 1024), out);
    return {out, out + 65536};
}

/// The register that holds a pair, and how it comes to 32 bits.
std::string pair(const Narrow& to, const std::string& convert) {
    if (to.spacing == 8)
        return fmt::format("{}; cvt.u32.u16 %r3, %h1;\n", fmt::vformat(convert, fmt::make_format_args("%h1")));
    return fmt::format("{{ .reg .b8 %c; {}; cvt.u32.u8 %r3, %c; }}\n",
                       fmt::vformat(convert, fmt::make_format_args("%c")));
}

class NarrowFloats : public ::testing::TestWithParam<Narrow> {};

TEST_P(NarrowFloats, FromSingle) {
    const Narrow& to = GetParam();
    const Nearest nearest(to);
    for (const bool relu : {false, true}) {
        for (const std::uint32_t low : {0u, 1u, 0x8000u, 0xFFFFu}) {
            if (relu && low != 0x8000u) continue;
            // The upper element of the pair is the first source; the lower gets the bits upside down.
            const auto words =
                run(fmt::format("shl.b32 %r1, %r0, 16; or.b32 %r1, %r1, {}; not.b32 %r2, %r1;\n", low) +
                    pair(to, fmt::format("cvt.rn.satfinite{}.{}.f32 {{}}, %r1, %r2", relu ? ".relu" : "", to.name)));
            for (std::uint32_t i = 0; i < 65536; ++i) {
                const std::uint32_t a = i << 16 | low, b = ~a;
                ASSERT_EQ(words[i], nearest(single(a), relu) << to.spacing | nearest(single(b), relu))
                    << std::hex << a << (relu ? " relu" : "");
            }
        }
    }
}

TEST_P(NarrowFloats, FromHalf) {
    const Narrow& to = GetParam();
    if (to.fraction + to.exponent == 5) return;  // PTX ISA 9.0 has no six bits from f16
    const Nearest nearest(to);
    for (const bool relu : {false, true}) {
        const auto words =
            run("xor.b32 %r1, %r0, 0x5A5A; shl.b32 %r1, %r1, 16; or.b32 %r1, %r1, %r0;\n" +
                pair(to, fmt::format("cvt.rn.satfinite{}.{}.f16x2 {{}}, %r1", relu ? ".relu" : "", to.name)));
        for (std::uint32_t i = 0; i < 65536; ++i)
            ASSERT_EQ(words[i], nearest(half(i ^ 0x5A5A), relu) << to.spacing | nearest(half(i), relu)) << i;
    }
}

TEST_P(NarrowFloats, ToHalfIsExact) {
    const Narrow& from = GetParam();
    const int bits = 1 + from.exponent + from.fraction;
    const std::string source =
        from.spacing == 8 ? fmt::format("cvt.u16.u32 %h1, %r0; cvt.rn.f16x2.{} %r3, %h1;\n", from.name)
                          : fmt::format("{{ .reg .b8 %c; cvt.u8.u32 %c, %r0; cvt.rn.f16x2.{} %r3, %c; }}\n", from.name);
    const auto words = run(source);
    for (std::uint32_t i = 0; i < (1u << 2 * from.spacing); ++i) {
        for (int element = 0; element < 2; ++element) {
            const std::uint32_t code = i >> element * from.spacing & ((1u << bits) - 1);
            const std::uint32_t size = code & ((1u << (bits - 1)) - 1);
            const std::uint32_t got = words[i] >> 16 * element & 0xFFFF;
            if (size >= static_cast<std::uint32_t>(from.codes)) {  // e4m3: NaN; e5m2: infinity, NaN
                const bool infinite = from.exponent == 5 && size == 0x7C;
                ASSERT_EQ(infinite ? got & 0x7FFF : got, infinite ? 0x7C00u : 0x7FFFu) << i;
                continue;
            }
            const double expected = (code >> (bits - 1) ? -1 : 1) * magnitude(from, size);
            ASSERT_EQ(half(got), expected) << i;
            ASSERT_EQ(got >> 15, code >> (bits - 1)) << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, NarrowFloats, ::testing::Values(e4m3, e5m2, e3m2, e2m3, e2m1),
                         [](const auto& each) { return std::string(each.param.name); });

/// The scale of a magnitude: 2^(code − 127), below or above it.
std::uint32_t scale(double x, bool up, bool satfinite) {
    if (std::isnan(x)) return 0xFF;
    x = std::abs(x);
    if (x > std::ldexp(1.0, 127) && (up || std::isinf(x))) return satfinite ? 0xFE : 0xFF;
    const auto code = x == 0 ? 0u : static_cast<std::uint32_t>(std::max(0, std::min(0xFE, std::ilogb(x) + 127)));
    return up && x > std::ldexp(1.0, static_cast<int>(code) - 127) ? code + 1 : code;
}

TEST(NarrowFloatScales, FromSingleAndBfloat) {
    for (const bool up : {false, true}) {
        for (const bool satfinite : {false, true}) {
            const std::string words = fmt::format("{}{}", up ? "rp" : "rz", satfinite ? ".satfinite" : "");
            for (const std::uint32_t low : {0u, 1u}) {
                const auto got =
                    run(fmt::format("shl.b32 %r1, %r0, 16; or.b32 %r1, %r1, {}; xor.b32 %r2, %r1, 0x3FFF0000;\n"
                                    "cvt.{}.ue8m0x2.f32 %h1, %r1, %r2; cvt.u32.u16 %r3, %h1;\n",
                                    low, words));
                for (std::uint32_t i = 0; i < 65536; ++i) {
                    const std::uint32_t a = i << 16 | low, b = a ^ 0x3FFF0000;
                    ASSERT_EQ(got[i], scale(single(a), up, satfinite) << 8 | scale(single(b), up, satfinite))
                        << words << std::hex << " " << a;
                }
            }
            const auto got =
                run(fmt::format("xor.b32 %r1, %r0, 0x3FFF; shl.b32 %r1, %r1, 16; or.b32 %r1, %r1, %r0;\n"
                                "cvt.{}.ue8m0x2.bf16x2 %h1, %r1; cvt.u32.u16 %r3, %h1;\n",
                                words));
            for (std::uint32_t i = 0; i < 65536; ++i)
                ASSERT_EQ(got[i],
                          scale(single((i ^ 0x3FFF) << 16), up, satfinite) << 8 | scale(single(i << 16), up, satfinite))
                    << words << std::hex << " " << i;
        }
    }
}

TEST(NarrowFloatScales, ToBfloat) {
    const auto words = run("cvt.u16.u32 %h1, %r0; cvt.rn.bf16x2.ue8m0x2 %r3, %h1;\n");
    for (std::uint32_t i = 0; i < 65536; ++i) {
        for (int element = 0; element < 2; ++element) {
            const std::uint32_t code = i >> 8 * element & 0xFF, got = words[i] >> 16 * element & 0xFFFF;
            if (code == 0xFF) {
                ASSERT_EQ(got, 0x7FFFu);
            } else {
                ASSERT_EQ(single(got << 16), std::ldexp(1.0, static_cast<int>(code) - 127)) << i;
            }
        }
    }
}

// PTX ISA 9.7.9.21: a carry out of the discarded bits plus the random ones goes to the magnitude. bf16 has 16 of them,
// a from the upper half of rbits, b from the lower; f16 has 13.
TEST(NarrowFloatStochastic, CarriesIntoTheMagnitude) {
    for (const std::uint32_t random : {0u, 0xFFFFFFFFu, 0x80007FFFu, 0x12345678u}) {
        const auto bfloats =
            run(fmt::format("mul.lo.u32 %r1, %r0, 0x9E3779B1; not.b32 %r2, %r1; mov.u32 %r4, {:#x};\n"
                            "cvt.rs.bf16x2.f32 %r3, %r1, %r2, %r4;\n",
                            random));
        const auto halves =
            run(fmt::format("shl.b32 %r1, %r0, 9; add.u32 %r1, %r1, 0x3C000001; xor.b32 %r2, %r1, 0x80000000;\n"
                            "mov.u32 %r4, {:#x}; cvt.rs.f16x2.f32 %r3, %r1, %r2, %r4;\n",
                            random));
        for (std::uint32_t i = 0; i < 65536; ++i) {
            const std::uint32_t a = i * 0x9E3779B1u, b = ~a;
            if ((a >> 23 & 0xFF) != 0xFF && (b >> 23 & 0xFF) != 0xFF) {
                ASSERT_EQ(bfloats[i], ((a + (random >> 16)) & 0xFFFF0000) | (b + (random & 0xFFFF)) >> 16)
                    << std::hex << a << " " << random;
            }
            const std::uint32_t x = (i << 9) + 0x3C000001;  // 2^-7 and above, normal as f16
            if (x >= 0x47000000) continue;
            const auto rounded = [&](std::uint32_t share) { return ((x + (share & 0x1FFF)) >> 13) - (112u << 10); };
            ASSERT_EQ(halves[i], rounded(random >> 16) << 16 | rounded(random & 0xFFFF) | 0x8000)
                << std::hex << x << " " << random;
        }
    }
}

}  // namespace
}  // namespace tilepath::exec
