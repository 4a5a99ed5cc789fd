#include "host/gemm_tma.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "machine/device.h"

namespace tilepath::host {
namespace {

using kernels::GemmType;
using kernels::InputOperand;
using machine::TensorType;

constexpr std::size_t scales_of_a = 5, scales_of_b = 6;  // in the job's buffers

TensorType tensor_type(GemmType type, bool spread) {
    switch (type) {
        case GemmType::f16: return TensorType::f16;
        case GemmType::bf16: return TensorType::bf16;
        case GemmType::tf32:
        case GemmType::f32: return TensorType::f32;
        case GemmType::e2m1: return spread ? TensorType::u4_align16b : TensorType::u4_align8b;
        case GemmType::e2m3:
        case GemmType::e3m2: return TensorType::u6_align16b;
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
        : inner(inner_), outer(outer_), pitch(kernels::leading_dimension(inner_, type)) {}
    std::int64_t matrix() const { return std::int64_t{pitch} * outer; }
};

/// Rank 3, the batch outermost, rows of 128 bytes, zeros out of bounds.
TensorMap tensor_map(std::string name, std::size_t buffer, GemmType type, const Extents& extents, int batch,
                     int box_outer, bool small_atoms = false, bool spread = false) {
    const auto bits = static_cast<std::uint64_t>(kernels::element_bits(type));
    const std::uint64_t row = static_cast<std::uint64_t>(extents.pitch) * bits / 8;
    machine::TensorMap map;
    map.type = tensor_type(type, spread);
    map.swizzle = small_atoms ? layout::SwizzleMode::b128_atom_32b : layout::SwizzleMode::b128;
    map.rank = 3;
    map.dims = {static_cast<std::uint64_t>(extents.inner), static_cast<std::uint64_t>(extents.outer),
                static_cast<std::uint64_t>(batch), 1, 1};
    map.strides = {row, row * static_cast<std::uint64_t>(extents.outer)};
    map.box = {static_cast<std::uint32_t>(128 * 8 / (spread ? 8 : bits)), static_cast<std::uint32_t>(box_outer), 1, 1,
               1};
    return {std::move(name), buffer, 0, map};
}

/// Scale factors in their atoms of 512 bytes, as kernels/blackwell/gemm_config.h asks for.
TensorMap scale_map(std::string name, std::size_t buffer, std::uint64_t atoms_along_k, std::uint64_t row_blocks,
                    int box_atoms) {
    machine::TensorMap map;
    map.type = TensorType::u32;
    map.rank = 3;
    map.dims = {128, atoms_along_k, row_blocks, 1, 1};
    map.strides = {512, 512 * atoms_along_k};
    map.box = {128, static_cast<std::uint32_t>(box_atoms), 1, 1, 1};
    return {std::move(name), buffer, 0, map};
}

/// As many clusters as the device holds at once, or as there are tiles.
int clusters_for(const TmaGemm& gemm, const GemmCase& problem, const machine::Device& device) {
    if (problem.clusters > 0) return problem.clusters;
    const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
    const int all = tiles(problem.m, gemm.cluster_m * gemm.cta_m) * tiles(problem.n, gemm.cta_n) * problem.batch;
    return std::min(all, static_cast<int>(device.multiprocessors) / gemm.cluster_m);
}

void add_scales(const GemmKernel& kernel, const GemmCase& problem, GemmJob& out, const TmaGemm& gemm) {
    const auto blocks = [](int extent) { return (extent + 127) / 128; };
    const int atoms = out.product.padded_k / kernels::scale_block(kernel.scale) / 4;
    const auto add = [&](const char* name, int extent, InputOperand operand) {
        const int row_blocks = blocks(extent) * problem.batch;
        out.job.tensor_maps.push_back(scale_map(name, out.job.buffers.size(), static_cast<std::uint64_t>(atoms),
                                                static_cast<std::uint64_t>(row_blocks), gemm.scale_atoms));
        out.job.buffers.push_back(
            gemm_scales(name, kernel.scale, std::int64_t{row_blocks} * atoms * 512, problem.seed, operand));
    };
    add("scales of A", problem.m, InputOperand::scale_a);
    add("scales of B", problem.n, InputOperand::scale_b);
    out.product.scale = kernel.scale;
    out.product.scale_a = {scales_of_a, blocks(problem.m) * 128, atoms};
    out.product.scale_b = {scales_of_b, blocks(problem.n) * 128, atoms};
}

}  // namespace

Result<GemmJob> tma_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob out, const TmaGemm& gemm) {
    if (problem.pad != 0 || problem.offset != 0)
        return fail("these GEMM kernels read through tensor maps: expected no padding and no offset");
    if (problem.k == 0) return fail("a tensor map has no empty dimension: expected K of at least 1, found 0");
    if (kernel.input == GemmType::e2m1 && problem.k % 2 != 0)
        return fail(
            fmt::format("a tensor map of e2m1 has whole bytes in a row: expected an even K, found {}", problem.k));
    if ((gemm.spread_a || gemm.spread_b) && problem.k % 128 != 0)
        return fail(
            fmt::format("a tensor map that gives each element of 4 or 6 bits a byte has a multiple of 128 in a "
                        "row: expected such a K, found {}",
                        problem.k));
    auto device = machine::device_named(out.job.arch);
    if (!device) return std::unexpected(device.error());
    const bool a_k_major = kernel.a == 't', b_k_major = kernel.b == 'n';
    const Extents a(a_k_major ? problem.k : problem.m, a_k_major ? problem.m : problem.k, kernel.input);
    const Extents b(b_k_major ? problem.k : problem.n, b_k_major ? problem.n : problem.k, kernel.input_b);
    const Extents d(problem.n, problem.m, kernel.output);

    Job& job = out.job;
    const auto input = [&](const char* name, GemmType type, std::int64_t elements, InputOperand operand) {
        job.buffers.push_back(gemm_input(name, type, elements, problem.seed, operand));
    };
    input("A", kernel.input, a.matrix() * problem.batch, InputOperand::a);
    input("B", kernel.input_b, b.matrix() * problem.batch, InputOperand::b);
    input("C", kernel.output, d.matrix() * problem.batch, InputOperand::c);
    job.buffers.push_back(gemm_buffer("D", kernel.output, d.matrix() * problem.batch));
    input("bias", GemmType::f32, problem.n, InputOperand::bias);
    job.tensor_maps = {
        tensor_map("A", 0, kernel.input, a, problem.batch, gemm.a_box_outer, gemm.small_atoms_a, gemm.spread_a),
        tensor_map("B", 1, kernel.input_b, b, problem.batch, gemm.b_box_outer, gemm.small_atoms_b, gemm.spread_b),
        tensor_map("D", gemm_d, kernel.output, d, problem.batch, gemm.d_box_outer)};

    GemmProduct& product = out.product;
    product.a = {0, a_k_major ? a.pitch : 1, a_k_major ? 1 : a.pitch, a.matrix()};
    product.b = {0, b_k_major ? b.pitch : 1, b_k_major ? 1 : b.pitch, b.matrix()};
    product.d = {0, d.pitch, 1, d.matrix()};
    product.instruction = gemm.instruction;
    product.padded_k = (problem.k + gemm.cta_k - 1) / gemm.cta_k * gemm.cta_k;
    // The TMA stores whole units of 16 bytes: behind a row's end come the epilogue's zeros (recorded on an H200).
    product.between_rows = 0;
    if (gemm.scale_atoms != 0) add_scales(kernel, problem, out, gemm);

    Launch& launch = job.launches.front();
    const auto clusters = static_cast<std::uint32_t>(clusters_for(gemm, problem, *device));
    const auto cluster_m = static_cast<std::uint32_t>(gemm.cluster_m);
    launch.shape.grid = {clusters * cluster_m, 1, 1};
    launch.shape.block = {static_cast<std::uint32_t>(gemm.threads), 1, 1};
    launch.shape.cluster = {cluster_m, 1, 1};
    launch.shape.dynamic_shared_bytes = static_cast<std::uint32_t>(gemm.dynamic_shared_bytes);
    kernels::TmaParameters p;
    p.c_batch_stride = d.matrix();
    p.m = problem.m, p.n = problem.n, p.k = problem.k, p.batch = problem.batch;
    p.ldc = d.pitch;
    std::memcpy(&p.alpha, &problem.alpha, sizeof p.alpha);
    std::memcpy(&p.beta, &problem.beta, sizeof p.beta);
    constexpr std::uint32_t map_bytes = machine::TensorMap::bytes;
    const auto maps = static_cast<std::uint32_t>(job.tensor_maps.size());
    launch.parameters.resize(maps * map_bytes + sizeof p);
    std::memcpy(launch.parameters.data() + maps * map_bytes, &p, sizeof p);
    for (std::uint32_t map = 0; map < maps; ++map) launch.tensor_maps.push_back({map * map_bytes, map});
    launch.addresses = {{maps * map_bytes + static_cast<std::uint32_t>(offsetof(kernels::TmaParameters, c)), 2, 0},
                        {maps * map_bytes + static_cast<std::uint32_t>(offsetof(kernels::TmaParameters, bias)), 4, 0}};
    return out;
}

}  // namespace tilepath::host
