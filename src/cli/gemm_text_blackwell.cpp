#include "cli/gemm_text_blackwell.h"

#include <fmt/format.h>

#include "atom/tcgen05_mma.h"
#include "report/data_path.h"

namespace tilepath::cli {
namespace {

using kernels::BlockScale;

atom::Tcgen05Kind kind_of(const host::GemmKernel& kernel) {
    using kernels::blackwell::Kind;
    switch (kernels::blackwell::kind_of(kernel.input, kernel.input_b, kernel.scale)) {
        case Kind::f16: return atom::Tcgen05Kind::f16;
        case Kind::tf32: return atom::Tcgen05Kind::tf32;
        case Kind::f8f6f4: return atom::Tcgen05Kind::f8f6f4;
        case Kind::mxf8f6f4: return atom::Tcgen05Kind::mxf8f6f4;
        case Kind::mxf4: return atom::Tcgen05Kind::mxf4;
        case Kind::mxf4nvf4: return atom::Tcgen05Kind::mxf4nvf4;
    }
    return atom::Tcgen05Kind::f16;
}

kernels::blackwell::GemmConfig config_of(const host::GemmKernel& kernel) {
    return kernels::blackwell::gemm_config(kernel.input, kernel.input_b, kernel.scale, kernel.form);
}

Result<atom::Tcgen05Mma> mma_of(const host::GemmKernel& kernel) {
    const kernels::blackwell::GemmConfig config = config_of(kernel);
    const number::Format a = *number::format_named(kernels::name(kernel.input)),
                         b = *number::format_named(kernels::name(kernel.input_b));
    return atom::tcgen05_mma(kind_of(kernel), {config.cta_group * config.cta_m, config.cta_n, config.mma_k()},
                             {number::Format::f32, a, b, number::Format::f32}, config.cta_group);
}

}  // namespace

std::string blackwell_tiling(const host::GemmKernel& kernel, const host::GemmJob& gemm) {
    const kernels::blackwell::GemmConfig config = config_of(kernel);
    const host::GemmProduct& p = gemm.product;
    const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
    const auto mma = mma_of(kernel);
    std::string out = fmt::format(
        "  D {}×{} in {}×{} tiles of {}×{}, which {} {} take in turn\n"
        "  CTA tile: {}×{}; one warp loads, one thread multiplies, four warps store\n"
        "  MMA atom {}, A from {}, B from shared memory\n",
        p.m, p.n, tiles(p.m, config.cluster_m * config.cta_m), tiles(p.n, config.cta_n),
        config.cluster_m * config.cta_m, config.cta_n,
        gemm.job.launches.front().shape.grid.x / static_cast<std::uint32_t>(config.cluster_m),
        config.cluster_m == 1 ? "CTAs" : fmt::format("clusters of {} CTAs", config.cluster_m), config.cta_m,
        config.cta_n, mma ? mma->name : "", config.a_in_tmem ? "Tensor Memory" : "shared memory");
    if (config.scale_block != 0)
        out +=
            fmt::format("  scales: {} for {} elements along k; {} atoms of 512 bytes in a stage of A, as many of B\n",
                        kernel.scale == BlockScale::mx ? "ue8m0" : "ue4m3", config.scale_block, config.scale_atoms());
    return out + fmt::format(
                     "  k: {} steps of {}, {} MMAs of k {} in each, ascending; {} TMA stages in {} of shared memory\n"
                     "  Tensor Memory: {} of 512 columns: {} accumulators of {}{}\n",
                     p.padded_k / config.cta_k(), config.cta_k(), config.mmas(), config.mma_k(), config.stages(),
                     report::bytes_text(static_cast<std::uint64_t>(config.dynamic_shared_bytes())),
                     config.tmem_columns(), config.accumulators, config.cta_n,
                     config.stage_columns() == 0 ? ""
                                                 : fmt::format(", for each stage {} of {}", config.stage_columns(),
                                                               config.a_in_tmem ? "A" : "scales"));
}

std::string blackwell_fragment(const host::GemmKernel& kernel) {
    const auto mma = mma_of(kernel);
    if (!mma) return "";
    return fmt::format(
        "accumulator of {} in Tensor Memory\n"
        "  D (m,n)   {}lane m{}, column n of the accumulator's {}: data path {}\n"
        "  the warp that stores rows 32 w to 32 w + 31 reads lanes 32 w to 32 w + 31 with tcgen05.ld.32x32b.x32: "
        "register i "
        "of lane l is D (32 w + l, n + i)\n",
        mma->name, mma->cta_group == 2 ? "CTA m / 128 of the pair, " : "", mma->cta_group == 2 ? " mod 128" : "",
        mma->d_columns, atom::letter(mma->data_path));
}

}  // namespace tilepath::cli
