#pragma once
#include <cstdint>
#include <string>

#include "atom/fragment.h"
#include "atom/tcgen05_words.h"
#include "base/result.h"

namespace tilepath::atom {

/// The shape qualifier of ldmatrix and stmatrix.
enum class MatrixShape : std::uint8_t { m8n8, m16n16, m8n16, m16n8 };

/// ldmatrix or stmatrix: which lane names the address of which stored row, and who receives (or gives) which element.
struct MatrixTransfer {
    std::string name;        ///< `m8n8.x4.trans.b16`
    int matrices = 1;        ///< .x1 .x2 .x4
    int stored_rows = 8;     ///< per matrix; each is 16 bytes at a 16-byte aligned shared address
    int stored_columns = 8;  ///< elements per stored row
    int stored_bits =
        16;  ///< of an element in shared memory; elements are packed from the row's first byte on, low bits first
    bool transposed = false;
    int minimum_sm = 75;
    /// (matrix, stored row) to laneid. Other lanes' addresses are ignored.
    layout::Layout addresses;
    /// (matrix, stored row, stored column) to laneid, reg, bit.
    Fragment fragment;
};

/// PTX ISA 9.7.14.5.15.
Result<MatrixTransfer> ldmatrix(MatrixShape shape, int matrices, bool transposed, MatrixData data = MatrixData::b16);
/// PTX ISA 9.7.14.5.16.
Result<MatrixTransfer> stmatrix(MatrixShape shape, int matrices, bool transposed, MatrixData data = MatrixData::b16);

/// movmatrix.m8n8.trans.b16: the element in `source` moves to its place in `destination`. PTX ISA 9.7.14.5.17.
struct MatrixTranspose {
    Fragment source, destination;
};
MatrixTranspose movmatrix();

}  // namespace tilepath::atom
