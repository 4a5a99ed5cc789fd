#include "atom/tcgen05_mma.h"

#include <gtest/gtest.h>

#include <set>

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Location;
using enum number::Format;
using number::Format;

struct Case {
    Tcgen05Kind kind;
    MmaTypes types;
    int k;     // dense
    int bits;  // of A's container in Tensor Memory
};
const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {Tcgen05Kind::f16, {f32, f16, f16, f32}, 16, 16},       {Tcgen05Kind::tf32, {f32, tf32, tf32, f32}, 8, 32},
        {Tcgen05Kind::f8f6f4, {f32, e4m3, e5m2, f32}, 32, 8},   {Tcgen05Kind::i8, {s32, s8, u8, s32}, 32, 8},
        {Tcgen05Kind::mxf8f6f4, {f32, e2m1, e3m2, f32}, 32, 8}, {Tcgen05Kind::mxf4, {f32, e2m1, e2m1, f32}, 64, 4},
        {Tcgen05Kind::mxf4nvf4, {f32, e2m1, e2m1, f32}, 64, 4},
    };
    return all;
}

/// Where D(m, n) lies, from the figures of PTX ISA 9.7.16.10.5 as instructions.md tells them: written case by case.
Location d_place(int cta_group, int m_all, bool ws, bool sparse, int n_all, int m, int n) {
    Location at;
    const int rows = m_all / cta_group, row = m % rows;
    at[Axis::cluster_ctarank] = m / rows;
    at[Axis::tlane] = row;
    at[Axis::tcol] = n;
    const bool two_by_two = (cta_group == 2 && m_all == 128 && !sparse) || (ws && m_all == 64);
    if (two_by_two && n >= n_all / 2) at[Axis::tlane] = row + 64, at[Axis::tcol] = n - n_all / 2;
    const bool scattered = (cta_group == 2 && m_all == 128 && sparse) || (cta_group == 1 && m_all == 64 && !ws);
    if (scattered) at[Axis::tlane] = row / 16 * 32 + row % 16;
    if (ws && m_all == 32) at[Axis::tlane] = row + 32 * (n / (n_all / 4)), at[Axis::tcol] = n % (n_all / 4);
    return at;
}

TEST(Tcgen05Mma, EveryShapesAccumulatorAndAAreTheManuals) {
    int legal = 0;
    std::set<char> paths;
    for (const Case& c : cases())
        for (const int cta_group : {1, 2})
            for (const bool ws : {false, true})
                for (const bool sparse : {false, true})
                    for (const int m : {32, 64, 128, 256})
                        for (int n = 8; n <= 256; n += 8) {
                            const auto atom =
                                tcgen05_mma(c.kind, {m, n, sparse ? 2 * c.k : c.k}, c.types, cta_group, ws, sparse);
                            if (!atom) continue;
                            ++legal;
                            paths.insert(letter(atom->data_path));
                            if (n > 64 && n % 64 != 0) continue;  // every n is legal; every fourth is evaluated
                            for (int row = 0; row < m; ++row)
                                for (int column = 0; column < n; ++column)
                                    ASSERT_EQ(atom->d.evaluate({row, column})->front(),
                                              d_place(cta_group, m, ws, sparse, n, row, column))
                                        << atom->name << " " << row << "," << column;
                            if (n != 64) continue;
                            for (int row = 0; row < m; ++row)
                                for (int k = 0; k < atom->stored_k(); ++k) {
                                    const auto places = *atom->a_tensor_memory.evaluate({row, k});
                                    // A lies in the lanes of D's row, once for each part of D's columns.
                                    std::set<Location> expected;
                                    for (int column = 0; column < n; ++column) {
                                        Location at = d_place(cta_group, m, ws, sparse, n, row, column);
                                        at[Axis::tcol] = k * c.bits / 32;
                                        at[Axis::bit] = k * c.bits % 32 + (c.types.a == e2m1 && c.bits == 8 ? 2 : 0);
                                        expected.insert(at);
                                    }
                                    ASSERT_EQ(std::set<Location>(places.begin(), places.end()), expected) << atom->name;
                                }
                        }
    // Per kind, counted from Table 39 of PTX ISA 9.7.16.2.1. cg1: 32 n for m 64 and 128; cg2: 16 n for m 128 and 256;
    // .ws: 3 m by 3 n, sparse 2 n. i8: 18 n and 8 n. Block-scaled: m 128; 128 and 256, sparse 256; no .ws.
    const int float_kind = 2 * (2 * 32 + 2 * 16) + 3 * 3 + 3 * 2, integer = 2 * (2 * 18 + 2 * 8) + 15,
              scaled = 2 * 32 + 3 * 16;
    EXPECT_EQ(legal, 3 * float_kind + integer + 3 * scaled);
    EXPECT_EQ(paths, (std::set<char>{'A', 'B', 'C', 'D', 'E', 'F', 'G'}));
}

