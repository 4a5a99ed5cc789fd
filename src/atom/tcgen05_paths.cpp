#include "atom/tcgen05_paths.h"

#include <fmt/format.h>

#include <utility>

#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Iter;
using layout::Layout;
using layout::Mode;
using layout::SwizzleMode;

void drop_units(Mode& mode) {
    std::erase_if(mode, [](const Iter& iter) { return iter.extent == 1; });
    if (mode.empty()) mode.push_back({});
}

/// The rows of one CTA over the lanes; the pair's halves in front.
Mode rows_of(DataPath path, int m, int cta_group) {
    const int rows = m / cta_group;
    Mode mode{{cta_group, 1, Axis::cluster_ctarank}};
    switch (path) {
        case DataPath::c:
        case DataPath::f:  // 16 lanes of each warp's window
            mode.push_back({rows / 16, 32, Axis::tlane});
            mode.push_back({16, 1, Axis::tlane});
            break;
        case DataPath::a:
        case DataPath::b:
        case DataPath::d:
        case DataPath::e:
        case DataPath::g: mode.push_back({rows, 1, Axis::tlane}); break;
    }
    return mode;
}

}  // namespace

Layout tensor_memory_layout(Mode rows, Mode columns, std::vector<Iter> copies, layout::AxisOffset from) {
    drop_units(rows);
    drop_units(columns);
    std::vector<layout::AxisOffset> offset;
    if (from.value != 0) offset.push_back(from);
    Result<Layout> layout = Layout::make({std::move(rows), std::move(columns)}, std::move(copies), std::move(offset));
    TILEPATH_ASSERT(layout, "a layout of Tensor Memory is malformed");
    return *std::move(layout);
}

int column_parts(DataPath path) {
    switch (path) {
        case DataPath::b:
        case DataPath::e: return 2;
        case DataPath::g: return 4;
        case DataPath::a:
        case DataPath::c:
        case DataPath::d:
        case DataPath::f: return 1;
    }
    TILEPATH_ASSERT(false, "a data path that is none");
    return 1;
}

Layout tensor_memory_d(DataPath path, int m, int n, int cta_group) {
    const int parts = column_parts(path);
    return tensor_memory_layout(rows_of(path, m, cta_group),
                                {{parts, 128 / parts, Axis::tlane}, {n / parts, 1, Axis::tcol}}, {}, {0, Axis::bit});
}

Layout tensor_memory_a(DataPath path, int m, int k, int container_bits, int bit_offset, int cta_group) {
    const int per_column = 32 / container_bits, parts = column_parts(path);
    std::vector<Iter> copies;  // each part of D's columns reads its own copy of A
    if (parts > 1) copies.push_back({parts, 128 / parts, Axis::tlane});
    return tensor_memory_layout(rows_of(path, m, cta_group),
                                {{k / per_column, 1, Axis::tcol}, {per_column, container_bits, Axis::bit}},
                                std::move(copies), {bit_offset, Axis::bit});
}

Result<void> check_shared_operand(Tcgen05Kind kind, number::Format format, OperandMajor major, SwizzleMode swizzle) {
    const bool atoms_of_32 = swizzle == SwizzleMode::b128_atom_32b;
    if (major == OperandMajor::k) return {};
    const int bits = kind == Tcgen05Kind::tf32 ? 32 : number::traits(format).bits;
    if (!traits(kind).transposes || bits < 8)
        return fail(
            fmt::format("{} operands of kind::{} must be K-major", number::traits(format).name, traits(kind).name),
            "4- and 6-bit elements are not transposed");
    if (bits == 32 && !atoms_of_32) return fail("MN-major tf32 operands need the swizzle 128B_atom_32B");
    if (bits != 32 && atoms_of_32)
        return fail(fmt::format("MN-major {} operands have no 128B_atom_32B", number::traits(format).name), "use 128B");
    return {};
}

Result<SharedTile> shared_operand_tile(Tcgen05Kind kind, number::Format format, OperandMajor major, SwizzleMode swizzle,
                                       int mn, int k) {
    if (auto ok = check_shared_operand(kind, format, major, swizzle); !ok) return std::unexpected(ok.error());
    const int bits = kind == Tcgen05Kind::tf32 ? 32 : number::traits(format).bits;
    // Narrow floats of the mixed kinds lie 16 to 16 bytes; mxf4's nibbles are packed.
    const bool padded = bits < 8 && traits(kind).container_bits == 8;
    return shared_tile(major, swizzle, bits, mn, k, k, padded);
}

}  // namespace tilepath::atom
