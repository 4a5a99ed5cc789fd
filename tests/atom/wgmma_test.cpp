#include "atom/wgmma.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "expect_fragment.h"
#include "modules.h"

namespace tilepath::atom {
namespace {

using enum number::Format;
using number::Format;

TEST(Wgmma, FragmentsAreTheManualsForEveryShapeAndType) {
    std::vector<WgmmaAtom> all = all_wgmma();
    for (const WgmmaAtom& atom : all) {
        bool half = atom.types.d == f16;
        // D: row 16w + g + 8((i/2)%2), column 2t + i%2 + 8(i/4); f16: two neighbouring columns a register, same order.
        expect_fragment(atom.d, atom.name, 128, [&](int thread, int i) {
            int warp = thread / 32, lane = thread % 32;
            return manual::At{0, 16 * warp + lane / 4 + 8 * (i / 2 % 2), 2 * (lane % 4) + i % 2 + 8 * (i / 4)};
        });
        EXPECT_EQ(atom.d.registers, half ? atom.shape.n / 4 : atom.shape.n / 2);
        int bits = atom.types.a == tf32 ? 32 : number::traits(atom.types.a).bits;
        int stored_k = atom.sparse ? atom.shape.k / 2 : atom.shape.k;
        EXPECT_EQ(stored_k * bits, 32 * 8) << atom.name;
        expect_fragment(atom.a, atom.name, 128, [&](int thread, int i) {
            manual::At at = manual::a(16, stored_k, bits, thread % 32, i);
            return manual::At{0, at.row + 16 * (thread / 32), at.column};
        });
        for (int selector = 0; atom.sparse && selector < atom.selectors; ++selector) {
            Fragment metadata = atom.metadata(selector);
            std::vector<ElementPlace> where = places(metadata);
            for (int row = 0; row < 64; ++row) {
                for (int chunk = 0; chunk < metadata.columns; ++chunk) {
                    ElementPlace expected = manual::metadata(metadata.columns, bits >= 16, selector, row % 16, chunk);
                    expected.warp = static_cast<std::uint8_t>(row / 16);
                    EXPECT_EQ(where[static_cast<std::size_t>(row * metadata.columns + chunk)], expected) << atom.name;
                }
            }
        }
    }
    // Dense and sparse: f16 2, bf16, tf32, fp8 2 x 4 types by 32 n; s8 and u8 4 by 18; b1 dense by 18.
    EXPECT_EQ(all.size(), 2u * (2 + 1 + 1 + 8) * 32 + 2u * 4 * 18 + 18);
}

struct Case {
    int n, k;
    Format d, a, b;
    bool sparse;
};

std::string text(const Case& c) {
    std::vector<std::string> registers;
    int count = c.d == f16 ? c.n / 4 : c.n / 2;
    for (int i = 0; i < std::max(1, count); ++i) registers.push_back(fmt::format("{}{}", c.d == f32 ? "f" : "r", i));
    bool halves = c.a == f16 || c.a == bf16, floats = number::traits(c.a).floating;
    return fmt::format("wgmma.mma_async{}.sync.aligned.m64n{}k{}.{}.{}.{}{} {{{}}}, q0, q1, {}p0{}{};",
                       c.sparse ? ".sp" : "", c.n, c.k, number::traits(c.d).name, number::traits(c.a).name,
                       number::traits(c.b).name, c.a == b1 ? ".and.popc" : "", fmt::join(registers, ","),
                       c.sparse ? "r199, 0, " : "", floats ? ", 1, 1" : "", halves ? ", 0, 0" : "");
}

TEST(Wgmma, PtxasAgreesOnEveryShapeAndType) {
    std::optional<std::string> ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    std::vector<Format> inputs{f16, bf16, tf32, e4m3, e5m2, s8, u8, b1, s4};
    std::vector<Case> cases;
    for (Format a : inputs)
        for (Format b : inputs)
            for (Format d : {f16, f32, s32})
                for (bool sparse : {false, true}) {
                    if (number::traits(a).bits != number::traits(b).bits) continue;
                    int k = a == b1 ? 256 : 256 / (a == tf32 ? 32 : number::traits(a).bits);
                    // Every n once per pair of types and accumulator that exists; two for what does not.
                    bool exists = wgmma({64, 8, sparse ? 2 * k : k}, {d, a, b, d}, sparse).has_value();
                    for (int n : {8, 12, 264}) cases.push_back({n, sparse ? 2 * k : k, d, a, b, sparse});
                    cases.push_back({64, k / 2, d, a, b, sparse});
                    cases.push_back({64, sparse ? k : 2 * k, d, a, b, sparse});
                    for (int n = 16; exists && a == b && n <= 256; n += 8)
                        cases.push_back({n, sparse ? 2 * k : k, d, a, b, sparse});
                }
    std::vector<std::string> texts;
    for (const Case& c : cases) texts.push_back(text(c));
    const auto refused = refused_by_ptxas(*ptxas, "sm_90a", module_text("sm_90a"), texts);
    int legal = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = cases[i];
        bool ours = wgmma({64, c.n, c.k}, {c.d, c.a, c.b, c.d}, c.sparse).has_value();
        EXPECT_EQ(ours, !refused.contains(i)) << texts[i].substr(0, 80);
        legal += ours;
    }
    EXPECT_GT(legal, 300);
}

TEST(Wgmma, BadCombinationsNameTheRule) {
    auto message = [](Shape shape, MmaTypes types, bool sparse = false) {
        auto atom = wgmma(shape, types, sparse);
        return atom ? "legal" : atom.error().front().message;
    };
    EXPECT_EQ(message({64, 12, 16}, {f32, f16, f16, f32}), "f16 wgmma has no n of 12");
    EXPECT_EQ(message({64, 40, 32}, {s32, s8, u8, s32}), "8-bit integer wgmma has no n of 40");
    EXPECT_EQ(message({64, 64, 32}, {f32, f16, f16, f32}), "f16 wgmma has shape m64n…k16, found m64n64k32");
    EXPECT_EQ(message({64, 64, 32}, {f32, f16, f16, f32}, true), "legal");
    EXPECT_EQ(message({64, 64, 512}, {s32, b1, b1, s32}, true), "b1 wgmma has no sparse form");
    EXPECT_EQ(message({64, 64, 16}, {f16, bf16, bf16, f16}), "bf16 wgmma accumulates in f32, found f16");
    EXPECT_EQ(message({64, 64, 16}, {f32, f16, bf16, f32}), "f16 wgmma wants B of f16, found bf16");
    EXPECT_EQ(message({64, 64, 16}, {f32, f64, f64, f32}), "wgmma multiplies no f64 matrices");
}

}  // namespace
}  // namespace tilepath::atom
