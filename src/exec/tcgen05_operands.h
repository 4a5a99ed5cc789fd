#pragma once
#include <array>
#include <cstdint>

#include "machine/tensor_memory.h"

namespace tilepath::exec {

/// What one tcgen05.mma got in its registers when it was issued. What they point at is read when it lands.
struct Tcgen05Operands {
    std::uint64_t a = 0, b = 0;     ///< matrix descriptors; a: its Tensor Memory address where A lies there
    std::uint32_t instruction = 0;  ///< descriptor
    std::uint32_t d = 0;            ///< Tensor Memory addresses, lane << 16 | column
    std::uint32_t metadata = 0, scale_a = 0, scale_b = 0;
    std::uint64_t zero_columns = 0;                 ///< of .ws: the zero-column mask descriptor; 0: none
    bool accumulates = true;                        ///< enable-input-d
    std::uint8_t scale_input_d = 0;                 ///< D is multiplied by 2^-this first
    std::array<std::uint32_t, 8> disabled_lanes{};  ///< of D, that stay as they are: four words of each CTA's 128 lanes

    friend bool operator==(const Tcgen05Operands&, const Tcgen05Operands&) = default;
};

/// The CTAs that a tcgen05 operation works on: one, or a pair, its even one first. PTX ISA 9.7.16.5.
struct Tcgen05Ctas {
    int count = 1;
    std::array<machine::TensorMemory*, 2> tensor{};
    std::array<const std::uint8_t*, 2> shared{};  ///< as the async proxy sees it, from offset 0 on
};

}  // namespace tilepath::exec
