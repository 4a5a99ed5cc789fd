// Launches that cannot begin, parts of the grid, variables of the module, special registers.
#include <gmock/gmock.h>

#include "exec/fold.h"
#include "kernel.h"

namespace tilepath::exec {
namespace {

using ::testing::HasSubstr;

std::string refusal(const LaunchShape& shape, const std::string& before = "", const std::string& arch = "sm_80",
                    LaunchOptions options = {}) {
    Device gpu(arch);
    auto* buffer = gpu.buffer<std::uint32_t>(1);
    std::string body = "ret;";
    const auto program =
        before.empty()
            ? compile(body, 1, "", "sm_80")
            : compile_module(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) " +
                             before + " { ret; }");
    const auto report = gpu.try_launch(program, shape, options, buffer);
    EXPECT_FALSE(report);
    return report ? "" : to_string(report.error());
}

TEST(Launch, ShapesOutOfRange) {
    EXPECT_THAT(refusal(blocks(0, 32)), HasSubstr("grid.x: expected 1 to 2147483647, found 0"));
    EXPECT_THAT(refusal(blocks(0x80000000, 32)), HasSubstr("grid.x"));
    EXPECT_THAT(refusal({{1, 65536, 1}, {1, 1, 1}, {1, 1, 1}, 0}),
                HasSubstr("grid.y: expected 1 to 65535, found 65536"));
    EXPECT_THAT(refusal({{1, 1, 70000}, {1, 1, 1}, {1, 1, 1}, 0}), HasSubstr("grid.z"));
    EXPECT_THAT(refusal(blocks(1, 0)), HasSubstr("block.x: expected 1 to 1024, found 0"));
    EXPECT_THAT(refusal({{1, 1, 1}, {1, 1, 65}, {1, 1, 1}, 0}), HasSubstr("block.z: expected 1 to 64, found 65"));
    EXPECT_THAT(refusal({{1, 1, 1}, {64, 32, 1}, {1, 1, 1}, 0}), HasSubstr("at most 1024 threads"));
    EXPECT_THAT(refusal({{3, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0}), HasSubstr("multiple of the cluster's 2"));
}

TEST(Launch, EverythingWrongIsTold) {
    const std::string all = refusal({{0, 0, 1}, {2000, 1, 1}, {1, 1, 1}, 1 << 20});
    for (const char* each : {"grid.x", "grid.y", "block.x", "shared memory"}) EXPECT_THAT(all, HasSubstr(each));
}

TEST(Launch, SharedMemoryHasALimit) {
    EXPECT_THAT(refusal(blocks(1, 32, 166913)), HasSubstr("sm_80 has at most 166912 bytes per block"));
    EXPECT_THAT(refusal(blocks(1, 32, 101377), "", "sm_86"), HasSubstr("at most 101376"));
    Device gpu("sm_80");
    gpu.run_clean(compile("ret;", 1, "", "sm_80"), blocks(1, 32, 166912), gpu.buffer<int>(1));
}

TEST(Launch, TheKernelsOwnBounds) {
    EXPECT_THAT(refusal(blocks(1, 65), ".maxntid 64, 1, 1"), HasSubstr("allows 64 threads"));
    EXPECT_THAT(refusal(blocks(1, 32), ".reqntid 64, 1, 1"), HasSubstr("demands (64, 1, 1)"));
}

TEST(Launch, ParameterBytes) {
    Device gpu;
    const auto report = gpu.try_launch(compile("ret;", 2), blocks(1, 1), {}, static_cast<void*>(nullptr));
    ASSERT_FALSE(report);
    EXPECT_THAT(to_string(report.error()), HasSubstr("expected 16 bytes, found 8"));
}

TEST(Launch, APartOfTheGrid) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(20);
    LaunchOptions options;
    options.first_cta = 7;
    options.cta_count = 5;
    const auto program =
        compile("mov.u32 %r0, %ctaid.x; mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q1, %q0; st.global.u32 [%q1], 1;");
    const LaunchReport report = gpu.run(program, blocks(20, 1), options, out);
    EXPECT_EQ(report.ctas, 5u);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(out[i], i >= 7 && i < 12 ? 1u : 0u);
    options.cta_count = 14;
    EXPECT_FALSE(gpu.try_launch(program, blocks(20, 1), options, out));
    options.first_cta = 20;
    options.cta_count.reset();
    EXPECT_FALSE(gpu.try_launch(program, blocks(20, 1), options, out));
}

TEST(Launch, VariablesHoldTheirValuesAndAddresses) {
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(3);
    gpu.run_clean(compile(R"(
        ld.global.u64 %q1, [pointer]; ld.u32 %r1, [%q1]; cvt.u64.u32 %q2, %r1; st.global.u64 [%q0], %q2;
        ld.const.u32 %r2, [table+8]; cvt.u64.u32 %q3, %r2; st.global.u64 [%q0+8], %q3;
        ld.global.u32 %r3, [words+12]; cvt.u64.u32 %q3, %r3; st.global.u64 [%q0+16], %q3;)",
                          1, R"(
        .global .align 4 .u32 words[4] = {5, 6};
        .global .align 8 .u64 pointer = words + 4;
        .const .align 4 .u32 table[3] = {1, 2, 77};)"),
                  blocks(1, 1), out);
    EXPECT_EQ(out[0], 6u);
    EXPECT_EQ(out[1], 77u);
    EXPECT_EQ(out[2], 0u);
}

