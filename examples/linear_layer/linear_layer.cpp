// One linear layer, Y = GELU(X Wᵀ + b), on each generation of Tensor Cores: the forward product and both gradients of
// its linear part, each by one GEMM of kernels/, each compared with plain loops.
//
//     forward            Y  = GELU(X Wᵀ + b)     A = X, B = Wᵀ: both contiguous along k (the layer's inputs)    tn
//     input gradient     dX = dZ W               A = dZ contiguous along k, B = W along n                     tt
//     weight gradient    dW = dZᵀ X              A = dZᵀ contiguous along m, B = X along n                    nt
//
// No operand is transposed in memory: each generation reads the other layouts in its own way (ldmatrix.trans, wgmma's
// and tcgen05's descriptors).
//
// linear_layer [KERNELS]: the folder with the PTX; `kernels` unless told. The exit status says whether all was right.
#include <tilepath/tilepath.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/ampere/gemm_config.h"
#include "kernels/blackwell/gemm_config.h"
#include "kernels/hopper/gemm_config.h"

namespace {

using namespace tilepath;
using kernels::GemmType;

constexpr int tokens = 96, inputs = 72, outputs = 160;

[[noreturn]] void give_up(const Diagnostics& why) {
    std::fprintf(stderr, "%s\n", to_string(why).c_str());
    std::exit(2);
}
template <class T>
T value_of(Result<T> result) {
    if (!result) give_up(result.error());
    return std::move(*result);
}
void require(const Result<void>& result) {
    if (!result) give_up(result.error());
}

/// f16 elements that are multiples of 1/8 up to 1: their products are exact, and so are sums of thousands of them.
struct Matrix {
    int rows, columns;
    std::vector<std::uint16_t> bits;

    Matrix(int rows_, int columns_, unsigned seed) : rows(rows_), columns(columns_) {
        for (int i = 0; i < rows * columns; ++i) {
            seed = seed * 1664525u + 1013904223u;
            bits.push_back(static_cast<std::uint16_t>(value_of(encode(value(seed), "f16"))));
        }
    }
    static double value(unsigned seed) { return static_cast<int>(seed >> 24) % 17 / 8.0 - 1; }
    double at(int row, int column) const {
        return value_of(decode(bits[static_cast<std::size_t>(row * columns + column)], "f16"));
    }
};

struct Layer {
    Matrix x{tokens, inputs, 1}, w{outputs, inputs, 2}, dz{tokens, outputs, 3};
    std::vector<float> bias;

    Layer() {
        for (int n = 0; n < outputs; ++n) bias.push_back(static_cast<float>(n % 9 - 4) / 4);
    }
};

/// One product of the layer: which matrices are A and B, and as what layout the GEMMs see them.
struct Product {
    const char* name;
    const Matrix& a;
    const Matrix& b;
    char a_layout, b_layout;
    int m, n, k;
    bool linear;  ///< with bias and GELU

    double at(int row, int column) const {  ///< of A B
        double sum = 0;
        for (int i = 0; i < k; ++i)
            sum +=
                (a_layout == 't' ? a.at(row, i) : a.at(i, row)) * (b_layout == 'n' ? b.at(column, i) : b.at(i, column));
        return sum;
    }
    std::string entry(const char* prefix) const {
        return std::string(prefix) + "_f16_" + a_layout + b_layout + (linear ? "_linear" : "");
    }
};

struct Memory {
    DevicePointer a, b, d, bias;
};

Result<LaunchReport> launch_ampere(Gpu& gpu, const std::string& folder, const Product& p, const Memory& in) {
    const auto module = value_of(Module::read(folder + "/ampere/gemm_f16.ptx"));
    const auto config = kernels::gemm_config(GemmType::f16);
    const auto tiles = [](int extent, int tile) { return static_cast<std::uint32_t>((extent + tile - 1) / tile); };
    const LaunchShape shape{.grid = {tiles(p.n, config.cta_n), tiles(p.m, config.cta_m), 1},
                            .block = {static_cast<std::uint32_t>(config.threads())},
                            .dynamic_shared_bytes = static_cast<std::uint32_t>(config.dynamic_shared_bytes())};
    return gpu.launch(
        module, p.entry("gemm"), shape,
        {in.a, in.b, DevicePointer{}, in.d, in.bias, p.m, p.n, p.k, p.a.columns, p.b.columns, p.n, p.n, 1.0f, 0.0f});
}

/// A tensor of one matrix in boxes of 128 bytes and so many rows.
Argument map_of(const char* dtype, DevicePointer address, int rows, int columns, int bytes, int box_rows) {
    const auto pitch = static_cast<std::uint64_t>(columns * bytes);
    return value_of(
        argument(TensorMap{.dtype = dtype,
                           .address = address,
                           .dims = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows), 1},
                           .strides = {pitch, pitch * static_cast<std::uint64_t>(rows)},
                           .box = {static_cast<std::uint32_t>(128 / bytes), static_cast<std::uint32_t>(box_rows), 1},
                           .swizzle = "128B"}));
}

