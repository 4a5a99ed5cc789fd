#include "cli/gemm_text.h"

#include <fmt/format.h>

#include <utility>

#include "atom/mma.h"
#include "atom/wgmma.h"
#include "cli/gemm_text_blackwell.h"
#include "kernels/ampere/gemm_config.h"
#include "kernels/blackwell_rtx/gemm_config.h"
#include "kernels/hopper/gemm_config.h"
#include "report/data_path.h"

namespace tilepath::cli {
namespace {

using Generation = host::GemmKernel::Generation;
using kernels::GemmType;

atom::MmaTypes types_of(const host::GemmKernel& kernel) {
    const number::Format input = *number::format_named(kernels::name(kernel.input));
    const number::Format sum = kernel.input == GemmType::s8 ? number::Format::s32 : number::Format::f32;
    return {sum, input, input, sum};
}

atom::MmaKind kind_of(const host::GemmKernel& kernel) {
    if (kernel.generation != Generation::blackwell_rtx) return atom::MmaKind::none;
    switch (kernel.scale) {
        case kernels::BlockScale::nv: return atom::MmaKind::mxf4nvf4;
        case kernels::BlockScale::mx:
            return kernel.input == GemmType::e2m1 ? atom::MmaKind::mxf4 : atom::MmaKind::mxf8f6f4;
        case kernels::BlockScale::none: break;
    }
    return atom::MmaKind::f8f6f4;
}

Result<atom::MmaAtom> mma_of(const host::GemmKernel& kernel) {
    if (kernel.generation == Generation::blackwell_rtx) {
        const auto config = kernels::blackwell_rtx::gemm_config(kernel.input, kernel.scale);
        return atom::mma_sync({config.mma_m, config.mma_n, config.mma_k()}, types_of(kernel), atom::Major::row,
                              atom::Major::column, kind_of(kernel));
    }
    const kernels::GemmConfig config = kernels::gemm_config(kernel.input);
    return atom::mma_sync({config.mma_m, config.mma_n, config.mma_k()}, types_of(kernel));
}

Result<atom::WgmmaAtom> wgmma_of(const host::GemmKernel& kernel) {
    const kernels::hopper::GemmConfig config = kernels::hopper::gemm_config(kernel.input);
    return atom::wgmma({config.warpgroup_m, config.cta_n, config.mma_k()}, types_of(kernel));
}

std::string simt_tiling(const host::GemmProduct& p, const exec::LaunchShape& shape) {
    const kernels::SimtConfig config;
    return fmt::format(
        "  D {}×{} in {}×{} CTA tiles of {}×{}, each by {} threads that compute {}×{} elements\n"
        "  k: {} steps of {}, one fma per element and k, ascending\n",
        p.m, p.n, shape.grid.y, shape.grid.x, config.cta_m, config.cta_n, config.threads(), config.thread_m(),
        config.thread_n(), (p.k + config.cta_k - 1) / config.cta_k, config.cta_k);
}

std::string ampere_tiling(const host::GemmKernel& kernel, const host::GemmProduct& p, const exec::LaunchShape& shape) {
    const kernels::GemmConfig config = kernels::gemm_config(kernel.input);
    const auto mma = mma_of(kernel);
    return fmt::format(
        "  D {}×{} in {}×{} CTA tiles of {}×{}\n"
        "  CTA tile: {} warps, each a warp tile of {}×{}\n"
        "  warp tile: {}×{} MMA atoms mma.sync.{}\n"
        "  k: {} steps of {}, {} MMAs of k {} in each, ascending; {} cp.async stages in {} of shared memory\n",
        p.m, p.n, shape.grid.y, shape.grid.x, config.cta_m, config.cta_n, config.warps_m() * config.warps_n(),
        config.warp_m, config.warp_n, config.warp_m / config.mma_m, config.warp_n / config.mma_n, mma ? mma->name : "",
        p.padded_k / config.cta_k(), config.cta_k(), config.cta_k() / config.mma_k(), config.mma_k(), config.stages,
        report::bytes_text(static_cast<std::uint64_t>(config.dynamic_shared_bytes())));
}

std::string hopper_tiling(const host::GemmKernel& kernel, const host::GemmProduct& p, const exec::LaunchShape& shape) {
    const kernels::hopper::GemmConfig config = kernels::hopper::gemm_config(kernel.input);
    const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
    const auto wgmma = wgmma_of(kernel);
    return fmt::format(
        "  D {}×{} in {}×{} tiles of {}×{}, which {} clusters of {} CTAs take in turn\n"
        "  CTA tile: {}×{}; {} consumer warpgroups of {}×{} each, one producer warpgroup\n"
        "  MMA atom wgmma.{}, A from {}, B from shared memory\n"
        "  k: {} steps of {}, {} MMAs of k {} in each, ascending; {} TMA stages in {} of shared memory\n",
        p.m, p.n, tiles(p.m, config.cluster_m * config.cta_m), tiles(p.n, config.cta_n),
        config.cluster_m * config.cta_m, config.cta_n, shape.grid.x / shape.cluster.x, config.cluster_m, config.cta_m,
        config.cta_n, config.consumer_warpgroups, config.warpgroup_m, config.cta_n, wgmma ? wgmma->name : "",
        kernel.a_in_registers ? "registers" : "shared memory", p.padded_k / config.cta_k(), config.cta_k(),
        config.cta_k() / config.mma_k(), config.mma_k(), config.stages,
        report::bytes_text(static_cast<std::uint64_t>(config.dynamic_shared_bytes())));
}

std::string rtx_tiling(const host::GemmKernel& kernel, const host::GemmProduct& p, const exec::LaunchShape& shape) {
    const auto config = kernels::blackwell_rtx::gemm_config(kernel.input, kernel.scale);
    const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
    const auto mma = mma_of(kernel);
    std::string out = fmt::format(
        "  D {}×{} in {}×{} tiles of {}×{}, which {} CTAs take in turn\n"
        "  CTA tile: {} warps, each a warp tile of {}×{}; one warp loads\n"
        "  warp tile: {}×{} MMA atoms mma.sync.{}\n",
        p.m, p.n, tiles(p.m, config.cta_m), tiles(p.n, config.cta_n), config.cta_m, config.cta_n, shape.grid.x,
        config.warps(), config.warp_m, config.warp_n, config.warp_m / config.mma_m, config.warp_n / config.mma_n,
        mma ? mma->name : "");
    if (config.scale_block != 0)
        out += fmt::format("  scales: {} for {} elements along k, four in a register\n",
                           kernel.scale == kernels::BlockScale::mx ? "ue8m0" : "ue4m3", config.scale_block);
    return out + fmt::format(
                     "  k: {} steps of {}, {} MMAs of k {} in each, ascending; {} TMA stages in {} of shared memory\n",
                     p.padded_k / config.cta_k(), config.cta_k(), config.mmas(), config.mma_k(), config.stages,
                     report::bytes_text(static_cast<std::uint64_t>(config.dynamic_shared_bytes())));
}

/// What one lane holds of one operand: `a0 {A(1,2) A(1,3)}`; at most so many registers.
std::string lane_text(const atom::Fragment& fragment, int lane, char letter) {
    constexpr int most = 8;
    const atom::HeldElements held = atom::held(fragment);
    std::string out;
    for (int reg = 0; reg < std::min(held.registers, most); ++reg) {
        out += fmt::format("{}{}{} {{", out.empty() ? "" : "  ", letter, reg);
        const char* separator = "";
        for (int slot = 0; slot < held.slots; ++slot)
            if (int element = held.at(lane, reg, slot); element >= 0)
                out += fmt::format("{}({},{})", std::exchange(separator, " "), element / fragment.columns,
                                   element % fragment.columns);
        out += "}";
    }
    if (held.registers > most) out += fmt::format("  … {} registers", held.registers);
    return out;
}

}  // namespace

std::string gemm_tiling(const host::GemmKernel& kernel, const host::GemmJob& gemm) {
    const exec::LaunchShape& shape = gemm.job.launches.front().shape;
    const host::GemmProduct& p = gemm.product;
    std::string lines;
    switch (kernel.generation) {
        case Generation::ampere: lines = kernel.simt ? simt_tiling(p, shape) : ampere_tiling(kernel, p, shape); break;
        case Generation::hopper: lines = hopper_tiling(kernel, p, shape); break;
        case Generation::blackwell: lines = blackwell_tiling(kernel, gemm); break;
        case Generation::blackwell_rtx: lines = rtx_tiling(kernel, p, shape); break;
    }
    return "tiling\n" + lines;
}

std::string gemm_fragment(const host::GemmKernel& kernel) {
    constexpr int lane = 5;
    if (kernel.simt) return "";
    if (kernel.generation == Generation::blackwell) return blackwell_fragment(kernel);
    if (kernel.generation == Generation::hopper) {
        const auto found = wgmma_of(kernel);
        if (!found) return "";
        std::string out = fmt::format("fragment of lane {} of the first warp in {}: (row,column), low bits first\n",
                                      lane, found->name);
        if (kernel.a_in_registers) out += fmt::format("  A (m,k)   {}\n", lane_text(found->a, lane, 'a'));
        return out + fmt::format("  D (m,n)   {}\n", lane_text(found->d, lane, 'd'));
    }
    const auto found = mma_of(kernel);
    if (!found) return "";
    return fmt::format(
        "fragment of lane {} in {}: (row,column), low bits first\n"
        "  A (m,k)   {}\n  B (k,n)   {}\n  C, D (m,n) {}\n",
        lane, found->name, lane_text(found->a, lane, 'a'), lane_text(found->b, lane, 'b'),
        lane_text(found->d, lane, 'd'));
}

}  // namespace tilepath::cli