TEST(Launch, VariablesOfAFunctionsBodyLieInDeviceMemoryToo) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(2);
    gpu.run_clean(compile(R"(
        .const .align 4 .u32 table[2] = {3, 4};
        .global .align 4 .u32 words[4];
        mov.u64 %q1, table; cvta.const.u64 %q1, %q1; ld.u32 %r1, [%q1+4]; st.global.u32 [%q0], %r1;
        st.global.u32 [words+4], %r1; ld.global.u32 %r2, [words+4]; st.global.u32 [%q0+4], %r2;)"),
                  blocks(1, 1), out);
    EXPECT_EQ(out[0], 4u);
    EXPECT_EQ(out[1], 4u);
}

TEST(Launch, SpecialRegisters) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(24 * 96);
    // CTA (1, 1, 0) of a grid (2, 3, 1) with blocks (4, 8, 3).
    const char* names[] = {"%tid.x",       "%tid.y",           "%tid.z",          "%ntid.x",           "%ntid.y",
                           "%ntid.z",      "%ctaid.x",         "%ctaid.y",        "%ctaid.z",          "%nctaid.x",
                           "%nctaid.y",    "%nctaid.z",        "%laneid",         "%warpid",           "%nwarpid",
                           "%nsmid",       "%lanemask_lt",     "%lanemask_ge",    "%lanemask_eq",      "%lanemask_le",
                           "%lanemask_gt", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size"};
    std::string body = R"(
        .shared .align 4 .b8 fixed[32]; st.shared.u32 [fixed], 0;
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; and.b32 %r1, %r1, %r2; setp.ne.u32 %p0, %r1, 1; @%p0 exit;
        mov.u32 %r3, %tid.x; mov.u32 %r4, %tid.y; mov.u32 %r5, %tid.z; mad.lo.u32 %r4, %r5, 8, %r4; mad.lo.u32 %r3, %r4, 4, %r3;
        mul.wide.u32 %q1, %r3, 96; add.u64 %q1, %q1, %q0;)";
    for (int i = 0; i < 24; ++i)
        body += fmt::format("mov.u32 %r10, {}; st.global.u32 [%q1+{}], %r10;\n", names[i], 4 * i);
    for (const bool observed : {false, true}) {
        machine::Observer nobody;
        LaunchOptions options;
        if (observed) options.observer = &nobody;  // then nothing is folded
        EXPECT_TRUE(gpu.run(compile(body), {{2, 3, 1}, {4, 8, 3}, {1, 1, 1}, 2048}, options, out).ok());
        for (std::uint32_t t = 0; t < 96; ++t) {
            const std::uint32_t lane = t % 32, self = 1u << lane;
            // Shared sizes as an H200 gave them for 32 static and 2,048 dynamic bytes.
            const std::vector<std::uint32_t> expected{t % 4,
                                                      t / 4 % 8,
                                                      t / 32,
                                                      4,
                                                      8,
                                                      3,
                                                      1,
                                                      1,
                                                      0,
                                                      2,
                                                      3,
                                                      1,
                                                      lane,
                                                      t / 32,
                                                      64,
                                                      132,
                                                      self - 1,
                                                      ~(self - 1),
                                                      self,
                                                      (self - 1) | self,
                                                      ~((self - 1) | self),
                                                      2176,
                                                      3104,
                                                      2048};
            ASSERT_EQ(std::vector<std::uint32_t>(out + 24 * t, out + 24 * t + 24), expected) << t;
        }
    }
}

