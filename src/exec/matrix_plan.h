#pragma once
#include <array>
#include <memory>
#include <optional>

#include "atom/mma_sp.h"
#include "base/result.h"
#include "exec/code.h"
#include "exec/warpgroup.h"
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
    /// Where every register's lanes 4g + t make four runs of consecutive 32-bit elements, g their index (C and D of all
    /// 32-bit m16n8 fragments): the runs' first bytes, by (register, t). Else empty.
    std::vector<std::int32_t> runs;

    /// `places`: the rows of the fragment's registers.
    void gather(const Row* rows, const std::uint32_t* places, std::uint8_t* tile) const;
    void scatter(const std::uint8_t* tile, Row* rows, const std::uint32_t* places, LaneMask lanes) const;
};

/// How the elements of a fragment (rows × columns, so many blocks of them) lie in the tile.
enum class TileOrder : std::uint8_t { by_rows, by_columns };
/// A warpgroup's fragment is the same in each of its warps, for rows of their own: the tile is one warp's part.
TileMap map_tile(const atom::Fragment& fragment, int element_bits, TileOrder order);

/// One half of a 32-bit register of ldmatrix or stmatrix: which row, by the lane that addresses it, and which byte of
/// it.
struct MatrixPiece {
    std::uint8_t lane = 0, byte = 0;
};

/// One byte of a register of ldmatrix or stmatrix: the row as above, and the first bit of an element of it.
struct MatrixField {
    std::uint8_t lane = 0, bit = 0;
};

/// How an operand's elements become the bytes that the engine takes: kinds keep 6- and 4-bit floats in bytes, or two in
/// a byte.
enum class Unpack : std::uint8_t { nothing, low_six_bits, middle_four_bits, nibbles };
/// `bytes`: of the elements as they came out of registers.
void unpack(Unpack how, std::uint8_t* tile, int bytes);

/// Where the scales of an operand lie, by (byte-id, thread-id); empty for what selects none.
struct ScalePlaces {
    static constexpr int byte_ids = 4, thread_ids = 4;
    std::array<std::vector<atom::ElementPlace>, byte_ids * thread_ids> of;
};

/// What a matrix operation needs at run time, made of atom/'s layouts and number/'s recipe when the Program is loaded.
struct MatrixPlan {
    // mma, wmma.mma
    std::shared_ptr<const number::TileEngine> engine;
    int m = 0, n = 0, k = 0, blocks = 1;
    TileMap a, b, c, d;
    int row_bytes = 0;                                    ///< of A's and B's tile
    number::Format c_format{}, sum_format{}, d_format{};  ///< the sum is f32 if C or D is
    // mma with a kind
    Unpack unpack_a = Unpack::nothing, unpack_b = Unpack::nothing;
    int scale_factors = 0;           ///< of each row of A and column of B; 0: no block scales
    ScalePlaces scales_a, scales_b;  ///< by (row, factor) and (column, factor)
    // mma.sp
    std::optional<atom::SparseMmaAtom> sparse;
    std::vector<atom::ElementPlace> metadata;  ///< by (row, chunk)
    // wgmma, for one of the warpgroup's warps: its 16 rows of A and D
    program::Mma wgmma;
    OperandShape shared_a, shared_b;  ///< of the whole operands
    bool chains = false;              ///< one engine call may do several in a row
    // ldmatrix, stmatrix
    LaneMask address_lanes = 0;
    std::vector<MatrixPiece> pieces;  ///< by (register, lane, half)
    std::vector<MatrixField> fields;  ///< in their place, of elements of 8 bits and less: by (register, lane, byte)
    int field_bits = 0;
    int registers = 0;
    // wmma.load, wmma.store: a dense tile in the order of the matrix in memory, of rows (or columns) of `line_bytes`
    TileMap transfer;
    int line_bytes = 0, element_bits = 0;
    // movmatrix: for each lane's halves, (lane, half) that they come from
    std::vector<MatrixPiece> moves;
};

inline constexpr const char* undefined_metadata = "the metadata selects no columns that the manual defines";

/// The column of each element that A stores, by (row, stored element); none if the metadata of a lane is none.
std::vector<int> stored_columns(const MatrixPlan& plan, const Row& metadata, std::span<const atom::ElementPlace> places,
                                int& wrong_lane);

/// Bits of an element of C or D.
int accumulator_bits(number::Format format);

/// transfer_plan.cpp: ldmatrix and stmatrix; movmatrix; what a wmma.load or wmma.store moves (0 A, 1 B, 2 C and D).
Result<std::shared_ptr<const MatrixPlan>> plan_transfer(const program::MicroOp& op);
std::shared_ptr<const MatrixPlan> plan_transpose();
Result<std::shared_ptr<const MatrixPlan>> plan_wmma_transfer(const program::Mma& mma, int matrix);

/// As number/ names it.
number::Format number_format(program::DataType type);
/// Null for operations that need none.
Result<std::shared_ptr<const MatrixPlan>> plan_matrix(const program::Function& function, const program::MicroOp& op,
                                                      const machine::Device& device);

}  // namespace tilepath::exec
