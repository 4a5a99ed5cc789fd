#include "atom/tmem_copy.h"

#include <fmt/format.h>

#include <utility>

#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Iter;
using layout::Layout;
using layout::Mode;

struct Row {
    TmemCopyShape shape;
    std::string_view name, multicast;
    int rows, bytes;
};
constexpr Row table[] = {
    {TmemCopyShape::s128x256b, "128x256b", "", 128, 32},
    {TmemCopyShape::s128x128b, "128x128b", "", 128, 16},
    {TmemCopyShape::s4x256b, "4x256b", "", 4, 32},
    {TmemCopyShape::s64x128b_02_13, "64x128b", "warpx2::02_13", 64, 16},
    {TmemCopyShape::s64x128b_01_23, "64x128b", "warpx2::01_23", 64, 16},
    {TmemCopyShape::s32x128b, "32x128b", "warpx4", 32, 16},
};

/// Source row to lane, and the copies of a row.
std::pair<Mode, std::vector<Iter>> lanes_of(TmemCopyShape shape) {
    switch (shape) {
        case TmemCopyShape::s128x256b:
        case TmemCopyShape::s128x128b: return {{{128, 1, Axis::tlane}}, {}};
        case TmemCopyShape::s4x256b: return {{{4, 32, Axis::tlane}}, {}};
        case TmemCopyShape::s64x128b_02_13: return {{{64, 1, Axis::tlane}}, {{2, 64, Axis::tlane}}};
        case TmemCopyShape::s64x128b_01_23:
            return {{{2, 64, Axis::tlane}, {32, 1, Axis::tlane}}, {{2, 32, Axis::tlane}}};
        case TmemCopyShape::s32x128b: return {{{32, 1, Axis::tlane}}, {{4, 32, Axis::tlane}}};
    }
    TILEPATH_ASSERT(false, "a shape that is none");
    std::unreachable();
}

/// What a byte of the destination is made of.
struct Source {
    std::string_view qualifier;
    int bits;
    int shift;  ///< its lowest bit in the byte
    std::string_view evidence;
};
Source source_of(MatrixData data) {
    constexpr std::string_view drawn =
        "inferred: the container of kind::mxf8f6f4 in Tensor Memory; the manual draws it";
    switch (data) {
        case MatrixData::b6x16_p32: return {".b8x16.b6x16_p32", 6, 0, drawn};
        case MatrixData::b4x16_p64: return {".b8x16.b4x16_p64", 4, 2, drawn};  // 00SEEM00
        case MatrixData::b8:
        case MatrixData::b16: return {"", 8, 0, "manual"};
    }
    TILEPATH_ASSERT(false, "a format that is none");
    std::unreachable();
}

}  // namespace

std::optional<TmemCopyShape> tmem_copy_named(std::string_view shape, std::string_view multicast) {
    for (const Row& row : table)
        if (row.name == shape && row.multicast == multicast) return row.shape;
    return std::nullopt;
}

Result<TmemCopy> tmem_copy(TmemCopyShape shape, int cta_group, MatrixData data) {
    if (data == MatrixData::b16) return fail("tcgen05.cp copies bytes, or widens b6x16_p32 and b4x16_p64 to bytes");
    const Row& row = table[static_cast<std::size_t>(shape)];
    const Source source = source_of(data);
    TmemCopy made;
    made.name = fmt::format("tcgen05.cp.cta_group::{}.{}{}{}{}", cta_group, row.name, row.multicast.empty() ? "" : ".",
                            row.multicast, source.qualifier);
    made.shape = shape;
    made.data = data;
    made.rows = row.rows;
    made.bytes = row.bytes;
    made.element_bits = source.bits;
    made.evidence = source.evidence;
    auto [lanes, copies] = lanes_of(shape);
    std::vector<layout::AxisOffset> offset;
    if (source.shift != 0) offset.push_back({source.shift, Axis::bit});
    Result<Layout> layout = Layout::make({std::move(lanes), {{row.bytes / 4, 1, Axis::tcol}, {4, 1, Axis::byte}}},
                                         std::move(copies), std::move(offset));
    TILEPATH_ASSERT(layout, "a copy's layout is malformed");
    made.destination = *std::move(layout);
    return made;
}

Result<Layout> tmem_copy_source(const TmemCopy& copy, layout::SwizzleMode swizzle, int leading_bytes,
                                int stride_bytes) {
    const layout::SwizzleTraits& mode = layout::traits(swizzle);
    if (!mode.tcgen05 || swizzle == layout::SwizzleMode::b128_atom_32b)
        return fail(fmt::format("tcgen05.cp reads K-major rows: it has no swizzle {}", mode.name),
                    "modes: none, 32B, 64B, 128B");
    const bool swizzles = swizzle != layout::SwizzleMode::none;
    Mode rows{{8, mode.span_bytes, Axis::m}};
    if (copy.rows < 8)
        rows = {{copy.rows, mode.span_bytes, Axis::m}};
    else if (copy.rows > 8)
        rows.insert(rows.begin(), {copy.rows / 8, stride_bytes, Axis::m});
    Mode bytes{copy.element_bits == 8 ? Iter{16, 1, Axis::m} : Iter{16, copy.element_bits, Axis::bit}};
    if (copy.bytes > 16) bytes.insert(bytes.begin(), {copy.bytes / 16, swizzles ? 16 : leading_bytes, Axis::m});
    return Layout::make({std::move(rows), std::move(bytes)});
}

}  // namespace tilepath::atom