// What a launch knows is not executed: of this kernel only the address computation and the store are left.
TEST(Launch, KnownValuesAreFolded) {
    const auto program = compile(R"(
        cvta.to.global.u64 %q1, %q0; mov.u32 %r0, %ntid.x; mov.u32 %r1, %r0; mov.u32 %r2, %tid.x;
        st.global.u32 [%q1], %r1; mov.u32 %r3, %r2;
        @%p0 mov.u32 %r4, %ntid.x;)");
    const std::uint64_t parameter = 0x1234;
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(&parameter), 8);
    const Folding folding = fold(program.functions[0], {bytes, blocks(5, 96)});
    std::vector<std::string> left;
    for (std::size_t i = 0; i < folding.dropped.size(); ++i)
        if (!folding.dropped[i]) left.emplace_back(program::traits(program.functions[0].ops[i].op).name);
    EXPECT_EQ(left, (std::vector<std::string>{"special", "st", "mov", "special", "mov", "ret"}));
}

TEST(Launch, ProgressAndCounts) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(1);
    LaunchOptions options;
    std::uint64_t calls = 0, last = 0;
    options.progress = [&](std::uint64_t done, std::uint64_t all) {
        ++calls;
        EXPECT_EQ(all, 300u);
        last = done;
    };
    const LaunchReport report = gpu.run(compile("atom.global.add.u32 %r1, [%q0], 1;"), blocks(300, 32), options, out);
    EXPECT_GE(calls, 1u);
    EXPECT_LE(last, 300u);
    EXPECT_EQ(report.ctas, 300u);
    EXPECT_EQ(report.operations, 300u * 2);  // the atomic and ret; the parameter is known
}

TEST(Launch, ALoopOfLaunchesLeavesNothingBehind) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(1);
    const auto program = compile(
        "ld.global.u32 %r1, [counter]; add.u32 %r1, %r1, 1; st.global.u32 [counter], %r1; st.global.u32 [%q0], %r1;", 1,
        ".global .u32 counter = 41;");
    for (int i = 0; i < 3; ++i) {
        gpu.run_clean(program, blocks(1, 1), out);
        EXPECT_EQ(*out, 42u);  // variables of this launch alone
    }
    auto image = load_variables(program, gpu.memory());
    ASSERT_TRUE(image);
    std::uint64_t pointer = reinterpret_cast<std::uint64_t>(out);
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(&pointer), 8);
    for (std::uint32_t i = 0; i < 3; ++i) {
        ASSERT_TRUE(launch(program, gpu.device(), gpu.memory(), *image, blocks(1, 1), bytes));
        EXPECT_EQ(*out, 42 + i);  // variables that stay
    }
}

}  // namespace
}  // namespace tilepath::exec
