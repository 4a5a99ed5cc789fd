#include "atom/tcgen05_descriptor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "atom/instruction_descriptor.h"
#include "atom/zero_column_mask.h"
#include "modules.h"

namespace tilepath::atom {
namespace {

using enum number::Format;

TEST(Tcgen05Descriptor, FieldsLieWhereTheManualHasThem) {
    // Start 0x1230 >> 4 = 0x123; leading 16 >> 4 = 1 at 16; stride 1024 >> 4 = 64 at 32; 0b001 at 46; base offset 5 at
    // 49; 128B is 2 at 61: worked out by hand.
    const std::uint64_t word = 0x123ull | 1ull << 16 | 64ull << 32 | 1ull << 46 | 5ull << 49 | 2ull << 61;
    const Tcgen05Descriptor d = decode_tcgen05_descriptor(word);
    EXPECT_EQ(d, (Tcgen05Descriptor{0x1230, 16, 1024, 1, 5, false, 2, 0}));
    EXPECT_EQ(d.swizzle(), layout::SwizzleMode::b128);
    EXPECT_EQ(encode(d), word);
    EXPECT_TRUE(decode_tcgen05_descriptor(1ull << 52).leading_is_address);
    for (const auto& [bits, mode] : {std::pair{0, layout::SwizzleMode::none},
                                     {1, layout::SwizzleMode::b128_atom_32b},
                                     {2, layout::SwizzleMode::b128},
                                     {4, layout::SwizzleMode::b64},
                                     {6, layout::SwizzleMode::b32}})
        EXPECT_EQ(decode_tcgen05_descriptor(static_cast<std::uint64_t>(bits) << 61).swizzle(), mode);
    for (const int bits : {3, 5, 7})
        EXPECT_EQ(decode_tcgen05_descriptor(static_cast<std::uint64_t>(bits) << 61).swizzle(), std::nullopt);
    for (int bit = 0; bit < 64; ++bit) EXPECT_EQ(encode(decode_tcgen05_descriptor(1ull << bit)), 1ull << bit) << bit;
}

TEST(Tcgen05Descriptor, SaysWhatIsWrong) {
    const SharedOperand tile{OperandMajor::k, layout::SwizzleMode::b128, 16, 128, 16, 16, 1024};
    Tcgen05Descriptor d = *tcgen05_descriptor(tile, 0x2000);
    EXPECT_TRUE(validate(d, tile).empty());
    const auto first = [&](const Tcgen05Descriptor& other, SharedOperand operand) {
        return validate(other, operand).at(0).message;
    };
    Tcgen05Descriptor wgmma = d;
    wgmma.version = 0;
    EXPECT_EQ(first(wgmma, tile), "bits 46-48 must be 0b001, found 0");
    Tcgen05Descriptor odd = d;
    odd.swizzle_bits = 3;
    EXPECT_EQ(first(odd, tile), "swizzle bits 3 are no mode");
    odd = d;
    odd.reserved = 1ull << 55;
    EXPECT_EQ(first(odd, tile), "reserved bits are set: 0x0080000000000000");
    odd = d;
    odd.stride_bytes = 0;
    EXPECT_EQ(first(odd, tile), "elements (mn 0, k 0) and (mn 8, k 0) lie at one place");
    odd = d;
    odd.start_bytes += 256;
    EXPECT_EQ(first(odd, tile), "the start address lies 2 rows into the 1024-byte swizzle pattern with base offset 0");
    SharedOperand turned{OperandMajor::mn, layout::SwizzleMode::b128, 32, 128, 8, 4096, 1024};
    EXPECT_EQ(first(*tcgen05_descriptor(turned, 0), turned), "MN-major 32-bit operands need the swizzle 128B_atom_32B");
    odd = d;
    odd.start_bytes = 1u << 18;
    EXPECT_FALSE(encode(odd));
    EXPECT_FALSE(tcgen05_descriptor({OperandMajor::k, layout::SwizzleMode::b128_atom_64b, 16, 64, 16, 16, 1024}, 0));
}

TEST(InstructionDescriptor, EveryKindsWordIsTheManuals) {
    const auto word = [](Tcgen05Kind kind, Shape shape, MmaTypes types, int group, bool sparse = false) {
        const auto mma = tcgen05_mma(kind, shape, types, group, false, sparse);
        EXPECT_TRUE(mma);
        return *encode(instruction_descriptor(*mma));
    };
    // Fields put together by hand from tables 42 to 45 of PTX ISA 9.7.16.4.2.
    EXPECT_EQ(word(Tcgen05Kind::f16, {128, 256, 16}, {f32, f16, f16, f32}, 1), 1u << 4 | 32u << 17 | 8u << 24);
    EXPECT_EQ(word(Tcgen05Kind::f16, {256, 64, 32}, {f32, bf16, bf16, f32}, 2, true),
              1u << 2 | 1u << 4 | 1u << 7 | 1u << 10 | 8u << 17 | 16u << 24);
    EXPECT_EQ(word(Tcgen05Kind::tf32, {64, 8, 8}, {f32, tf32, tf32, f32}, 1),
              1u << 4 | 2u << 7 | 2u << 10 | 1u << 17 | 4u << 24);
    EXPECT_EQ(word(Tcgen05Kind::f8f6f4, {128, 128, 32}, {f16, e3m2, e2m1, f16}, 1),
              4u << 7 | 5u << 10 | 16u << 17 | 8u << 24);
    EXPECT_EQ(word(Tcgen05Kind::i8, {128, 32, 32}, {s32, s8, u8, s32}, 1), 2u << 4 | 1u << 7 | 4u << 17 | 8u << 24);
    EXPECT_EQ(word(Tcgen05Kind::mxf8f6f4, {256, 128, 32}, {f32, e5m2, e2m3, f32}, 2),
              1u << 7 | 3u << 10 | 16u << 17 | 1u << 23 | 2u << 27);
    EXPECT_EQ(word(Tcgen05Kind::mxf4, {128, 128, 64}, {f32, e2m1, e2m1, f32}, 1),
              1u << 7 | 1u << 10 | 16u << 17 | 1u << 23 | 1u << 27);
    InstructionDescriptor scaled = decode_instruction_descriptor(3u << 29 | 2u << 4, Tcgen05Kind::mxf8f6f4);
    EXPECT_EQ(scaled.sfa_id, 3);
    EXPECT_EQ(scaled.sfb_id, 2);
    EXPECT_EQ(decode_instruction_descriptor(3u << 30, Tcgen05Kind::f16).max_shift, 32);
    EXPECT_EQ(decode_instruction_descriptor(1u << 30, Tcgen05Kind::f16).max_shift, 8);
    for (const Tcgen05KindTraits& kind : all_tcgen05_kinds())
        for (int bit = 0; bit < 32; ++bit)
            EXPECT_EQ(encode(decode_instruction_descriptor(1u << bit, kind.kind)), 1u << bit)
                << kind.name << " " << bit;
}

TEST(InstructionDescriptor, DescribesTheInstructionOrSaysWhatIsWrong) {
    const auto mma = *tcgen05_mma(Tcgen05Kind::f8f6f4, {128, 96, 32}, {f32, e5m2, e2m1, f32}, 1);
    const auto back = described(instruction_descriptor(mma), 1, false);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->name, mma.name);
    const auto message = [](std::uint32_t bits, Tcgen05Kind kind, int group = 1) {
        const auto made = described(decode_instruction_descriptor(bits, kind), group, false);
        return made ? "legal" : made.error().front().message;
    };
    EXPECT_EQ(message(1u << 6 | 1u << 4 | 1u << 17 | 8u << 24, Tcgen05Kind::f16),
              "bits that kind::f16 reserves are set: 0x00000040");
    EXPECT_EQ(message(1u << 4 | 3u << 7 | 1u << 17 | 8u << 24, Tcgen05Kind::f16), "kind::f16 has no type 3 of A");
    EXPECT_EQ(message(3u << 4 | 1u << 17 | 8u << 24, Tcgen05Kind::f16), "there is no type 3 of D");
    EXPECT_EQ(message(1u << 4 | 1u << 17 | 6u << 24, Tcgen05Kind::f16),
              "tcgen05.mma.cta_group::1.kind::f16 has m of 64 or 128, found 96");
    EXPECT_EQ(message(1u << 4 | 1u << 16 | 1u << 17 | 8u << 24, Tcgen05Kind::f8f6f4),
              "8-bit MN-major B wants n of a multiple of 16, found 8");
    EXPECT_EQ(message(1u << 7 | 1u << 10 | 1u << 17 | 1u << 27, Tcgen05Kind::mxf4),
              "kind::mxf4 has scales of ue8m0, found ue4m3 (bit 23 is 0)");
    EXPECT_EQ(message(1u << 4 | 1u << 7 | 1u << 10 | 1u << 17 | 1u << 23 | 1u << 27, Tcgen05Kind::mxf4nvf4),
              "kind::mxf4nvf4 has scale factor ids of 0 and 2, found 0 and 1");
    InstructionDescriptor d = instruction_descriptor(mma);
    d.n = 100;
    EXPECT_EQ(encode(d).error().front().message, "N of kind::f8f6f4 must be a multiple of 8, 0 to 504, found 100");
    d = instruction_descriptor(mma);
    d.saturate = true;
    EXPECT_EQ(encode(d).error().front().message, "kind::f8f6f4 has no field 'saturate'");
}

std::string pattern(const ZeroColumnMask& mask, int m, int n, int part) {
    const auto zeroed = *zeroed_columns(mask, m, n);
    const int width = n / (128 / m);
    std::string text;
    for (int i = 15; i >= 0; --i) text += zeroed[static_cast<std::size_t>(part * width + i)] ? '1' : '0';
    return text;
}

TEST(ZeroColumnMask, TheManualsFourExamples) {
    // PTX ISA 9.7.16.4.3, lowest columns on the right; here the lowest sixteen.
    ZeroColumnMask mask{{}, {}, false, 4, 3, 0, 0};
    EXPECT_EQ(pattern(mask, 128, 128, 0), "0000000000000000");
    mask = {{}, {}, true, 2, 3, 0, 0};
    EXPECT_EQ(pattern(mask, 128, 128, 0), "0011100001110000");
    mask = {{}, {true, false}, true, 2, 3, 0, 0};
    EXPECT_EQ(pattern(mask, 64, 64, 0), "1100001110000111");
    EXPECT_EQ(pattern(mask, 64, 64, 1), "0011100001110000");
    mask = {{0, 1, 2, 1}, {true, true, false, false}, true, 2, 3, 2, 0};
    EXPECT_EQ(pattern(mask, 32, 64, 0), "1100001110000111");
    EXPECT_EQ(pattern(mask, 32, 64, 1), "1110000111000011");
    EXPECT_EQ(pattern(mask, 32, 64, 2), "0000111000011100");
    EXPECT_EQ(pattern(mask, 32, 64, 3), "0001110000111000");
    const std::uint64_t word =
        0ull | 1ull << 8 | 2ull << 16 | 1ull << 24 | 3ull << 32 | 1ull << 39 | 2ull << 40 | 3ull << 48 | 2ull << 56;
    EXPECT_EQ(encode(mask), word);
    EXPECT_EQ(decode_zero_column_mask(word), mask);
    for (int bit = 0; bit < 64; ++bit) EXPECT_EQ(encode(decode_zero_column_mask(1ull << bit)), 1ull << bit) << bit;
    mask.column_shift = 17;
    EXPECT_EQ(zeroed_columns(mask, 32, 64).error().front().message,
              "the column shift is at most 16 for m of 32, found 17");
    EXPECT_FALSE(zeroed_columns(mask, 256, 64));
    EXPECT_FALSE(zeroed_columns(mask, 64, 96));
}

/// A kind's form, dense or sparse, with one of its types.
bool is_legal(std::string_view kind, int group, bool ws, bool sparse) {
    const auto found = tcgen05_kind_named(kind);
    if (!found) return false;
    const Tcgen05KindTraits& row = traits(*found);
    const MmaTypes types{row.accumulators.back(), row.inputs[0], row.inputs[0], row.accumulators.back()};
    return tcgen05_mma(*found, {group == 2 ? 256 : 128, 64, sparse ? 2 * row.k : row.k}, types, group, ws, sparse)
        .has_value();
}

TEST(Tcgen05Legality, PtxasAgreesOnKindsAndForms) {
    const auto ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    int legal = 0;
    for (const int group : {1, 2}) {  // one kernel must not mix them
        std::vector<std::string> texts;
        std::vector<bool> ours;
        for (const std::string_view kind : {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4", "f64"})
            for (const bool ws : {false, true})
                for (const bool sparse : {false, true}) {
                    const bool scaled = kind.starts_with("mx");
                    const char* scale = !scaled              ? ""
                                        : kind == "mxf4nvf4" ? ".block_scale.scale_vec::4X"
                                                             : ".block_scale";
                    ours.push_back(is_legal(kind, group, ws, sparse));
                    texts.push_back(
                        fmt::format("tcgen05.mma{}{}.cta_group::{}.kind::{}{} [r190], q0, q1, {}r191{}, p0;",
                                    ws ? ".ws" : "", sparse ? ".sp" : "", group, kind, scale, sparse ? "[r192], " : "",
                                    scaled ? ", [r193], [r194]" : ""));
                }
        const auto refused = refused_by_ptxas(*ptxas, "sm_100a", module_text("sm_100a"), texts);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            EXPECT_EQ(ours[i], !refused.contains(i)) << texts[i];
            legal += ours[i];
        }
    }
    EXPECT_EQ(legal, 4 * 4 + 4 * 2 + 3 * 4);  // four kinds with .ws on one CTA; three without
}

}  // namespace
}  // namespace tilepath::atom
