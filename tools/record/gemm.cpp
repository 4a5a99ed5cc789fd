// Records what a GPU makes of the GEMMs of kernels/, through the CUDA driver alone: the driver compiles the very PTX
// that is in the tree.
//
//     gemm record    one line for each entry and case, as tests/vectors/gemm_h200.txt has them
//     gemm check     the same cases against a product in double precision
//     gemm time      TFLOP/s at M = N = K = 4096, without tensor cores for `tn` alone
//
// Run from the root of the repository. Needs cuda.h and libcuda only.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "../../kernels/ampere/gemm_config.h"
#include "../../kernels/epilogue.h"
#include "../../kernels/inputs.h"
#include "driver.h"

using namespace tilepath::kernels;

namespace {

using driver::must;

struct Case {
    int m, n, k;
    int pad;     // every leading dimension is the contiguous extent plus this
    int offset;  // A and B begin this many elements into their buffers
    float alpha, beta;
};

// Ragged in every direction, aligned and not, K below, at and above a stage and the whole ring of stages, and K = 0.
constexpr Case cases[] = {
    {1, 1, 1, 0, 0, 1, 0},         {1, 1, 0, 0, 0, 1, 1},        {2, 2, 300, 0, 0, 1, 0},
    {7, 17, 3, 1, 1, 1, 0},        {17, 7, 31, 0, 0, -1, 0.5f},  {16, 8, 16, 0, 0, 1, 0},
    {64, 64, 32, 0, 0, 1, 1},      {128, 128, 32, 0, 0, 1, 0},   {128, 128, 128, 16, 16, 1, 0},
    {129, 127, 33, 0, 0, 1, 1},    {1, 300, 64, 0, 0, 1, 0},     {300, 1, 65, 3, 0, 1, 0},
    {130, 66, 100, 0, 0, 2, 0},    {255, 257, 40, 0, 0, 1, 0},   {31, 33, 257, 7, 0, 1, 3},
    {96, 200, 144, 0, 0, 1, 0},    {128, 256, 96, 0, 0, 1, 1},   {200, 136, 48, 8, 0, 0.75f, 0},
    {5, 129, 129, 7, 1, 1, 1},     {127, 128, 129, 16, 0, 1, 0}, {64, 160, 15, 1, 0, 1, -2},
    {140, 102, 300, 10, 16, 1, 0}, {300, 300, 17, 0, 0, 1, 0},   {33, 64, 224, 0, 0, 0, 1},
};

double value(GemmType type, const std::uint8_t* at) {
    std::uint32_t u = 0;
    std::memcpy(&u, at, element_bytes(type));
    const auto f32 = [](std::uint32_t x) { return double{std::bit_cast<float>(x)}; };
    switch (type) {
        case GemmType::f16: {
            const int exponent = u >> 10 & 31, significand = u & 1023;
            const double sign = u >> 15 ? -1 : 1;
            if (exponent == 31) return significand ? NAN : sign * INFINITY;
            return sign * (exponent ? std::ldexp(1024 + significand, exponent - 25) : std::ldexp(significand, -24));
        }
        case GemmType::bf16: return f32(u << 16);
        case GemmType::tf32: return f32(u & 0xFFFFE000);
        case GemmType::f32: return f32(u);
        case GemmType::e4m3:
        case GemmType::e5m2:
        case GemmType::e2m3:
        case GemmType::e3m2:
        case GemmType::e2m1: break;  // no kernel of Ampere's
        case GemmType::s8: return static_cast<std::int8_t>(u);
        case GemmType::s32: return static_cast<std::int32_t>(u);
    }
    return 0;
}

std::vector<std::uint8_t> filled(GemmType type, std::size_t count, std::uint64_t seed, InputOperand operand) {
    std::vector<std::uint8_t> bytes(count * element_bytes(type));
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bits = input_element(type, input_bits(seed, operand, i));
        std::memcpy(&bytes[i * element_bytes(type)], &bits, element_bytes(type));
    }
    return bytes;
}

struct Buffer {
    CUdeviceptr address = 0;
    std::size_t bytes;
    explicit Buffer(const std::vector<std::uint8_t>& data) : bytes(data.size()) {
        must(cuMemAlloc(&address, std::max<std::size_t>(bytes, 16)), "cuMemAlloc");
        if (bytes > 0) must(cuMemcpyHtoD(address, data.data(), bytes), "cuMemcpyHtoD");
    }
    Buffer(const Buffer&) = delete;
    ~Buffer() { cuMemFree(address); }
};

