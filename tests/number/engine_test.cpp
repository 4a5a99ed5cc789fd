// The vector engine against the scalar reference, to the bit: every recipe, every instruction set of this CPU.
#include "number/engine.h"

#include "number/engine_targets.h"
// After engine_targets.h:
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "engine_problems.h"
#include "number/recipe.h"
#include "target_test.h"

namespace tilepath::number {
namespace {

/// Rows of packed elements, each row followed by bytes that must not be read.
std::vector<std::uint8_t> pack(const std::vector<std::uint64_t>& elements, int row_length, Format format,
                               std::ptrdiff_t& stride) {
    const int bits = operand_bits(format), row_bytes = row_length * bits / 8;
    stride = row_bytes + 3;
    std::vector<std::uint8_t> bytes(elements.size() / std::size_t(row_length) * std::size_t(stride), 0xff);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::size_t row = i / std::size_t(row_length), column = i % std::size_t(row_length);
        std::uint8_t* at = bytes.data() + row * std::size_t(stride);
        for (int bit = 0; bit < bits; ++bit) {
            const std::size_t place = column * std::size_t(bits) + std::size_t(bit);
            const std::uint8_t one = std::uint8_t(1 << place % 8);
            at[place / 8] = std::uint8_t(elements[i] >> bit & 1 ? at[place / 8] | one : at[place / 8] & ~one);
        }
    }
    return bytes;
}

int accumulator_bytes(Format d) { return traits(d).bits / 8; }

std::vector<std::uint64_t> engine_result(const TileEngine& engine, const Problem& p, bool with_c) {
    const DotRecipe& r = engine.recipe();
    PreparedOperand a, b;
    std::ptrdiff_t stride = 0;
    const auto a_bytes = pack(p.a, p.k, r.a, stride);
    engine.prepare(Side::a, a_bytes.data(), p.m, p.k, stride, a);
    const auto b_bytes = pack(p.b, p.k, r.b, stride);
    engine.prepare(Side::b, b_bytes.data(), p.n, p.k, stride, b);
    const std::size_t bytes = std::size_t(accumulator_bytes(r.d)), column_stride = std::size_t(p.m) + 5;
    std::vector<std::uint8_t> c(bytes * column_stride * std::size_t(p.n), 0xa5);
    const auto at = [&](int i, int j) { return (std::size_t(i) + std::size_t(j) * column_stride) * bytes; };
    for (int j = 0; j < p.n; ++j)
        for (int i = 0; i < p.m; ++i) std::memcpy(&c[at(i, j)], &p.c[std::size_t(i + j * p.m)], bytes);
    std::vector<std::uint8_t> d(c.size(), 0xa5);
    engine.multiply(a, b, with_c ? c.data() : nullptr, d.data(), std::ptrdiff_t(column_stride));
    std::vector<std::uint64_t> result(std::size_t(p.m * p.n));
    for (int j = 0; j < p.n; ++j) {
        for (int i = 0; i < p.m; ++i) std::memcpy(&result[std::size_t(i + j * p.m)], &d[at(i, j)], bytes);
        for (std::size_t beyond = at(p.m, j); beyond < at(0, j + 1); ++beyond) EXPECT_EQ(d[beyond], 0xa5);
    }
    engine.multiply(a, b, with_c ? c.data() : nullptr, c.data(), std::ptrdiff_t(column_stride));  // in place
    if (with_c) {
        EXPECT_EQ(c, d);
    }
    return result;
}

std::vector<std::uint64_t> reference_result(const DotRecipe& r, const Problem& p, bool with_c) {
    const bool on_terms = r.kind == DotRecipe::Kind::fused || r.kind == DotRecipe::Kind::fp8_through_f16 ||
                          r.kind == DotRecipe::Kind::integer;
    const std::vector<Term> a = on_terms ? decode_terms(p.a, r.a) : std::vector<Term>();
    const std::vector<Term> b = on_terms ? decode_terms(p.b, r.b) : std::vector<Term>();
    std::vector<std::uint64_t> result;
    const std::size_t k = std::size_t(p.k);
    for (int j = 0; j < p.n; ++j)
        for (int i = 0; i < p.m; ++i) {
            const std::uint64_t c = with_c ? p.c[std::size_t(i + j * p.m)] : 0;
            const std::size_t row = std::size_t(i) * k, column = std::size_t(j) * k;
            result.push_back(
                on_terms ? dot(r, std::span(a).subspan(row, k), std::span(b).subspan(column, k), std::uint32_t(c))
                         : dot(r, std::span(p.a).subspan(row, k), std::span(p.b).subspan(column, k), c));
        }
    return result;
}

void expect_equal(const TileEngine& engine, const Problem& p, bool with_c, const std::string& what) {
    const auto expected = reference_result(engine.recipe(), p, with_c);
    const auto actual = engine_result(engine, p, with_c);
    for (std::size_t at = 0; at < expected.size(); ++at)
        if (actual[at] != expected[at]) {
            ADD_FAILURE() << what
                          << fmt::format(": m {} n {} k {}, element ({}, {}): engine {:#x}, reference {:#x}, c {:#x}",
                                         p.m, p.n, p.k, at % std::size_t(p.m), at / std::size_t(p.m), actual[at],
                                         expected[at], p.c[at]);
            return;
        }
}

/// k of the instruction in 16-byte chunks, so that every format meets one chunk, several groups, and a ragged end.
int elements_of(const DotRecipe& r, int chunks) { return chunks * 128 / operand_bits(r.a); }

/// bf16 and tf32 alone reach most of the edges.
int seeds_of(Family family, const DotRecipe& r) {
    if (family != Family::edges) return 2;
    return traits(r.a).exponent_bits == 8 ? 80 : 8;
}

class EngineTest : public TargetTest {};

TEST_P(EngineTest, EqualsTheReferenceForEveryRecipe) {
    Random random(20240607);
    for (const DotRecipe& r : all_recipes()) {
        const TileEngine engine(r);
        const bool through_f16 = r.kind == DotRecipe::Kind::fp8_through_f16;
        for (const Family family : families)
            for (int seed = 0; seed < seeds_of(family, r); ++seed) {
                const int chunks =
                    r.kind == DotRecipe::Kind::cuda_core_f32 ? 1 : 1 + int(random() % (through_f16 ? 2 : 4));
                int k = r.kind == DotRecipe::Kind::cuda_core_f32 ? 4 : elements_of(r, chunks);
                const auto p = draw_problem(r, family, 16, 8, k, random);
                expect_equal(engine, p, seed % 2 == 0 || random() % 2,
                             fmt::format("{}, family {}, seed {}", describe(r), int(family), seed));
                if (HasFailure()) return;
            }
    }
}

TEST_P(EngineTest, EqualsTheReferenceOnManyTiles) {
    const DotRequest requests[] = {
        {.device = Generation::ampere, .a = Format::f16, .b = Format::f16},
        {.device = Generation::ampere, .a = Format::bf16, .b = Format::bf16},
        {.device = Generation::ampere, .a = Format::tf32, .b = Format::tf32},
        {.device = Generation::hopper, .a = Format::f16, .b = Format::f16},
        {.device = Generation::hopper, .a = Format::bf16, .b = Format::bf16},
        {.device = Generation::hopper, .a = Format::tf32, .b = Format::tf32},
        {.device = Generation::hopper, .a = Format::f16, .b = Format::f16, .d = Format::f16},
        {.device = Generation::ada, .a = Format::e4m3, .b = Format::e5m2},
        {.device = Generation::hopper, .a = Format::e5m2, .b = Format::e4m3},
        {.device = Generation::blackwell_rtx, .a = Format::e4m3, .b = Format::e4m3},
        {.device = Generation::ampere, .a = Format::s8, .b = Format::u8, .d = Format::s32, .saturate = true}};
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Random random(seed);
        for (const DotRequest& request : requests) {
            const TileEngine engine(*recipe(request));
            for (const Family family : families) {
                const auto p = draw_problem(engine.recipe(), family, 32, 24, elements_of(engine.recipe(), 2), random);
                expect_equal(engine, p, true,
                             fmt::format("{}, family {}, seed {}", describe(engine.recipe()), int(family), seed));
                if (HasFailure()) return;
            }
        }
    }
}

