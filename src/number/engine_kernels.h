// What passes between the engine and its kernels, which are compiled once per instruction set (see engine_targets.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "number/fused_dot.h"

namespace tilepath::number::engine {

/// A kernel makes one block of D: 16 rows of A by 8 columns of B. Every vector length divides 16, and mma.sync's
/// m16n8 is exactly one block.
constexpr int block_rows = 16, block_columns = 8;

/// A chunk of k: what one row holds in 16 bytes. Operands are filled up to whole chunks with zeros.
constexpr int chunk_bytes = 16;

/// Values are kept times 2^-10, except in special blocks (infinities, NaN, bf16 and tf32 of 2^46 and more). See
/// engine_fused.cpp, "Range".
constexpr int value_shift = 10;

/// What stands for the exponent of a zero: the least of 8 bits. Values of the quick path lie below 2^46, so that beside
/// any of them the sum is below all that the quick path accepts.
constexpr int zero_value_exponent = -128, quick_exponents_end = 46;

/// Exponents of two elements at once, each at the top of 16 bits; all at the place that is << 7 (f32's, halved).
struct PairRule {
    std::int16_t field = 0;          ///< the format's exponent field, shifted right by FloatRule::right
    std::int16_t bias = 0;           ///< subtracted from it
    std::int16_t largest_quick = 0;  ///< a magnitude, as in FloatRule
};

/// How a float of at most 32 bits becomes an f32 and an exponent. With the element at the top of 32 bits:
/// f32 = (it, arithmetically shifted right by `right`, masked) as f32 bits · `factor`, subnormals included.
struct FloatRule {
    int container_bits = 16;  ///< 8, 16 or 32
    int element_bits = 16;    ///< from the container's top down for tf32, from its bottom up for the others
    int right = 0;
    std::int32_t mask = 0;
    float factor = 1;
    std::int32_t largest_finite = 0;  ///< masked bits without sign; above it lie infinity and NaN
    std::int32_t infinity = -1;       ///< masked bits without sign; −1: the format has none
    std::int32_t largest_quick = 0;   ///< masked bits without sign; anything above it makes a block special
    std::int32_t least_exponent = 0;  ///< emin + 127, at f32's place (<< 23)
    bool halves = false;              ///< fp8_through_f16: k mod 4 ∈ {0,1} first, then the others
    PairRule pairs;                   ///< for formats of at most 16 bits, unless `halves`
};

/// Where the elements of a block's rows lie.
struct Rows {
    const std::byte* data;
    std::ptrdiff_t stride;  ///< bytes
    int count;              ///< rows that exist; a block's others are zeros
    int bytes;              ///< per row
};

/// An operand in the engine's form, in blocks of 16 rows of A or 8 columns of B. (k counts in an order of its own,
/// which keeps groups together: of four 8-bit elements, 0, 2, 1, 3.) Element k of every row of a block lies together:
/// first all values, f32 values[k][row], then all exponents, 8 bits each: exponents[k][row]. A has each exponent four
/// times in a row, so that one 8-bit addition gives the sums for four columns.
struct FloatBlock {
    float* values;
    std::int8_t* exponents;
};

inline FloatBlock float_block(std::byte* block, int elements, int rows) {
    auto* const values = reinterpret_cast<float*>(block);
    return {values, reinterpret_cast<std::int8_t*>(values + elements * rows)};
}

/// Bytes of an element of A and of B in that form.
constexpr int float_bytes_a = 4 + 4, float_bytes_b = 4 + 1;

/// mxf8f6f4: behind all that, the exponents of the scales, 32 bits each: exponents[k/32][row].
inline std::int32_t* scale_exponents(std::byte* block, int elements, int rows, int element_bytes) {
    return reinterpret_cast<std::int32_t*>(block + elements * rows * element_bytes);
}
constexpr int scaled_group = 32;

/// How a group's sum meets 32 bits.
enum class SumRange {
    fits,         ///< always
    fits_less_c,  ///< the products' does; with C it may not
    halves_fit    ///< that of each half of the products does, C included
};

struct FusedRule {
    int group_length = 0;
    int fraction_bits = 0;
    int zero_exponent = 0;
    ResultRounding rounding = ResultRounding::rz_f32;
    SumRange range = SumRange::fits;
    bool starts_from_zero = false;  ///< fp8_through_f16: C is added at the end, by IEEE rules
    bool separate_halves = false;   ///< fp8_through_f16: every group starts from zero, and the results are added
};

/// mxf4 and mxf4nvf4: 16 elements of k with one scale, of a block of rows. So many words of 32 bits for each row, one
/// word of all rows after the other.
///
///   0-3  elements in halves, a byte each, the even ones of eight first; plus 12 in A, which makes them unsigned
///   4    a bit for each nonzero element; none if the scale is zero
///   5    the scale's significand, in both halves
///   6    its exponent; fp4_nan for a NaN
///   7    in B: −12 times the sum of the elements, in the low half
namespace fp4_word {
constexpr int elements = 0, nonzero = 4, significand = 5, exponent = 6, bias = 7;
}
constexpr int fp4_group = 16, fp4_words_a = 7, fp4_words_b = 8, fp4_bias = 12, fp4_nan = 1 << 20;

struct Fp4Rule {
    int groups = 4;         ///< per sum
    int fraction_bits = 0;  ///< F
    int zero_exponent = 0;
    int part_fraction = 0;  ///< fraction bits of a group's product with its scales
};

/// 16 rows and the columns of `column_blocks` blocks of accumulators, column-major; `c` null is zero. 16-bit words
/// where the result is f16, else 32.
struct Accumulators {
    const void* c;
    std::ptrdiff_t c_stride;
    void* d;
    std::ptrdiff_t d_stride;
};

struct IntegerRule {
    enum class Kind : std::uint8_t { multiply, bit_and, bit_xor } kind = Kind::multiply;
    bool saturate = false;
};

/// One block into the engine's form: `block` rows (16 or 8) of `elements`, a whole number of chunks.
struct PrepareKernels {
    /// Returns whether the block is special; `special`: it shall be.
    bool (*floats)(const FloatRule&, const Rows&, int block, int elements, bool special, const FloatBlock& out);
    /// Pairs of 16-bit integers: out[k/2][row] holds k (low half) and k+1.
    void (*integers)(int element_bits, bool is_signed, const Rows&, int block, std::int32_t* out);
    /// Words of bits: out[k/32][row].
    void (*bits)(const Rows&, int block, std::int32_t* out);
    /// Elements of e2m1, two a byte: words 0-4 of every group, in B 7 too.
    void (*fp4)(const Rows&, int block, std::int32_t* out);
};

/// What a kernel multiplies: one block of A by `column_blocks` blocks of B, `elements` of k.
struct Operands {
    const std::byte* a;
    const std::byte* b;
    std::size_t b_block_bytes;
    int column_blocks;
    int elements;
    bool a_special;
    const std::uint8_t* b_special;  ///< per block of B
};

using FusedKernel = void (*)(const FusedRule&, const Operands&, const Accumulators&);
using IntegerKernel = void (*)(const IntegerRule&, const Operands&, const Accumulators&);
using Fp4Kernel = void (*)(const Fp4Rule&, const Operands&, const Accumulators&);

/// The best of this CPU; null where Highway has only scalar code for it.
const PrepareKernels* best_prepare_kernels();
FusedKernel best_fused_kernel(const FusedRule& rule);
FusedKernel best_scaled_kernel();  ///< mxf8f6f4
IntegerKernel best_integer_kernel();
Fp4Kernel best_fp4_kernel(bool halves);

}  // namespace tilepath::number::engine
