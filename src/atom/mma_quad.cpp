#include "atom/families.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Layout;
using enum number::Format;
using number::Format;

// Block p is held by lanes 4p to 4p+3 and the same plus 16. PTX ISA 9.7.14.5.1.
Fragment quad_fragment(std::string operand, int rows, int columns, Format format, layout::Mode row,
                       layout::Mode column) {
    Fragment made;
    made.operand = std::move(operand);
    made.blocks = 4;
    made.rows = rows;
    made.columns = columns;
    made.format = format;
    made.element_bits = number::traits(format).bits;
    made.layout = Layout::of({{{4, 4, Axis::laneid}}, std::move(row), std::move(column)});
    made.registers = rows * columns * made.element_bits / 8 / 32;
    return made;
}

}  // namespace

void set_quad_fragments(MmaAtom& atom) {
    // The 8 rows or columns of a block that its 8 lanes own one each, and the four of the other extent, packed in two
    // registers.
    const layout::Mode by_lane{{2, 16, Axis::laneid}, {4, 1, Axis::laneid}};
    const layout::Mode four_packed{{2, 1, Axis::reg}, {2, 16, Axis::bit}};
    // The other way round: each lane owns one of four, and holds four of eight.
    const layout::Mode half_by_lane{{2, 16, Axis::laneid}, {2, 1, Axis::reg}, {2, 16, Axis::bit}};
    const layout::Mode four_by_lane{{4, 1, Axis::laneid}};
    bool a_by_row = atom.a_major == Major::row, b_by_column = atom.b_major == Major::column;
    atom.a = a_by_row ? quad_fragment("A", 8, 4, f16, by_lane, four_packed)
                      : quad_fragment("A", 8, 4, f16, half_by_lane, four_by_lane);
    atom.b = b_by_column ? quad_fragment("B", 4, 8, f16, four_packed, by_lane)
                         : quad_fragment("B", 4, 8, f16, four_by_lane, half_by_lane);
    auto accumulator = [&](std::string operand, Format format) {
        if (format == f16) {
            return quad_fragment(std::move(operand), 8, 8, format, by_lane, {{4, 1, Axis::reg}, {2, 16, Axis::bit}});
        }
        return quad_fragment(std::move(operand), 8, 8, format,
                             {{2, 16, Axis::laneid}, {2, 2, Axis::reg}, {2, 1, Axis::laneid}},
                             {{2, 4, Axis::reg}, {2, 2, Axis::laneid}, {2, 1, Axis::reg}});
    };
    atom.c = accumulator("C", atom.types.c);
    atom.d = accumulator("D", atom.types.d);
}

}  // namespace tilepath::atom
