#pragma once
#include <cstdint>

namespace tilepath::atom {

// Words of tcgen05's instructions, which a program/ holds too.

/// `.kind` of tcgen05.mma.
enum class Tcgen05Kind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

/// The shape qualifier of tcgen05.ld and tcgen05.st: lanes × bits per lane of one piece, which .xN repeats along
/// columns.
enum class TmemShape : std::uint8_t { s32x32b, s16x64b, s16x128b, s16x256b, s16x32bx2 };

/// The shapes of tcgen05.cp, with the multicast that belongs to them. PTX ISA 9.7.16.2.4, 9.7.16.9.2.
enum class TmemCopyShape : std::uint8_t { s128x256b, s128x128b, s4x256b, s64x128b_02_13, s64x128b_01_23, s32x128b };

/// What a stored row holds: 16-bit elements, bytes, or 6- and 4-bit elements padded to 16 bytes (ldmatrix and
/// tcgen05.cp widen them to bytes).
enum class MatrixData : std::uint8_t { b16, b8, b6x16_p32, b4x16_p64 };

}  // namespace tilepath::atom