// k of 96 on sm_103a: 48 bytes of K in shared memory, twelve columns of Tensor Memory.
TEST(Tcgen05Mma, KOf96IsTheManualsAndCutlass) {
    const MmaTypes fp4{f32, e2m1, e2m1, f32};
    int legal = 0;
    for (const Tcgen05KindTraits& kind : all_tcgen05_kinds())
        for (const int cta_group : {1, 2})
            for (const bool sparse : {false, true})
                for (const int m : {32, 64, 128, 256})
                    for (int n = 8; n <= 256; n += 8) {
                        const MmaTypes types = kind.k96 ? fp4
                                                        : MmaTypes{kind.accumulators[0], kind.inputs[0], kind.inputs[0],
                                                                   kind.accumulators[0]};
                        const auto atom = tcgen05_mma(kind.kind, {m, n, 96}, types, cta_group, false, sparse);
                        if (!atom) continue;
                        ++legal;
                        EXPECT_TRUE(n % 16 == 0 && (m == 128 || cta_group == 2)) << atom->name;
                        EXPECT_EQ(atom->shape_evidence == "manual", cta_group == 2 && m == 256) << atom->name;
                        if (n != 64) continue;
                        for (int row = 0; row < m; ++row)
                            for (int k = 0; k < 96; ++k) {
                                const auto places = *atom->a_tensor_memory.evaluate({row, k});
                                for (const Location& at : places) {
                                    EXPECT_EQ(at[Axis::tlane] % 64, row % (m / cta_group) % 64);
                                    EXPECT_EQ(at[Axis::tcol], k / 8);
                                    EXPECT_EQ(at[Axis::bit], 4 * (k % 8));
                                }
                            }
                        const auto tile = *atom->shared_a(OperandMajor::k, layout::SwizzleMode::b128);
                        EXPECT_EQ(tile.layout.evaluate({9, 95})->front()[Axis::m], 1024 + 128 + 47);
                        EXPECT_FALSE(atom->shared_a(OperandMajor::k, layout::SwizzleMode::b32));  // 48 bytes, 32 a row
                    }
    EXPECT_EQ(legal, 2 * (16 + 2 * 16));  // two kinds; m 128 of one CTA, 128 and 256 of two; n in steps of 16
    EXPECT_EQ(tcgen05_mma(Tcgen05Kind::mxf4, {128, 64, 96}, fp4, 1, false, true).error().front().message,
              "tcgen05.mma.sp.cta_group::1.kind::mxf4 has k of 128, found 96");
    EXPECT_EQ(tcgen05_mma(Tcgen05Kind::mxf4, {128, 64, 32}, fp4, 1).error().front().message,
              "tcgen05.mma.cta_group::1.kind::mxf4 has k of 64 or 96, found 32");
}

