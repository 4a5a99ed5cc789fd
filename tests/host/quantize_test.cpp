// The quantisers of kernels/quantize.cuh, on this CPU, against plain arithmetic: the scale of each block from its
// largest magnitude, each element the nearest of its format's values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "host/job.h"
#include "isa/build.h"
#include "kernels/modules.h"
#include "kernels/quantize.cuh"
#include "number/conversion.h"
#include "ptx/read.h"

namespace tilepath::host {
namespace {

using number::Format;

struct Case {
    const char* entry;
    Format element, scale;
    int block;
    double largest;
};
const Case cases[] = {{"quantize_mxf8", Format::e4m3, Format::ue8m0, 32, 448},
                      {"quantize_mxf4", Format::e2m1, Format::ue8m0, 32, 6},
                      {"quantize_nvf4", Format::e2m1, Format::ue4m3, 16, 6}};

constexpr int rows = 5, k = 150, atoms_along_k = 4;  // for blocks of 16: 10 of 16; of 32: 5 of 16

/// The value of the format nearest to x, of two as near the even one; what is beyond the largest becomes the largest.
std::uint32_t nearest(double x, Format format, std::uint32_t codes) {
    std::uint32_t best = 0;
    double best_distance = INFINITY;
    for (std::uint32_t code = 0; code < codes; ++code) {
        const double value = number::to_double(code, format);
        if (!std::isfinite(value) || (std::signbit(value) != std::signbit(x))) continue;
        const double distance = std::abs(value - x);
        if (distance < best_distance || (distance == best_distance && code % 2 == 0))
            best = code, best_distance = distance;
    }
    return best;
}

std::uint32_t expected_scale(const Case& test, float magnitude) {
    const float exact = magnitude / static_cast<float>(test.largest);
    if (test.scale == Format::ue4m3) return nearest(static_cast<double>(exact), Format::e4m3, 127);
    if (exact == 0) return 0;
    int exponent = 0;  // exact = f 2^exponent, f in [1/2, 1)
    const float f = std::frexp(exact, &exponent);
    return static_cast<std::uint32_t>(std::max(0, (f == 0.5f ? exponent - 1 : exponent) + 127));
}

/// Rows of all magnitudes, a block of zeros, and the largest element at both signs.
std::vector<float> inputs() {
    std::mt19937 random(4);
    std::normal_distribution<float> normal;
    std::vector<float> x;
    for (int i = 0; i < rows * k; ++i)
        x.push_back(i % k / 32 == 1 && i / k == 2 ? 0.0f : std::ldexp(normal(random), i / k * 30 - 60));
    x[0] = 448, x[40] = -6;
    return x;
}

Job job_of(const Case& test, const char* module_name, const char* arch) {
    auto module = ptx::read(Source(std::string(module_name) + ".ptx", std::string(kernels::module_text(module_name))));
    EXPECT_TRUE(module);
    auto program = isa::build(*module, test.entry);
    EXPECT_TRUE(program) << to_string(program.error());
    const auto buffer = [](const char* name, const char* dtype, std::size_t bytes) {
        Buffer out;
        out.name = name;
        out.dtype = *dtype_named(dtype);
        out.bytes.assign(bytes, 0xA5);
        out.shape = {static_cast<std::int64_t>(bytes * 8) / out.dtype.bits};
        return out;
    };
    const std::vector<float> x = inputs();
    Job job;
    job.ptx = module->source;
    job.arch = arch;
    job.buffers = {buffer("x", "f32", x.size() * 4), buffer("elements", "u8", rows * 160),
                   buffer("scales", "u8", std::size_t{atoms_along_k} * 512)};
    std::memcpy(job.buffers[0].bytes.data(), x.data(), x.size() * 4);
    Launch launch;
    launch.entry = test.entry;
    launch.program = std::make_shared<program::Program>(std::move(*program));
    const kernels::QuantizeConfig config;
    launch.shape.grid = {static_cast<std::uint32_t>(atoms_along_k * 4 * test.block / config.warp_k),
                         static_cast<std::uint32_t>(128 / config.warps), 1};
    launch.shape.block = {static_cast<std::uint32_t>(config.threads()), 1, 1};
    kernels::QuantizeParameters p;
    p.rows = rows, p.k = k, p.ldx = k, p.row_bytes = 160, p.atoms_along_k = atoms_along_k;
    launch.parameters.resize(sizeof p);
    std::memcpy(launch.parameters.data(), &p, sizeof p);
    launch.addresses = {{0, 0, 0}, {8, 1, 0}, {16, 2, 0}};
    job.launches = {launch};
    return job;
}

void run(const Case& test, const char* module, const char* arch) {
    SCOPED_TRACE(std::string(test.entry) + " of " + module);
    const auto outcome = run_on_cpu(job_of(test, module, arch), {});
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    ASSERT_TRUE(outcome->ok());
    const std::vector<float> x = inputs();
    const std::vector<std::uint8_t>&elements = outcome->buffers[1], &scales = outcome->buffers[2];
    const bool nibbles = test.element == Format::e2m1;
    for (int row = 0; row < rows; ++row)
        for (int first = 0; first < k; first += test.block) {
            float magnitude = 0;
            for (int i = first; i < std::min(k, first + test.block); ++i)
                magnitude = std::max(magnitude, std::abs(x[static_cast<std::size_t>(row * k + i)]));
            const std::uint32_t code = expected_scale(test, magnitude);
            const auto at = static_cast<std::size_t>(kernels::scale_position(row, first / test.block, atoms_along_k));
            ASSERT_EQ(scales[at], code) << "row " << row << ", k " << first;
            const auto scale = static_cast<float>(number::to_double(code, test.scale));
            for (int i = first; i < std::min(k, first + test.block); ++i) {
                const float value = x[static_cast<std::size_t>(row * k + i)];
                // Division by a power of two is exact; by ue4m3 it is rounded once before the element is.
                const float quotient = scale == 0 ? std::copysign(0.0f, 0.0f) : value / scale;
                const std::uint8_t byte = elements[static_cast<std::size_t>(row * 160 + (nibbles ? i / 2 : i))];
                const std::uint32_t got = nibbles ? byte >> i % 2 * 4 & 15u : byte;
                ASSERT_EQ(got, nearest(static_cast<double>(quotient), test.element, nibbles ? 16 : 256))
                    << "row " << row << ", k " << i << ": " << value << " / " << scale;
            }
        }
    // Scales of the atoms beyond x are zeros.
    EXPECT_EQ(scales[static_cast<std::size_t>(kernels::scale_position(rows, 0, atoms_along_k))], 0);
    EXPECT_EQ(scales[static_cast<std::size_t>(kernels::scale_position(127, 15, atoms_along_k))], 0);
}

TEST(Quantize, IsTheNearestOfEachBlock) {
    for (const Case& test : cases) {
        run(test, "blackwell_quantize", "sm_100a");
        run(test, "rtx_quantize", "sm_120a");
    }
}

}  // namespace
}  // namespace tilepath::host
