#include "host/gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "host/gemm_jobs.h"
#include "isa/build.h"
#include "kernels/ampere/gemm_config.h"
#include "kernels/blackwell_rtx/gemm_config.h"
#include "kernels/hopper/gemm_config.h"
#include "kernels/modules.h"
#include "ptx/read.h"

namespace tilepath::host {
namespace {

using kernels::GemmType;

/// What the entries of every generation say alike.
template <class Entry>
GemmKernel kernel_of(const Entry& entry, GemmKernel::Generation generation) {
    return {.generation = generation,
            .name = entry.name,
            .module = entry.module,
            .input = entry.input,
            .input_b = entry.input,
            .output = entry.output,
            .a = entry.a,
            .b = entry.b,
            .linear = entry.linear};
}

std::vector<GemmKernel> list_kernels() {
    std::vector<GemmKernel> out;
    for (const kernels::GemmEntry& entry : kernels::gemm_entries) {
        out.push_back(kernel_of(entry, GemmKernel::Generation::ampere));
        out.back().simt = entry.simt;
    }
    for (const kernels::hopper::GemmEntry& entry : kernels::hopper::gemm_entries) {
        out.push_back(kernel_of(entry, GemmKernel::Generation::hopper));
        out.back().a_in_registers = entry.a_in_registers;
    }
    for (const kernels::blackwell::GemmEntry& entry : kernels::blackwell::gemm_entries) {
        out.push_back(kernel_of(entry, GemmKernel::Generation::blackwell));
        out.back().input_b = entry.input_b;
        out.back().scale = entry.scale;
        out.back().form = entry.form;
    }
    for (const kernels::blackwell_rtx::GemmEntry& entry : kernels::blackwell_rtx::gemm_entries) {
        out.push_back(kernel_of(entry, GemmKernel::Generation::blackwell_rtx));
        out.back().scale = entry.scale;
    }
    return out;
}

}  // namespace

std::string_view GemmKernel::dtype_of(GemmType type) const {
    switch (scale) {
        case kernels::BlockScale::none: return kernels::name(type);
        case kernels::BlockScale::mx: return type == GemmType::e2m1 ? "mxf4" : type == GemmType::e2m3 ? "mxf6" : "mxf8";
        case kernels::BlockScale::nv: return "nvf4";
    }
    return "";
}

std::uint64_t GemmProduct::Scales::at(int matrix, int row, int block) const {
    return static_cast<std::uint64_t>(kernels::scale_position(matrix * rows + row, block, atoms_along_k));
}

const std::vector<GemmKernel>& gemm_kernels() {
    static const std::vector<GemmKernel> all = list_kernels();
    return all;
}

const GemmKernel* gemm_kernel_named(std::string_view name) {
    const auto found = std::ranges::find(gemm_kernels(), name, &GemmKernel::name);
    return found == gemm_kernels().end() ? nullptr : &*found;
}

Buffer gemm_buffer(std::string name, GemmType type, std::int64_t elements) {
    Buffer out;
    out.name = std::move(name);
    out.dtype = *dtype_named(kernels::name(type));
    out.shape = {elements};
    out.bytes.assign(bytes_of(out.dtype, static_cast<std::uint64_t>(elements)), 0xA5);
    return out;
}

Buffer gemm_input(std::string name, GemmType type, std::int64_t elements, std::uint64_t seed,
                  kernels::InputOperand operand) {
    Buffer out = gemm_buffer(std::move(name), type, elements);
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(elements); ++i)
        set_element(out.bytes, out.dtype, i, kernels::input_element(type, kernels::input_bits(seed, operand, i)));
    return out;
}

Buffer gemm_scales(std::string name, kernels::BlockScale scale, std::int64_t bytes, std::uint64_t seed,
                   kernels::InputOperand operand) {
    const bool power_of_two = scale == kernels::BlockScale::mx;
    Buffer out;
    out.name = std::move(name);
    out.dtype = *dtype_named(power_of_two ? "ue8m0" : "ue4m3");
    out.shape = {bytes};
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(bytes); ++i) {
        const std::uint64_t bits = kernels::input_bits(seed, operand, i);
        out.bytes.push_back(power_of_two ? kernels::input_ue8m0(bits) : kernels::input_ue4m3(bits));
    }
    return out;
}

Result<GemmJob> gemm_job(const GemmKernel& kernel, const GemmCase& problem, const std::string& arch) {
    if (problem.m < 1 || problem.n < 1 || problem.k < 0 || problem.batch < 1)
        return fail(fmt::format("expected M, N and a batch of at least 1 and K of at least 0, found {}×{}×{}, batch {}",
                                problem.m, problem.n, problem.k, problem.batch));
    auto module =
        ptx::read(Source(std::string(kernel.module) + ".ptx", std::string(kernels::module_text(kernel.module))));
    if (!module) return std::unexpected(module.error());
    auto program = isa::build(*module, kernel.name);
    if (!program) return std::unexpected(program.error());

    GemmJob out;
    out.job.ptx = module->source;
    out.job.arch = arch;
    Launch launch;
    launch.program = std::make_shared<program::Program>(std::move(*program));
    launch.entry = kernel.name;
    out.job.launches.push_back(std::move(launch));
    GemmProduct& p = out.product;
    p.m = problem.m, p.n = problem.n, p.k = problem.k, p.batch = problem.batch;
    p.input = kernel.input, p.input_b = kernel.input_b, p.output = kernel.output;
    p.linear = kernel.linear;
    p.alpha = problem.alpha, p.beta = problem.beta;
    switch (kernel.generation) {
        case GemmKernel::Generation::ampere: return ampere_gemm_job(kernel, problem, std::move(out));
        case GemmKernel::Generation::hopper: return hopper_gemm_job(kernel, problem, std::move(out));
        case GemmKernel::Generation::blackwell: return blackwell_gemm_job(kernel, problem, std::move(out));
        case GemmKernel::Generation::blackwell_rtx: return blackwell_rtx_gemm_job(kernel, problem, std::move(out));
    }
    return out;
}

std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
    return hash;
}

}  // namespace tilepath::host
