// The vector engine of number/ beside OpenBLAS SGEMM, both on one core, in one run.
//
// The problem is D = A·B of 512 × 512 × 512 with normally distributed inputs: A row-major, B by columns, as a linear
// layer has them, rows padded by a cache line. The engine runs it as a kernel with CTA tiles of 256 × 256 and stages of
// 128 bytes of k does. For each stage it decodes A and B from their raw bits; then each of 16 tiles of 64 × 64 takes
// four instructions of 32 bytes of k (16 of f16, 8 of tf32, 32 of 8-bit types, 64 of 4-bit ones: the size of one
// wgmma.m64n64), with the accumulators in memory: in one call, as a chain, which is how the interpreter runs the wgmmas
// of one accumulator; and, for the ratios that end in _each, in a call for each instruction. All of that is timed.
// SGEMM has the same matrices in f32. Each rate is the median of repetitions that alternate between the two, in time of
// this thread, 2 · m · n · k operations each, integers counted alike.
//
// The second table is mma.sync's size: one m16n8 tile, operands decoded every time.
#include <cblas.h>
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "number/engine.h"
#include "number/recipe.h"

namespace {

using namespace tilepath::number;

constexpr int size = 512, block = 256, tile = 64, tiles = block / tile;
constexpr int stage_bytes = 128, instruction_bytes = 32, instructions = stage_bytes / instruction_bytes;
constexpr int pad_bytes = 64;
constexpr int repetitions = 15;

/// Of this thread, so that other processes count less.
double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double seconds(const std::function<void()>& body) {
    const double start = thread_seconds();
    body();
    return thread_seconds() - start;
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// Rows of `size` elements, each padded.
std::vector<std::uint8_t> encode(const std::vector<float>& values, Format format, int element_bits) {
    const std::size_t width = std::size_t(element_bits), row_bytes = size * width / 8 + pad_bytes;
    const float spread = traits(format).floating ? 1.0f : 40.0f;  // of the integers
    std::vector<std::uint8_t> encoded(size * row_bytes);
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t k = 0; k < size; ++k) {
            const std::uint64_t bits = from_double(values[row * size + k] * spread, format);
            std::uint8_t* const to = encoded.data() + row * row_bytes + k * width / 8;
            if (width < 8)
                *to = std::uint8_t(*to | bits << k * width % 8);
            else
                std::memcpy(to, &bits, width / 8);
        }
    return encoded;
}

/// Between 1/4 and 4, one for each block of k; the padding of a row after them.
std::vector<std::uint8_t> draw_scales(const DotRecipe& r, std::mt19937& random) {
    std::vector<std::uint8_t> scales(size * size);
    for (std::uint8_t& scale : scales)
        scale = std::uint8_t(r.scale == Format::ue8m0 ? 125 + random() % 5 : 0x28 + random() % 32);
    return scales;
}

std::vector<float> pad(const std::vector<float>& values) {
    const std::size_t row = size + pad_bytes / sizeof(float);
    std::vector<float> padded(size * row);
    for (std::size_t i = 0; i < size; ++i) std::copy_n(&values[i * size], size, &padded[i * row]);
    return padded;
}

struct Case {
    std::string name;  ///< of the ratio
    DotRequest request;
};

struct Problem {
    /// `calls`: into how many the instructions of a stage are cut.
    Problem(const Case& c, int calls, const std::vector<float>& a_values, const std::vector<float>& b_values)
        : name(c.name + (calls == 1 ? "" : "_each")),
          steps(calls),
          step_bytes(stage_bytes / calls),
          engine(*recipe(c.request)),
          a(encode(a_values, engine.recipe().a, operand_bits(engine.recipe(), Side::a))),
          b(encode(b_values, engine.recipe().b, operand_bits(engine.recipe(), Side::b))),
          d(size * size),
          row_bytes(size * operand_bits(engine.recipe(), Side::a) / 8 + pad_bytes),
          step(step_bytes * 8 / operand_bits(engine.recipe(), Side::a)) {
        std::mt19937 random(2);
        if (engine.recipe().scaling == Scaling::none) return;
        a_scales = draw_scales(engine.recipe(), random);
        b_scales = draw_scales(engine.recipe(), random);
    }

    void run() {
        for (int i = 0; i < size; i += block)
            for (int j = 0; j < size; j += block) run_block(i, j);
    }

    /// Of a row and a byte of k.
    BlockScales scales_at(const std::vector<std::uint8_t>& scales, int row, int at) const {
        if (scales.empty()) return {};
        const int k = at * 8 / operand_bits(engine.recipe(), Side::a);
        return {scales.data() + row * size + k / engine.recipe().scale_block, size};
    }

    std::uint32_t* tile_at(int y, int x) { return accumulators.data() + (y * tiles + x) * tile * tile; }

    void run_block(int i, int j) {
        std::fill(accumulators.begin(), accumulators.end(), 0);
        for (int at = 0; at < row_bytes - pad_bytes; at += stage_bytes) {
            for (int t = 0; t < tiles; ++t)
                for (int s = 0; s < steps; ++s) {
                    const int from = at + s * step_bytes;
                    engine.prepare(Side::a, &a[std::size_t((i + t * tile) * row_bytes + from)], tile, step, row_bytes,
                                   prepared_a[t][s], scales_at(a_scales, i + t * tile, from));
                    engine.prepare(Side::b, &b[std::size_t((j + t * tile) * row_bytes + from)], tile, step, row_bytes,
                                   prepared_b[t][s], scales_at(b_scales, j + t * tile, from));
                }
            for (int y = 0; y < tiles; ++y)
                for (int x = 0; x < tiles; ++x)
                    for (int s = 0; s < steps; ++s)
                        engine.multiply(prepared_a[y][s], prepared_b[x][s], tile_at(y, x), tile_at(y, x), tile);
        }
        for (int y = 0; y < tiles; ++y)
            for (int x = 0; x < tiles; ++x)
                for (int column = 0; column < tile; ++column)
                    std::copy_n(tile_at(y, x) + column * tile, tile,
                                &d[std::size_t((j + x * tile + column) * size + i + y * tile)]);
    }