TEST(Tcgen05Mma, MetadataIsTheManuals) {
    for (const Case& c : cases())
        for (const auto& [m, cta_group, ws] : {std::tuple{128, 1, false},
                                               {256, 2, false},
                                               {32, 1, true},
                                               {64, 1, true},
                                               {128, 1, true},
                                               {64, 1, false},
                                               {128, 2, false}}) {
            const auto atom = tcgen05_mma(c.kind, {m, 64, 2 * c.k}, c.types, cta_group, ws, true);
            if (!atom) continue;
            const bool wide = c.kind == Tcgen05Kind::f16 || c.kind == Tcgen05Kind::tf32;
            const int rows = m / cta_group;
            // Layouts C and F: metadata use the sixteen lanes of each window that A and D use (PTX ISA 9.7.16.10.8.5).
            const bool half = rows == 64 && !ws;
            for (const int selector : {0, 1, 2, 3}) {
                const auto metadata = atom->metadata(selector);
                ASSERT_EQ(metadata.has_value(), selector == 0 || wide);
                if (!metadata) continue;
                EXPECT_EQ(metadata->evidence.starts_with("inferred"), half || selector > 1) << atom->name;
                for (int row = 0; row < m; ++row)
                    for (int k = 0; k < 2 * c.k; k += atom->chunk) {
                        Location at;
                        const int r = row % rows;
                        at[Axis::cluster_ctarank] = row / rows;
                        if (c.kind == Tcgen05Kind::f16) {
                            at[Axis::tlane] = r % 8 + (half ? 32 : 16) * (r / 16) + 8 * (k / 16);
                            at[Axis::bit] = k % 16 + 16 * (r / 8 % 2);
                        } else if (c.kind == Tcgen05Kind::tf32) {
                            at[Axis::tlane] = r % 8 + (half ? 32 : 16) * (r / 16) + 8 * (k / 8);
                            at[Axis::bit] = 2 * (k % 8) + 16 * (r / 8 % 2);
                        } else {
                            const int bit = c.bits == 4 ? k / 2 : k;
                            at[Axis::tlane] = half ? 32 * (r / 16) + r % 16 : r;
                            at[Axis::tcol] = bit / 32;
                            at[Axis::bit] = bit % 32;
                        }
                        at[Axis::tcol] = at[Axis::tcol] + selector;
                        std::set<Location> expected;
                        for (int copy = 0; copy < (half ? 1 : 128 / rows); ++copy) {
                            Location other = at;
                            other[Axis::tlane] = at[Axis::tlane] + rows * copy;
                            expected.insert(other);
                        }
                        const auto places = *metadata->layout.evaluate({row, k / atom->chunk});
                        ASSERT_EQ(std::set<Location>(places.begin(), places.end()), expected)
                            << atom->name << " " << row << " " << k;
                    }
            }
        }
    const auto atom = tcgen05_mma(Tcgen05Kind::f16, {64, 64, 32}, {f32, f16, f16, f32}, 1, false, true);
    EXPECT_EQ(atom->metadata(4).error().front().message, "kind::f16 has a sparsity selector of 0 to 3, found 4");
    const auto narrow = tcgen05_mma(Tcgen05Kind::i8, {64, 64, 64}, {s32, s8, s8, s32}, 1, false, true);
    EXPECT_EQ(narrow->metadata(1).error().front().message, "kind::i8 has a sparsity selector of 0, found 1");
    const auto dense = tcgen05_mma(Tcgen05Kind::f16, {64, 64, 16}, {f32, f16, f16, f32}, 1);
    EXPECT_EQ(dense->metadata(0).error().front().message, "a dense instruction has no metadata");
}

// JAX's Mosaic GPU: its tests of sparse products, which a B200 passes, hand over indices of two bits, row by row, in
// this order (tests/mosaic/gpu_test.py, test_mma_sparse), and name the odd ones of two steps along k by the selector.
TEST(Tcgen05Mma, MetadataLieWhereMosaicPutsThem) {
    for (const auto& [kind, input, sum] : {std::tuple{Tcgen05Kind::f16, f16, f32}, {Tcgen05Kind::i8, s8, s32}})
        for (const int cta_group : {1, 2}) {
            const bool wide = kind == Tcgen05Kind::f16;
            const int k = wide ? 32 : 64, indices = k / 2, m = 128 * cta_group;
            const auto atom = tcgen05_mma(kind, {m, 64, k}, {sum, input, input, sum}, cta_group, false, true);
            for (int row = 0; row < m; ++row)
                for (int index = 0; index < 64; index += 2) {  // of two steps, or of four, along k
                    const int step = index / indices, column = wide ? step / 2 * 2 : 2 * step, r = row % 128;
                    Location at;
                    at[Axis::cluster_ctarank] = row / 128;
                    at[Axis::tlane] = wide ? r / 16 * 16 + index / 8 % 2 * 8 + r % 8 : r;
                    at[Axis::tcol] = index / 16 - column;
                    at[Axis::bit] = wide ? r / 8 % 2 * 16 + index % 8 * 2 : index % 16 * 2;
                    const auto places =
                        atom->metadata(wide ? step % 2 : 0)->layout.evaluate({row, index % indices / 2});
                    ASSERT_EQ(*places, std::vector{at}) << atom->name << " " << row << " " << index;
                }
        }
}

