#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "layout/layout.h"
#include "layout/swizzle.h"

namespace tilepath::atom {

/// The shapes of tcgen05.cp, with the multicast that belongs to them. PTX ISA 9.7.16.2.4, 9.7.16.9.2.
enum class TmemCopyShape : std::uint8_t { s128x256b, s128x128b, s4x256b, s64x128b_02_13, s64x128b_01_23, s32x128b };
std::optional<TmemCopyShape> tmem_copy_named(std::string_view shape, std::string_view multicast);

/// A copy from shared memory, read through a descriptor, to Tensor Memory. The maps are TVM's.
struct TmemCopy {
    std::string name;  ///< `tcgen05.cp.cta_group::1.32x128b.warpx4`
    TmemCopyShape shape = TmemCopyShape::s128x256b;
    int rows = 0, bytes = 0;     ///< of the source: bytes per row, 16 or 32
    layout::Layout destination;  ///< (row, byte) to TLane, TCol, byte; copies for the multicasts
};
TmemCopy tmem_copy(TmemCopyShape shape, int cta_group = 1);

/// (row, byte) to m in bytes from the descriptor's start address, before the swizzle: rows in groups of eight, stride
/// offset apart; the second 16 bytes follow the first under a swizzle, and lie the leading offset on without.
Result<layout::Layout> tmem_copy_source(const TmemCopy& copy, layout::SwizzleMode swizzle, int leading_bytes,
                                        int stride_bytes);

}  // namespace tilepath::atom