// One entry over one case: its buffers on both sides, and the launch.
struct Run {
    const GemmEntry& entry;
    GemmParameters p;
    int a_rows, b_rows, offset;
    std::vector<std::uint8_t> a, b, c, bias, d;

    Run(const GemmEntry& e, const Case& of, std::uint64_t seed) : entry(e), offset(of.offset) {
        p.m = of.m, p.n = of.n, p.k = of.k;
        a_rows = e.a == 't' ? of.m : of.k, p.lda = (e.a == 't' ? of.k : of.m) + of.pad;
        b_rows = e.b == 't' ? of.k : of.n, p.ldb = (e.b == 't' ? of.n : of.k) + of.pad;
        p.ldc = p.ldd = of.n + of.pad;
        if (e.output == GemmType::s32) {
            p.alpha = static_cast<std::int32_t>(of.alpha), p.beta = static_cast<std::int32_t>(of.beta);
        } else {
            p.alpha = std::bit_cast<std::uint32_t>(of.alpha), p.beta = std::bit_cast<std::uint32_t>(of.beta);
        }
        const std::size_t d_count = static_cast<std::size_t>(of.m) * p.ldd;
        a = filled(e.input, of.offset + static_cast<std::size_t>(a_rows) * p.lda, seed, InputOperand::a);
        b = filled(e.input, of.offset + static_cast<std::size_t>(b_rows) * p.ldb, seed, InputOperand::b);
        c = filled(e.output, d_count, seed, InputOperand::c);
        bias = filled(GemmType::f32, of.n, seed, InputOperand::bias);
        d.assign(d_count * element_bytes(e.output), 0xA5);
    }

    float launch(CUfunction function, int repeats) {
        Buffer da(a), db(b), dc(c), dbias(bias), dd(d);
        p.a = da.address + offset * element_bytes(entry.input), p.b = db.address + offset * element_bytes(entry.input);
        p.c = dc.address, p.d = dd.address, p.bias = dbias.address;
        void* arguments[std::size(gemm_parameter_offsets)];
        for (std::size_t i = 0; i < std::size(gemm_parameter_offsets); ++i) {
            arguments[i] = reinterpret_cast<char*>(&p) + gemm_parameter_offsets[i];
        }
        const GemmConfig tensor = gemm_config(entry.input);
        const SimtConfig simt;
        const int tile_m = entry.simt ? simt.cta_m : tensor.cta_m, tile_n = entry.simt ? simt.cta_n : tensor.cta_n;
        CUevent begin, end;
        must(cuEventCreate(&begin, 0), "cuEventCreate"), must(cuEventCreate(&end, 0), "cuEventCreate");
        for (int i = 0; i < repeats; ++i) {
            if (i == repeats / 3) must(cuEventRecord(begin, nullptr), "cuEventRecord");
            must(cuLaunchKernel(function, (p.n + tile_n - 1) / tile_n, (p.m + tile_m - 1) / tile_m, 1,
                                entry.simt ? simt.threads() : tensor.threads(), 1, 1,
                                entry.simt ? 0 : tensor.dynamic_shared_bytes(), nullptr, arguments, nullptr),
                 std::string(entry.name));
        }
        must(cuEventRecord(end, nullptr), "cuEventRecord");
        must(cuEventSynchronize(end), std::string(entry.name));
        float milliseconds = 0;
        must(cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
        must(cuMemcpyDtoH(d.data(), dd.address, d.size()), "cuMemcpyDtoH");
        return milliseconds / (repeats - repeats / 3);
    }

    // A by rows, B by columns, as real numbers.
    std::vector<double> a_values() const {
        std::vector<double> values;
        for (int m = 0; m < p.m; ++m) {
            for (int k = 0; k < p.k; ++k) {
                const std::size_t i =
                    offset + (entry.a == 't' ? std::size_t(m) * p.lda + k : std::size_t(k) * p.lda + m);
                values.push_back(value(entry.input, &a[i * element_bytes(entry.input)]));
            }
        }
        return values;
    }
    std::vector<double> b_values() const {
        std::vector<double> values;
        for (int n = 0; n < p.n; ++n) {
            for (int k = 0; k < p.k; ++k) {
                const std::size_t i =
                    offset + (entry.b == 't' ? std::size_t(k) * p.ldb + n : std::size_t(n) * p.ldb + k);
                values.push_back(value(entry.input, &b[i * element_bytes(entry.input)]));
            }
        }
        return values;
    }

    // The largest error, in units of 2^-18 of the sum of all magnitudes, or of one unit in the last place of a 16-bit
    // D.
    double worst_error() const {
        double worst = 0;
        const int bytes = element_bytes(entry.output);
        const std::vector<double> av = a_values(), bv = b_values();
        for (int m = 0; m < p.m; ++m) {
            for (int n = 0; n < p.ldd; ++n) {
                const std::size_t at = static_cast<std::size_t>(m) * p.ldd + n;
                if (n >= p.n) {
                    for (int i = 0; i < bytes; ++i) worst = d[at * bytes + i] == 0xA5 ? worst : INFINITY;
                    continue;
                }
                double sum = 0, magnitude = 0;
                for (int k = 0; k < p.k; ++k) {
                    const double product = av[std::size_t(m) * p.k + k] * bv[std::size_t(n) * p.k + k];
                    sum += product, magnitude += std::fabs(product);
                }
                const double got = value(entry.output, &d[at * bytes]);
                const double old = value(entry.output, &c[at * bytes]);
                if (entry.output == GemmType::s32) {
                    const auto exact = static_cast<std::uint32_t>(static_cast<std::int64_t>(sum)) * p.alpha +
                                       static_cast<std::uint32_t>(static_cast<std::int32_t>(old)) * p.beta;
                    if (static_cast<std::int32_t>(exact) != static_cast<std::int32_t>(got)) worst = INFINITY;
                    continue;
                }
                const double alpha = std::bit_cast<float>(p.alpha), beta = std::bit_cast<float>(p.beta);
                double expected = alpha * sum + (beta == 0 ? 0 : beta * old);
                magnitude = std::fabs(alpha) * magnitude + std::fabs(beta * old);
                if (entry.linear) {
                    const double bias_value = value(GemmType::f32, &bias[n * 4]);
                    expected += bias_value, magnitude += std::fabs(bias_value);
                    expected = expected * 0.5 * std::erfc(-expected / std::sqrt(2.0));
                    magnitude += 1e-6 * 0x1p18;
                }
                double unit = magnitude * 0x1p-18 + 1e-30;
                if (entry.output == GemmType::f16) unit += std::fabs(expected) * 0x1p-11 + 0x1p-25;
                if (entry.output == GemmType::bf16) unit += std::fabs(expected) * 0x1p-8;
                if (entry.output == GemmType::f16 && std::fabs(expected) > 65000) continue;
                const double error = std::fabs(got - expected) / unit;
                worst = error <= worst ? worst : error;  // NaN counts
            }
        }
        return worst;
    }
};

}  // namespace

