// The launch of a GEMM of kernels/hopper.
#include <algorithm>
#include <cstring>

#include "host/gemm_jobs.h"
#include "kernels/hopper/gemm_config.h"
#include "machine/device.h"

namespace tilepath::host {
namespace {

using kernels::GemmType;
using kernels::InputOperand;
using machine::TensorType;

TensorType tensor_type(GemmType type) {
    switch (type) {
        case GemmType::f16: return TensorType::f16;
        case GemmType::bf16: return TensorType::bf16;
        case GemmType::tf32:
        case GemmType::f32: return TensorType::f32;
        case GemmType::e4m3:
        case GemmType::e5m2:
        case GemmType::s8: return TensorType::u8;
        case GemmType::s32: return TensorType::s32;
    }
    return TensorType::u8;
}

/// One operand in its buffer: rows of `inner` elements, `outer` of them in a matrix.
struct Extents {
    int inner = 0, outer = 0, pitch = 0;

    Extents(int inner_, int outer_, GemmType type)
        : inner(inner_), outer(outer_), pitch(kernels::hopper::leading_dimension(inner_, type)) {}
    std::int64_t matrix() const { return std::int64_t{pitch} * outer; }
};

/// As kernels/hopper/gemm_config.h asks for: rank 3, the batch outermost, 128B swizzle, zeros out of bounds.
TensorMap tensor_map(std::string name, std::size_t buffer, GemmType type, const Extents& extents, int batch,
                     int box_outer) {
    const auto width = static_cast<std::uint64_t>(kernels::element_bytes(type));
    const std::uint64_t row = static_cast<std::uint64_t>(extents.pitch) * width;
    machine::TensorMap map;
    map.type = tensor_type(type);
    map.swizzle = layout::SwizzleMode::b128;
    map.rank = 3;
    map.dims = {static_cast<std::uint64_t>(extents.inner), static_cast<std::uint64_t>(extents.outer),
                static_cast<std::uint64_t>(batch), 1, 1};
    map.strides = {row, row * static_cast<std::uint64_t>(extents.outer)};
    map.box = {static_cast<std::uint32_t>(128 / width), static_cast<std::uint32_t>(box_outer), 1, 1, 1};
    return {std::move(name), buffer, 0, map};
}

/// As many clusters as an H200 holds at once, or as there are tiles.
int clusters_for(const kernels::hopper::GemmConfig& config, const GemmCase& problem, const machine::Device& device) {
    if (problem.clusters > 0) return problem.clusters;
    const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
    const int all = tiles(problem.m, config.cluster_m * config.cta_m) * tiles(problem.n, config.cta_n) * problem.batch;
    return std::min(all, static_cast<int>(device.multiprocessors) / config.cluster_m);
}

}  // namespace

Result<GemmJob> hopper_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob out) {
    if (problem.pad != 0 || problem.offset != 0)
        return fail("Hopper's GEMM kernels read through tensor maps: expected no padding and no offset");
    auto device = machine::device_named(out.job.arch);
    if (!device) return std::unexpected(device.error());
    const kernels::hopper::GemmConfig config = kernels::hopper::gemm_config(kernel.input);
    const bool a_k_major = kernel.a == 't', b_k_major = kernel.b == 'n';
    const Extents a(a_k_major ? problem.k : problem.m, a_k_major ? problem.m : problem.k, kernel.input);
    const Extents b(b_k_major ? problem.k : problem.n, b_k_major ? problem.n : problem.k, kernel.input);
    const Extents d(problem.n, problem.m, kernel.output);

    Job& job = out.job;
    const auto input = [&](const char* name, GemmType type, std::int64_t elements, InputOperand operand) {
        job.buffers.push_back(gemm_input(name, type, elements, problem.seed, operand));
    };
    input("A", kernel.input, a.matrix() * problem.batch, InputOperand::a);
    input("B", kernel.input, b.matrix() * problem.batch, InputOperand::b);
    input("C", kernel.output, d.matrix() * problem.batch, InputOperand::c);
    job.buffers.push_back(gemm_buffer("D", kernel.output, d.matrix() * problem.batch));
    input("bias", GemmType::f32, problem.n, InputOperand::bias);
    job.tensor_maps = {tensor_map("A", 0, kernel.input, a, problem.batch, a_k_major ? 128 : 64),
                       tensor_map("B", 1, kernel.input, b, problem.batch, b_k_major ? 128 : 64),
                       tensor_map("D", gemm_d, kernel.output, d, problem.batch, 64)};

    Launch& launch = job.launches.front();
    const auto clusters = static_cast<std::uint32_t>(clusters_for(config, problem, *device));
    const auto cluster_m = static_cast<std::uint32_t>(config.cluster_m);
    launch.shape.grid = {clusters * cluster_m, 1, 1};
    launch.shape.block = {static_cast<std::uint32_t>(config.threads()), 1, 1};
    launch.shape.cluster = {cluster_m, 1, 1};
    launch.shape.dynamic_shared_bytes = static_cast<std::uint32_t>(config.dynamic_shared_bytes());
    constexpr std::uint32_t map_bytes = machine::TensorMap::bytes;
    kernels::hopper::GemmParameters p;
    p.c_batch_stride = d.matrix();
    p.m = problem.m, p.n = problem.n, p.k = problem.k, p.batch = problem.batch;
    p.ldc = d.pitch;
    std::memcpy(&p.alpha, &problem.alpha, sizeof p.alpha);
    std::memcpy(&p.beta, &problem.beta, sizeof p.beta);
    launch.parameters.resize(3 * map_bytes + sizeof p);
    std::memcpy(launch.parameters.data() + 3 * map_bytes, &p, sizeof p);
    launch.tensor_maps = {{0, 0}, {map_bytes, 1}, {2 * map_bytes, 2}};
    launch.addresses = {{3 * map_bytes + offsetof(kernels::hopper::GemmParameters, c), 2, 0},
                        {3 * map_bytes + offsetof(kernels::hopper::GemmParameters, bias), 4, 0}};

    GemmProduct& product = out.product;
    product.a = {0, a_k_major ? a.pitch : 1, a_k_major ? 1 : a.pitch, a.matrix()};
    product.b = {0, b_k_major ? b.pitch : 1, b_k_major ? 1 : b.pitch, b.matrix()};
    product.d = {0, d.pitch, 1, d.matrix()};
    product.instruction = number::Instruction::wgmma;
    product.padded_k = (problem.k + config.cta_k() - 1) / config.cta_k() * config.cta_k();
    // The TMA stores whole units of 16 bytes: behind a row's end come the epilogue's zeros (recorded on an H200).
    product.between_rows = 0;
    return out;
}

}  // namespace tilepath::host
