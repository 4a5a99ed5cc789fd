#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "atom/fragment.h"
#include "base/result.h"

namespace tilepath::atom {

/// The shape qualifier of tcgen05.ld and tcgen05.st: lanes × bits per lane of one piece, which .xN repeats along
/// columns.
enum class TmemShape : std::uint8_t { s32x32b, s16x64b, s16x128b, s16x256b, s16x32bx2 };
std::string_view name(TmemShape shape);

/// A warp's transfer between Tensor Memory and registers: who gets which cell, relative to the address given. PTX
/// ISA 9.7.16.2.3 and 9.7.16.8; the maps are CuTe's (copy_traits_sm100.hpp) and TVM's, which agree.
struct TmemTransfer {
    std::string name;  ///< `tcgen05.ld.sync.aligned.16x256b.x4.b32`
    TmemShape shape = TmemShape::s32x32b;
    int repeats = 1;  ///< .xN
    bool store = false;
    bool packed = false;  ///< .pack::16b, .unpack::16b: the lower halves of two columns share a register
    int lanes = 32;       ///< of Tensor Memory; 16-lane shapes start at lane 0 or 16 of the warp's window
    int columns = 0;      ///< of one block
    /// (block, lane, column) to laneid, reg, bit. Two blocks for .16x32bx2: the second starts immHalfSplitoff columns
    /// on.
    Fragment fragment;
};

/// The transfer, or the rule that it breaks.
Result<TmemTransfer> tmem_transfer(bool store, TmemShape shape, int repeats, bool packed = false);
std::vector<TmemTransfer> all_tmem_transfers();

/// The lanes that a warp may touch: 32 (warp mod 4) and the 31 after it. PTX ISA 9.7.16.2.3.1.
constexpr int first_tmem_lane(int warp) { return 32 * (warp % 4); }

}  // namespace tilepath::atom
