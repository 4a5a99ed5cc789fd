#include "atom/ldmatrix.h"

#include <fmt/format.h>

#include <utility>

#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Layout;
using layout::Mode;

struct DataTraits {
    MatrixData data;
    std::string_view name;
    int stored_bits;
    int register_pitch;  ///< of an element in the register
};
constexpr DataTraits data_rows[] = {
    {MatrixData::b16, "b16", 16, 16},
    {MatrixData::b8, "b8", 8, 8},
    {MatrixData::b6x16_p32, "b8x16.b6x16_p32", 6, 8},
    {MatrixData::b4x16_p64, "b8x16.b4x16_p64", 4, 8},
};
const DataTraits& traits(MatrixData data) { return data_rows[static_cast<std::size_t>(data)]; }

/// One form: its shape, what it may hold, and where stored row and column lie, for one matrix of `registers` registers.
struct Form {
    std::string_view name;
    int rows, columns;
    int registers;
    Mode row, column;
    int minimum_sm;
};

// Lane = 4g + t throughout; see the manual's figures in the sections named in the header.
Form m8n8(bool transposed, int minimum_sm) {
    Mode across{{8, 4, Axis::laneid}};
    Mode along{{4, 1, Axis::laneid}, {2, 16, Axis::bit}};
    return {"m8n8", 8, 8, 1, transposed ? along : across, transposed ? across : along, minimum_sm};
}
Form m16n16() {  // byte j of register r: stored row 4t + j, stored column g + 8r
    return {"m16n16", 16, 16, 2, {{4, 1, Axis::laneid}, {4, 8, Axis::bit}}, {{2, 1, Axis::reg}, {8, 4, Axis::laneid}},
            100};
}
Form m8n16() {  // byte j: stored row g, stored column 4t + j
    return {"m8n16", 8, 16, 1, {{8, 4, Axis::laneid}}, {{4, 1, Axis::laneid}, {4, 8, Axis::bit}}, 100};
}
Form m16n8() {  // byte j: matrix row g + 8(j/2), matrix column 2t + j%2; a stored row is a matrix column
    return {"m16n8", 8, 16, 1, {{4, 1, Axis::laneid}, {2, 8, Axis::bit}}, {{2, 16, Axis::bit}, {8, 4, Axis::laneid}},
            100};
}

MatrixTransfer transfer(const Form& form, int matrices, bool transposed, MatrixData data) {
    MatrixTransfer made;
    made.name = fmt::format("{}.x{}{}.{}", form.name, matrices, transposed ? ".trans" : "", traits(data).name);
    made.matrices = matrices;
    made.stored_rows = form.rows;
    made.stored_columns = form.columns;
    made.stored_bits = traits(data).stored_bits;
    made.transposed = transposed;
    made.minimum_sm = form.minimum_sm;
    made.addresses = Layout::of({{{matrices, form.rows, Axis::laneid}}, {{form.rows, 1, Axis::laneid}}});
    Fragment& fragment = made.fragment;
    fragment.operand = "matrices";
    fragment.blocks = matrices;
    fragment.rows = form.rows;
    fragment.columns = form.columns;
    fragment.element_bits = traits(data).register_pitch;
    fragment.registers = matrices * form.registers;
    fragment.layout = Layout::of({{{matrices, form.registers, Axis::reg}}, form.row, form.column});
    TILEPATH_ASSERT(fragment.layout.size() == fragment.elements(), "a matrix form of another size");
    return made;
}

std::string counts(int most) { return most == 4 ? ".x1, .x2 or .x4" : ".x1 or .x2"; }

Result<void> check_count(std::string_view form, int matrices, int most) {
    if (matrices == 1 || matrices == 2 || (matrices == 4 && most == 4)) return {};
    return fail(fmt::format("{} moves {} matrices, found .x{}", form, counts(most), matrices));
}

}  // namespace

Result<MatrixTransfer> ldmatrix(MatrixShape shape, int matrices, bool transposed, MatrixData data) {
    switch (shape) {
        case MatrixShape::m8n8:
            if (auto ok = check_count("ldmatrix.m8n8", matrices, 4); !ok) return std::unexpected(ok.error());
            if (data != MatrixData::b16)
                return fail(fmt::format("ldmatrix.m8n8 loads .b16, found .{}", traits(data).name));
            return transfer(m8n8(transposed, 75), matrices, transposed, data);
        case MatrixShape::m16n16:
            if (auto ok = check_count("ldmatrix.m16n16", matrices, 2); !ok) return std::unexpected(ok.error());
            if (!transposed) return fail("ldmatrix.m16n16 needs .trans");
            if (data == MatrixData::b16)
                return fail("ldmatrix.m16n16 loads .b8 or .b8x16 with 6- or 4-bit elements, found .b16");
            return transfer(m16n16(), matrices, transposed, data);
        case MatrixShape::m8n16:
            if (auto ok = check_count("ldmatrix.m8n16", matrices, 4); !ok) return std::unexpected(ok.error());
            if (transposed) return fail("ldmatrix.m8n16 has no .trans");
            if (data == MatrixData::b16 || data == MatrixData::b8) {
                return fail(fmt::format("ldmatrix.m8n16 loads .b8x16.b6x16_p32 or .b8x16.b4x16_p64, found .{}",
                                        traits(data).name));
            }
            return transfer(m8n16(), matrices, transposed, data);
        case MatrixShape::m16n8: return fail("ldmatrix has no shape m16n8", "its shapes: m8n8, m16n16, m8n16");
    }
    TILEPATH_ASSERT(false, "a matrix shape that is none");
    std::unreachable();
}

Result<MatrixTransfer> stmatrix(MatrixShape shape, int matrices, bool transposed, MatrixData data) {
    if (shape == MatrixShape::m8n8) {
        if (auto ok = check_count("stmatrix.m8n8", matrices, 4); !ok) return std::unexpected(ok.error());
        if (data != MatrixData::b16)
            return fail(fmt::format("stmatrix.m8n8 stores .b16, found .{}", traits(data).name));
        return transfer(m8n8(transposed, 90), matrices, transposed, data);
    }
    if (shape == MatrixShape::m16n8) {
        if (auto ok = check_count("stmatrix.m16n8", matrices, 4); !ok) return std::unexpected(ok.error());
        if (!transposed) return fail("stmatrix.m16n8 needs .trans");
        if (data != MatrixData::b8) return fail(fmt::format("stmatrix.m16n8 stores .b8, found .{}", traits(data).name));
        return transfer(m16n8(), matrices, transposed, data);
    }
    return fail("stmatrix has no such shape", "its shapes: m8n8, m16n8");
}

MatrixTranspose movmatrix() {
    MatrixTranspose made{transfer(m8n8(false, 75), 1, false, MatrixData::b16).fragment,
                         transfer(m8n8(true, 75), 1, true, MatrixData::b16).fragment};
    made.source.operand = "source";
    made.destination.operand = "destination";
    return made;
}

}  // namespace tilepath::atom
