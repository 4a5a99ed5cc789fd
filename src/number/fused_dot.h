#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "number/format.h"

namespace tilepath::number {

/// How a group's fixed-point sum becomes the result (reference: docs/numerics.md).
enum class ResultRounding : std::uint8_t {
    rz_f32,    ///< truncated to 24 significant bits
    rz_e8m13,  ///< truncated to 13 fraction bits in an f32 word
    rne_f16    ///< one rounding to binary16, ties to even
};

/// How block scales enter.
enum class Scaling : std::uint8_t {
    none,
    per_dot,   ///< one scale of A and one of B for the whole group (mxf8f6f4)
    per_group  ///< groups of 16 exact products, each with scales, then one aligned sum (mxf4, mxf4nvf4)
};

/// How one instruction on one device adds up one element of D: the truncated fused dot product and what surrounds it.
struct DotRecipe {
    enum class Kind : std::uint8_t {
        fused,            ///< truncated fused dot product, in chained groups of `group_length` products
        fp8_through_f16,  ///< mma.sync FP8 on sm_90 and sm_100: f16 groups (bytes 0–1, then 2–3), then one IEEE
                          ///< addition of C
        fma_chain_f64,    ///< ascending chain of binary64 fma
        integer,          ///< exact, wraps or saturates
        bit_and,
        bit_xor,       ///< popcount of and, xor
        cuda_core_f32  ///< mma.sync.m8n8k4 f16: no tensor core, binary32 code (docs/numerics.md, "m8n8k4")
    };
    Kind kind = Kind::fused;
    Format a = Format::f16, b = Format::f16, d = Format::f32;  ///< C has D's format
    int group_length = 0;                                      ///< products per group (L_max)
    int fraction_bits = 0;                                     ///< F: the least bit kept is 2^(e_max − F)
    int zero_exponent = 0;                                     ///< e_zero
    ResultRounding rounding = ResultRounding::rz_f32;
    Scaling scaling = Scaling::none;
    bool saturate = false;  ///< integers: .satfinite
    Rounding f64_rounding = Rounding::rn;
    bool separate_halves = false;  ///< fp8_through_f16 as CUDA 12.4 lowers it: two groups from zero, added, then C
    Format scale = Format::ue8m0;  ///< of both scales, when scaled
    int scale_block = 0;           ///< consecutive k that share one scale

    friend bool operator==(const DotRecipe&, const DotRecipe&) = default;
};

/// The device that executes: arithmetic belongs to it, not to the instruction's first architecture.
enum class Instruction : std::uint8_t { mma_sync, wgmma, tcgen05_mma, wmma };

/// Block scales along k: one per `scale_block` consecutive elements, in the recipe's scale format.
struct Scales {
    std::span<const std::uint64_t> a, b;
};

/// An operand taken apart once, so that a matrix is decoded once and used in many dot products:
/// value = significand × 2^(exponent − fraction_bits of its format). Sparse operands: give the selected elements.
struct Term {
    std::int32_t significand = 0;  ///< signed; 0 for infinities and NaN
    std::int16_t exponent = 0;     ///< format's, subnormals emin; `Term::zero_exponent` for zeros
    Class kind = Class::zero;
    bool negative = false;

    static constexpr std::int16_t zero_exponent = -4000;  ///< so low that it never is the largest
};

/// Every format but f64, f32 and s32 (which are no operands, or need another path).
Term decode_term(std::uint64_t bits, Format format);
std::vector<Term> decode_terms(std::span<const std::uint64_t> bits, Format format);

/// D of one instruction, in D's bits: a·b + c over all k given, chained in groups where the recipe says so. A longer k
/// equals a chain of instructions (FP8 mma.sync: of k = 32, m8n8k4: of k = 4), except that .satfinite clamps once per
/// call. a and b: as many elements, at least one.
std::uint64_t dot(const DotRecipe& recipe, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                  std::uint64_t c, const Scales& scales = {});

/// The same on decoded operands: every kind but fma_chain_f64, bit_and, bit_xor.
std::uint32_t dot(const DotRecipe& recipe, std::span<const Term> a, std::span<const Term> b, std::uint32_t c,
                  const Scales& scales = {});

}  // namespace tilepath::number