TEST(Tcgen05Mma, SharedOperandsFollowTheTableOfTypesAndSwizzles) {
    using layout::SwizzleMode;
    const auto half = *tcgen05_mma(Tcgen05Kind::f16, {128, 256, 16}, {f32, f16, f16, f32}, 1);
    const auto a = half.shared_a(OperandMajor::k, SwizzleMode::b128);
    EXPECT_EQ(a->operand.stride_bytes, 1024);  // eight rows of 128 bytes
    EXPECT_FALSE(half.shared_a(OperandMajor::mn, SwizzleMode::b128_atom_32b));
    const auto tf = *tcgen05_mma(Tcgen05Kind::tf32, {128, 256, 8}, {f32, tf32, tf32, f32}, 1);
    EXPECT_TRUE(tf.shared_b(OperandMajor::mn, SwizzleMode::b128_atom_32b));
    EXPECT_EQ(tf.shared_b(OperandMajor::mn, SwizzleMode::b128).error().front().message,
              "MN-major tf32 operands need the swizzle 128B_atom_32B");
    const auto narrow = *tcgen05_mma(Tcgen05Kind::f8f6f4, {128, 64, 32}, {f32, e2m1, e3m2, f32}, 1);
    EXPECT_FALSE(narrow.shared_a(OperandMajor::mn, SwizzleMode::b128));
    // e2m1: 16 elements to 16 bytes, the nibbles in the first eight. Element (1, 17) of a row of 32: chunk 1, nibble 1.
    const auto padded = *narrow.shared_a(OperandMajor::k, SwizzleMode::none);
    const Location at = padded.layout.evaluate({1, 17})->front();
    EXPECT_EQ(at[Axis::m], 128 / 8 * 128 + 16);
    EXPECT_EQ(at[Axis::bit], 4);
    const auto six = *narrow.shared_b(OperandMajor::k, SwizzleMode::b32);
    EXPECT_EQ(six.layout.evaluate({0, 3})->front()[Axis::bit], 18);
    EXPECT_EQ(six.bytes, 64 * 32);
}

TEST(Tcgen05Mma, BadCombinationsNameTheRule) {
    const auto message = [](Tcgen05Kind kind, Shape shape, MmaTypes types, int cta_group, bool ws = false,
                            bool sparse = false) {
        const auto atom = tcgen05_mma(kind, shape, types, cta_group, ws, sparse);
        return atom ? "legal" : atom.error().front().message;
    };
    const MmaTypes half{f32, f16, f16, f32};
    EXPECT_EQ(message(Tcgen05Kind::f16, {192, 64, 16}, half, 1),
              "tcgen05.mma.cta_group::1.kind::f16 has m of 64 or 128, found 192");
    EXPECT_EQ(message(Tcgen05Kind::f16, {256, 24, 16}, half, 2), "tcgen05.mma.cta_group::2.kind::f16 has no n of 24");
    EXPECT_EQ(message(Tcgen05Kind::f16, {128, 64, 32}, half, 1),
              "tcgen05.mma.cta_group::1.kind::f16 has k of 16, found 32");
    EXPECT_EQ(message(Tcgen05Kind::f16, {128, 64, 32}, half, 1, false, true), "legal");
    EXPECT_EQ(message(Tcgen05Kind::f16, {128, 64, 16}, half, 3), "expected cta_group::1 or ::2, found ::3");
    EXPECT_EQ(message(Tcgen05Kind::f16, {128, 64, 16}, half, 2, true), ".ws has only cta_group::1");
    EXPECT_EQ(message(Tcgen05Kind::f16, {32, 32, 16}, half, 1, true),
              "tcgen05.mma.ws.cta_group::1.kind::f16 has n of 64 or 128 or 256, found 32");
    EXPECT_EQ(message(Tcgen05Kind::f16, {128, 64, 16}, {f16, bf16, bf16, f16}, 1),
              "kind::f16 accumulates in f16 only what is f16 itself, found bf16");
    EXPECT_EQ(message(Tcgen05Kind::tf32, {128, 64, 8}, half, 1), "kind::tf32 multiplies tf32, found f16");
    EXPECT_EQ(message(Tcgen05Kind::i8, {128, 40, 32}, {s32, s8, s8, s32}, 1),
              "tcgen05.mma.cta_group::1.kind::i8 has no n of 40");
    EXPECT_EQ(message(Tcgen05Kind::mxf4, {64, 64, 64}, {f32, e2m1, e2m1, f32}, 1),
              "tcgen05.mma.cta_group::1.kind::mxf4 has m of 128, found 64");
    EXPECT_EQ(message(Tcgen05Kind::mxf4, {128, 64, 64}, {f32, e2m1, e2m1, f32}, 1, true), "kind::mxf4 has no .ws form");
    EXPECT_EQ(message(Tcgen05Kind::mxf4, {128, 64, 64}, {f16, e2m1, e2m1, f16}, 1),
              "kind::mxf4 accumulates in f32, found f16");
}

}  // namespace
}  // namespace tilepath::atom
