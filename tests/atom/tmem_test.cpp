// Transfers to, from and within Tensor Memory, against the formulae of the manual's figures.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "atom/tmem_copy.h"
#include "atom/tmem_shift.h"
#include "atom/tmem_transfer.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Location;

struct Cell {
    int block, lane, column;
};
/// What lane l's register r holds, relative to the address.
Cell cell_of(TmemShape shape, int l, int r) {
    switch (shape) {
        case TmemShape::s32x32b: return {0, l, r};
        case TmemShape::s16x64b: return {0, l / 4 + 8 * (l % 2), l / 2 % 2 + 2 * r};
        case TmemShape::s16x128b: return {0, l / 4 + 8 * (r % 2), l % 4 + 4 * (r / 2)};
        case TmemShape::s16x256b: return {0, l / 4 + 8 * (r / 2 % 2), r % 2 + 2 * (l % 4) + 8 * (r / 4)};
        case TmemShape::s16x32bx2: return {l / 16, l % 16, r};
    }
    return {};
}

TEST(TmemTransfer, EveryShapesRegistersAreTheManuals) {
    for (const TmemTransfer& transfer : all_tmem_transfers()) {
        const HeldElements all = held(transfer.fragment);
        ASSERT_EQ(all.slots, transfer.packed ? 2 : 1) << transfer.name;
        std::set<int> seen;
        for (int lane = 0; lane < 32; ++lane)
            for (int reg = 0; reg < transfer.fragment.registers; ++reg)
                for (int half = 0; half < all.slots; ++half) {
                    const Cell cell = cell_of(transfer.shape, lane, reg);
                    const int column = transfer.packed ? 2 * cell.column + half : cell.column;
                    const int element = (cell.block * transfer.lanes + cell.lane) * transfer.columns + column;
                    ASSERT_EQ(all.at(lane, reg, half), element)
                        << transfer.name << " lane " << lane << " register " << reg;
                    seen.insert(element);
                }
        EXPECT_EQ(static_cast<int>(seen.size()), transfer.fragment.elements()) << transfer.name;
    }
    EXPECT_EQ(all_tmem_transfers().size(), 4u * (8 + 8 + 7 + 6 + 8));
    EXPECT_EQ(tmem_transfer(false, TmemShape::s16x256b, 64).error().front().message, "tcgen05.ld.16x256b has no .x64");
    EXPECT_EQ(tmem_transfer(true, TmemShape::s32x32b, 3).error().front().message, "tcgen05.st.32x32b has no .x3");
}

TEST(TmemCopy, RowsGoToTheLanesOfTheTable) {
    for (const TmemCopyShape shape :
         {TmemCopyShape::s128x256b, TmemCopyShape::s128x128b, TmemCopyShape::s4x256b, TmemCopyShape::s64x128b_02_13,
          TmemCopyShape::s64x128b_01_23, TmemCopyShape::s32x128b}) {
        const TmemCopy copy = *tmem_copy(shape);
        for (int i = 0; i < copy.rows; ++i)
            for (int byte = 0; byte < copy.bytes; ++byte) {
                std::set<int> lanes;
                switch (shape) {
                    case TmemCopyShape::s128x256b:
                    case TmemCopyShape::s128x128b: lanes = {i}; break;
                    case TmemCopyShape::s4x256b: lanes = {32 * i}; break;
                    case TmemCopyShape::s64x128b_02_13: lanes = {i, i + 64}; break;
                    case TmemCopyShape::s64x128b_01_23:
                        lanes = {64 * (i / 32) + i % 32, 64 * (i / 32) + i % 32 + 32};
                        break;
                    case TmemCopyShape::s32x128b: lanes = {i, i + 32, i + 64, i + 96}; break;
                }
                std::set<int> found;
                const auto places = *copy.destination.evaluate({i, byte});
                for (const Location& at : places) {
                    found.insert(static_cast<int>(at[Axis::tlane]));
                    EXPECT_EQ(at[Axis::tcol] * 4 + at[Axis::byte], byte);
                }
                ASSERT_EQ(found, lanes) << copy.name << " row " << i;
            }
        for (const auto& [mode, s] : {std::pair{layout::SwizzleMode::none, 0},
                                      {layout::SwizzleMode::b32, 1},
                                      {layout::SwizzleMode::b64, 2},
                                      {layout::SwizzleMode::b128, 3}}) {
            const auto source = tmem_copy_source(copy, mode, 4096, 1536);
            ASSERT_TRUE(source);
            for (int i = 0; i < copy.rows; ++i)
                for (int byte = 0; byte < copy.bytes; ++byte)
                    ASSERT_EQ(source->evaluate({i, byte})->front()[Axis::m],
                              i / 8 * 1536 + i % 8 * (16 << s) + byte / 16 * (s == 0 ? 4096 : 16) + byte % 16);
        }
        EXPECT_FALSE(tmem_copy_source(copy, layout::SwizzleMode::b128_atom_32b, 16, 16));
    }
    EXPECT_EQ(tmem_copy_named("32x128b", "warpx4"), TmemCopyShape::s32x128b);
    EXPECT_EQ(tmem_copy_named("32x128b", ""), std::nullopt);
    EXPECT_EQ(tmem_copy(TmemCopyShape::s64x128b_01_23, 2)->name, "tcgen05.cp.cta_group::2.64x128b.warpx2::01_23");
}

