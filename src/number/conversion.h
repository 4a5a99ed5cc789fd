#pragma once
#include <cstdint>
#include <span>

#include "number/format.h"

namespace tilepath::number {

/// Modifiers of `cvt`. PTX's integer roundings .rni .rzi .rmi .rpi are rn, rz, rm, rp.
struct Conversion {
    Rounding rounding = Rounding::rn;
    bool to_integral = false;       ///< .rni … between equal floating types: rounded to an integral value
    bool ftz = false;               ///< f32 subnormals, in and out, become zeros of their sign
    bool saturate = false;          ///< .sat: integers clamp to the range, floats to [0, 1] (NaN gives +0)
    bool satfinite = false;         ///< overflow and infinity give the largest finite value
    bool relu = false;              ///< negative results become +0
    std::uint32_t random_bits = 0;  ///< rs: this element's own (see random_bits_of)
};

/// One element, as `cvt` converts it (PTX ISA 9.0, cvt): any pair of formats that has a `cvt`, integers without `.sat`
/// truncated or extended, a floating source clamped to an integer's range. Bits above the result's width are 0.
std::uint64_t convert(std::uint64_t bits, Format from, Format to, const Conversion& how = {});

/// Bits between neighbours in a packed register: 4 for e2m1, the container otherwise (f16x2 … ue8m0x2, e2m3x4).
int packed_bits(Format format);
/// Element `index` of a packed register, counted from the low bits. `cvt.f16x2.f32 d, a, b` has b as element 0.
std::uint64_t unpack(std::uint64_t packed, Format format, int index);
std::uint64_t pack(Format format, std::span<const std::uint64_t> elements);

/// Every element of a packed register.
std::uint64_t convert_packed(std::uint64_t packed, int count, Format from, Format to, const Conversion& how = {});

/// The share of `cvt.rs`'s operand `rbits` that rounds element `index` of the result (docs/numerics.md).
std::uint32_t random_bits_of(Format to, std::uint32_t rbits, int index);

/// cvt.pack.sat: a and b clamped to integers of `bits` (2, 4, 8, 16), b lowest; c moves above them where bits < 16.
std::uint32_t convert_pack(std::uint32_t a, std::uint32_t b, std::uint32_t c, int bits, bool is_signed,
                           bool source_signed);

}  // namespace tilepath::number
