// `tilepath show`, run as a user runs it. What each answer must say is worked out from the manual's formulae.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace tilepath::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string answer(const std::string& arguments, int status = 0) {
    const Finished ran = Folder().shell("tilepath show " + arguments);
    EXPECT_EQ(ran.status, status) << arguments << "\n" << ran.out << ran.err;
    return status == 2 ? ran.err : ran.out;
}

TEST(ShowCommand, TellsAnInstruction) {
    EXPECT_THAT(
        answer("mma.sync.m16n8k16"),
        AllOf(HasSubstr("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), HasSubstr("FLOP         4096"),
              HasSubstr("A        16 × 16  f16   registers                     4"), HasSubstr("The name also fits")));
    EXPECT_THAT(answer("wgmma.m64n256k16.f32.bf16.bf16"), AllOf(HasSubstr("targets      sm_90a"), HasSubstr("128\n")));
    EXPECT_THAT(answer("tcgen05.mma.cta_group::2.kind::f16.m128n64k16.f32.f16.f16"),
                AllOf(HasSubstr("data path    layout B"), HasSubstr("D takes      32 of 512 columns")));
    EXPECT_THAT(answer("ldmatrix.x4.trans"), HasSubstr("24-31                 3"));
    EXPECT_THAT(answer("movmatrix"), HasSubstr("transposes an 8 × 8 matrix"));
    EXPECT_THAT(answer("mma.sync.m16n8k64.kind::mxf4"),
                AllOf(HasSubstr("targets      sm_120a sm_120f\n"), Not(HasSubstr("sm_100a"))));
}

TEST(ShowCommand, SaysWhoHoldsAnElement) {
    // PTX ISA 9.7.14.5.8: A's element (g + 8 (r%2), 2t + j + 8 (r/2)).
    EXPECT_THAT(answer("mma.sync.m16n8k16 --operand A --element 9,5"),
                HasSubstr("A[9,5]   lane 6, register 1, bits 16-31"));
    EXPECT_THAT(answer("mma.sync.m16n8k16 --operand D --lane 5"),
                AllOf(HasSubstr("0  0-31  D[1,2]"), HasSubstr("1  0-31  D[1,3]"), HasSubstr("2  0-31  D[9,2]"),
                      HasSubstr("3  0-31  D[9,3]")));
    EXPECT_THAT(answer("wgmma.m64n128k16.f32.f16.f16 --operand D --element 25,10"),
                HasSubstr("warp 1, lane 5, register 6"));
    // 128B: byte (9 · 128 + 10) ^ ((1162 >> 7 & 7) << 4) = 1162 ^ 16.
    EXPECT_THAT(answer("wgmma.m64n128k16.f32.f16.f16 --operand B --element 9,5"),
                HasSubstr("byte 1178 = 0x49a, bank 6"));
    EXPECT_THAT(answer("tcgen05.mma.cta_group::1.kind::f16.m64n64k16.f32.f16.f16 --operand D --element 17,3"),
                HasSubstr("TMEM lane 33, column 3"));
    EXPECT_THAT(answer("tcgen05.mma.cta_group::1.kind::f16 --operand A --from tmem --element 3,5"),
                HasSubstr("TMEM lane 3, column 2, bits 16-31"));
    EXPECT_THAT(answer("tcgen05.ld.32x32b.x8 --lane 5"), HasSubstr("7  0-31  TMEM[5,7]"));
    EXPECT_THAT(answer("tcgen05.cp.cta_group::1.32x128b.warpx4 --element 3,5"),
                HasSubstr("TMEM lane 99, column 1, byte 1"));
    EXPECT_THAT(answer("mma.sp.m16n8k32.f32.f16.f16.f32 --operand meta --element 11,5 --selector 1"),
                HasSubstr("lane 15, bits 20-23"));
    EXPECT_THAT(answer("mma.sync.m16n8k64.kind::mxf4 --operand sfb --element 1,2 --id 2 --thread-id 3"),
                HasSubstr("lane 11, bits 24-31"));
    EXPECT_THAT(answer("tcgen05.mma.cta_group::1.kind::mxf8f6f4 --operand sfa --element 40,0 --id 1"),
                HasSubstr("TMEM lane 104, column 1, bits 8-15"));
}

TEST(ShowCommand, KnowsWhatIsOnlyOnSomeBlackwells) {
    const std::string k96 = "tcgen05.mma.cta_group::2.kind::mxf4.m256n128k96";
    EXPECT_THAT(answer(k96), AllOf(HasSubstr("targets      sm_103a\n"), HasSubstr("sfa      256 × 3    ue8m0"),
                                   HasSubstr("unknown: no source tells")));
    EXPECT_THAT(answer("tcgen05.mma.cta_group::1.kind::mxf4.m128n128k96"), HasSubstr("shape from   CUTLASS"));
    // Block q = id + s in byte q mod 4 of column row/32 + 4 (q/4).
    EXPECT_THAT(answer(k96 + " --operand sfa --id 2 --element 40,1 --element 40,2 --formula"),
                AllOf(HasSubstr("TMEM lane 104, column 1, bits 24-31"), HasSubstr("TMEM lane 104, column 5, bits 0-7"),
                      HasSubstr("TMEM_column = m/32 + 4\n"), HasSubstr("inferred from CUTLASS' main loop")));
    EXPECT_THAT(answer(k96 + " --operand sfa --vec 2X", 2),
                HasSubstr("kind::mxf4 with k of 96 has scale vectors of 3X, found 2X"));
    EXPECT_THAT(answer("scale-factors --vec 6X --id 2 --element 0,3"), HasSubstr("lane 0, column 4, bits 8-15"));
    EXPECT_THAT(answer("tcgen05.mma.sp.cta_group::1.kind::f16.m64n64k32 --operand meta --element 17,4 --selector 2"),
                AllOf(HasSubstr("TMEM lane 41, column 2, bits 0-3"), HasSubstr("inferred: metadata share the lanes")));
    EXPECT_THAT(answer("tcgen05.ld.red.16x32bx2.x4.min.s32 --operand redval --element 1,3,0"), HasSubstr("lane 19"));
    EXPECT_THAT(answer("tcgen05.ld.red.32x32b.x4"), HasSubstr("targets               sm_103a sm_103f sm_110a sm_110f"));
    EXPECT_THAT(answer("tcgen05.shift --operand source --element 0,0"),
                AllOf(HasSubstr("TMEM lane 1, column 0"), HasSubstr("measured it on a B200")));
    EXPECT_THAT(answer("tcgen05.cp.128x128b.b8x16.b4x16_p64 --element 3,5"),
                HasSubstr("TMEM lane 3, column 1, byte 1, bits 2-5"));
    EXPECT_THAT(answer("tcgen05.cp.128x128b --lane 3"), HasSubstr("1  24-31  rows[3,7]"));
    // Row 3 of a tile whose rows start at byte 96: 416 + 31 keeps its line, byte 32 is the second buffer's first.
    const std::string split = "descriptor 0x4010404000010006 --arch sm_103a --dtype e2m1 --tile 64x96";
    EXPECT_THAT(answer(split + " --element 3,63 --element 3,64"),
                AllOf(HasSubstr("byte 463 = 0x1cf, bank 19, bits 4-7"), HasSubstr("byte 416 = 0x1a0, bank 8, bits 0-3"),
                      HasSubstr("which only sm_103a knows")));
    EXPECT_THAT(answer("descriptor 0x4010404000010006 --arch sm_103a --dtype e2m1 --tile 64x64", 1),
                HasSubstr("wants 48 bytes of K"));
    // A base offset of 2: (byte >> 7) - 2 chooses the chunk. Row 3: 384 ^ (1 << 4).
    EXPECT_THAT(answer("descriptor 0x4004004000010000 --element 3,0"), HasSubstr("tile[3,0]  byte 400"));
}

TEST(ShowCommand, OptionsThatSayNothingAreRefused) {
    const std::tuple<const char*, const char*, const char*> rows[] = {
        {"mma.sync.m16n8k16 --operand A --id 3", "--id says nothing of operand A of mma.sync", "sfa or sfb"},
        {"mma.sync.m16n8k16 --id 3", "--id says nothing of a whole instruction", "sfa or sfb"},
        {"mma.sync.m16n8k16 --operand A --swizzle 128B", "--swizzle says nothing of operand A", "in shared memory"},
        {"mma.sync.m16n8k64.kind::mxf4 --operand sfa --selector 0", "--selector says nothing of operand sfa", "meta"},
        {"mma.sp.m16n8k32 --operand meta --from registers", "--from says nothing of operand meta", "A, B, C or D"},
        {"wgmma.m64n8k16 --operand D --major MN", "--major says nothing of operand D", "shared memory"},
        {"wgmma.m64n8k16 --operand A --start 16", "--start says nothing of operand A", "in shared memory"},
        {"wgmma.m64n8k16 --operand D --from shared", "does not come from 'shared'", "it comes from registers"},
        {"tcgen05.mma.kind::mxf4 --operand sfb --thread-id 1", "--thread-id says nothing of operand sfb", "mma.sync"},
        {"tcgen05.mma --operand A --from tmem --major K", "--major says nothing of operand A", "in shared memory"},
        {"tcgen05.mma --operand D --vec 1X", "--vec says nothing of operand D", "sfa or sfb"},
        {"tcgen05.ld.32x32b.x8 --from tmem --table", "--from says nothing of operand TMEM", "A, B, C or D"},
        {"ldmatrix.x4 --conflicts --lane 2", "--lane says nothing of bank conflicts", "without --conflicts"},
        {"ld.shared.b32 --conflicts --pattern 32:4 --pitch 64", "--pitch says nothing of a --pattern", "ldmatrix"},
        {"descriptor 0x4000004000010000 --swizzle 64B", "--swizzle says nothing of a descriptor that is decoded",
         "bits"},
        {"idesc 0x08400010 --a-mn-major", "--a-mn-major says nothing of a descriptor that is decoded", "instruction"},
        {"idesc tcgen05.mma.kind::f16 --kind i8", "--kind says nothing of a descriptor that is encoded", "bits"},
        {"mma.sync.m16n8k16 --operand A --element 0,0 --colour lane", "--colour says nothing", "--table"},
    };
    for (const auto& [arguments, what, needs] : rows)
        EXPECT_THAT(answer(arguments, 2), AllOf(HasSubstr(what), HasSubstr(needs)));
}

TEST(ShowCommand, WritesFormulaeAndNotations) {
    const std::string text = answer("mma.sync.m16n8k16 --operand A --formula --layout");
    EXPECT_THAT(
        text,
        HasSubstr("lane = 4*(m%8) + k/2%4\nreg = m/8 + 2*(k/8)\nbit = 16*(k%2)\nand back\nm = lane/4 + 8*(reg%2)\n"
                  "k = 2*(lane%4) + 8*(reg/2) + bit/16\n"));
    EXPECT_THAT(text, HasSubstr("S[((2,8),(2,4,2)):((1@reg,4@laneid),(2@reg,1@laneid,16@bit))]"));
    EXPECT_THAT(text,
                HasSubstr("bits[laneid: (0,2) (0,4) (1,0) (2,0) (4,0); reg: (8,0) (0,8); bit: (0,1)] -> (16,16)"));
    EXPECT_THAT(answer("tcgen05.mma.cta_group::1.kind::mxf4 --operand sfa --formula"),
                HasSubstr("TMEM_lane = m%32 + each of {0, 32, 64, 96}"));
}

TEST(ShowCommand, KnowsCuTesNames) {
    const std::pair<const char*, const char*> names[] = {
        {"SM80_16x8x16_F32F16F16F32_TN", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
        {"SM80_16x8x32_S32U8S8S32_TN", "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"},
        {"SM80_8x8x4_F64F64F64F64_TN", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"},
        {"SM89_16x8x32_F32E4M3E5M2F32_TN", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"},
        {"SM90_64x128x16_F32F16F16_SS", "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"},
        {"SM90::GMMA::MMA_64x64x8_F32TF32TF32_SS_TN", "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32"},
        {"SM75_U16x8_LDSM_T", "ldmatrix.sync.aligned.m8n8.x4.trans.b16"},
        {"SM90_U32x2_STSM_N", "stmatrix.sync.aligned.m8n8.x2.b16"},
        {"SM100_MMA_TF32_SS<tfloat32_t,tfloat32_t,float,64,32>",
         "tcgen05.mma.cta_group::1.kind::tf32.m64n32k8.f32.tf32.tf32"},
        {"SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,128>",
         "tcgen05.mma.cta_group::2.kind::f16.m256n128k16.f32.f16.f16"},
        {"SM100_TMEM_LOAD_16dp256b4x", "tcgen05.ld.sync.aligned.16x256b.x4.b32"},
        {"SM100_UTCCP_4x32dp128bit_1cta", "tcgen05.cp.cta_group::1.32x128b.warpx4"},
    };
    for (const auto& [cute, ptx] : names) {
        std::string quoted = cute;
        quoted.insert(0, 1, '\'').push_back('\'');
        EXPECT_THAT(answer(quoted), HasSubstr(ptx));
    }
}

TEST(ShowCommand, CountsBankConflicts) {
    // An (8,64) f16 tile with a row pitch of 128 bytes, read by column.
    EXPECT_THAT(answer("ld.shared.b16 --conflicts --pattern 8:128"), HasSubstr("8-way bank conflict"));
    EXPECT_THAT(answer("ld.shared.b16 --conflicts --pattern 8:128 --swizzle 128B"), HasSubstr("1-way"));
    for (const auto& [mode, ways] : {std::pair{"none", "8-way"}, {"32B", "4-way"}, {"64B", "2-way"}, {"128B", "1-way"}})
        EXPECT_THAT(answer(std::string("ldmatrix.x4 --conflicts --pitch 128 --swizzle ") + mode), HasSubstr(ways));
    EXPECT_THAT(answer("ldmatrix.x4 --conflicts --pitch 144"), HasSubstr("1-way"));
    EXPECT_THAT(answer("ld.shared.v4.b32 --conflicts --pattern 32:16"),
                AllOf(HasSubstr("wavefronts  4"), HasSubstr("1-way")));
    EXPECT_THAT(answer("swizzle --pattern 32:4 --bytes 4 --pattern 32:128 --bytes 4"),
                AllOf(HasSubstr("Sw<5,2,5> on byte addresses"), HasSubstr("rank 5 of addresses, 5 of banks")));
    EXPECT_THAT(answer("wgmma.m64n8k16 --conflicts", 2), HasSubstr("no public rule"));
    EXPECT_THAT(answer("ld.shared.b32 --conflicts", 2), HasSubstr("give --pattern"));
    EXPECT_THAT(answer("ld.shared.v4.b64 --conflicts --pattern 8:32", 2), HasSubstr("up to 16 bytes"));
}

TEST(ShowCommand, CodesDescriptors) {
    EXPECT_THAT(answer("descriptor --major K --swizzle 128B --dtype f16 --tile 64x64"),
                HasSubstr("0x4000004000010000"));
    EXPECT_THAT(answer("descriptor --arch sm_100a --tile 128x64"), HasSubstr("0x4000404000010000"));
    EXPECT_THAT(answer("descriptor 0x4000004000010000 --element 1,8"),
                AllOf(HasSubstr("32-45  stride dimension byte offset   0x0040 = 1024 bytes"),
                      HasSubstr("tile[1,8]  byte 128")));
    EXPECT_THAT(answer("descriptor 0x4000004000010000 --arch sm_100a", 1),
                HasSubstr("bits 46-48 must be 0b001, found 0"));
    EXPECT_THAT(answer("descriptor 0x6000404000010000 --arch sm_100a", 1), HasSubstr("swizzle bits 3 are no mode"));
    EXPECT_THAT(answer("descriptor --arch sm_80", 2), HasSubstr("sm_80 has no matrix descriptors"));
    EXPECT_THAT(answer("descriptor 0x1g", 2), HasSubstr("expected a number of 64 bits"));
    EXPECT_THAT(answer("descriptor --tile 60x64", 2), HasSubstr("multiple of 8, found 60"));
    EXPECT_THAT(answer("idesc tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16"), HasSubstr("0x08400010"));
    EXPECT_THAT(answer("idesc 0x08400010"),
                HasSubstr("describes  tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16"));
    EXPECT_THAT(answer("idesc 0x08400030", 1), HasSubstr("there is no type 3 of D"));
    EXPECT_THAT(answer("zero-column-mask 0x0203028301020100 -m 32 -n 64"),
                HasSubstr("2  0   0   1   1   1   0   0   0   0   1   1   1"));
}

TEST(ShowCommand, TellsTensorMemoryAndTheGenerations) {
    EXPECT_THAT(answer("tmem 0x00400010"),
                AllOf(HasSubstr("lane        64"), HasSubstr("touched by  warp 2"), HasSubstr("96 to 127")));
    EXPECT_THAT(answer("tmem 0x00800000", 2), HasSubstr("outside Tensor Memory"));
    EXPECT_THAT(
        answer("scale-factors --vec 2X --id 2 --element 37,1"),
        AllOf(HasSubstr("TMEM lane 5, column 1, bits 24-31"), HasSubstr("TMEM lane 101, column 1, bits 24-31")));
    EXPECT_THAT(answer("scale-factors --vec 2X --id 1", 2), HasSubstr("0 or 2, found 1"));
    EXPECT_THAT(answer("compare"),
                HasSubstr("accumulator registers per thread  128                                        128"));
}

TEST(ShowCommand, DrawsPicturesAndJson) {
    const Folder folder;
    ASSERT_EQ(
        folder.shell("tilepath show mma.sync.m16n8k16 --operand A --svg a.svg --html a.html --json > a.json").status,
        0);
    EXPECT_THAT(folder.read("a.svg"), AllOf(HasSubstr(">T6 r1 .16</text>"), HasSubstr("prefers-color-scheme:dark")));
    EXPECT_THAT(folder.read("a.html"), HasSubstr("A(9,5): lane 6, register 1, bits 16-31"));
    const auto json = nlohmann::json::parse(folder.read("a.json"));
    EXPECT_EQ(json["matrix"]["cells"][9][5], "T6 r1 .16");
    EXPECT_EQ(json["held"]["cells"][6][1], "9,4..5");
    ASSERT_EQ(folder.shell("tilepath show ldmatrix.x1 --conflicts --svg b.svg --json > b.json").status, 0);
    EXPECT_EQ(nlohmann::json::parse(folder.read("b.json"))["conflicts"]["wavefronts"], 8);
    EXPECT_THAT(folder.read("b.svg"), HasSubstr("class=\"mark\""));
}

TEST(ShowCommand, BadInputIsNamed) {
    EXPECT_THAT(answer("mma.sync.m16n8k16.f32.tf32.tf32.f32", 2), HasSubstr("tf32 mma.sync has no shape m16n8k16"));
    EXPECT_THAT(answer("wgmma.m64n12k16.f32.f16.f16", 2), HasSubstr("f16 wgmma has no n of 12"));
    EXPECT_THAT(answer("tcgen05.mma.cta_group::1.kind::f16.m96n64k16.f32.f16.f16", 2),
                HasSubstr("has m of 64 or 128, found 96"));
    EXPECT_THAT(answer("tcgen05.ld.16x256b.x64", 2), HasSubstr("has no .x64"));
    EXPECT_THAT(answer("tcgen05.mma.cta_group::3.kind::f16", 2), HasSubstr("tcgen05.mma has no word 'cta_group::3'"));
    EXPECT_THAT(answer("tcgen05.ld.32x32b.x8.unpack::16b", 2), HasSubstr("tcgen05.ld has no word 'unpack::16b'"));
    EXPECT_THAT(answer("tcgen05.cp.cta_group::5.32x128b.warpx4", 2),
                HasSubstr("tcgen05.cp has no word 'cta_group::5'"));
    EXPECT_THAT(answer("ldmatrix.xy", 2), HasSubstr("ldmatrix has no word 'xy'"));
    EXPECT_THAT(answer("frob.m16n8k16", 2), HasSubstr("no tensor instruction is named 'frob.m16n8k16'"));
    EXPECT_THAT(answer("mma.sync.m16n8k16 --operand E", 2), HasSubstr("its operands: A, B, C, D"));
    EXPECT_THAT(answer("mma.sync.m16n8k16 --lane 3", 2), HasSubstr("of which operand?"));
    EXPECT_THAT(answer("mma.sync.m16n8k16 --operand A --lane 32", 2),
                HasSubstr("expected a lane of 0 to 31, found 32"));
    EXPECT_THAT(answer("mma.sync.m16n8k16 --operand A --element 16,0", 2), HasSubstr("A is m × k of 16 × 16"));
    EXPECT_THAT(answer("mma.sync.m16n8k16 --operand A --from tmem", 2), HasSubstr("does not come from 'tmem'"));
    EXPECT_THAT(answer("wgmma.m64n8k32.f32.e4m3.e4m3 --operand B --major MN", 2), HasSubstr("must be K-major"));
    EXPECT_THAT(answer("", 2), HasSubstr("show what?"));
}

TEST(Show, ScaleFactorsSayWhatIsInferred) {
    const Folder folder;
    EXPECT_THAT(folder.shell("tilepath show scale-factors --vec 6X").out, HasSubstr("is inferred from CUTLASS"));
    EXPECT_THAT(folder.shell("tilepath show scale-factors --vec 2X").out, Not(HasSubstr("inferred")));
}

}  // namespace
}  // namespace tilepath::cli
