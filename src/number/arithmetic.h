#pragma once
#include <cstdint>

#include "number/format.h"

namespace tilepath::number {

/// Modifiers of an arithmetic instruction.
struct Arithmetic {
    Rounding rounding = Rounding::rn;  ///< rn, rz, rm, rp
    bool ftz = false;                  ///< subnormal inputs and results become zeros of their sign
    bool saturate = false;             ///< .sat: clamped to [0, 1], NaN gives +0
    bool relu = false;                 ///< fma.relu: negative results become +0, NaN stays
};

/// IEEE 754 operations of f64, f32, f16 and bf16 in PTX's four rounding modes, with the NaN that an H200 returns
/// (f32, f16, bf16: canonical; f64: an operand's, quieted). Operands and results are the format's bits.
std::uint64_t add(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how);
std::uint64_t sub(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how);
std::uint64_t mul(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how);
std::uint64_t fma(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, const Arithmetic& how);
std::uint64_t div(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how);
std::uint64_t sqrt(Format format, std::uint64_t a, const Arithmetic& how);

/// One floating format into another, rounded to nearest even; NaN gives the canonical one.
std::uint64_t convert_float(std::uint64_t bits, Format from, Format to);

}  // namespace tilepath::number