// tcgen05.ld.red: thread l gets the reduction over the columns that it loads (PTX ISA 9.7.16.8.3).
TEST(TmemTransfer, AReducingLoadGivesEachThreadItsOwn) {
    using Type = TmemReduction::Type;
    for (const TmemShape shape : {TmemShape::s32x32b, TmemShape::s16x32bx2})
        for (const int repeats : {2, 8, 128}) {
            const auto load = tmem_reducing_load(shape, repeats, {true, true, true, Type::f32});
            ASSERT_TRUE(load);
            EXPECT_EQ(load->name,
                      fmt::format("tcgen05.ld.red.sync.aligned.{}.x{}.max.abs.NaN.f32", name(shape), repeats));
            const HeldElements loaded = held(load->fragment), reduced = held(load->reduced);
            ASSERT_EQ(reduced.elements.size(), 32u);
            for (int lane = 0; lane < 32; ++lane)
                for (int reg = 0; reg < repeats; ++reg) {
                    const Cell cell = cell_of(shape, lane, reg);
                    const int row = cell.block * load->lanes + cell.lane;
                    ASSERT_EQ(loaded.at(lane, reg, 0), row * load->columns + cell.column);
                    ASSERT_EQ(reduced.at(lane, 0, 0), row) << "lane " << lane;
                }
        }
    EXPECT_EQ(tmem_reducing_load(TmemShape::s32x32b, 1, {}).error().front().message,
              "tcgen05.ld.red wants .x2 or more, found .x1");
    EXPECT_EQ(tmem_reducing_load(TmemShape::s16x64b, 2, {}).error().front().message,
              "tcgen05.ld.red has no shape 16x64b");
    EXPECT_EQ(tmem_reducing_load(TmemShape::s32x32b, 2, {true, true, false, Type::s32}).error().front().message,
              "tcgen05.ld.red has .abs and .NaN for f32 only");
    EXPECT_EQ(tmem_reducing_load(TmemShape::s32x32b, 3, {}).error().front().message, "tcgen05.ld.32x32b has no .x3");
}

// PTX ISA 9.7.16.9.1: 16 elements of 4 or 6 bits in the low bits of 16 bytes; each becomes a byte.
TEST(TmemCopy, WidensPaddedElementsToBytes) {
    for (const TmemCopyShape shape :
         {TmemCopyShape::s128x256b, TmemCopyShape::s4x256b, TmemCopyShape::s64x128b_01_23, TmemCopyShape::s32x128b})
        for (const auto& [data, bits, lowest] :
             {std::tuple{MatrixData::b6x16_p32, 6, 0}, {MatrixData::b4x16_p64, 4, 2}}) {
            const TmemCopy wide = *tmem_copy(shape, 1, data), plain = *tmem_copy(shape);
            const auto source = *tmem_copy_source(wide, layout::SwizzleMode::none, 4096, 1536);
            for (int i = 0; i < wide.rows; ++i)
                for (int e = 0; e < wide.bytes; ++e) {
                    const Location from = source.evaluate({i, e})->front();
                    ASSERT_EQ(from[Axis::m], i / 8 * 1536 + i % 8 * 16 + e / 16 * 4096);
                    ASSERT_EQ(from[Axis::bit], e % 16 * bits);
                    auto expected = *plain.destination.evaluate({i, e});
                    for (Location& at : expected) at[Axis::bit] = lowest;
                    ASSERT_EQ(*wide.destination.evaluate({i, e}), expected) << wide.name << " " << i << "," << e;
                }
        }
    EXPECT_EQ(tmem_copy(TmemCopyShape::s128x128b, 2, MatrixData::b6x16_p32)->name,
              "tcgen05.cp.cta_group::2.128x128b.b8x16.b6x16_p32");
    EXPECT_FALSE(tmem_copy(TmemCopyShape::s128x128b, 1, MatrixData::b16));
}

TEST(TmemShift, ThirtyOneRowsOfEachWindowMoveByOneLane) {
    const TmemShift shift = *tmem_shift(1);
    for (int row = 0; row < 124; ++row)
        for (int column = 0; column < 8; ++column) {
            Location to;
            to[Axis::tlane] = row / 31 * 32 + row % 31;
            to[Axis::tcol] = column;
            EXPECT_EQ(shift.destination.evaluate({row, column})->front(), to);
            to[Axis::tlane] = row / 31 * 32 + row % 31 + 1;
            EXPECT_EQ(shift.source.evaluate({row, column})->front(), to);
        }
    EXPECT_FALSE(shift.destination.evaluate({124, 0}));  // a window's last row stays
    EXPECT_EQ(tmem_shift(2)->name, "tcgen05.shift.cta_group::2.down");
    EXPECT_EQ(tmem_shift(3).error().front().message, "expected cta_group::1 or ::2, found ::3");
}

}  // namespace
}  // namespace tilepath::atom
