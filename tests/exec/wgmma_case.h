#pragma once
// One or more wgmma on random data: a kernel for the interpreter, and what the manual says that comes out.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "exec/launch.h"
#include "kernel.h"
#include "number/fused_dot.h"

namespace tilepath::exec {

/// An operand in shared memory. PTX ISA 9.7.15.5.1.
struct WgmmaOperand {
    bool mn_major = false;
    int width = 1;  ///< of the swizzle in 16 bytes: 1 none, 2 32B, 4 64B, 8 128B
    std::uint32_t start = 0, leading = 16, stride = 0;
    int base_offset = 0;
    std::uint32_t step = 32;  ///< added to the start for each further wgmma

    std::uint64_t descriptor(int i) const;
    /// Shared byte address of element (mn, k) for the i-th wgmma, by the manual's tables.
    std::uint32_t place(int i, int mn, int k, int bits) const;
};

struct WgmmaCase {
    std::string d = "f32", a = "f16", b = "f16";
    int n = 64;
    bool sparse = false, saturate = false;
    bool a_in_registers = false;
    WgmmaOperand in_a = {}, in_b = {};
    int steps = 1;              ///< operations in one group, on the same accumulators
    std::string scale_d = "1";  ///< of the first
    bool negate_a = false, negate_b = false;
    int selector = 0;
    std::uint64_t seed = 1;
    std::string before_first = {}, before_wait = {}, after_wait = {};  ///< more PTX

    int bits() const;
    int k() const;
    std::string instruction(int step) const;
};

/// What makes shared memory that threads have written visible to wgmma. PTX ISA 9.7.15.3.
inline constexpr const char* publish_shared = "fence.proxy.async;\n";

/// Everything that the kernel is given.
struct WgmmaData {
    std::vector<std::uint8_t> shared;         ///< from shared address 1024 on
    std::vector<std::uint32_t> accumulators;  ///< by (thread, register)
    std::vector<std::uint32_t> a;             ///< by (step, thread, register)
    std::vector<std::uint32_t> metadata;      ///< by thread
};
WgmmaData random_data(const WgmmaCase& test);

inline constexpr std::uint32_t wgmma_shared_bytes = 64 * 1024, wgmma_shared_begin = 1024;

std::string wgmma_kernel(const WgmmaCase& test);
/// D's registers by (thread, register), as the kernel leaves them.
std::vector<std::uint32_t> run_wgmma(const WgmmaCase& test, const WgmmaData& data, const LaunchOptions& options = {});
/// And as they should be.
std::vector<std::uint32_t> model_wgmma(const WgmmaCase& test, const WgmmaData& data);

}  // namespace tilepath::exec