TEST_P(EngineTest, TakesShapesThatDoNotFillItsBlocks) {
    Random random(3);
    for (const Format format : {Format::f16, Format::tf32, Format::e4m3, Format::s8, Format::s4, Format::b1}) {
        DotRequest request{.device = Generation::ampere, .a = format, .b = format};
        if (format == Format::e4m3) request.device = Generation::ada;
        if (!traits(format).floating) request.d = Format::s32;
        const TileEngine engine(*recipe(request));
        const int byte = 8 / std::min(8, operand_bits(format));
        for (const auto& [m, n, k] : {std::array{1, 1, 2 * byte},
                                      {8, 8, 6 * byte},
                                      {17, 9, 32 * byte},
                                      {64, 40, 24 * byte},
                                      {33, 3, 34 * byte}})
            expect_equal(engine, draw_problem(engine.recipe(), Family::near, m, n, k, random), true,
                         describe(engine.recipe()));
    }
}

/// Recorded on an H200: with an f16 accumulator zero terms count as 2^-21, so the last bit kept is 2^-46.
TEST_P(EngineTest, KeepsTheExponentOfZeroWithF16Accumulators) {
    const TileEngine engine(*recipe({.device = Generation::hopper, .d = Format::f16}));
    PreparedOperand a, b;
    std::vector<std::uint16_t> a_bits(16 * 16), b_bits(8 * 16);
    for (std::size_t row = 0; row < 16; ++row) {
        a_bits[row * 16] = 0x1000;                              // 2^-11
        a_bits[row * 16 + 1] = row % 2 == 0 ? 0x0002 : 0x0001;  // 2^-23, 2^-24
    }
    for (std::size_t column = 0; column < 8; ++column) {
        b_bits[column * 16] = 0x0400;      // 2^-14
        b_bits[column * 16 + 1] = 0x0002;  // 2^-23
    }
    engine.prepare(Side::a, a_bits.data(), 16, 16, 32, a);
    engine.prepare(Side::b, b_bits.data(), 8, 16, 32, b);
    std::vector<std::uint16_t> d(16 * 8, 0xffff);
    engine.multiply(a, b, nullptr, d.data(), 16);
    for (std::size_t i = 0; i < d.size(); ++i)
        EXPECT_EQ(d[i], i % 2 == 0 ? 0x0001 : 0x0000);  // of 2^-25 + 2^-46, of 2^-25 + 2^-47
}

