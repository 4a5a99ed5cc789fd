// The vector engine of number/ beside OpenBLAS SGEMM, both on one core, in one run.
//
// The problem is D = A·B of 512 × 512 × 512 with normally distributed inputs: A row-major, B by columns, as a linear
// layer has them. The engine runs it the way an interpreter does, instruction by instruction: for each 64 × 256 tile
// of D and each step along k (32 bytes of a row: 16 of f16, 8 of tf32, 32 of 8-bit types; the shape of one wgmma) both
// operands are decoded from their raw bits, multiplied, and added to D in memory. All of that is timed. SGEMM has the
// same matrices in f32. Each rate is the median of repetitions that alternate between the two, 2 · m · n · k operations
// each, integers counted alike.
//
// The second table is mma.sync's size: one m16n8 tile, operands decoded every time.
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "number/engine.h"
#include "number/recipe.h"

namespace {

using namespace tilepath::number;

constexpr int size = 512, tile_m = 64, tile_n = 256;
constexpr int repetitions = 15;

double seconds(const std::function<void()>& body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// Row-major, packed.
std::vector<std::uint8_t> encode(const std::vector<float>& values, Format format) {
    const std::size_t bytes = std::size_t(operand_bits(format)) / 8;
    std::vector<std::uint8_t> packed(values.size() * bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float spread = traits(format).floating ? 1.0f : 40.0f;  // of the integers
        const std::uint64_t bits = from_double(values[i] * spread, format);
        std::copy_n(reinterpret_cast<const std::uint8_t*>(&bits), bytes, packed.data() + i * bytes);
    }
    return packed;
}

struct Case {
    std::string name;  ///< of the ratio
    DotRequest request;
};

struct Problem {
    explicit Problem(const Case& c, const std::vector<float>& a_values, const std::vector<float>& b_values)
        : name(c.name),
          engine(*recipe(c.request)),
          a(encode(a_values, engine.recipe().a)),
          b(encode(b_values, engine.recipe().b)),
          d(std::size_t(size) * size) {}

    void run() {
        const int step_bytes = 32, row_bytes = size * operand_bits(engine.recipe().a) / 8;
        const int step = step_bytes * 8 / operand_bits(engine.recipe().a);
        std::fill(d.begin(), d.end(), 0);
        for (int i = 0; i < size; i += tile_m)
            for (int j = 0; j < size; j += tile_n)
                for (int at = 0; at < row_bytes; at += step_bytes) {
                    engine.prepare(Side::a, a.data() + i * row_bytes + at, tile_m, step, row_bytes, prepared_a);
                    engine.prepare(Side::b, b.data() + j * row_bytes + at, tile_n, step, row_bytes, prepared_b);
                    std::uint32_t* const tile = d.data() + i + j * size;
                    engine.multiply(prepared_a, prepared_b, tile, tile, size);
                }
    }

    std::string name;
    TileEngine engine;
    std::vector<std::uint8_t> a, b;
    std::vector<std::uint32_t> d;  ///< by columns
    PreparedOperand prepared_a, prepared_b;
    std::vector<double> times;
};

std::string describe(const DotRecipe& r) {
    const std::string types = fmt::format("{} x {} -> {}", traits(r.a).name, traits(r.b).name, traits(r.d).name);
    return r.group_length ? fmt::format("{}, groups of {}, F = {}", types, r.group_length, r.fraction_bits) : types;
}

/// Nanoseconds of one m16n8 instruction, decoding included, and of its multiplication alone.
std::pair<double, double> mma_nanoseconds(Problem& p, int elements) {
    const int calls = 20000, row_bytes = elements * operand_bits(p.engine.recipe().a) / 8;
    const auto multiply = [&] { p.engine.multiply(p.prepared_a, p.prepared_b, p.d.data(), p.d.data(), 16); };
    const auto whole = [&] {
        p.engine.prepare(Side::a, p.a.data(), 16, elements, row_bytes, p.prepared_a);
        p.engine.prepare(Side::b, p.b.data(), 8, elements, row_bytes, p.prepared_b);
        multiply();
    };
    std::vector<double> with, without;
    for (int i = 0; i < repetitions; ++i) {
        with.push_back(seconds([&] {
            for (int call = 0; call < calls; ++call) whole();
        }));
        without.push_back(seconds([&] {
            for (int call = 0; call < calls; ++call) multiply();
        }));
    }
    return {median(with) / calls * 1e9, median(without) / calls * 1e9};
}

}  // namespace

int main() {
    openblas_set_num_threads(1);
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> a(std::size_t(size) * size), b(a.size()), d(a.size());
    for (float& value : a) value = normal(random);
    for (float& value : b) value = normal(random);
    const auto sgemm = [&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, size, size, size, 1.0f, a.data(), size, b.data(), size,
                    0.0f, d.data(), size);
    };

