#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/job.h"
#include "kernels/blackwell/gemm_config.h"
#include "number/recipe.h"

namespace tilepath::host {

/// One GEMM entry of kernels/, whichever generation's.
struct GemmKernel {
    enum class Generation : std::uint8_t { ampere, hopper, blackwell, blackwell_rtx } generation{};
    std::string_view name, module;
    kernels::GemmType input{}, input_b{}, output{};  ///< input: of A
    kernels::BlockScale scale = kernels::BlockScale::none;
    char a = 't', b = 'n';  ///< layout letters, as kernels/ampere/gemm_config.h explains them
    bool linear = false;
    bool simt = false;            ///< without Tensor Cores
    bool a_in_registers = false;  ///< wgmma's RS form
    kernels::blackwell::Form form = kernels::blackwell::Form::single;

    /// The type of A, of B, with their block scales, as the command line names it: f16, mxf8, nvf4.
    std::string_view dtype() const { return dtype_of(input); }
    std::string_view dtype_b() const { return dtype_of(input_b); }

  private:
    std::string_view dtype_of(kernels::GemmType type) const;
};
/// All of them, a generation's after the previous one's.
const std::vector<GemmKernel>& gemm_kernels();
/// Null if there is none of that name.
const GemmKernel* gemm_kernel_named(std::string_view name);

/// One product to compute. Inputs are those of kernels/inputs.h, so that a result can be compared with what a GPU made
/// of the same case.
struct GemmCase {
    int m = 0, n = 0, k = 0;
    int batch = 1;   ///< matrices, one behind the other; Ampere's kernels take one
    int pad = 0;     ///< Ampere: elements by which every leading dimension exceeds the contiguous extent
    int offset = 0;  ///< Ampere: elements before A and B in their buffers
    int clusters =
        0;  ///< Hopper, Blackwell: that share the tiles; 0: as many as the device holds, or as there are tiles
    std::uint32_t alpha = 0x3F800000, beta = 0;  ///< bits of the f32 (s8: the s32)
    std::uint64_t seed = 1;
};

/// The mathematics of a case, for whoever computes it a second time. Strides and offsets in elements of the buffers.
struct GemmProduct {
    struct Matrix {
        std::int64_t first = 0;         ///< element (0, 0) of the first matrix
        std::int64_t outer = 0, k = 0;  ///< from one m or n to the next; from one k (of C and D: n) to the next
        std::int64_t batch = 0;
        std::int64_t at(int matrix, int o, int i) const { return first + matrix * batch + o * outer + i * k; }
    } a, b, d;  ///< C lies as D does
    /// Block scales in atoms of 128 rows and 4 blocks of k, 512 bytes each.
    struct Scales {
        std::size_t buffer = 0;  ///< index in the job's buffers
        int rows = 0;            ///< of a matrix, whole atoms
        int atoms_along_k = 0;
        std::uint64_t at(int matrix, int row, int block) const;
    } scale_a, scale_b;
    kernels::BlockScale scale = kernels::BlockScale::none;
    int m = 0, n = 0, k = 0, batch = 1;
    int padded_k = 0;                   ///< what the kernel walks, in ascending order; zeros beyond k
    bool fma_chain = false;             ///< one binary32 fma per k instead of a Tensor Core
    number::Instruction instruction{};  ///< of the Tensor Core
    kernels::GemmType input{}, input_b{}, output{};
    bool linear = false;
    std::uint32_t alpha = 0, beta = 0;
    std::uint8_t between_rows = 0xA5;  ///< the bytes of D's buffer that belong to no element, after the kernel
};

struct GemmJob {
    Job job;  ///< buffers A, B, C, D, bias, and with block scales those of A and of B
    GemmProduct product;
};

/// Called now and then with what is done and what there is to do.
using Progress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// Index of D in the job's buffers; A, B, C come before it, bias after.
inline constexpr std::size_t gemm_d = 3;

/// The launch of `kernel` over the case.
Result<GemmJob> gemm_job(const GemmKernel& kernel, const GemmCase& problem, const std::string& arch);

/// What D must hold to the last bit on that device: every element by the scalar reference of number/, in the kernel's
/// own order of k, then the kernel's epilogue.
Result<std::vector<std::uint8_t>> gemm_reference(const GemmJob& job, const Progress& progress = {});

/// FNV-1a, 64 bits: what recordings keep of a result.
std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes);

}  // namespace tilepath::host
