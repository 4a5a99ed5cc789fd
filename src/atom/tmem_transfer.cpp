#include "atom/tmem_transfer.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Layout;
using layout::Mode;

struct ShapeRow {
    TmemShape shape;
    std::string_view name;
    int most_repeats;
    int registers;  ///< per repetition
    int columns;    ///< per repetition
};
constexpr ShapeRow rows[] = {
    {TmemShape::s32x32b, "32x32b", 128, 1, 1},     {TmemShape::s16x64b, "16x64b", 128, 1, 2},
    {TmemShape::s16x128b, "16x128b", 64, 2, 4},    {TmemShape::s16x256b, "16x256b", 32, 4, 8},
    {TmemShape::s16x32bx2, "16x32bx2", 128, 1, 1},
};

struct Map {
    Mode block, lane, column;
};

/// Lane l, register r to (lane, column), read the other way round.
Map map_of(TmemShape shape, int n) {
    switch (shape) {
        case TmemShape::s32x32b: return {{{1, 0}}, {{32, 1, Axis::laneid}}, {{n, 1, Axis::reg}}};
        case TmemShape::s16x64b:  // (l/4 + 8 (l%2), (l/2)%2 + 2r)
            return {{{1, 0}}, {{2, 1, Axis::laneid}, {8, 4, Axis::laneid}}, {{n, 1, Axis::reg}, {2, 2, Axis::laneid}}};
        case TmemShape::s16x128b:  // (l/4 + 8 (r%2), l%4 + 4 (r/2))
            return {{{1, 0}}, {{2, 1, Axis::reg}, {8, 4, Axis::laneid}}, {{n, 2, Axis::reg}, {4, 1, Axis::laneid}}};
        case TmemShape::s16x256b:  // (l/4 + 8 ((r/2)%2), r%2 + 2 (l%4) + 8 (r/4))
            return {{{1, 0}},
                    {{2, 2, Axis::reg}, {8, 4, Axis::laneid}},
                    {{n, 4, Axis::reg}, {4, 1, Axis::laneid}, {2, 1, Axis::reg}}};
        case TmemShape::s16x32bx2: return {{{2, 16, Axis::laneid}}, {{16, 1, Axis::laneid}}, {{n, 1, Axis::reg}}};
    }
    TILEPATH_ASSERT(false, "a shape that is none");
    std::unreachable();
}

}  // namespace

std::string_view name(TmemShape shape) { return rows[static_cast<std::size_t>(shape)].name; }

Result<TmemTransfer> tmem_transfer(bool store, TmemShape shape, int repeats, bool packed) {
    const ShapeRow& row = rows[static_cast<std::size_t>(shape)];
    if (repeats < 1 || repeats > row.most_repeats || !std::has_single_bit(static_cast<unsigned>(repeats)))
        return fail(fmt::format("tcgen05.{}.{} has no .x{}", store ? "st" : "ld", row.name, repeats),
                    fmt::format("its repetitions are powers of two up to .x{}", row.most_repeats));
    TmemTransfer made;
    made.name = fmt::format("tcgen05.{}.sync.aligned.{}.x{}{}.b32", store ? "st" : "ld", row.name, repeats,
                            !packed ? ""
                            : store ? ".unpack::16b"
                                    : ".pack::16b");
    made.shape = shape;
    made.repeats = repeats;
    made.store = store;
    made.packed = packed;
    made.lanes = shape == TmemShape::s32x32b ? 32 : 16;
    made.columns = repeats * row.columns * (packed ? 2 : 1);
    Map map = map_of(shape, repeats);
    if (packed) map.column.push_back({2, 16, Axis::bit});
    Fragment& fragment = made.fragment;
    fragment.operand = "TMEM";
    fragment.blocks = shape == TmemShape::s16x32bx2 ? 2 : 1;
    fragment.rows = made.lanes;
    fragment.columns = made.columns;
    fragment.element_bits = packed ? 16 : 32;
    fragment.registers = repeats * row.registers;
    Result<Layout> layout = Layout::make({std::move(map.block), std::move(map.lane), std::move(map.column)});
    TILEPATH_ASSERT(layout && layout->size() == fragment.elements(), "a transfer of another size");
    fragment.layout = *std::move(layout);
    return made;
}

std::string words_of(const TmemReduction& reduction) {
    static constexpr std::string_view types[] = {"f32", "s32", "u32"};
    return fmt::format(".{}{}{}.{}", reduction.maximum ? "max" : "min", reduction.absolute ? ".abs" : "",
                       reduction.nan ? ".NaN" : "", types[static_cast<std::size_t>(reduction.type)]);
}

Result<TmemTransfer> tmem_reducing_load(TmemShape shape, int repeats, TmemReduction reduction) {
    if (shape != TmemShape::s32x32b && shape != TmemShape::s16x32bx2)
        return fail(fmt::format("tcgen05.ld.red has no shape {}", name(shape)), "its shapes: 32x32b, 16x32bx2");
    if (repeats < 2) return fail(fmt::format("tcgen05.ld.red wants .x2 or more, found .x{}", repeats));
    if (reduction.type != TmemReduction::Type::f32 && (reduction.absolute || reduction.nan))
        return fail("tcgen05.ld.red has .abs and .NaN for f32 only");
    auto made = tmem_transfer(false, shape, repeats);
    if (!made) return made;
    made->name = fmt::format("tcgen05.ld.red.sync.aligned.{}.x{}{}", name(shape), repeats, words_of(reduction));
    made->reduction = reduction;
    Fragment& reduced = made->reduced;
    reduced.operand = "redval";
    reduced.blocks = made->fragment.blocks;
    reduced.rows = made->lanes;
    reduced.columns = 1;
    reduced.element_bits = 32;
    reduced.registers = 1;
    Map map = map_of(shape, 1);
    reduced.layout = Layout::of({std::move(map.block), std::move(map.lane), {{1, 0}}});
    return made;
}

std::vector<TmemTransfer> all_tmem_transfers() {
    std::vector<TmemTransfer> all;
    for (const bool store : {false, true})
        for (const ShapeRow& row : rows)
            for (int repeats = 1; repeats <= row.most_repeats; repeats *= 2)
                for (const bool packed : {false, true})
                    if (auto made = tmem_transfer(store, row.shape, repeats, packed)) all.push_back(*std::move(made));
    return all;
}

}  // namespace tilepath::atom
