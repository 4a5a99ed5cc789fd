#include "atom/block_scale.h"

#include <gtest/gtest.h>

namespace tilepath::atom {
namespace {

using enum number::Format;

TEST(BlockScale, FactorsLieInTheSelectedLanesAndBytes) {
    struct Row {
        MmaKind kind;
        ScaleVector vector;
        number::Format scale;
        int factors, step;
    };
    for (const Row& row :
         {Row{MmaKind::mxf8f6f4, ScaleVector::x1, ue8m0, 1, 1}, Row{MmaKind::mxf4, ScaleVector::x2, ue8m0, 2, 2},
          Row{MmaKind::mxf4nvf4, ScaleVector::x4, ue4m3, 4, 4}}) {
        for (int byte = 0; byte < 4; byte += row.step) {
            for (int thread_a : {0, 1}) {
                for (int thread_b : {0, 1, 2, 3}) {
                    auto scales = mma_scales(row.kind, row.vector, row.scale, {byte, thread_a}, {byte, thread_b});
                    ASSERT_TRUE(scales);
                    auto a = places(scales->a), b = places(scales->b);
                    for (int block = 0; block < row.factors; ++block) {
                        // Row g + 8p from the lane with t = 2·thread-id + p, byte byte-id + block.
                        for (int r = 0; r < 16; ++r) {
                            ElementPlace at = a[static_cast<std::size_t>(r * row.factors + block)];
                            EXPECT_EQ(at.lane, 4 * (r % 8) + 2 * thread_a + r / 8);
                            EXPECT_EQ(at.bit, 8 * (byte + block));
                        }
                        for (int n = 0; n < 8; ++n) {
                            ElementPlace at = b[static_cast<std::size_t>(block * 8 + n)];
                            EXPECT_EQ(at.lane, 4 * n + thread_b);
                            EXPECT_EQ(at.bit, 8 * (byte + block));
                        }
                    }
                }
            }
        }
    }
}

TEST(BlockScale, BadSelectorsNameTheRule) {
    // Each verdict is ptxas 13.0's for sm_120a.
    EXPECT_FALSE(mma_scales(MmaKind::mxf4, ScaleVector::x2, ue8m0, {1, 0}, {0, 0}));
    EXPECT_FALSE(mma_scales(MmaKind::mxf8f6f4, ScaleVector::x1, ue8m0, {4, 0}, {0, 0}));
    EXPECT_FALSE(mma_scales(MmaKind::mxf8f6f4, ScaleVector::x1, ue8m0, {3, 2}, {0, 0}));
    EXPECT_FALSE(mma_scales(MmaKind::mxf4nvf4, ScaleVector::x2, ue4m3, {0, 0}, {0, 0}));
    EXPECT_TRUE(mma_scales(MmaKind::mxf8f6f4, ScaleVector::x1, ue8m0, {3, 1}, {3, 3}));
    EXPECT_FALSE(mma_scales(MmaKind::f8f6f4, ScaleVector::x1, ue8m0, {0, 0}, {0, 0}));
}

}  // namespace
}  // namespace tilepath::atom