    const auto ampere = Generation::ampere, hopper = Generation::hopper;
    const auto f32 = Format::f32;
    std::vector<Problem> problems;
    for (const Case& c : std::vector<Case>{
             {"engine/sgemm_f16_sm_80", {.device = ampere, .a = Format::f16, .b = Format::f16, .d = f32}},
             {"engine/sgemm_bf16_sm_80", {.device = ampere, .a = Format::bf16, .b = Format::bf16, .d = f32}},
             {"engine/sgemm_tf32_sm_80", {.device = ampere, .a = Format::tf32, .b = Format::tf32, .d = f32}},
             {"engine/sgemm_f16_sm_90", {.device = hopper, .a = Format::f16, .b = Format::f16, .d = f32}},
             {"engine/sgemm_bf16_sm_90", {.device = hopper, .a = Format::bf16, .b = Format::bf16, .d = f32}},
             {"engine/sgemm_tf32_sm_90", {.device = hopper, .a = Format::tf32, .b = Format::tf32, .d = f32}},
             {"engine/sgemm_e4m3_sm_90",
              {.device = hopper, .instruction = Instruction::wgmma, .a = Format::e4m3, .b = Format::e4m3, .d = f32}},
             {"engine/sgemm_s8", {.device = ampere, .a = Format::s8, .b = Format::s8, .d = Format::s32}}})
        problems.emplace_back(c, a, b);

    sgemm();
    for (Problem& p : problems) p.run();
    std::vector<double> sgemm_times;
    for (int i = 0; i < repetitions; ++i)
        for (Problem& p : problems) {
            sgemm_times.push_back(seconds(sgemm));
            p.times.push_back(seconds([&] { p.run(); }));
        }

    const double giga_operations = 2e-9 * size * size * size;
    const double sgemm_rate = giga_operations / median(sgemm_times);
    fmt::print("{} x {} x {}, one core; OpenBLAS runs its {} kernels\n", size, size, size, openblas_get_corename());
    fmt::print("{:<44}{:>10}{:>10}\n", "", "GFLOP/s", "of SGEMM");
    fmt::print("{:<44}{:>10.1f}{:>10.2f}\n", "SGEMM", sgemm_rate, 1.0);
    for (const Problem& p : problems) {
        const double rate = giga_operations / median(p.times);
        fmt::print("{:<44}{:>10.1f}{:>10.2f}\n", describe(p.engine.recipe()), rate, rate / sgemm_rate);
    }
    fmt::print("\none m16n8 tile, 32 bytes of k\n{:<44}{:>10}{:>12}{:>10}\n", "", "ns", "multiply ns", "GFLOP/s");
    for (Problem& p : problems) {
        const int elements = 256 / operand_bits(p.engine.recipe().a);
        const auto [whole, multiply] = mma_nanoseconds(p, elements);
        fmt::print("{:<44}{:>10.0f}{:>12.0f}{:>10.1f}\n", describe(p.engine.recipe()), whole, multiply,
                   2.0 * 16 * 8 * elements / whole);
    }
    fmt::print("\n");
    for (const Problem& p : problems)
        fmt::print("ratio {} {:.3f}\n", p.name, giga_operations / median(p.times) / sgemm_rate);
}
