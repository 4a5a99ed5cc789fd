#pragma once
#include <string>
#include <vector>

#include "atom/fragment.h"

namespace tilepath::atom {

bool has(const std::vector<number::Format>& formats, number::Format format);
/// `f16, f32`.
std::string names(const std::vector<number::Format>& formats);

/// How elements of a format lie in a register: `pitch` bits apart, each in `bits` bits from `offset` on.
struct Packing {
    int pitch = 0;
    int bits = 0;
    int offset = 0;
    int register_bits = 32;
};

/// Fields side by side: f64 alone in 64 bits, tf32 alone in 32, 6-bit floats in bytes, the rest packed.
Packing packed(number::Format format);
/// One element per byte (kind::f8f6f4, kind::mxf8f6f4): e2m1 in bits 5:2, 6-bit floats in bits 5:0.
/// PTX ISA 9.7.14.5, "kind::f8f6f4".
Packing in_bytes(number::Format format);

/// The fragments that mma.sync, mma.sp, wmma and wgmma share (PTX ISA 9.7.14.5), of 8 rows or a multiple of 16; lane =
/// 4g + t. A: row g + 8(r%2), k = tE + j + 4E(r/2), where E elements fill a register; one register per column block if
/// m is 8. Rows beyond 16 repeat the fragment in further registers.
Fragment a_fragment(int m, int k, number::Format format, Packing packing);
/// B: k = tE + j + 4Er, n = g + 8 (register block): n beyond 8 repeats the fragment in further registers.
Fragment b_fragment(int k, int n, number::Format format, Packing packing);
/// C and D: row g + 8(i/2), column 2t + i%2; f16 pairs share a register. n beyond 8 repeats it in further registers, m
/// beyond 16 repeats all of that.
Fragment c_fragment(std::string operand, int m, int n, number::Format format);

/// The same registers read as the transposed matrix.
Fragment transposed(const Fragment& fragment, std::string operand);

}  // namespace tilepath::atom
