#pragma once
#include <memory>
#include <optional>

#include "atom/mma_sp.h"
#include "base/result.h"
#include "exec/code.h"
#include "number/engine.h"

namespace tilepath::exec {

/// Where the pieces of a fragment's registers lie in a dense tile in memory; made of atom/'s layout.
struct TileMap {
    int registers = 0;
    int register_bytes = 4;
    int unit = 4;                       ///< bytes of a piece: as large as registers and tile both keep together
    std::vector<std::int32_t> offsets;  ///< by (register, lane, piece): byte in the tile; −1: nothing
    bool complete = true;               ///< no offset is −1
    int tile_bytes = 0;                 ///< of all blocks

    /// `places`: the rows of the fragment's registers.
    void gather(const Row* rows, const std::uint32_t* places, std::uint8_t* tile) const;
    void scatter(const std::uint8_t* tile, Row* rows, const std::uint32_t* places, LaneMask lanes) const;
};

/// How the elements of a fragment (rows × columns, so many blocks of them) lie in the tile.
enum class TileOrder : std::uint8_t { by_rows, by_columns };
TileMap map_tile(const atom::Fragment& fragment, int element_bits, TileOrder order);

/// One half of a 32-bit register of ldmatrix or stmatrix: which row, by the lane that addresses it, and which byte of
/// it.
struct MatrixPiece {
    std::uint8_t lane = 0, byte = 0;
};

/// What a matrix operation needs at run time, made of atom/'s layouts and number/'s recipe when the Program is loaded.
struct MatrixPlan {
    // mma, wmma.mma
    std::shared_ptr<const number::TileEngine> engine;
    int m = 0, n = 0, k = 0, blocks = 1;
    TileMap a, b, c, d;
    int row_bytes = 0;             ///< of A's and B's tile
    number::Format c_format{}, sum_format{}, d_format{};  ///< the sum is f32 if C or D is
    // mma.sp
    std::optional<atom::SparseMmaAtom> sparse;
    std::vector<atom::ElementPlace> metadata;  ///< by (row, chunk)
    // ldmatrix, stmatrix
    LaneMask address_lanes = 0;
    std::vector<MatrixPiece> pieces;  ///< by (register, lane, half)
    // wmma.load, wmma.store: a dense tile in the order of the matrix in memory, of rows (or columns) of `line_bytes`
    TileMap transfer;
    int line_bytes = 0, element_bits = 0;
    // movmatrix: for each lane's halves, (lane, half) that they come from
    std::vector<MatrixPiece> moves;
};

/// Bits of an element of C or D.
int accumulator_bits(number::Format format);

/// Null for operations that need none.
Result<std::shared_ptr<const MatrixPlan>> plan_matrix(const program::Function& function, const program::MicroOp& op,
                                                      const machine::Device& device);

}  // namespace tilepath::exec
