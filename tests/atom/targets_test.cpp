// ptxas as the judge of which forms of what moves matrices, and of tcgen05, each target has; skipped where it is not
// installed. mma.sync and mma.sp: legality_test.cpp; wgmma: wgmma_test.cpp.
#include "atom/targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "modules.h"

namespace tilepath::atom {
namespace {

/// A name, as instruction_named takes it, and an instruction of that form in PTX.
struct Form {
    std::string name, text;
};

/// `{r0,r1}`.
std::string vector(int registers) {
    std::vector<std::string> names;
    for (int i = 0; i < registers; ++i) names.push_back(fmt::format("r{}", i));
    return fmt::format("{{{}}}", fmt::join(names, ","));
}

std::vector<Form> matrix_moves() {
    std::vector<Form> all{{"movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 r0, r1;"}};
    for (const char* opcode : {"ldmatrix", "stmatrix"})
        for (const char* shape : {"m8n8", "m16n16", "m8n16", "m16n8"})
            for (const int count : {1, 2, 3, 4, 8})
                for (const char* trans : {"", ".trans"})
                    for (const char* data : {"b16", "b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"}) {
                        const std::string name =
                            fmt::format("{}.sync.aligned.{}.x{}{}.shared.{}", opcode, shape, count, trans, data);
                        const std::string list = vector(shape == std::string_view("m16n16") ? 2 * count : count);
                        all.push_back({name, opcode == std::string_view("ldmatrix")
                                                 ? fmt::format("{} {}, [r199];", name, list)
                                                 : fmt::format("{} [r199], {};", name, list)});
                    }
    return all;
}

std::vector<Form> tensor_memory_transfers() {
    std::vector<Form> all;
    for (const char* shape : {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"})
        for (const int repeats : {1, 2, 3, 4, 8, 16, 32, 64, 128, 256}) {
            const int each = shape == std::string_view("16x128b") ? 2 : shape == std::string_view("16x256b") ? 4 : 1;
            const std::string list = vector(std::min(repeats * each, 190)),
                              split = shape == std::string_view("16x32bx2") ? ", 16" : "";
            const std::string form = fmt::format("sync.aligned.{}.x{}", shape, repeats);
            for (const char* pack : {"", ".pack::16b", ".unpack::16b"}) {
                const std::string load = fmt::format("tcgen05.ld.{}{}.b32", form, pack),
                                  store = fmt::format("tcgen05.st.{}{}.b32", form, pack);
                all.push_back({load, fmt::format("{} {}, [r199]{};", load, list, split)});
                all.push_back({store, fmt::format("{} [r199]{}, {};", store, split, list)});
            }
            if (repeats > 8) continue;
            for (const char* words : {"max.f32", "min.abs.f32", "max.NaN.f32", "min.abs.NaN.f32", "max.s32", "min.u32",
                                      "max.abs.s32", "min.NaN.u32"}) {
                const std::string name = fmt::format("tcgen05.ld.red.{}.{}", form, words);
                // Registers of f32 where the type is f32.
                std::string results = fmt::format("{}, r198", list);
                if (name.ends_with("f32")) std::ranges::replace(results, 'r', 'f');
                all.push_back({name, fmt::format("{} {}, [r199]{};", name, results, split)});
            }
        }
    return all;
}

std::vector<Form> tensor_memory_copies(int group) {
    std::vector<Form> all;
    for (const char* shape : {"128x256b", "128x128b", "4x256b", "64x128b", "32x128b"})
        for (const char* cast : {"", ".warpx2::02_13", ".warpx2::01_23", ".warpx4"})
            for (const char* source : {"", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"}) {
                const std::string name = fmt::format("tcgen05.cp.cta_group::{}.{}{}{}", group, shape, cast, source);
                all.push_back({name, name + " [r199], q0;"});
            }
    const std::string shift = fmt::format("tcgen05.shift.cta_group::{}.down", group);
    all.push_back({shift, shift + " [r199];"});
    return all;
}

std::vector<Form> products(int group) {
    std::vector<Form> all;
    for (const std::string_view kind : {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4", "f64"})
        for (const char* ws : {"", ".ws"})
            for (const char* sparse : {"", ".sp"})
                for (const char* size :
                     {"", ".block16", ".block32", ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X"}) {
                    const bool scaled = kind.starts_with("mx");
                    if (scaled && size[0] == 0) continue;  // .block_scale alone: a default that mxf4nvf4 does not have
                    const std::string name =
                        fmt::format("tcgen05.mma{}{}.cta_group::{}.kind::{}{}{}", ws, sparse, group, kind,
                                    scaled || size[0] != 0 ? ".block_scale" : "", size);
                    all.push_back(
                        {name, fmt::format("{} [r190], q0, q1, {}r191{}, p0;", name, sparse[0] ? "[r192], " : "",
                                           scaled || size[0] != 0 ? ", [r193], [r194]" : "")});
                }
    return all;
}

class PtxasTargets : public testing::TestWithParam<std::string_view> {
  protected:
    /// How many of the forms are legal; every verdict must be ptxas'.
    int agree(const std::vector<Form>& forms) {
        const auto ptxas = find_ptxas();
        const std::string target(GetParam());
        std::vector<std::string> texts;
        for (const Form& form : forms) texts.push_back(form.text);
        const auto refused = refused_by_ptxas(*ptxas, target, module_text(target), texts);
        int legal = 0;
        for (std::size_t i = 0; i < forms.size(); ++i) {
            const auto found = instruction_named(forms[i].name);
            const bool ours = found && std::ranges::count(targets_of(*found), target) > 0;
            const auto theirs = refused.find(i);
            EXPECT_EQ(ours, theirs == refused.end())
                << target << ": " << texts[i].substr(0, 120) << "\n"
                << (found ? "" : to_string(found.error())) << (theirs == refused.end() ? "" : theirs->second);
            legal += ours;
        }
        return legal;
    }
    bool tensor_memory() const { return GetParam() >= "sm_100a" && GetParam() < "sm_12" && GetParam() != "sm_100"; }
};

TEST_P(PtxasTargets, MoveMatrices) {
    if (!find_ptxas()) GTEST_SKIP() << "no ptxas";
    EXPECT_GE(agree(matrix_moves()), 7);  // movmatrix, ldmatrix.m8n8 of three counts with and without .trans
}

TEST_P(PtxasTargets, TransferTensorMemory) {
    if (!find_ptxas()) GTEST_SKIP() << "no ptxas";
    const bool reduces = tensor_memory() && GetParam() >= "sm_103";
    // Plain and packed, load and store: 8 + 8 + 7 + 6 + 8 counts. Reducing: two shapes, three counts, six operations.
    EXPECT_EQ(agree(tensor_memory_transfers()), tensor_memory() ? 4 * 37 + (reduces ? 2 * 3 * 6 : 0) : 0);
}

TEST_P(PtxasTargets, CopyToTensorMemoryAndShiftIt) {
    if (!find_ptxas()) GTEST_SKIP() << "no ptxas";
    for (const int group : {1, 2})  // a kernel must not mix them
        EXPECT_EQ(agree(tensor_memory_copies(group)), tensor_memory() ? 6 * 3 + GetParam().ends_with('a') : 0);
}

TEST_P(PtxasTargets, MultiplyInTensorMemory) {
    if (!find_ptxas()) GTEST_SKIP() << "no ptxas";
    const bool integers = GetParam() == "sm_100a" || GetParam() == "sm_110a";
    // f16, tf32, f8f6f4 and perhaps i8, dense and sparse, with .ws on one CTA; mxf8f6f4 and mxf4 with one size of scale
    // vector, mxf4nvf4 with two, as .block and .scale_vec, dense and sparse. Family targets have of the last only
    // .block, and of those sparse mxf8f6f4 alone.
    const int scaled = GetParam().ends_with('a') ? 4 * 2 * 2 : 4 + 1;
    for (const int group : {1, 2})
        EXPECT_EQ(agree(products(group)), tensor_memory() ? (integers ? 4 : 3) * 2 * (group == 1 ? 2 : 1) + scaled : 0);
}

INSTANTIATE_TEST_SUITE_P(All, PtxasTargets, testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& target) { return std::string(target.param); });

}  // namespace
}  // namespace tilepath::atom
