// mma.sync with a .kind: words and operands as ptxas 13.0 has them, and what is said where a device has none of it.
#include "agreement.h"

namespace tilepath::isa {
namespace {

// Which selectors are literals, in what range, what holds the scales, which types and targets go together.
const std::vector<std::string> lines{
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32 @;",
    "mma.sync.aligned.m16n8k32.row.col.f32.e3m2.e2m3.f32 @;",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 @;",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e4m3.f16 {r0,r1}, {r4,r5,r6,r7}, {r8,r9}, {r10,r11};",
    "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32 @;",
    "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {r0,r1,r2,r3}, {r4,r5}, {r8}, {r10,r11,r12,r13};",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e4m3.f16 {r0,r1}, {r4,r5,r6,r7}, {r8,r9}, {r10,r11};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 @, r20, {2,1}, r21, {0,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 @, r20, {h0,h1}, "
    "r21, {h0,h2};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 @, r20, {1,1}, "
    "r21, {2,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 @, r20, {0,2}, "
    "r21, {2,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 @, r20, {0,1}, "
    "r21, {0,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 @, r20, {0,1}, r21, {0,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 @, r20, {0,1}, "
    "r21, {0,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3 @, r20, {0,1}, "
    "r21, {0,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 @, r20, {0,1}, "
    "r21, {0,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 @, r20, {0,1}, "
    "r21, {0,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 @, r20, {2,1}, "
    "r21, {0,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e4m3.f32.ue8m0 @, r20, {3,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0 @, r20, {4,1}, "
    "r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0 @, r20, {1,1}, "
    "r21, {1,4};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0 @, 5, {1,1}, "
    "7, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0 @, r20, "
    "{r1,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0 @, r20, "
    "{h1,1}, r21, {1,h3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e2m1.e4m3.f32 @;",
    "mma.sync.aligned.block_scale.kind::mxf8f6f4.scale_vec::1X.m16n8k32.row.col.f32.e2m1.e4m3.f32.ue8m0 @, r20, {1,1}, "
    "r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.ue8m0.f32.e2m1.e4m3.f32 @, r20, {1,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e4m3.f32.ue4m3 @, r20, {1,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.satfinite.f32.e2m1.e4m3.f32 @;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32 #, r20, 0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32 #, r20, 0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e5m2.f16 {r0,r1}, {r4,r5,r6,r7}, "
    "{r8,r9,r14,r15}, {r10,r11}, r20, 0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e3m2.e5m2.f16 {r0,r1}, {r4,r5,r6,r7}, "
    "{r8,r9,r14,r15}, {r10,r11}, r20, 0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e4m3.e5m2.f16 {r0,r1}, {r4,r5,r6,r7}, {r8,r9,r14,r15}, "
    "{r10,r11}, r20, 0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32 #, r20, 0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 #, r20, 0, "
    "r21, {0,1}, r22, {2,3};",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1."
    "f32.ue8m0 #, r20, 0, r21, {0,1}, r22, {2,3};",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
    "f32.ue4m3 #, r20, 0, r21, {0,1}, r22, {0,3};",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m1.f32."
    "ue8m0 #, r20, 0, r21, {0,1}, r22, {1,3};",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m1.f32."
    "ue8m0 #, r20, 1, r21, {0,1}, r22, {1,3};",
    "mma.sp.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m1.f32.ue8m0 #, r20, 0, "
    "r21, {0,1}, r22, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e4m3.f32.ue8m0 @, {r20}, {3,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 {r0,r1}, {r4,r5}, {r8}, {r10,r11};",
    "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32 {r0,r1,r2,r3}, {r4,r5}, {r8}, {r10,r11,r12,r13};",
    "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.e5m2.e4m3.f16 {r0,r1}, {r4,r5}, {r8}, {r10,r11};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 @, r20, {2,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.f32.e2m1.e2m1.f32 @;",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 @, r20, {c1,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 @, h1, {1,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 @, q1, {1,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 @, r20, {-1,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 @, r20, {%laneid,1}, r21, "
    "{1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 @, r20, h1, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 @, r20, {0,0,1}, r21, {1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 @, %laneid, {0,1}, r21, "
    "{1,3};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f16.e4m3.e4m3.f16.ue8m0 {r0,r1}, {r4,r5,r6,r7}, "
    "{r8,r9}, {r10,r11}, r20, {0,1}, r21, {1,3};",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
    "f32.ue4m3 #, r20, 1, r21, {0,1}, r22, {0,3};",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
    "f32.ue8m0 #, r20, 0, r21, {0,1}, r22, {0,3};",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1."
    "f32.ue4m3 #, r20, 0, r21, {0,1}, r22, {0,3};"};

/// `@`: D, A, B, C of a dense product with f32 results; `#`: of a sparse one.
std::vector<std::string> written_out() {
    std::vector<std::string> all = lines;
    for (std::string& line : all) {
        for (const auto& [mark, text] :
             {std::pair{'@', "{r0, r1, r2, r3}, {r4, r5, r6, r7}, {r8, r9}, {r10, r11, r12, r13}"},
              {'#', "{r0, r1, r2, r3}, {r4, r5, r6, r7}, {r8, r9, r14, r15}, {r10, r11, r12, r13}"}})
            if (const std::size_t at = line.find(mark); at != std::string::npos) line.replace(at, 1, text);
    }
    return all;
}

TEST(MmaKinds, AreAsPtxasHasThem) {
    for (const char* target : {"sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a", "sm_110a", "sm_120", "sm_120a",
                               "sm_120f", "sm_121a", "sm_121f"})
        expect_agreement(target, "9.0", written_out());
    expect_agreement("sm_120a", "8.7", written_out());
    expect_agreement("sm_89", "8.6", written_out());
}

TEST(MmaKinds, RefusalsNameTheDeviceOrTheInstructionToUse) {
    const std::string scaled =
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {r0, r1, r2, r3}, "
        "{r4, r5, r6, r7}, {r8, r9}, {r10, r11, r12, r13}, r20, {2, 1}, r21, {0, 3};";
    const auto said = [&](const std::string& target) {
        return to_string(faults_of(module_text(target, "9.0", {scaled})));
    };
    EXPECT_NE(said("sm_100a").find("mma.sync does so on sm_120a and sm_120f"), std::string::npos);
    EXPECT_NE(said("sm_103f").find("needs PTX ISA 8.7 and an f or a target from sm_120 on"), std::string::npos)
        << said("sm_103f");
    EXPECT_NE(said("sm_90a").find("no device before sm_120"), std::string::npos);
    EXPECT_NE(said("sm_120").find("write that .target with 'a' or 'f' behind its number"), std::string::npos);
    EXPECT_EQ(said("sm_120f"), "");
}

}  // namespace
}  // namespace tilepath::isa
