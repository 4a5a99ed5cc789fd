#include "atom/ldmatrix.h"

#include <gtest/gtest.h>

#include "expect_fragment.h"

namespace tilepath::atom {
namespace {

using enum MatrixShape;

/// Which lane's address names row `row` of matrix `matrix`: lane rows·matrix + row (PTX ISA 9.7.14.5.15, address
/// table).
void expect_addresses(const MatrixTransfer& transfer, int rows) {
    ASSERT_EQ(transfer.addresses.size(), transfer.matrices * rows);
    for (int matrix = 0; matrix < transfer.matrices; ++matrix) {
        for (int row = 0; row < rows; ++row) {
            auto lanes = transfer.addresses.evaluate({matrix, row});
            ASSERT_TRUE(lanes);
            ASSERT_EQ(lanes->size(), 1u);
            EXPECT_EQ(lanes->front()[layout::Axis::laneid], rows * matrix + row) << transfer.name;
        }
    }
}

TEST(Ldmatrix, M8n8) {
    for (int count : {1, 2, 4}) {
        for (bool transposed : {false, true}) {
            for (auto instruction : {ldmatrix, stmatrix}) {
                auto transfer = instruction(m8n8, count, transposed, MatrixData::b16);
                ASSERT_TRUE(transfer);
                EXPECT_EQ(transfer->fragment.registers, count);
                expect_addresses(*transfer, 8);
                // Register r, half j of lane 4g + t: row g, element 2t + j of matrix r; .trans: row 2t + j, element g.
                expect_fragment(transfer->fragment, transfer->name, 32, [&](int lane, int i) -> manual::At {
                    int g = lane / 4, along = 2 * (lane % 4) + i % 2;
                    return transposed ? manual::At{i / 2, along, g} : manual::At{i / 2, g, along};
                });
            }
        }
    }
}

TEST(Ldmatrix, WideFormsOfBytes) {
    for (MatrixData data : {MatrixData::b8, MatrixData::b6x16_p32, MatrixData::b4x16_p64}) {
        for (int count : {1, 2}) {
            auto transfer = ldmatrix(m16n16, count, true, data);
            ASSERT_TRUE(transfer);
            EXPECT_EQ(transfer->fragment.registers, 2 * count);
            expect_addresses(*transfer, 16);
            // Byte j of register r: stored row 4t + j, byte column g + 8r.
            expect_fragment(transfer->fragment, transfer->name, 32, [&](int lane, int i) {
                return manual::At{i / 8, 4 * (lane % 4) + i % 4, lane / 4 + 8 * (i / 4 % 2)};
            });
        }
    }
    for (MatrixData data : {MatrixData::b6x16_p32, MatrixData::b4x16_p64}) {
        for (int count : {1, 2, 4}) {
            auto transfer = ldmatrix(m8n16, count, false, data);
            ASSERT_TRUE(transfer);
            expect_addresses(*transfer, 8);
            expect_fragment(transfer->fragment, transfer->name, 32, [&](int lane, int i) {
                return manual::At{i / 4, lane / 4, 4 * (lane % 4) + i % 4};
            });
        }
    }
}

TEST(Stmatrix, M16n8OfBytes) {
    for (int count : {1, 2, 4}) {
        auto transfer = stmatrix(m16n8, count, true, MatrixData::b8);
        ASSERT_TRUE(transfer);
        expect_addresses(*transfer, 8);
        // Byte j of register m: matrix row g + 8(j/2), matrix column 2t + j%2; a stored row is a column of the matrix.
        expect_fragment(transfer->fragment, transfer->name, 32, [&](int lane, int i) {
            return manual::At{i / 4, 2 * (lane % 4) + i % 2, lane / 4 + 8 * (i % 4 / 2)};
        });
    }
}

TEST(Movmatrix, Transposes) {
    MatrixTranspose move = movmatrix();
    auto from = places(move.source), to = places(move.destination);
    for (int row = 0; row < 8; ++row) {
        for (int column = 0; column < 8; ++column) {
            // Element (row, column) of the source is element (column, row) of the destination's ordinary fragment.
            EXPECT_EQ(to[static_cast<std::size_t>(row * 8 + column)], from[static_cast<std::size_t>(column * 8 + row)]);
        }
    }
}

TEST(Ldmatrix, BadFormsNameTheRule) {
    auto message = [](Result<MatrixTransfer> transfer) {
        return transfer ? "legal" : transfer.error().front().message;
    };
    EXPECT_EQ(message(ldmatrix(m8n8, 3, false)), "ldmatrix.m8n8 moves .x1, .x2 or .x4 matrices, found .x3");
    EXPECT_EQ(message(ldmatrix(m8n8, 1, false, MatrixData::b8)), "ldmatrix.m8n8 loads .b16, found .b8");
    EXPECT_EQ(message(ldmatrix(m16n16, 1, false, MatrixData::b8)), "ldmatrix.m16n16 needs .trans");
    EXPECT_EQ(message(ldmatrix(m16n16, 4, true, MatrixData::b8)),
              "ldmatrix.m16n16 moves .x1 or .x2 matrices, found .x4");
    EXPECT_EQ(message(ldmatrix(m8n16, 1, true, MatrixData::b6x16_p32)), "ldmatrix.m8n16 has no .trans");
    EXPECT_EQ(message(ldmatrix(m16n8, 1, true)), "ldmatrix has no shape m16n8");
    EXPECT_EQ(message(stmatrix(m16n8, 1, false, MatrixData::b8)), "stmatrix.m16n8 needs .trans");
    EXPECT_EQ(message(stmatrix(m16n16, 1, true, MatrixData::b8)), "stmatrix has no such shape");
}

}  // namespace
}  // namespace tilepath::atom