    std::string name;
    int steps, step_bytes;  ///< calls for a stage, and the bytes of k of each
    TileEngine engine;
    std::vector<std::uint8_t> a, b, a_scales, b_scales;
    std::vector<std::uint32_t> d;                                                         ///< by columns
    std::vector<std::uint32_t> accumulators = std::vector<std::uint32_t>(block * block);  ///< tile by tile
    int row_bytes, step;                                                               ///< step: elements of k per call
    PreparedOperand prepared_a[tiles][instructions], prepared_b[tiles][instructions];  ///< of one stage
    std::vector<double> times;                                                         ///< seconds
};

std::string describe(const DotRecipe& r, int calls = 1) {
    const std::string scales =
        r.scaling == Scaling::none ? "" : fmt::format(", {} of {}", traits(r.scale).name, r.scale_block);
    const std::string types =
        fmt::format("{} x {} -> {}{}", traits(r.a).name, traits(r.b).name, traits(r.d).name, scales);
    const std::string each = calls == 1 ? "" : ", each";
    return r.group_length ? fmt::format("{}, groups of {}, F = {}{}", types, r.group_length, r.fraction_bits, each)
                          : types + each;
}

/// Nanoseconds of one m16n8 instruction, decoding included, and of its multiplication alone.
std::pair<double, double> mma_nanoseconds(Problem& p) {
    const int calls = 20000;
    PreparedOperand a, b;
    const auto multiply = [&] { p.engine.multiply(a, b, p.d.data(), p.d.data(), 16); };
    const auto whole = [&] {
        p.engine.prepare(Side::a, p.a.data(), 16, p.step, p.row_bytes, a, p.scales_at(p.a_scales, 0, 0));
        p.engine.prepare(Side::b, p.b.data(), 8, p.step, p.row_bytes, b, p.scales_at(p.b_scales, 0, 0));
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
    constexpr int row = size + pad_bytes / 4;
    const std::vector<float> padded_a = pad(a), padded_b = pad(b);
    const auto sgemm = [&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, size, size, size, 1.0f, padded_a.data(), row,
                    padded_b.data(), row, 0.0f, d.data(), size);
    };

    const auto ampere = Generation::ampere, hopper = Generation::hopper, blackwell = Generation::blackwell;
    const auto tcgen05 = Instruction::tcgen05_mma;
    const auto e4m3 = Format::e4m3, e2m1 = Format::e2m1;
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
             {"engine/sgemm_s8", {.device = ampere, .a = Format::s8, .b = Format::s8, .d = Format::s32}},
             {"engine/sgemm_f8f6f4_sm_100",
              {.device = blackwell, .instruction = tcgen05, .a = e4m3, .b = e4m3, .d = f32}},
             {"engine/sgemm_mxf8f6f4_sm_100",
              {.device = blackwell,
              .instruction = tcgen05,
              .a = e4m3,
              .b = e4m3,
              .d = f32,
              .scaling = Scaling::per_dot}},
             {"engine/sgemm_mxf4_sm_100",
              {.device = blackwell,
              .instruction = tcgen05,
              .a = e2m1,
              .b = e2m1,
              .d = f32,
              .scaling = Scaling::per_group}},
             {"engine/sgemm_nvf4_sm_100",
              {.device = blackwell,
              .instruction = tcgen05,
              .a = e2m1,
              .b = e2m1,
              .d = f32,
              .scaling = Scaling::per_group,
              .scale = Format::ue4m3,
              .scale_block = 16}}})
        for (const int calls : {1, instructions}) problems.emplace_back(c, calls, a, b);

    sgemm();
    for (Problem& p : problems) p.run();
    std::vector<double> sgemm_times;
    for (int i = 0; i < repetitions; ++i)
        for (Problem& p : problems) {
            sgemm_times.push_back(seconds(sgemm));
            p.times.push_back(seconds([&] { p.run(); }));
        }

    const double operations = 2e-9 * size * size * size;
    const double sgemm_rate = operations / median(sgemm_times);
    fmt::print("{} x {} x {}, one core; OpenBLAS runs its {} kernels\n", size, size, size, openblas_get_corename());
    fmt::print("{:<46}{:>10}{:>10}\n", "", "GFLOP/s", "of SGEMM");
    fmt::print("{:<46}{:>10.1f}\n", "SGEMM", sgemm_rate);
    for (const Problem& p : problems) {
        const double rate = operations / median(p.times);
        fmt::print("{:<46}{:>10.1f}{:>10.3f}\n", describe(p.engine.recipe(), p.steps), rate, rate / sgemm_rate);
    }
    fmt::print("\n{:<46}{:>10}{:>10}\n", "one m16n8 tile, 32 bytes of k", "ns", "multiply");
    for (Problem& p : problems) {
        if (p.steps == 1) continue;
        const auto [whole, multiply] = mma_nanoseconds(p);
        fmt::print("{:<46}{:>10.0f}{:>10.0f}\n", describe(p.engine.recipe()), whole, multiply);
    }
    fmt::print("\n");
    for (const Problem& p : problems)
        fmt::print("ratio {} {:.3f}\n", p.name, operations / median(p.times) / sgemm_rate);
}
