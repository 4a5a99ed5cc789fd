#include "host/gemm.h"

#include <fmt/format.h>

#include <cstring>

#include "isa/build.h"
#include "kernels/inputs.h"
#include "kernels/modules.h"
#include "ptx/read.h"

namespace tilepath::host {
namespace {

using kernels::GemmEntry;
using kernels::GemmType;
using kernels::InputOperand;

Buffer buffer(std::string name, GemmType type, std::int64_t elements) {
    Buffer out;
    out.name = std::move(name);
    out.dtype = *dtype_named(kernels::name(type));
    out.shape = {elements};
    out.bytes.assign(bytes_of(out.dtype, static_cast<std::uint64_t>(elements)), 0xA5);
    return out;
}

Buffer filled(std::string name, GemmType type, std::int64_t elements, std::uint64_t seed, InputOperand operand) {
    Buffer out = buffer(std::move(name), type, elements);
    const auto width = static_cast<std::size_t>(kernels::element_bytes(type));
    for (std::int64_t i = 0; i < elements; ++i) {
        const std::uint32_t bits =
            kernels::input_element(type, kernels::input_bits(seed, operand, static_cast<std::uint64_t>(i)));
        std::memcpy(out.bytes.data() + static_cast<std::size_t>(i) * width, &bits, width);
    }
    return out;
}

kernels::GemmParameters parameters(const GemmEntry& entry, const GemmCase& problem) {
    kernels::GemmParameters p;
    p.m = problem.m, p.n = problem.n, p.k = problem.k;
    p.lda = (entry.a == 't' ? problem.k : problem.m) + problem.pad;
    p.ldb = (entry.b == 't' ? problem.n : problem.k) + problem.pad;
    p.ldc = p.ldd = problem.n + problem.pad;
    p.alpha = problem.alpha, p.beta = problem.beta;
    return p;
}

exec::LaunchShape shape(const GemmEntry& entry, const GemmCase& problem) {
    const kernels::GemmConfig tiled = kernels::gemm_config(entry.input);
    const kernels::SimtConfig simt;
    const int cta_m = entry.simt ? simt.cta_m : tiled.cta_m, cta_n = entry.simt ? simt.cta_n : tiled.cta_n;
    auto tiles = [](int extent, int tile) { return static_cast<std::uint32_t>((extent + tile - 1) / tile); };
    exec::LaunchShape out;
    out.grid = {tiles(problem.n, cta_n), tiles(problem.m, cta_m), 1};
    out.block = {static_cast<std::uint32_t>(entry.simt ? simt.threads() : tiled.threads()), 1, 1};
    out.cluster = {1, 1, 1};
    out.dynamic_shared_bytes = entry.simt ? 0 : static_cast<std::uint32_t>(tiled.dynamic_shared_bytes());
    return out;
}

}  // namespace

Result<Job> gemm_job(const GemmEntry& entry, const GemmCase& problem, const std::string& arch) {
    if (problem.m < 1 || problem.n < 1 || problem.k < 0)
        return fail(fmt::format("expected M and N of at least 1 and K of at least 0, found {}×{}×{}", problem.m,
                                problem.n, problem.k));
    auto module =
        ptx::read(Source(std::string(entry.module) + ".ptx", std::string(kernels::module_text(entry.module))));
    if (!module) return std::unexpected(module.error());
    auto program = isa::build(*module, entry.name);
    if (!program) return std::unexpected(program.error());

    kernels::GemmParameters p = parameters(entry, problem);
    Job job;
    job.ptx = module->source;
    job.arch = arch;
    const std::int64_t a_rows = entry.a == 't' ? problem.m : problem.k, b_rows = entry.b == 't' ? problem.k : problem.n;
    job.buffers.push_back(filled("A", entry.input, problem.offset + a_rows * p.lda, problem.seed, InputOperand::a));
    job.buffers.push_back(filled("B", entry.input, problem.offset + b_rows * p.ldb, problem.seed, InputOperand::b));
    job.buffers.push_back(filled("C", entry.output, std::int64_t{problem.m} * p.ldc, problem.seed, InputOperand::c));
    job.buffers.push_back(buffer("D", entry.output, std::int64_t{problem.m} * p.ldd));
    job.buffers.push_back(filled("bias", GemmType::f32, problem.n, problem.seed, InputOperand::bias));

    Launch launch;
    launch.program = std::make_shared<program::Program>(std::move(*program));
    launch.entry = entry.name;
    launch.shape = shape(entry, problem);
    launch.parameters.resize(76);
    std::memcpy(launch.parameters.data(), &p, launch.parameters.size());
    const std::int64_t skip = std::int64_t{problem.offset} * kernels::element_bytes(entry.input);
    for (std::size_t i = 0; i < job.buffers.size(); ++i)
        launch.addresses.push_back(
            {static_cast<std::uint32_t>(kernels::gemm_parameter_offsets[i]), i, i < 2 ? skip : 0});
    job.launches.push_back(std::move(launch));
    return job;
}

std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
    return hash;
}

}  // namespace tilepath::host
