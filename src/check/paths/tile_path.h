// check/paths/: by which instructions a tile came from global memory to the matrix instruction that reads it, and from
// there to D; for pictures. What is right and what is wrong is check/provenance's to say.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/provenance/product.h"
#include "layout/swizzle.h"
#include "program/code_place.h"

namespace tilepath::check {

/// What an instruction does to a tile on its way.
enum class StepKind : std::uint8_t {
    load,          ///< ld, ldmatrix, tcgen05.ld: into registers
    store,         ///< st, stmatrix: from registers into memory
    copy,          ///< cp.async
    bulk,          ///< cp.async.bulk
    tensor,        ///< cp.async.bulk.tensor: TMA
    compute,       ///< conversion or arithmetic in registers
    tensor_store,  ///< tcgen05.st
    tensor_copy,   ///< tcgen05.cp
    multiply       ///< mma, wgmma, tcgen05.mma
};

struct PathStep {
    StepKind kind{};
    program::CodePlace place;
    std::optional<layout::SwizzleMode> swizzle;  ///< of a tensor map
};

/// 16 bytes that stay together on the way: their first element.
struct Piece {
    enum class Kind : std::uint8_t { none, unknown, unwritten, zero, element } kind = Kind::none;
    std::uint32_t row = 0, column = 0;  ///< of the matrix in global memory; of `read`: what belongs there
    bool wrong = false;
    bool used = false;  ///< the instruction reads something of it
};

/// 128-byte lines of shared memory, eight pieces each.
struct SharedWindow {
    static constexpr std::size_t most_lines = 16, pieces = 8;
    std::uint32_t begin = 0;  ///< address of the first line
    std::vector<std::array<Piece, pieces>> written, read;
};

/// The way of one operand of a matrix instruction.
struct OperandPath {
    std::string name;    ///< the instruction's: A or B
    std::string matrix;  ///< the buffer's; empty: not known
    bool wrong = false;
    bool lines_are_rows = true;   ///< what lies side by side in memory is a row of the matrix, else a column
    bool by_descriptor = false;   ///< the instruction itself reads it from shared memory
    std::string reading;          ///< the descriptor's fields, or how lanes address it
    std::vector<PathStep> steps;  ///< from global memory on; the matrix instruction is not among them
    std::optional<SharedWindow> shared;
    std::uint32_t first_row = 0, first_column = 0, rows = 0, columns = 0;  ///< the box of elements that it reads
    std::uint32_t per_piece = 8;                                           ///< elements in 16 bytes
    /// The operand as the instruction takes it, from row `taken_from` on: pieces of 16 bytes along k.
    int taken_from = 0;
    std::vector<std::vector<Piece>> taken;
};

struct TilePath {
    PathStep instruction;
    std::string name;                                      ///< what `show` calls the instruction
    std::uint64_t proven = 0, disproven = 0, unknown = 0;  ///< executions by a warp
    std::vector<unsigned> also;                            ///< lines of the PTX of like instructions
    OperandPath a, b;
    std::vector<std::vector<PathStep>> results;  ///< ways from the accumulators to D
};

}  // namespace tilepath::check
