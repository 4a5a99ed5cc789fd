// ptxas as the judge of which mma.sync and mma.sp exist; skipped where it is not installed.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "atom/mma.h"
#include "atom/mma_sp.h"
#include "atom/targets.h"
#include "modules.h"

namespace tilepath::atom {
namespace {

using enum number::Format;
using number::Format;

std::string_view qualifier(MmaKind kind) {
    switch (kind) {
        case MmaKind::none: return "";
        case MmaKind::f8f6f4: return ".kind::f8f6f4";
        case MmaKind::mxf8f6f4: return ".kind::mxf8f6f4.block_scale";
        case MmaKind::mxf4: return ".kind::mxf4.block_scale";
        case MmaKind::mxf4nvf4: return ".kind::mxf4nvf4.block_scale.scale_vec::4X";
    }
    return "";
}

struct Case {
    Shape shape;
    MmaTypes types;
    MmaKind kind;
};

/// The manual gives kind::f8f6f4 only m16n8k32 (PTX ISA 9.7.14.5); ptxas 13.0 lets the k16 of plain fp8 pass with it.
bool beyond_the_manual(const Case& c, bool sparse) {
    auto fp8 = [](Format format) { return format == e4m3 || format == e5m2; };
    return !sparse && c.kind == MmaKind::f8f6f4 && c.shape == Shape{16, 8, 16} && fp8(c.types.a) && fp8(c.types.b);
}

/// A vector of as many registers as `elements` fill.
std::string registers(int elements, Format format, MmaKind kind) {
    bool bytes = kind == MmaKind::f8f6f4 || kind == MmaKind::mxf8f6f4;
    int bits = format == tf32 ? 32 : bytes && number::traits(format).bits < 8 ? 8 : number::traits(format).bits;
    if (bits == 6) bits = 8;
    int width = format == f64 ? 64 : 32;
    std::vector<std::string> names;
    for (int i = 0; i < std::max(1, elements * bits / 32 / width); ++i)
        names.push_back(fmt::format("{}{}", format == f64 ? "g" : format == f32 ? "f" : "r", i));
    return fmt::format("{{{}}}", fmt::join(names, ","));
}

std::string text(const Case& c, bool sparse) {
    auto [m, n, k] = c.shape;
    if (c.shape == Shape{8, 8, 4} && c.types.a == f16) m *= 4, n *= 4;  // four products
    auto name = [](Format format) { return number::traits(format).name; };
    bool scaled = c.kind != MmaKind::none && c.kind != MmaKind::f8f6f4;
    std::string scale_type = !scaled ? "" : c.kind == MmaKind::mxf4nvf4 ? ".ue4m3" : ".ue8m0";
    std::string instruction = fmt::format(
        "mma{}.sync.aligned.{}.row.col{}.{}.{}.{}.{}{}{} {}, {}, {}, {}", sparse ? ".sp::ordered_metadata" : "",
        to_string(c.shape), qualifier(c.kind), name(c.types.d), name(c.types.a), name(c.types.b), name(c.types.c),
        scale_type, c.types.a == b1 ? ".xor.popc" : "", registers(c.shape.m * n, c.types.d, c.kind),
        registers(sparse ? m * k / 2 : m * k, c.types.a, c.kind), registers(k * n, c.types.b, c.kind),
        registers(c.shape.m * n, c.types.c, c.kind));
    if (sparse) instruction += ", r90, 0";
    if (scaled) instruction += ", {r91}, {0, 0}, {r92}, {0, 0}";
    return instruction + ";";
}

std::vector<Case> cases() {
    std::vector<Case> all;
    std::vector<Format> inputs{f16, bf16, tf32, f64, s8, u8, s4, u4, b1, e4m3, e5m2, e3m2, e2m3, e2m1};
    std::vector<std::pair<Format, Format>> accumulators{{f16, f16}, {f32, f32}, {s32, s32},
                                                        {f64, f64}, {f32, f16}, {f16, f32}};
    std::vector<Shape> shapes;
    for (int k : {4, 16, 32, 128}) shapes.push_back({8, 8, k});
    for (int k : {4, 8, 16, 32, 64, 128, 256}) shapes.push_back({16, 8, k});
    for (Shape shape : shapes)
        for (Format a : inputs)
            for (Format b : inputs)
                for (auto [d, c] : accumulators)
                    for (MmaKind kind :
                         {MmaKind::none, MmaKind::f8f6f4, MmaKind::mxf8f6f4, MmaKind::mxf4, MmaKind::mxf4nvf4}) {
                        // Unequal widths and kinds of integers never mix: one representative pair of each is enough.
                        bool floats = number::traits(a).floating && number::traits(b).floating;
                        if (kind != MmaKind::none && (!floats || number::traits(a).bits > 8 || shape.m == 8)) continue;
                        if (a != b && number::traits(a).bits != number::traits(b).bits && kind == MmaKind::none &&
                            b != f16)
                            continue;
                        all.push_back({shape, {d, a, b, c}, kind});
                    }
    return all;
}

class PtxasLegality : public testing::TestWithParam<std::string> {};

/// Whether the instruction is there and the target has it.
template <class Atom>
bool has(const std::string& target, const Result<Atom>& atom) {
    return atom && std::ranges::count(targets_of({"", *atom, {}}), target) > 0;
}

TEST_P(PtxasLegality, AgreesOnEveryShapeAndType) {
    std::optional<std::string> ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    const std::string target = GetParam();
    for (bool sparse : {false, true}) {
        std::vector<Case> all = cases();
        std::vector<std::string> texts;
        for (const Case& c : all) texts.push_back(text(c, sparse));
        const auto refused = refused_by_ptxas(*ptxas, target, module_text(target), texts);
        int legal = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Case& c = all[i];
            const bool ours = sparse ? has(target, mma_sp(c.shape, c.types, c.kind))
                                     : has(target, mma_sync(c.shape, c.types, Major::row, Major::column, c.kind));
            if (beyond_the_manual(c, sparse)) continue;
            EXPECT_EQ(ours, !refused.contains(i)) << target << ": " << texts[i];
            legal += ours;
        }
        EXPECT_EQ(legal > 10, !sparse || target != "sm_75") << target;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, PtxasLegality,
                         testing::Values("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_120",
                                         "sm_120a", "sm_120f"),
                         [](const auto& target) { return target.param; });

}  // namespace
}  // namespace tilepath::atom
