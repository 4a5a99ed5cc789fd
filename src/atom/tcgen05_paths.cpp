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

Layout made(Mode rows, Mode columns, std::vector<Iter> replica, int bit_offset) {
    drop_units(rows);
    drop_units(columns);
    std::vector<layout::AxisOffset> offset;
    if (bit_offset != 0) offset.push_back({bit_offset, Axis::bit});
    Result<Layout> layout = Layout::make({std::move(rows), std::move(columns)}, std::move(replica), std::move(offset));
    TILEPATH_ASSERT(layout, "a layout of Tensor Memory is malformed");
    return *std::move(layout);
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
    return made(rows_of(path, m, cta_group), {{parts, 128 / parts, Axis::tlane}, {n / parts, 1, Axis::tcol}}, {}, 0);
}

Layout tensor_memory_a(DataPath path, int m, int k, int container_bits, int bit_offset, int cta_group) {
    const int per_column = 32 / container_bits, parts = column_parts(path);
    std::vector<Iter> copies;  // each part of D's columns reads its own copy of A
    if (parts > 1) copies.push_back({parts, 128 / parts, Axis::tlane});
    return made(rows_of(path, m, cta_group), {{k / per_column, 1, Axis::tcol}, {per_column, container_bits, Axis::bit}},
                std::move(copies), bit_offset);
}

Result<Layout> Tcgen05Mma::metadata(int selector) const {
    if (!sparse) return fail("a dense instruction has no metadata");
    const bool wide = kind == Tcgen05Kind::f16 || kind == Tcgen05Kind::tf32;
    if (selector < 0 || selector > (wide ? 1 : 0))
        return fail(
            fmt::format("kind::{} has a sparsity selector of {}, found {}", traits(kind).name, wide ? "0 or 1" : "0",
                        selector),
            wide ? "the manual's field takes 0 to 3, but says of 2 and 3 only in a picture what they select" : "");
    const int rows = rows_per_cta();
    if (rows < 128 && !weight_stationary)
        return fail(fmt::format("where the metadata of {} rows per CTA lie is not known", rows),
                    "known are 128 rows, and .ws");
    const int chunks = shape.k / chunk;
    Mode row{{cta_group, 1, Axis::cluster_ctarank}}, column;
    if (wide) {  // lane m%8 + 16 (m/16) + 8 (chunk/4), bits 4 (chunk%4) + 16 ((m/8)%2)
        row.insert(row.end(), {{rows / 16, 16, Axis::tlane}, {2, 16, Axis::bit}, {8, 1, Axis::tlane}});
        column = {{chunks / 4, 8, Axis::tlane}, {4, 4, Axis::bit}};
    } else {
        row.push_back({rows, 1, Axis::tlane});
        column = {{chunks / 8, 1, Axis::tcol}, {8, 4, Axis::bit}};
    }
    std::vector<Iter> copies;
    if (rows < 128) copies.push_back({128 / rows, rows, Axis::tlane});
    Layout layout = made(std::move(row), std::move(column), std::move(copies), 0);
    if (selector == 0) return layout;
    return Layout::make(layout.shard(), layout.replica(), {{selector, Axis::tcol}});
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
