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
    bool oob = false;                  ///< fma.oob: +0 if a or b is the NaN with which TMA fills (0x7ff7, any sign)
};

/// IEEE 754 operations of f64, f32, f16 and bf16 in PTX's four rounding modes, with the NaN that an H200 returns
/// (f32, f16, bf16: canonical; f64: an operand's, quieted). Operands and results are the format's bits.
std::uint64_t add(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how);
std::uint64_t sub(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how);
std::uint64_t mul(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how);
std::uint64_t fma(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, const Arithmetic& how);
std::uint64_t div(Format format, std::uint64_t a, std::uint64_t b, const Arithmetic& how);
std::uint64_t sqrt(Format format, std::uint64_t a, const Arithmetic& how);

/// Modifiers of min, max, neg and abs.
struct Comparison {
    bool ftz = false;
    bool nan = false;          ///< .NaN: a NaN operand gives NaN (else the other operand)
    bool xorsign_abs = false;  ///< .xorsign.abs: of the magnitudes, with the product's sign
};

std::uint64_t minimum(Format format, std::uint64_t a, std::uint64_t b, const Comparison& how);
std::uint64_t maximum(Format format, std::uint64_t a, std::uint64_t b, const Comparison& how);
std::uint64_t negated(Format format, std::uint64_t a, const Comparison& how);
std::uint64_t absolute(Format format, std::uint64_t a, const Comparison& how);

}  // namespace tilepath::number
