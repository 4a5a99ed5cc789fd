// number/: the formats of tensor-core operands, their conversions, and the fused dot product, exact to the bit.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tilepath::number {

/// Every number format of the design. `tf32` lies in a 32-bit container whose low 13 bits are ignored.
enum class Format : std::uint8_t {
    f64,
    f32,
    tf32,
    f16,
    bf16,  // IEEE 754 binary64, binary32; TensorFloat-32; binary16; bfloat16
    e4m3,
    e5m2,
    e3m2,
    e2m3,
    e2m1,  // OCP 8-, 6- and 4-bit floats
    ue8m0,
    ue4m3,  // block scales
    s32,
    s8,
    u8,
    s4,
    u4,
    b1,  // integers and bits of tensor-core operands
    u16,
    s16,
    u32,
    u64,
    s64  // integers that only conversions meet
};

/// What a floating format can encode besides finite numbers.
enum class Specials : std::uint8_t { ieee, nan_only, none };

/// One row per format; `floating` rows hold bias and widths, integers only `bits` and `is_signed`.
struct FormatTraits {
    std::string_view name;  ///< as PTX and launch files write it
    int bits;               ///< of the encoding (tf32: the upper 19 of its container; ue4m3: 7, bit 7 is ignored)
    int container_bits;     ///< of the place that holds one element outside packed forms (tf32: 32; e3m2: 8)
    bool floating;
    bool is_signed;
    int exponent_bits;
    int fraction_bits;
    int bias;  ///< exponent of a normal = field − bias; emin = 1 − bias
    Specials specials;
};

const FormatTraits& traits(Format format);
std::optional<Format> format_named(std::string_view name);
std::span<const Format> all_formats();

/// The rounding modifiers of PTX. `rna`: nearest, ties away from zero; `rs`: stochastic (cvt.rs, random bits given).
enum class Rounding : std::uint8_t { rn, rz, rm, rp, rna, rs };

enum class Class : std::uint8_t { zero, finite, infinity, nan };

/// An element taken apart: value = ± significand × 2^(exponent − fraction_bits of its format). Subnormals are not
/// renormalised: their exponent is the format's emin. Integers have exponent 0 and no fraction bits.
struct Decoded {
    Class kind = Class::zero;
    bool negative = false;
    int exponent = 0;
    std::uint64_t significand = 0;

    friend bool operator==(const Decoded&, const Decoded&) = default;
};

/// Bits above the format's own (and tf32's low 13, ue4m3's bit 7) are ignored.
Decoded decode(std::uint64_t bits, Format format);

/// Exact for every format but u64 and s64 (rounded to nearest even); a NaN gives a quiet NaN.
double to_double(std::uint64_t bits, Format format);

/// An exact real number, or one known to lie strictly between two neighbours on a grid:
/// ± (significand + δ) × 2^exponent, with 0 < δ < 1 if `sticky`, else δ = 0.
struct Exact {
    bool negative = false;
    std::uint64_t significand = 0;
    int exponent = 0;
    bool sticky = false;
};

/// How `round_to` treats what does not fit.
struct EncodeOptions {
    Rounding rounding = Rounding::rn;
    bool satfinite = false;         ///< overflow gives the largest finite value of that sign
    std::uint32_t random_bits = 0;  ///< for Rounding::rs: added below the last place, `random_width` bits of it
    int random_width = 0;
};

/// The number in `format` (floating). Overflow: as IEEE 754 for the rounding mode; formats without infinity give NaN,
/// those without either the largest finite value. Zero keeps its sign; unsigned formats give 0 for what is negative.
std::uint64_t round_to(Format format, const Exact& value, const EncodeOptions& options = {});

/// An integer: ± magnitude, or what exceeds 64 bits.
struct Whole {
    bool negative = false;
    std::uint64_t magnitude = 0;
    bool overflow = false;
};

/// The number rounded to an integer.
Whole round_to_whole(const Exact& value, Rounding rounding);

/// Clamped to the range of an integer format, in its bits.
std::uint64_t clamp_to(Format format, const Whole& value);

/// Whether .ftz flushes a nonzero result: tiny after rounding, as if the exponent had no lower bound (recorded on an
/// H200: (1 − 2^-24) · 2^-126 is flushed, though it would round to the least normal f32).
bool tiny(Format format, const Exact& value, Rounding rounding);

/// The double rounded into `format`, integers included (clamped to the range; NaN gives 0).
std::uint64_t from_double(double value, Format format, const EncodeOptions& options = {});

/// A decoded element (finite or zero) as an exact number.
Exact exact(const Decoded& value, Format format);

std::uint64_t canonical_nan(Format format);            ///< what an instruction of this result type returns for NaN
std::uint64_t infinity(Format format, bool negative);  ///< IEEE formats only
std::uint64_t largest_finite(Format format, bool negative);
std::uint64_t zero(Format format, bool negative);

}  // namespace tilepath::number
