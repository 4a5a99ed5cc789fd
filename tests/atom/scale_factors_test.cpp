// Scale factors in Tensor Memory against the formulae of the manual's figures.
#include "atom/scale_factors.h"

#include <gtest/gtest.h>

#include <set>

#include "atom/tcgen05_mma.h"
#include "atom/tmem_copy.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Location;

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
                        const auto places = all->at(row, s);
                        for (const Location& at : places) {
                            lanes.insert(static_cast<int>(at[Axis::tlane]));
                            EXPECT_EQ(at[Axis::tcol], row / 32);
                            EXPECT_EQ(at[Axis::bit], 8 * (id + s));
                        }
                        const int lane = row % 32;
                        EXPECT_EQ(lanes, (std::set<int>{lane, lane + 32, lane + 64, lane + 96}));
                        EXPECT_EQ(all->at(row, s), *all->runs.front().layout.evaluate({row, s}));
                    }
            }
    // SFB where D is two by two: lane n%32 + 32 copy + 64 (n >= N/2), column (n mod N/2)/32.
    const auto split = *scale_factors(ScaleVector::x1, 256, 3, true);
    for (int n = 0; n < 256; ++n) {
        std::set<int> lanes;
        const auto places = split.at(n, 0);
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

// k of 96: block q = id + s of a row lies in byte q mod 4 of column row/32 + G (q/4), G = rows/32.
TEST(ScaleFactors, ThoseOfK96WrapIntoTheNextCell) {
    int wrapped = 0;
    for (const auto& [vector, count, step] : {std::tuple{ScaleVector::x3, 3, 1}, {ScaleVector::x6, 6, 2}})
        for (const auto& [rows, split] : {std::pair{128, false}, {256, false}, {128, true}})
            for (int id = 0; id < 4; ++id) {
                const auto all = scale_factors(vector, rows, id, split);
                ASSERT_EQ(all.has_value(), id % step == 0);
                if (!all) continue;
                EXPECT_EQ(all->factors, count);
                for (int row = 0; row < rows; ++row)
                    for (int s = 0; s < count; ++s) {
                        const int q = id + s, group = rows / (split ? 64 : 32);
                        std::set<Location> expected;
                        for (int copy = 0; copy < (split ? 2 : 4); ++copy) {
                            Location at;
                            at[Axis::tlane] = row % 32 + 32 * copy + (split ? 64 * (row / (rows / 2)) : 0);
                            at[Axis::tcol] = (split ? row % (rows / 2) : row) / 32 + group * (q / 4);
                            at[Axis::bit] = 8 * (q % 4);
                            expected.insert(at);
                        }
                        const auto places = all->at(row, s);
                        ASSERT_EQ(std::set<Location>(places.begin(), places.end()), expected)
                            << name(vector) << " id " << id << " row " << row << " factor " << s;
                        const FactorRun* run = &all->runs.front();
                        for (const FactorRun& each : all->runs)
                            if (each.first <= s) run = &each;
                        ASSERT_EQ(*run->layout.evaluate({row, s - run->first}), places);
                    }
                wrapped += all->runs.size() > 1;
            }
    EXPECT_EQ(wrapped, 3 * (2 + 2));  // 3X of id 2 and 3, 6X of both
    EXPECT_EQ(scale_factors(ScaleVector::x6, 128, 3).error().front().message,
              "scale_vec::6X has a factor id of 0 or 2, found 3");
}

TEST(ScaleFactors, AProductHasTheSizesOfItsKind) {
    using number::Format;
    const MmaTypes fp4{Format::f32, Format::e2m1, Format::e2m1, Format::f32};
    const auto plain = *tcgen05_mma(Tcgen05Kind::mxf4, {128, 64, 64}, fp4, 1),
               wide = *tcgen05_mma(Tcgen05Kind::mxf4nvf4, {128, 192, 96}, fp4, 1);
    EXPECT_EQ(plain.default_scale_vector(), ScaleVector::x2);
    EXPECT_EQ(wide.default_scale_vector(), ScaleVector::x6);
    EXPECT_EQ(wide.scales(true, ScaleVector::x3, 1)->rows, 256);
    EXPECT_EQ(wide.scales(false, ScaleVector::x6, 0)->rows, 128);
    EXPECT_EQ(plain.scales(false, ScaleVector::x4, 0).error().front().message,
              "kind::mxf4 with k of 64 has scale vectors of 2X, found 4X");
    EXPECT_EQ(wide.scales(false, ScaleVector::x4, 0).error().front().message,
              "kind::mxf4nvf4 with k of 96 has scale vectors of 6X or 3X, found 4X");
    const MmaTypes half{Format::f32, Format::f16, Format::f16, Format::f32};
    EXPECT_EQ(tcgen05_mma(Tcgen05Kind::f16, {128, 64, 16}, half, 1)
                  ->scales(false, ScaleVector::x1, 0)
                  .error()
                  .front()
                  .message,
              "kind::f16 has no scale factors");
}

TEST(ScaleFactors, TheCopyBringsThemThere) {
    // tcgen05.cp.32x128b.warpx4 of the 512-byte piece: row r of the copy is lane r, its byte b the factor b%4 of row 32
    // (b/4) + r.
    const TmemCopy copy = *tmem_copy(TmemCopyShape::s32x128b);
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
                    EXPECT_EQ(places, factors.at(row, s));
                }
        }
}

}  // namespace
}  // namespace tilepath::atom
