#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "atom/tcgen05_words.h"
#include "base/result.h"
#include "layout/layout.h"
#include "layout/swizzle.h"

namespace tilepath::atom {

std::optional<TmemCopyShape> tmem_copy_named(std::string_view shape, std::string_view multicast);

/// A copy from shared memory, read through a descriptor, to Tensor Memory. The maps are TVM's.
struct TmemCopy {
    std::string name;  ///< `tcgen05.cp.cta_group::1.32x128b.warpx4`
    TmemCopyShape shape = TmemCopyShape::s128x256b;
    /// b8: bytes as they are. b6x16_p32, b4x16_p64: 16 elements in the low bits of 16 bytes of the source, each widened
    /// to a byte (PTX ISA 9.7.16.9.1).
    MatrixData data = MatrixData::b8;
    int rows = 0, bytes = 0;     ///< bytes per row, 16 or 32, of the source and of the destination
    layout::Layout destination;  ///< (row, byte) to TLane, TCol, byte, bit; copies for the multicasts
    int element_bits = 8;        ///< of what a byte of the destination holds
    std::string_view evidence;   ///< of where those bits lie in it
};
/// An error for a format that is no source of a copy.
Result<TmemCopy> tmem_copy(TmemCopyShape shape, int cta_group = 1, MatrixData data = MatrixData::b8);

/// (row, byte) to m in bytes from the descriptor's start address, before the swizzle: rows in groups of eight, stride
/// offset apart; the second 16 bytes follow the first under a swizzle, and lie the leading offset on without. Widened
/// elements: (row, element) to m, the first byte of their 16, and bit from there.
Result<layout::Layout> tmem_copy_source(const TmemCopy& copy, layout::SwizzleMode swizzle, int leading_bytes,
                                        int stride_bytes);

}  // namespace tilepath::atom
