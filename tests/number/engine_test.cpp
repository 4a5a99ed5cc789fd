// The vector engine against the scalar reference, to the bit: every recipe, every instruction set of this CPU.
#include "number/engine.h"

#include "number/engine_targets.h"
// After engine_targets.h:
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <random>

#include "number/recipe.h"

namespace tilepath::number {
namespace {

using Random = std::mt19937_64;

/// Every recipe without block scales that the table of devices gives for some request.
std::vector<DotRecipe> all_recipes() {
    std::vector<DotRecipe> recipes;
    const auto add = [&](const DotRequest& request) {
        const auto found = recipe(request);
        if (found && std::find(recipes.begin(), recipes.end(), *found) == recipes.end()) recipes.push_back(*found);
    };
    for (int device = 0; device <= int(Generation::blackwell_rtx); ++device)
        for (int instruction = 0; instruction <= int(Instruction::wmma); ++instruction)
            for (const Format a : all_formats())
                for (const Format b : all_formats())
                    for (const Format d : {Format::f32, Format::f16, Format::s32, Format::f64}) {
                        DotRequest request{.device = Generation(device), .instruction = Instruction(instruction)};
                        request.a = a, request.b = b, request.d = d;
                        add(request);
                        request.saturate = true, add(request), request.saturate = false;
                        request.exclusive_or = true, add(request), request.exclusive_or = false;
                        request.separate_halves = true, add(request), request.separate_halves = false;
                        request.m8n8k4 = true, add(request);
                    }
    return recipes;
}

std::string describe(const DotRecipe& r) {
    return fmt::format("kind {} {} x {} -> {}, L {}, F {}, e_zero {}, saturate {}, separate {}", int(r.kind),
                       traits(r.a).name, traits(r.b).name, traits(r.d).name, r.group_length, r.fraction_bits,
                       r.zero_exponent, r.saturate, r.separate_halves);
}

/// How operands and C are drawn.
enum class Family {
    bits,         ///< any bits, so infinities and NaN in most tiles
    finite_bits,  ///< any finite bits: exponents far apart
    near,         ///< exponents within a few of one another: truncation, carries
    largest,      ///< the largest magnitudes: overflow of results, of 32-bit sums
    cancelling,   ///< B has every product twice, with both signs, next to small ones
    zeros,        ///< mostly zeros of both signs
    subnormal,    ///< exponents at the bottom
    one_special,  ///< finite but for one element
    one_sign,     ///< all terms positive and near their largest: sums that need more than 32 bits
    edges         ///< exponents around the limits of the engine's quick path, and of the formats
};
constexpr Family families[] = {Family::bits,       Family::finite_bits, Family::near,      Family::largest,
                               Family::cancelling, Family::zeros,       Family::subnormal, Family::one_special,
                               Family::one_sign,   Family::edges};

bool is_finite(std::uint64_t bits, Format format) {
    const Class kind = decode(bits, format).kind;
    return kind == Class::zero || kind == Class::finite;
}

std::uint64_t any_bits(Format format, Random& random) {
    const int bits = traits(format).bits;
    if (format == Format::tf32) return random() & 0xffffffff;
    return random() & (bits == 64 ? ~0ull : (1ull << bits) - 1);
}

std::uint64_t finite_bits(Format format, Random& random) {
    for (;;)
        if (const std::uint64_t bits = any_bits(format, random); is_finite(bits, format)) return bits;
}

/// With the exponent field limited to [low, high].
std::uint64_t with_exponent(Format format, int low, int high, Random& random) {
    const FormatTraits& f = traits(format);
    const int fraction_bits = format == Format::tf32 ? 23 : f.fraction_bits;
    const int top = (1 << f.exponent_bits) - 1;
    const std::uint64_t field = std::uint64_t(std::clamp(low + int(random() % std::uint64_t(high - low + 1)), 0, top));
    const std::uint64_t sign = f.is_signed ? random() & 1 : 0;
    const std::uint64_t bits =
        ((sign << f.exponent_bits | field) << fraction_bits) | (random() & ((1ull << fraction_bits) - 1));
    return is_finite(bits, format) ? bits : finite_bits(format, random);
}

std::uint64_t draw(Family family, Format format, Random& random) {
    const FormatTraits& f = traits(format);
    if (!f.floating) {
        if (family == Family::zeros) return random() % 4 ? 0 : any_bits(format, random);
        if (family == Family::largest) {
            const std::uint64_t half = 1ull << (f.bits - 1);  // the extremes of signed and of unsigned
            const std::uint64_t extremes[] = {half, half - 1, 2 * half - 1};
            return extremes[random() % 3];
        }
        return any_bits(format, random);
    }
    const int top = (1 << f.exponent_bits) - 1;
    switch (family) {
        case Family::bits: return any_bits(format, random);
        case Family::finite_bits:
        case Family::one_special: return finite_bits(format, random);
        case Family::near:
        case Family::cancelling: return with_exponent(format, f.bias - 2, f.bias + 2, random);
        case Family::largest: return with_exponent(format, top - 1, top, random) | (random() % 8 ? 0 : 1);
        case Family::zeros: {
            const std::uint64_t sign = f.is_signed ? (random() & 1) << (f.container_bits == 32 ? 31 : f.bits - 1) : 0;
            return random() % 8 ? sign : finite_bits(format, random);
        }
        case Family::subnormal: return with_exponent(format, 0, 1, random);
        case Family::one_sign: {
            const int fraction_bits = format == Format::tf32 ? 23 : f.fraction_bits;
            const std::uint64_t ones = (1ull << fraction_bits) - 1;
            const std::uint64_t fraction = random() % 8 ? ones : random() & ones;
            return std::uint64_t(f.bias) << fraction_bits | fraction;
        }
        case Family::edges: return finite_bits(format, random);  // see draw_edges
    }
    return 0;
}

std::uint64_t negated(std::uint64_t bits, Format format) {
    return bits ^ 1ull << (format == Format::tf32 ? 31 : traits(format).bits - 1);
}

std::uint64_t special_bits(Format format, Random& random) {
    if (traits(format).specials == Specials::none) return finite_bits(format, random);
    for (;;)
        if (const std::uint64_t bits = any_bits(format, random); !is_finite(bits, format)) return bits;
}

struct Problem {
    int m, n, k;
    std::vector<std::uint64_t> a, b, c;  // rows of A, columns of B; C by columns
};

/// All operands and C around exponents whose sums meet one limit: of f32 and f16 products and results, and of the
/// engine's own ranges (F − 105, F + 20; 64 for one operand, 128 for two). Some products are far smaller, and some may
/// be ordinary.
void draw_edges(const DotRecipe& r, Problem& p, Random& random) {
    const int f = r.fraction_bits;
    const int limits[] = {f - 105, f + 20, f, 127, 134, -126, -149, -100, 14, -14, -24, -28};
    const int sum = limits[random() % std::size(limits)] + int(random() % 5) - 2;
    const int splits[] = {sum / 2, 0, 60, 64, -116, 127, -126, int(random() % 256) - 128};
    const int of_a = splits[random() % std::size(splits)], spread = int(random() % 4);
    const bool with_smaller = random() % 2, with_ordinary = random() % 2;
    const auto around = [&](Format format, int exponent, int k) {
        if (random() % 16 == 0) return std::uint64_t(0);
        const int here = k % 4 == 1 && with_smaller ? exponent - 13 : k % 4 == 3 && with_ordinary ? 0 : exponent;
        const int field = here + traits(format).bias;
        return with_exponent(format, field - spread, field + spread, random);
    };
    for (std::size_t i = 0; i < p.a.size(); ++i) p.a[i] = around(r.a, of_a, int(i) % p.k);
    for (std::size_t i = 0; i < p.b.size(); ++i) p.b[i] = around(r.b, sum - of_a, int(i) % p.k);
    const int of_c = sum + int(random() % 34) - 30;
    for (std::uint64_t& c : p.c) c = random() % 4 ? around(r.d, of_c, 0) : 0;
}

Problem draw_problem(const DotRecipe& r, Family family, int m, int n, int k, Random& random) {
    Problem p{m, n, k, {}, {}, {}};
    for (int i = 0; i < m * k; ++i) p.a.push_back(draw(family, r.a, random));
    for (int i = 0; i < n * k; ++i) p.b.push_back(draw(family, r.b, random));
    const bool float_c = traits(r.d).floating;
    for (int i = 0; i < m * n; ++i) {
        // Any C beside near operands is too far from them to show its own truncation.
        const bool near_products = float_c && family == Family::near && random() % 4 != 0;
        p.c.push_back(near_products ? with_exponent(r.d, traits(r.d).bias - 4, traits(r.d).bias + 12, random)
                                    : draw(family, r.d, random));
    }
    if (family == Family::cancelling && traits(r.a).is_signed)
        for (int row = 0; row < m; ++row)
            for (int i = 0; i + 3 < k; i += 4) {
                p.a[std::size_t(row * k + i + 1)] = negated(p.a[std::size_t(row * k + i)], r.a);
                p.a[std::size_t(row * k + i + 2)] = draw(Family::subnormal, r.a, random);
            }
    if (family == Family::cancelling)
        for (int column = 0; column < n; ++column)
            for (int i = 0; i + 1 < k; i += 4) p.b[std::size_t(column * k + i + 1)] = p.b[std::size_t(column * k + i)];
    if (family == Family::edges && float_c && traits(r.a).floating) draw_edges(r, p, random);
    if (family == Family::one_special && traits(r.a).floating) {
        p.a[random() % p.a.size()] = special_bits(r.a, random);
        if (random() % 2) p.b[random() % p.b.size()] = special_bits(r.b, random);
        if (float_c && random() % 2) p.c[random() % p.c.size()] = special_bits(r.d, random);
    }
    return p;
}

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

class EngineTest : public testing::TestWithParam<std::int64_t> {
  protected:
    void SetUp() override { select(GetParam()); }
    void TearDown() override { select(0); }
    static void select(std::int64_t targets) {
        hwy::SetSupportedTargetsForTest(targets);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};

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
