#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "number/format.h"

namespace tilepath::number {

/// How a group's fixed-point sum becomes the result (reference: docs/numerics.md).
enum class ResultRounding : std::uint8_t {
    rz_f32,     ///< truncated to 24 significant bits
    rz_e8m13,   ///< truncated to 13 fraction bits in an f32 word
    rne_f16     ///< one rounding to binary16, ties to even
};

/// How block scales enter.
enum class Scaling : std::uint8_t {
    none,
    per_dot,     ///< one scale of A and one of B for the whole group (mxf8f6f4)
    per_group    ///< groups of 16 exact products, each with scales, then one aligned sum (mxf4, mxf4nvf4)
};

/// How one instruction on one device adds up one element of D: the truncated fused dot product and what surrounds it.
struct DotRecipe {
    enum class Kind : std::uint8_t {
        fused,              ///< truncated fused dot product, in chained groups of `group_length` products
        fp8_through_f16,    ///< mma.sync FP8 on sm_90 and sm_100: f16 groups (bytes 0–1, then 2–3), then one IEEE addition of C
        fma_chain_f64,      ///< ascending chain of binary64 fma
        integer,            ///< exact, wraps or saturates
        bit_and, bit_xor    ///< popcount of and, xor
    };
    Kind kind = Kind::fused;
    Format a = Format::f16, b = Format::f16, d = Format::f32;  ///< C has D's format
    int group_length = 0;    ///< products per group (L_max)
    int fraction_bits = 0;   ///< F: the least bit kept is 2^(e_max − F)
    int zero_exponent = 0;   ///< e_zero
    ResultRounding rounding = ResultRounding::rz_f32;
    Scaling scaling = Scaling::none;
    bool saturate = false;          ///< integers: .satfinite
    Rounding f64_rounding = Rounding::rn;
    bool separate_halves = false;   ///< fp8_through_f16 as CUDA 12.4 lowers it: two groups from zero, added, then C
};

/// The device that executes: arithmetic belongs to it, not to the instruction's first architecture.
enum class Instruction : std::uint8_t { mma_sync, wgmma, tcgen05_mma };

}  // namespace tilepath::number
