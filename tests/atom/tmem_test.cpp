// Transfers to and from Tensor Memory, and scale factors in it, against the formulae of the manual's figures.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "atom/scale_factors.h"
#include "atom/tmem_copy.h"
#include "atom/tmem_transfer.h"
#include "modules.h"

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

std::string text(bool store, TmemShape shape, int repeats, bool packed, int registers) {
    std::vector<std::string> names;
    for (int i = 0; i < registers; ++i) names.push_back(fmt::format("r{}", i));
    const std::string list = fmt::format("{{{}}}", fmt::join(names, ","));
    const std::string split = shape == TmemShape::s16x32bx2 ? ", 16" : "";
    const std::string head =
        fmt::format("tcgen05.{}.sync.aligned.{}.x{}{}.b32 ", store ? "st" : "ld", name(shape), repeats,
                    !packed ? ""
                    : store ? ".unpack::16b"
                            : ".pack::16b");
    return head + (store ? fmt::format("[r199]{}, {};", split, list) : fmt::format("{}, [r199]{};", list, split));
}

TEST(TmemTransfer, PtxasAgreesOnEveryShape) {
    const auto ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    std::vector<std::string> texts;
    std::vector<bool> ours;
    for (const bool store : {false, true})
        for (const TmemShape shape :
             {TmemShape::s32x32b, TmemShape::s16x64b, TmemShape::s16x128b, TmemShape::s16x256b, TmemShape::s16x32bx2})
            for (const int repeats : {1, 2, 3, 4, 8, 16, 32, 64, 128, 256})
                for (const bool packed : {false, true}) {
                    const auto made = tmem_transfer(store, shape, repeats, packed);
                    ours.push_back(made.has_value());
                    const int per = shape == TmemShape::s16x128b ? 2 : shape == TmemShape::s16x256b ? 4 : 1;
                    texts.push_back(text(store, shape, repeats, packed, std::min(repeats * per, 190)));
                }
    const auto refused = refused_by_ptxas(*ptxas, "sm_100a", module_text("sm_100a"), texts);
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(ours[i], !refused.contains(i)) << texts[i].substr(0, 80);
}

TEST(TmemCopy, RowsGoToTheLanesOfTheTable) {
    for (const TmemCopyShape shape :
         {TmemCopyShape::s128x256b, TmemCopyShape::s128x128b, TmemCopyShape::s4x256b, TmemCopyShape::s64x128b_02_13,
          TmemCopyShape::s64x128b_01_23, TmemCopyShape::s32x128b}) {
        const TmemCopy copy = tmem_copy(shape);
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
    EXPECT_EQ(tmem_copy(TmemCopyShape::s64x128b_01_23, 2).name, "tcgen05.cp.cta_group::2.64x128b.warpx2::01_23");
}

TEST(TmemCopy, PtxasKnowsTheShapes) {
    const auto ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    std::vector<std::string> texts;
    std::vector<bool> ours;
    for (const char* shape : {"128x256b", "128x128b", "4x256b", "64x128b", "32x128b"})
        for (const char* multicast : {"", "warpx2::02_13", "warpx2::01_23", "warpx4"}) {
            ours.push_back(tmem_copy_named(shape, multicast).has_value());
            texts.push_back(
                fmt::format("tcgen05.cp.cta_group::1.{}{}{} [r199], q0;", shape, *multicast ? "." : "", multicast));
        }
    const auto refused = refused_by_ptxas(*ptxas, "sm_100a", module_text("sm_100a"), texts);
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(ours[i], !refused.contains(i)) << texts[i];
}

TEST(ScaleFactors, EveryFactorLiesInFourWindows) {
    for (const auto& [vector, count, step] :
         {std::tuple{ScaleVector::x1, 1, 1}, {ScaleVector::x2, 2, 2}, {ScaleVector::x4, 4, 4}})
        for (const int rows : {32, 64, 128, 256})
            for (int id = 0; id < 4; ++id) {
                const auto all = scale_factors(vector, rows, id);
                ASSERT_EQ(all.has_value(), id % step == 0);
                if (!all) continue;
                for (int row = 0; row < rows; ++row)
                    for (int s = 0; s < count; ++s) {
                        std::set<int> lanes;
                        const auto places = *all->layout.evaluate({row, s});
                        for (const Location& at : places) {
                            lanes.insert(static_cast<int>(at[Axis::tlane]));
                            EXPECT_EQ(at[Axis::tcol], row / 32);
                            EXPECT_EQ(at[Axis::bit], 8 * (id + s));
                        }
                        const int lane = row % 32;
                        EXPECT_EQ(lanes, (std::set<int>{lane, lane + 32, lane + 64, lane + 96}));
                        EXPECT_EQ(*all->layout.evaluate({row, s}), *all->whole.evaluate({row, id + s}));
                    }
            }
    // SFB where D is two by two: lane n%32 + 32 copy + 64 (n >= N/2), column (n mod N/2)/32.
    const auto split = *scale_factors(ScaleVector::x1, 256, 3, true);
    for (int n = 0; n < 256; ++n) {
        std::set<int> lanes;
        const auto places = *split.layout.evaluate({n, 0});
        for (const Location& at : places) {
            lanes.insert(static_cast<int>(at[Axis::tlane]));
            EXPECT_EQ(at[Axis::tcol], n % 128 / 32);
            EXPECT_EQ(at[Axis::bit], 24);
        }
        EXPECT_EQ(lanes, (std::set<int>{n % 32 + 64 * (n / 128), n % 32 + 64 * (n / 128) + 32}));
    }
    EXPECT_EQ(scale_factors(ScaleVector::x2, 128, 1).error().front().message,
              "scale_vec::2X has a factor id of 0 or 2, found 1");
    EXPECT_FALSE(scale_factors(ScaleVector::x1, 100, 0));
}

TEST(ScaleFactors, TheCopyBringsThemThere) {
    // tcgen05.cp.32x128b.warpx4 of the 512-byte piece: row r of the copy is lane r, its byte b the factor b%4 of row 32
    // (b/4) + r.
    const TmemCopy copy = tmem_copy(TmemCopyShape::s32x128b);
    const auto source = *tmem_copy_source(copy, layout::SwizzleMode::none, 16, 128);
    const auto factors = *scale_factors(ScaleVector::x4, 128, 0);
    for (int row = 0; row < 128; ++row)
        for (int s = 0; s < 4; ++s) {
            const auto byte = scale_factor_source().evaluate({row, s})->front()[Axis::m];
            for (int r = 0; r < 32; ++r)
                for (int b = 0; b < 16; ++b) {
                    if (source.evaluate({r, b})->front()[Axis::m] != byte) continue;
                    auto places = *copy.destination.evaluate({r, b});
                    for (Location& at : places) at[Axis::bit] = 8 * at[Axis::byte], at[Axis::byte] = 0;
                    EXPECT_EQ(places, *factors.layout.evaluate({row, s}));
                }
        }
}

}  // namespace
}  // namespace tilepath::atom