/// x·x − x·x + y·y, y·y below the last bit kept (2^-25 of x·x): nothing remains. Exponents where the engine could err:
/// products next to f32's least normal as it keeps them, and products beyond f32.
TEST_P(EngineTest, DropsWhatIsBelowTheLastBitOfTermsThatCancel) {
    const TileEngine engine(*recipe({.device = Generation::hopper, .a = Format::bf16, .b = Format::bf16}));
    const auto power_of_two = [](int exponent) { return std::uint16_t((exponent + 127) << 7); };
    for (const auto& [x, y] : {std::pair{-41, -54}, {66, 0}, {100, 0}, {-41, -60}, {-20, -33}, {0, -13}}) {
        std::vector<std::uint16_t> a(16 * 16), b(8 * 16);
        for (std::size_t row = 0; row < 16; ++row) {
            a[row * 16] = power_of_two(x);
            a[row * 16 + 1] = power_of_two(x) | 0x8000;
            a[row * 16 + 2] = power_of_two(y);
        }
        for (std::size_t column = 0; column < 8; ++column) {
            b[column * 16] = b[column * 16 + 1] = power_of_two(x);
            b[column * 16 + 2] = power_of_two(y);
        }
        PreparedOperand prepared_a, prepared_b;
        engine.prepare(Side::a, a.data(), 16, 16, 32, prepared_a);
        engine.prepare(Side::b, b.data(), 8, 16, 32, prepared_b);
        std::vector<std::uint32_t> d(16 * 8, 0xffffffff);
        engine.multiply(prepared_a, prepared_b, nullptr, d.data(), 16);
        EXPECT_THAT(d, testing::Each(0u)) << "x = 2^" << x << ", y = 2^" << y;
    }
}

TEST_P(EngineTest, ReusesAnOperandOfAnotherShape) {
    Random random(4);
    const TileEngine engine(*recipe({.device = Generation::hopper}));
    PreparedOperand a, b;
    for (const int rows : {64, 16, 128}) {
        std::vector<std::uint16_t> ones(std::size_t(rows) * 16, 0x3c00), twos(8 * 16, 0x4000);
        engine.prepare(Side::a, ones.data(), rows, 16, 32, a);
        engine.prepare(Side::b, twos.data(), 8, 16, 32, b);
        std::vector<float> d(std::size_t(rows) * 8, -1.0f);
        engine.multiply(a, b, nullptr, d.data(), rows);
        EXPECT_THAT(d, testing::Each(32.0f));
    }
}

std::string target_name(const testing::TestParamInfo<std::int64_t>& info) { return hwy::TargetName(info.param); }

INSTANTIATE_TEST_SUITE_P(Targets, EngineTest, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

}  // namespace
}  // namespace tilepath::number
