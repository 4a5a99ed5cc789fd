// The launch of a GEMM of kernels/ampere.
#include <cstring>

#include "host/gemm_jobs.h"
#include "kernels/ampere/gemm_config.h"

namespace tilepath::host {
namespace {

using kernels::GemmType;
using kernels::InputOperand;

kernels::GemmParameters parameters(const GemmKernel& kernel, const GemmCase& problem) {
    kernels::GemmParameters p;
    p.m = problem.m, p.n = problem.n, p.k = problem.k;
    p.lda = (kernel.a == 't' ? problem.k : problem.m) + problem.pad;
    p.ldb = (kernel.b == 't' ? problem.n : problem.k) + problem.pad;
    p.ldc = p.ldd = problem.n + problem.pad;
    p.alpha = problem.alpha, p.beta = problem.beta;
    return p;
}

exec::LaunchShape shape(const GemmKernel& kernel, const GemmCase& problem) {
    const kernels::GemmConfig tiled = kernels::gemm_config(kernel.input);
    const kernels::SimtConfig simt;
    const int cta_m = kernel.simt ? simt.cta_m : tiled.cta_m, cta_n = kernel.simt ? simt.cta_n : tiled.cta_n;
    const auto tiles = [](int extent, int tile) { return static_cast<std::uint32_t>((extent + tile - 1) / tile); };
    exec::LaunchShape out;
    out.grid = {tiles(problem.n, cta_n), tiles(problem.m, cta_m), 1};
    out.block = {static_cast<std::uint32_t>(kernel.simt ? simt.threads() : tiled.threads()), 1, 1};
    out.cluster = {1, 1, 1};
    out.dynamic_shared_bytes = kernel.simt ? 0 : static_cast<std::uint32_t>(tiled.dynamic_shared_bytes());
    return out;
}

}  // namespace

Result<GemmJob> ampere_gemm_job(const GemmKernel& kernel, const GemmCase& problem, GemmJob out) {
    if (problem.batch != 1) return fail("Ampere's GEMM kernels compute one matrix: expected a batch of 1");
    const kernels::GemmParameters p = parameters(kernel, problem);
    const std::int64_t a_rows = kernel.a == 't' ? problem.m : problem.k;
    const std::int64_t b_rows = kernel.b == 't' ? problem.k : problem.n;
    std::vector<Buffer>& buffers = out.job.buffers;
    const auto input = [&](const char* name, GemmType type, std::int64_t elements, InputOperand operand) {
        buffers.push_back(gemm_input(name, type, elements, problem.seed, operand));
    };
    input("A", kernel.input, problem.offset + a_rows * p.lda, InputOperand::a);
    input("B", kernel.input, problem.offset + b_rows * p.ldb, InputOperand::b);
    input("C", kernel.output, std::int64_t{problem.m} * p.ldc, InputOperand::c);
    buffers.push_back(gemm_buffer("D", kernel.output, std::int64_t{problem.m} * p.ldd));
    input("bias", GemmType::f32, problem.n, InputOperand::bias);

    Launch& launch = out.job.launches.front();
    launch.shape = shape(kernel, problem);
    launch.parameters.resize(76);
    std::memcpy(launch.parameters.data(), &p, launch.parameters.size());
    const std::int64_t skip = std::int64_t{problem.offset} * kernels::element_bytes(kernel.input);
    for (std::size_t i = 0; i < buffers.size(); ++i)
        launch.addresses.push_back(
            {static_cast<std::uint32_t>(kernels::gemm_parameter_offsets[i]), i, i < 2 ? skip : 0});

    GemmProduct& product = out.product;
    product.a = {problem.offset, kernel.a == 't' ? p.lda : 1, kernel.a == 't' ? 1 : p.lda, 0};
    product.b = {problem.offset, kernel.b == 't' ? 1 : p.ldb, kernel.b == 't' ? p.ldb : 1, 0};
    product.d = {0, p.ldd, 1, 0};
    product.instruction = number::Instruction::mma_sync;
    product.fma_chain = kernel.simt && kernel.input != GemmType::s8;  // its s8 form is exact like the tensor core's
    const int step = product.fma_chain ? 1 : kernels::gemm_config(kernel.input).cta_k();
    product.padded_k = (problem.k + step - 1) / step * step;
    return out;
}

}  // namespace tilepath::host
