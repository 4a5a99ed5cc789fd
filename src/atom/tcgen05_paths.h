#pragma once
#include "atom/tcgen05_mma.h"

namespace tilepath::atom {

/// Into how many parts a data path splits the columns of D: 2 for B and E, 4 for G.
int column_parts(DataPath path);
/// Rows and columns of a matrix to Tensor Memory, from an offset on one axis on; extents of 1 are dropped.
layout::Layout tensor_memory_layout(layout::Mode rows, layout::Mode columns, std::vector<layout::Iter> copies,
                                    layout::AxisOffset from);
/// (m, n) of D, and (m, k) of A, to the pair's CTA, lane, column, bit.
layout::Layout tensor_memory_d(DataPath path, int m, int n, int cta_group);
layout::Layout tensor_memory_a(DataPath path, int m, int k, int container_bits, int bit_offset, int cta_group);
/// Which major-nesses and swizzles a kind's shared operands may have (PTX ISA 9.7.16.10.3), then `shared_tile`.
Result<SharedTile> shared_operand_tile(Tcgen05Kind kind, number::Format format, OperandMajor major,
                                       layout::SwizzleMode swizzle, int mn, int k);
/// The rule of that table that an operand of `format` breaks, if any.
Result<void> check_shared_operand(Tcgen05Kind kind, number::Format format, OperandMajor major,
                                  layout::SwizzleMode swizzle);

}  // namespace tilepath::atom
