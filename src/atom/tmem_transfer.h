#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atom/fragment.h"
#include "atom/tcgen05_words.h"
#include "base/result.h"

namespace tilepath::atom {

std::string_view name(TmemShape shape);

/// What tcgen05.ld.red also computes of the columns loaded, per thread.
struct TmemReduction {
    bool maximum = false;                ///< .max; .min otherwise
    bool absolute = false, nan = false;  ///< .abs, .NaN: f32 only
    enum class Type : std::uint8_t { f32, s32, u32 } type = Type::f32;
};

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
    std::optional<TmemReduction> reduction;  ///< of tcgen05.ld.red (sm_103a, sm_110a and their families)
    /// If it reduces: (block, lane, 0) to laneid of the register that gets the result. That each thread of .16x32bx2
    /// reduces its own block is inferred: the manual says "in each lane", and two threads hold a lane's blocks.
    Fragment reduced;
};

/// The transfer, or the rule that it breaks.
Result<TmemTransfer> tmem_transfer(bool store, TmemShape shape, int repeats, bool packed = false);
std::vector<TmemTransfer> all_tmem_transfers();
/// tcgen05.ld.red: shapes .32x32b and .16x32bx2 of at least .x2.
Result<TmemTransfer> tmem_reducing_load(TmemShape shape, int repeats, TmemReduction reduction);
/// `.max.abs.NaN.f32`.
std::string words_of(const TmemReduction& reduction);

/// The lanes that a warp may touch: 32 (warp mod 4) and the 31 after it. PTX ISA 9.7.16.2.3.1.
constexpr int first_tmem_lane(int warp) { return 32 * (warp % 4); }

}  // namespace tilepath::atom
