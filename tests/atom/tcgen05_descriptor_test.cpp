#include "atom/tcgen05_descriptor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "atom/instruction_descriptor.h"
#include "atom/zero_column_mask.h"

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
    SharedOperand wide = tile;
    wide.swizzle = layout::SwizzleMode::b128_atom_32b;
    EXPECT_EQ(first(*tcgen05_descriptor(wide, 0x2000), wide),
              "where a K-major operand lies under 128B_atom_32B is inferred");
    SharedOperand turned{OperandMajor::mn, layout::SwizzleMode::b128, 32, 128, 8, 4096, 1024};
    EXPECT_EQ(first(*tcgen05_descriptor(turned, 0), turned), "MN-major 32-bit operands need the swizzle 128B_atom_32B");
    odd = d;
    odd.start_bytes = 1u << 18;
    EXPECT_FALSE(encode(odd));
    EXPECT_FALSE(tcgen05_descriptor({OperandMajor::k, layout::SwizzleMode::b128_atom_64b, 16, 64, 16, 16, 1024}, 0));
}

/// PTX ISA 9.7.16.3.1.2, in bytes: a row of 48 from the start address on leaves its line of 128 bytes; what leaves it
/// lies at the same row of the buffer at the leading address.
TEST(Tcgen05Descriptor, AnAddressForALeadingOffsetNamesASecondBuffer) {
    for (const unsigned start : {0u, 48u, 64u, 80u, 96u, 112u}) {
        Tcgen05Descriptor d = decode_tcgen05_descriptor(1ull << 46 | 1ull << 52 | 2ull << 61);
        d.start_bytes = 0x2000 + start;
        d.leading_bytes = 0x8000;
        d.stride_bytes = 1024;
        const auto parts = described_parts(d, OperandMajor::k, 4, 64, 96);
        ASSERT_TRUE(parts);
        EXPECT_EQ(parts->size(), start + 48 > 128 ? 2u : 1u);
        for (int mn = 0; mn < 64; ++mn)
            for (int k = 0; k < 96; ++k) {
                const unsigned in_row = start + static_cast<unsigned>(k) / 2, row = static_cast<unsigned>(mn) * 128;
                const std::uint64_t before = in_row < 128 ? 0x2000 + row + in_row : 0x8000 + row + in_row - 128;
                const std::uint64_t expected = before ^ (before >> 7 & 7) << 4;
                const OperandPart* part = &parts->front();
                if (k >= parts->back().first_k) part = &parts->back();
                const auto offset = operand_layout(part->operand)->evaluate({mn, k - part->first_k})->front();
                ASSERT_EQ(operand_address(part->operand, part->start_bytes, 0,
                                          static_cast<std::uint64_t>(offset[layout::Axis::m])),
                          expected)
                    << start << " " << mn << "," << k;
                ASSERT_EQ(offset[layout::Axis::bit], 4 * (k % 2));
            }
        const SharedOperand use{OperandMajor::k, layout::SwizzleMode::b128, 4, 64, 96, 16, 1024};
        EXPECT_FALSE(has_error(validate(d, use)));
        const auto refusal = [&](Tcgen05Descriptor other, OperandMajor major = OperandMajor::k, int k = 96) {
            const auto made = described_parts(other, major, 4, 64, k);
            return made ? "legal" : made.error().front().message;
        };
        Tcgen05Descriptor other = d;
        other.swizzle_bits = 4;
        EXPECT_EQ(refusal(other), "a leading offset that is an address wants the swizzle 128B, found 64B");
        other = d;
        other.base_offset = 3;
        EXPECT_EQ(refusal(other), "a leading offset that is an address wants a base offset of 0, found 3");
        EXPECT_EQ(refusal(d, OperandMajor::mn),
                  "a leading offset that is an address wants a K-major operand, found MN-major");
        EXPECT_EQ(refusal(d, OperandMajor::k, 64),
                  "a leading offset that is an address wants 48 bytes of K, found 64 elements of 4 bits");
    }
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
    EXPECT_EQ(word(Tcgen05Kind::mxf4nvf4, {256, 64, 96}, {f32, e2m1, e2m1, f32}, 2),
              1u << 7 | 1u << 10 | 8u << 17 | 1u << 23 | 2u << 27 | 1u << 31);
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
    for (const int group : {0, 3})  // found by fuzzing: an MN-major B asked for n of a multiple of 16 · group
        EXPECT_EQ(message(1u << 4 | 1u << 16 | 1u << 17 | 8u << 24, Tcgen05Kind::f8f6f4, group),
                  fmt::format("expected cta_group::1 or ::2, found ::{}", group));
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
    mask.start_counts[0] = 255;  // one column of the first run is left
    EXPECT_EQ(pattern(mask, 128, 128, 0), "0111000011100001");
    mask.column_shift = 17;
    EXPECT_EQ(zeroed_columns(mask, 32, 64).error().front().message,
              "the column shift is at most 16 for m of 32, found 17");
    EXPECT_FALSE(zeroed_columns(mask, 256, 64));
    EXPECT_FALSE(zeroed_columns(mask, 64, 96));
}

}  // namespace
}  // namespace tilepath::atom