int main(int argc, char** argv) {
    const std::string mode = argc == 2 ? argv[1] : "";
    if (mode != "record" && mode != "check" && mode != "time") {
        std::fprintf(stderr, "gemm record|check|time, from the root of the repository\n");
        return 2;
    }
    driver::use_first_device();
    bool good = true;
    for (const GemmEntry& entry : gemm_entries) {
        CUfunction function = driver::entry_of("kernels/ampere/" + std::string(entry.module) + ".ptx", entry.name,
                                               entry.simt ? 0 : gemm_config(entry.input).dynamic_shared_bytes());
        if (mode == "time") {
            if (entry.simt && (entry.linear || entry.a != 't' || entry.b != 'n')) continue;
            const float milliseconds = Run(entry, {4096, 4096, 4096, 0, 0, 1, 0}, 1).launch(function, 12);
            std::printf("%-32s %8.3f ms %8.1f TFLOP/s\n", entry.name.data(), milliseconds,
                        2 * 4096.0 * 4096 * 4096 / milliseconds * 1e-9);
            continue;
        }
        std::uint64_t seed = 0;
        double worst = 0;
        for (const Case& one : cases) {
            Run run(entry, one, ++seed);
            run.launch(function, 1);
            if (mode == "record") {
                std::printf("%s %d %d %d %d %d %08x %08x %d %016llx\n", entry.name.data(), one.m, one.n, one.k, one.pad,
                            one.offset, run.p.alpha, run.p.beta, static_cast<int>(seed),
                            static_cast<unsigned long long>(driver::fnv1a(run.d)));
            } else {
                const double error = run.worst_error();
                if (!(error <= 1)) std::printf("    %dx%dx%d: %g\n", one.m, one.n, one.k, error);
                worst = error <= worst ? worst : error;
            }
        }
        if (mode == "check") std::printf("%-32s largest error %g\n", entry.name.data(), worst);
        good &= worst <= 1;
    }
    return good ? 0 : 1;
}
