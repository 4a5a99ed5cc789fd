// What a tcgen05.mma needs at run time, made of atom/'s layouts once for each combination of modifiers, descriptors and
// lanes.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "atom/instruction_descriptor.h"
#include "atom/tcgen05_descriptor.h"
#include "exec/tcgen05_multiply.h"
#include "number/engine.h"
#include "program/function.h"

namespace tilepath::exec {

/// How an operand lies in the shared memory of one CTA: its 16-byte chunks, from the start address less its phase in
/// the longest swizzle pattern on, and how they become packed rows of k.
struct Tcgen05Shared {
    enum class Form : std::uint8_t { packed, padded4, padded6 };  ///< padded: 16 elements to 16 bytes
    std::vector<std::int32_t> chunks;  ///< by (row, chunk of k) or, MN-major, by (k, chunk of rows)
    std::int32_t least = 0, most = 0;  ///< of the first bytes of those that are read
    bool mn_major = false;
    Form form = Form::packed;
    int rows = 0, first_row = 0;  ///< read; the first is another than 0 under a column shift
    int row_chunks = 0;           ///< per row or, MN-major, per column of k
    int k = 0, element_bytes = 1;
    /// Some of the rows that are read, to `out` + r · `stride`.
    void copy(const std::uint8_t* shared, std::uint64_t descriptor, int from, int count, std::uint8_t* out,
              std::size_t stride) const;
};

/// The operand that a descriptor leads to, or the rule that it breaks. `rows`: of one CTA.
Result<Tcgen05Shared> tcgen05_shared(const atom::Tcgen05Mma& mma, bool is_b, std::uint64_t descriptor, bool mn_major,
                                     int column_shift);
/// What does not matter to that: of the start address all but its phase.
std::uint64_t without_start(std::uint64_t descriptor);

/// Consecutive rows of a CTA in consecutive lanes.
struct Tcgen05Rows {
    int first = 0, rows = 0, lane = 0;
};

/// A field of a cell of Tensor Memory, in one warp's window of 32 lanes or as it is; column relative.
struct TensorPlace {
    std::uint8_t lane = 0, bit = 0;
    std::uint16_t column = 0;
};

struct Tcgen05FullPlan : Tcgen05Plan {
    program::Tcgen05Mma what;
    atom::Tcgen05Mma atom;
    atom::InstructionDescriptor descriptor;
    std::shared_ptr<const number::TileEngine> engine;  ///< of the elements that A stores
    std::shared_ptr<const number::TileEngine> spread;  ///< sparse: of all of k, A with zeros between; null: too wide
    bool chains = false;                               ///< one engine call may do several in a row
    int parts = 1;                                     ///< of D's columns, one beside the other over the lanes
    int row_bytes = 0;                                 ///< of the stored k of A, as the engine takes it
    int b_row_bytes = 0;                               ///< of B's k: twice that if A is sparse
    std::vector<Tcgen05Rows> rows;
    Tcgen05Shared a, b;
    int first_lane = 0;                 ///< of all that lies in D's lanes: 0, or 16 where half of them is used
    int factors = 0;                    ///< scale factors per row
    std::vector<TensorPlace> scales_a;  ///< by (row, factor), lane within a window
    std::vector<TensorPlace> scales_b;  ///< by (column, factor)
    std::vector<TensorPlace> metadata;  ///< by (row, chunk)
    std::vector<bool> zeroed;           ///< columns of B; empty: none
    std::uint8_t scale_input_d = 0;
    std::array<std::uint32_t, 8> disabled{};
    bool staged = false;  ///< D is worked on aside

    bool disables(int cta, int lane) const {
        return disabled[static_cast<std::size_t>(cta * 4 + lane / 32)] >> lane % 32 & 1;
    }
    int part_lanes() const { return 128 / parts; }
    int part_columns() const { return atom.shape.n / parts; }
};

/// One operation of a run.
struct Tcgen05Step {
    const Tcgen05FullPlan* plan = nullptr;
    const Tcgen05Operands* operands = nullptr;
};

/// Fills in everything, or `error`. `ultra`: on sm_103.
void make_tcgen05_plan(const program::Tcgen05Mma& what, const Tcgen05Operands& operands, bool ultra,
                       Tcgen05FullPlan& plan);
/// Rows, scales, metadata, and the cells that all of it touches.
Result<void> place_tcgen05_operands(const Tcgen05Operands& operands, Tcgen05FullPlan& plan);

/// An address of Tensor Memory in a register. Bits 30-31 are not the lane's: CUTLASS leaves the factor's id in them.
inline machine::TensorMemoryAddress tensor_address(std::uint64_t address) {
    return {static_cast<std::uint32_t>(address) >> 16 & 0x7F, static_cast<std::uint32_t>(address) & 0xFFFF};
}

/// Rows of A as they are stored, with zeros where they store nothing; `part`: whose metadata. Empty, or what is wrong
/// with them.
std::string spread_rows(const Tcgen05Step& step, const machine::TensorMemory& memory, const Tcgen05Rows& rows, int part,
                        std::span<const std::uint8_t> stored, std::vector<std::uint8_t>& out);
/// Whether one of these elements, which begin at whole bytes, is an infinity or a NaN.
bool any_special(std::span<const std::uint8_t> elements, number::Format format);
/// One product with metadata, one element of D after the other. Empty, or what is wrong with them.
std::string multiply_sparse(const Tcgen05Step& step, const Tcgen05Ctas& ctas, std::span<const std::uint8_t> b,
                            std::size_t b_stride);

/// Rows of A of one CTA, from shared or Tensor Memory, to `out` + r · `stride`; `part`: whose copy in Tensor Memory.
void read_tcgen05_a(const Tcgen05Step& step, const Tcgen05Ctas& ctas, std::size_t cta, const Tcgen05Rows& rows,
                    int part, std::uint8_t* out, std::size_t stride);
/// All of B, columns as rows of k.
void read_tcgen05_b(const Tcgen05Step& step, const Tcgen05Ctas& ctas, std::uint8_t* out, std::size_t stride);

/// D · 2^-exponent, rounded to nearest where that is subnormal. (How the hardware rounds is not published.)
std::uint32_t scaled_down(std::uint32_t word, number::Format format, int exponent);

/// A scale factor of a CTA, from the copy in the window of `lane`.
inline std::uint8_t scale_at(const machine::TensorMemory& memory, std::uint32_t address, TensorPlace place, int lane) {
    const auto column = tensor_address(address).column + place.column;
    return static_cast<std::uint8_t>(memory.column(column)[lane / 32 * 32 + place.lane] >> place.bit);
}

}  // namespace tilepath::exec
