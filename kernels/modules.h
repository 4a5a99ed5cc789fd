// The PTX of kernels/, carried inside the library, so that the GEMMs run wherever tilepath is installed.
#pragma once
#include <string_view>

namespace tilepath::kernels {

/// The text of `gemm_f16` …, as it stands in kernels/ampere/gemm_f16.ptx; empty if there is no such module.
std::string_view module_text(std::string_view name);

}  // namespace tilepath::kernels
