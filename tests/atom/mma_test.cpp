#include "atom/mma.h"

#include <gtest/gtest.h>

#include "expect_fragment.h"

namespace tilepath::atom {
namespace {

using enum number::Format;

/// Bits between two elements in a register, by the manual: packed, but tf32 alone in 32 and kind::f8f6f4 in bytes.
int pitch(number::Format format, MmaKind kind) {
    if (format == tf32) return 32;
    int bits = number::traits(format).bits;
    bool packs =
        bits >= 8 || number::traits(format).floating == false || kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4;
    return packs ? bits : 8;
}

TEST(MmaSync, FragmentsAreTheManualsForEveryShapeAndType) {
    std::vector<MmaAtom> all = all_mma_sync();
    for (const MmaAtom& atom : all) {
        auto [m, n, k] = atom.shape;
        int bits_a = pitch(atom.types.a, atom.kind), bits_b = pitch(atom.types.b, atom.kind);
        if (atom.blocks == 4) {
            expect_fragment(atom.a, atom.name, 32,
                            [&](int l, int i) { return manual::quad_a(atom.a_major == Major::row, l, i); });
            expect_fragment(atom.b, atom.name, 32,
                            [&](int l, int i) { return manual::quad_b(atom.b_major == Major::row, l, i); });
            expect_fragment(atom.c, atom.name, 32, [&](int l, int i) { return manual::quad_c(atom.types.c, l, i); });
            expect_fragment(atom.d, atom.name, 32, [&](int l, int i) { return manual::quad_c(atom.types.d, l, i); });
            continue;
        }
        bool shifted = atom.kind == MmaKind::f8f6f4 || atom.kind == MmaKind::mxf8f6f4;
        expect_fragment(
            atom.a, atom.name, 32, [&](int l, int i) { return manual::a(m, k, bits_a, l, i); },
            shifted && atom.types.a == e2m1 ? 2 : 0);
        expect_fragment(
            atom.b, atom.name, 32, [&](int l, int i) { return manual::b(k, bits_b, l, i); },
            shifted && atom.types.b == e2m1 ? 2 : 0);
        expect_fragment(atom.c, atom.name, 32, [&](int l, int i) { return manual::c(m, l, i); });
        expect_fragment(atom.d, atom.name, 32, [&](int l, int i) { return manual::c(m, l, i); });
    }
    // f16 m8n8k4 in four orders and three accumulator mixes; f16 2 x 2; bf16 2; tf32 2; f64 4; s8, s4: 3 x 4; b1 3; fp8
    // 2 x 4 x 2; f8f6f4 25 x 2.
    EXPECT_EQ(all.size(), 12u + 4 + 2 + 2 + 4 + 12 + 12 + 3 + 16 + 8 + 50 + 27);
}

TEST(MmaSync, RegistersPerThread) {
    struct Row {
        Shape shape;
        MmaTypes types;
        int a, b, c;
    };
    // PTX ISA 9.7.14.5: the vector lengths of each shape's operands.
    for (const Row& row : {
             Row{{16, 8, 16}, {f32, f16, f16, f32}, 4, 2, 4},
             Row{{16, 8, 16}, {f16, f16, f16, f16}, 4, 2, 2},
             Row{{16, 8, 8}, {f32, bf16, bf16, f32}, 2, 1, 4},
             Row{{16, 8, 4}, {f32, tf32, tf32, f32}, 2, 1, 4},
             Row{{16, 8, 8}, {f32, tf32, tf32, f32}, 4, 2, 4},
             Row{{8, 8, 4}, {f64, f64, f64, f64}, 1, 1, 2},
             Row{{16, 8, 16}, {f64, f64, f64, f64}, 8, 4, 4},
             Row{{8, 8, 16}, {s32, s8, u8, s32}, 1, 1, 2},
             Row{{16, 8, 32}, {s32, u8, u8, s32}, 4, 2, 4},
             Row{{16, 8, 64}, {s32, s4, s4, s32}, 4, 2, 4},
             Row{{16, 8, 256}, {s32, b1, b1, s32}, 4, 2, 4},
             Row{{8, 8, 128}, {s32, b1, b1, s32}, 1, 1, 2},
             Row{{16, 8, 32}, {f16, e4m3, e5m2, f16}, 4, 2, 2},
             Row{{8, 8, 4}, {f32, f16, f16, f32}, 2, 2, 8},
             Row{{8, 8, 4}, {f16, f16, f16, f16}, 2, 2, 4},
         }) {
        auto atom = mma_sync(row.shape, row.types);
        ASSERT_TRUE(atom) << to_string(atom.error());
        EXPECT_EQ(atom->a.registers, row.a) << atom->name;
        EXPECT_EQ(atom->b.registers, row.b) << atom->name;
        EXPECT_EQ(atom->c.registers, row.c) << atom->name;
        EXPECT_EQ(atom->d.registers, row.c) << atom->name;
    }
}

TEST(MmaSync, BadCombinationsNameTheRule) {
    auto message = [](Shape shape, MmaTypes types, Major a = Major::row, Major b = Major::column,
                      MmaKind kind = MmaKind::none) {
        auto atom = mma_sync(shape, types, a, b, kind);
        return atom ? "legal" : atom.error().front().message;
    };
    EXPECT_EQ(message({16, 8, 16}, {f32, tf32, tf32, f32}), "tf32 mma.sync has no shape m16n8k16");
    EXPECT_EQ(message({16, 8, 4}, {f32, bf16, bf16, f32}), "bf16 mma.sync has no shape m16n8k4");
    EXPECT_EQ(message({16, 8, 16}, {f32, f16, bf16, f32}), "f16 mma.sync wants B of f16, found bf16");
    EXPECT_EQ(message({16, 8, 16}, {f16, bf16, bf16, f16}), "bf16 mma.sync accumulates in f32, found D f16 and C f16");
    EXPECT_EQ(message({16, 8, 16}, {f32, f16, f16, f16}), "mma.sync wants D and C of one type, found D f32 and C f16");
    EXPECT_EQ(message({8, 8, 4}, {f32, f16, f16, f16}), "legal");
    EXPECT_EQ(message({8, 8, 4}, {f16, f16, f16, f32}), "mma.sync wants D and C of one type, found D f16 and C f32");
    EXPECT_EQ(message({16, 8, 16}, {f32, f16, f16, f32}, Major::column), "mma.sync wants .row.col");
    EXPECT_EQ(message({16, 8, 16}, {f32, e2m1, e2m1, f32}), "mma.sync multiplies no e2m1 matrices");
    EXPECT_EQ(message({16, 8, 16}, {f32, e4m3, e2m1, f32}, Major::row, Major::column, MmaKind::f8f6f4),
              "mma.sync.kind::f8f6f4 multiplies 6- and 4-bit floats as m16n8k32 only");
}

}  // namespace
}  // namespace tilepath::atom
