#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilepath/diagnostic.h>

namespace tilepath {

/// The bits of the number nearest to `value` in a format ("f16", "bf16", "tf32", "e4m3", "e2m1", "ue8m0", "s8", …):
/// ties to even; overflow as IEEE 754 has it, formats without infinity give NaN or their largest; integers are clamped.
Result<std::uint64_t> encode(double value, std::string_view format);
/// The number that these bits are; exact but for u64 and s64.
Result<double> decode(std::uint64_t bits, std::string_view format);

/// Which device, and which of its instructions, adds up a dot product.
struct DotRequest {
    std::string arch = "sm_80";
    std::string instruction = "mma.sync";       ///< "wgmma", "tcgen05.mma", "wmma"
    std::string a = "f16", b = "f16", d = "f32";  ///< formats; C has D's
    std::string kind = {};   ///< of block-scaled products: "mxf8f6f4", "mxf4", "mxf4nvf4"
    std::string scale = {};  ///< their scale factors' format, "ue8m0" or "ue4m3"
    int scale_block = 32;    ///< products that share one scale
    bool satfinite = false;  ///< integers: clamp in place of wrapping
};

/// Bits of the operands: element k of A's row and of B's column, at least one, as many of both; scales one for each block.
struct DotOperands {
    std::vector<std::uint64_t> a, b;
    std::uint64_t c = 0;
    std::vector<std::uint64_t> scale_a = {}, scale_b = {};
};

/// One element of D = A B + C to the bit as that device computes it; longer than the instruction's k is a chain of
/// instructions in ascending k. The error names what the device has.
Result<std::uint64_t> dot(const DotRequest& request, const DotOperands& operands);

}  // namespace tilepath
