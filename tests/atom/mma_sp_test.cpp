#include "atom/mma_sp.h"

#include <gtest/gtest.h>

#include "expect_fragment.h"

namespace tilepath::atom {
namespace {

using enum number::Format;

/// Bits from one element to the next in a register.
int pitch(const SparseMmaAtom& atom, number::Format format) {
    if (format == tf32) return 32;
    if (format == f16 || format == bf16) return 16;
    return format == s4 || format == u4 || atom.kind == MmaKind::mxf4 || atom.kind == MmaKind::mxf4nvf4 ? 4 : 8;
}

TEST(MmaSp, FragmentsAreTheManualsForEveryShapeAndType) {
    for (const SparseMmaAtom& atom : all_mma_sp()) {
        int bits_a = pitch(atom, atom.types.a), bits_b = pitch(atom, atom.types.b), per_register = 32 / bits_b;
        bool in_bytes = atom.kind == MmaKind::f8f6f4 || atom.kind == MmaKind::mxf8f6f4;
        expect_fragment(
            atom.a, atom.name, 32, [&](int l, int i) { return manual::a(16, atom.shape.k / 2, bits_a, l, i); },
            in_bytes && atom.types.a == e2m1 ? 2 : 0);
        expect_fragment(
            atom.b, atom.name, 32,
            [&](int l, int i) {
                int reg = i / per_register, j = i % per_register;  // B: k = tE + j + 4E·register over all of K
                return manual::At{0, l % 4 * per_register + j + 4 * per_register * reg, l / 4};
            },
            in_bytes && atom.types.b == e2m1 ? 2 : 0);
        expect_fragment(atom.d, atom.name, 32, [&](int l, int i) { return manual::c(16, l, i); });
        expect_fragment(atom.c, atom.name, 32, [&](int l, int i) { return manual::c(16, l, i); });
        // A register r of a lane stands for the logical columns [2Et + 8E(r/2), + 2E) of its row (PTX ISA 9.7.14.6).
        int e = 32 / bits_a, stored_per_chunk = atom.sparsity == Sparsity::one_of_two ? 1 : atom.chunk / 2;
        std::vector<ElementPlace> where = places(atom.a);
        for (int stored = 0; stored < atom.a.columns; ++stored) {
            ElementPlace at = where[static_cast<std::size_t>(stored)];  // row 0
            int first = 2 * e * (at.lane % 4) + 8 * e * (at.reg / 2);
            int chunk_begin = stored / stored_per_chunk * atom.chunk;
            EXPECT_LE(first, chunk_begin) << atom.name;
            EXPECT_LE(chunk_begin + atom.chunk, first + 2 * e) << atom.name;
        }
    }
}

TEST(MmaSp, MetadataLiesWhereItWasRecorded) {
    for (const SparseMmaAtom& atom : all_mma_sp()) {
        EXPECT_EQ(atom.selectors, atom.shape.k / atom.chunk == 4    ? 4
                                  : atom.shape.k / atom.chunk == 16 ? 1
                                                                    : 2)
            << atom.name;
        for (int selector = 0; selector < atom.selectors; ++selector) {
            Fragment metadata = atom.metadata(selector);
            ASSERT_EQ(metadata.columns, atom.shape.k / atom.chunk);
            std::vector<ElementPlace> where = places(metadata);
            std::set<std::pair<int, int>> taken;
            for (int row = 0; row < 16; ++row) {
                for (int chunk = 0; chunk < metadata.columns; ++chunk) {
                    ElementPlace at = where[static_cast<std::size_t>(row * metadata.columns + chunk)];
                    EXPECT_EQ(at, manual::metadata(atom.shape.k / atom.chunk, pitch(atom, atom.types.a) >= 16, selector,
                                                   row, chunk))
                        << atom.name << " " << row << " " << chunk;
                    EXPECT_TRUE(taken.emplace(at.lane, at.bit).second);
                }
            }
        }
    }
}

TEST(MmaSp, SelectedColumns) {
    auto columns = [](Sparsity sparsity, unsigned bits) {
        auto selected = selected_columns(sparsity, bits);
        return selected ? std::vector<int>(selected->columns.begin(), selected->columns.begin() + selected->count)
                        : std::vector<int>{};
    };
    using V = std::vector<int>;
    EXPECT_EQ(columns(Sparsity::two_of_four, 0b0100), (V{0, 1}));
    EXPECT_EQ(columns(Sparsity::two_of_four, 0b1000), (V{0, 2}));
    EXPECT_EQ(columns(Sparsity::two_of_four, 0b1001), (V{1, 2}));
    EXPECT_EQ(columns(Sparsity::two_of_four, 0b1100), (V{0, 3}));
    EXPECT_EQ(columns(Sparsity::two_of_four, 0b1101), (V{1, 3}));
    EXPECT_EQ(columns(Sparsity::two_of_four, 0b1110), (V{2, 3}));
    EXPECT_EQ(columns(Sparsity::pairs_of_eight, 0b1101), (V{2, 3, 6, 7}));
    EXPECT_EQ(columns(Sparsity::one_of_two, 0b0100), (V{0}));
    EXPECT_EQ(columns(Sparsity::one_of_two, 0b1110), (V{1}));
    int valid = 0;
    for (unsigned bits = 0; bits < 16; ++bits) valid += selected_columns(Sparsity::two_of_four, bits).has_value();
    EXPECT_EQ(valid, 6);
    EXPECT_FALSE(selected_columns(Sparsity::one_of_two, 0b1000));
}

TEST(MmaSp, BadCombinationsNameTheRule) {
    auto message = [](Shape shape, MmaTypes types, MmaKind kind = MmaKind::none) {
        auto atom = mma_sp(shape, types, kind);
        return atom ? "legal" : atom.error().front().message;
    };
    EXPECT_EQ(message({16, 8, 8}, {f32, f16, f16, f32}), "f16 mma.sp has no shape m16n8k8");
    EXPECT_EQ(message({16, 8, 32}, {f32, e4m3, e4m3, f32}), "fp8 mma.sp has no shape m16n8k32");
    EXPECT_EQ(message({8, 8, 4}, {f64, f64, f64, f64}), "mma.sp multiplies no f64 matrices");
    EXPECT_EQ(message({16, 8, 32}, {f32, f16, f16, f16}), "mma.sp wants D and C of one type, found D f32 and C f16");
}

}  // namespace
}  // namespace tilepath::atom
