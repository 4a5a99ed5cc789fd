// What wgmma refuses, and why. That ptxas refuses the same is legality_test.cpp's to say, for what the forms spell.
#include <gmock/gmock.h>

#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath::isa {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& instruction, const std::string& target = "sm_90a") {
    const std::string text = ".version 9.0\n.target " + target + R"(
.address_size 64
.entry k() { .reg .b32 %r<32>; .reg .f32 %f<16>; .reg .b64 %q<4>; .reg .pred %p;
)" + instruction + "\nret; }\n";
    const auto module = ptx::read(Source("test.ptx", text));
    const auto program = build(module.value(), "k");
    return program ? "" : to_string(program.error());
}

const std::string f16 = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ", d = "{%f0, %f1, %f2, %f3}, ",
                  a = "{%r0, %r1, %r2, %r3}, ";

TEST(Wgmma, Sm90aAlone) {
    const std::string right = f16 + d + "%q0, %q1, %p, 1, 1, 0, 0;";
    EXPECT_EQ(refusal(right), "");
    for (const char* target : {"sm_80", "sm_90", "sm_100", "sm_100a", "sm_120a"})
        EXPECT_THAT(refusal(right, target), HasSubstr("needs PTX ISA 8.0 and sm_90a")) << target;
    EXPECT_THAT(refusal(right, "sm_100a"), HasSubstr("tcgen05.mma"));
    EXPECT_THAT(refusal(right, "sm_120a"), HasSubstr("mma.sync"));
    EXPECT_THAT(refusal(right, "sm_90"), HasSubstr("write that .target"));
    EXPECT_THAT(refusal("wgmma.fence.sync.aligned;", "sm_90"), HasSubstr("sm_90a"));
}

// As ptxas 13.0 refuses each of these.
TEST(Wgmma, OperandsThatPtxasRefuses) {
    struct Case {
        std::string instruction;
        const char* message;
    };
    const std::string sparse = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 ";
    const Case cases[] = {
        {f16 + d + "%q0, %q1, %p, 2, 1, 0, 0;", "imm-scale-a is -1 or 1; found 2"},
        {f16 + d + "%q0, %q1, %p, 1, 0, 0, 0;", "imm-scale-b is -1 or 1; found 0"},
        {f16 + d + "%q0, %q1, %p, 1, 1, 2, 0;", "imm-trans-a is 0 or 1; found 2"},
        {f16 + d + "%q0, %q1, 2, 1, 1, 0, 0;", "scale-d is a predicate, 0 or 1; found 2"},
        {f16 + d + "%q0, %q1, %p, 1, 1, 0;", "imm-trans-a and imm-trans-b; found one"},
        {f16 + d + a + "%q1, %p, 1, 1, 0, 0;", "one transposition, imm-trans-b; found two"},
        {f16 + d + "{%r0, %r1, %r2}, %q1, %p, 1, 1, 0;", "expected a vector of 4 registers"},
        {f16 + d + "{%f4, %f5, %f6, %f7}, %q1, %p, 1, 1, 0;", "packed elements are held in .b32 registers"},
        {f16 + "{%f0, %f1, %f2, _}, %q0, %q1, %p, 1, 1, 0, 0;", "_"},
        {f16 + d + "%r0, %q1, %p, 1, 1, 0, 0;", "%r0"},
        {sparse + d + "%q0, %q1, %r9, 2, %p, 1, 1, 0, 0;", "the sparsity selector"},
        {sparse + d + "%q0, %q1, 5, 1, %p, 1, 1, 0, 0;", "the metadata is a register"},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2 " + d + "%q0, %q1, %r9, 1, %p, 1, 1;",
         "the sparsity selector"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%f0, %f1}, %q0, %q1, %p, 1, 1, 0, 0;",
         "packed elements are held in .b32 registers"},
        {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 " + d + "%q0, %q1, %p, 1, 1, 0, 0;", "operands"},
        {"wgmma.wait_group.sync.aligned -1;", "not negative"},
        {"wgmma.wait_group.sync.aligned %r1;", "the number of groups"},
    };
    for (const Case& each : cases) EXPECT_THAT(refusal(each.instruction), HasSubstr(each.message)) << each.instruction;
}

}  // namespace
}  // namespace tilepath::isa