/// Hopper's and Blackwell's kernels, which read and write through tensor maps.
template <class Config>
Result<LaunchReport> launch_tma(Gpu& gpu, const std::string& module_path, const std::string& entry,
                                const Config& config, int b_rows, int d_rows, const Product& p, const Memory& in) {
    const auto module = value_of(Module::read(module_path));
    const int mn_rows = config.cta_k();  // of a box whose rows are k
    kernels::TmaParameters parameters;
    parameters.bias = in.bias.address;
    parameters.m = p.m, parameters.n = p.n, parameters.k = p.k;
    const auto cluster = static_cast<std::uint32_t>(config.cluster_m);
    const LaunchShape shape{.grid = {2 * cluster},
                            .block = {static_cast<std::uint32_t>(config.threads())},
                            .dynamic_shared_bytes = static_cast<std::uint32_t>(config.dynamic_shared_bytes()),
                            .cluster = {cluster}};
    return gpu.launch(module, entry, shape,
                      {map_of("f16", in.a, p.a.rows, p.a.columns, 2, p.a_layout == 't' ? config.cta_m : mn_rows),
                       map_of("f16", in.b, p.b.rows, p.b.columns, 2, p.b_layout == 'n' ? b_rows : mn_rows),
                       map_of("f32", in.d, p.m, p.n, 4, d_rows), Argument::by_value(parameters)});
}

/// Elements of D that are wrong. Without GELU every bit counts; with it, what kernels/epilogue.h promises.
int wrong_elements(const Product& p, const std::vector<float>& d, const std::vector<float>& bias) {
    int wrong = 0;
    for (int row = 0; row < p.m; ++row)
        for (int column = 0; column < p.n; ++column) {
            double expected = p.at(row, column), allowed = 0;
            if (p.linear) {
                const double z = expected + static_cast<double>(bias[static_cast<std::size_t>(column)]);
                expected = z * 0.5 * std::erfc(-z / std::sqrt(2.0));
                allowed = 1e-6 + 2e-7 * std::abs(z);
            }
            const auto got = static_cast<double>(d[static_cast<std::size_t>(row * p.n + column)]);
            if (!(std::abs(got - expected) <= allowed)) ++wrong;
        }
    return wrong;
}

int run_on(const char* arch, const std::string& folder, const Layer& layer) {
    const Product products[] = {
        {"forward", layer.x, layer.w, 't', 'n', tokens, outputs, inputs, true},
        {"input gradient", layer.dz, layer.w, 't', 't', tokens, inputs, outputs, false},
        {"weight gradient", layer.dz, layer.x, 'n', 't', outputs, inputs, tokens, false},
    };
    int wrong = 0;
    for (const Product& p : products) {
        Gpu gpu = value_of(Gpu::create(arch));
        std::vector<float> d(static_cast<std::size_t>(p.m * p.n));
        const Memory in{value_of(gpu.allocate(p.a.bits.size() * 2, "A")),
                        value_of(gpu.allocate(p.b.bits.size() * 2, "B")), value_of(gpu.allocate(d.size() * 4, "D")),
                        value_of(gpu.allocate(layer.bias.size() * 4, "bias"))};
        require(gpu.copy_in(in.a, p.a.bits));
        require(gpu.copy_in(in.b, p.b.bits));
        require(gpu.copy_in(in.bias, layer.bias));
        const LaunchReport report = value_of([&] {
            if (std::string(arch) == "sm_80") return launch_ampere(gpu, folder, p, in);
            if (std::string(arch) == "sm_90a") {
                const auto config = kernels::hopper::gemm_config(GemmType::f16);
                return launch_tma(gpu, folder + "/hopper/hopper_f16.ptx", p.entry("hopper"), config,
                                  config.cta_n / config.cluster_m, config.warpgroup_m, p, in);
            }
            const auto config = kernels::blackwell::gemm_config(GemmType::f16, GemmType::f16, kernels::BlockScale::none,
                                                                kernels::blackwell::Form::single);
            return launch_tma(gpu, folder + "/blackwell/blackwell_f16.ptx", p.entry("blackwell"), config,
                              config.load_n(), config.slab_m, p, in);
        }());
        if (!report.ok()) {
            std::printf("%s", to_string(report).c_str());
            return 1;
        }
        require(gpu.copy_out(d, in.d));
        const int here = wrong_elements(p, d, layer.bias);
        std::printf("%-7s %-16s %3d x %3d x %3d, layout %c%c: %d of %zu elements wrong\n", arch, p.name, p.m, p.n, p.k,
                    p.a_layout, p.b_layout, here, d.size());
        wrong += here;
    }
    return wrong;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string folder = argc > 1 ? argv[1] : "kernels";
    const Layer layer;
    int wrong = 0;
    for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) wrong += run_on(arch, folder, layer);
    return wrong == 0 ? 0 : 1;
}
