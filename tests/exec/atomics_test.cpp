// atom and red: every operation and type against values worked out by hand.
#include "kernel.h"

namespace tilepath::exec {
namespace {

struct Case {
    std::string instruction;  ///< type and operation: "global.add.u32"
    std::uint64_t memory, operand, after;
    std::uint64_t third = 0;  ///< cas: the new value
};

void check(const Case& each, const std::string& space) {
    const std::size_t dot = each.instruction.rfind('.');
    const std::string type = each.instruction.substr(dot + 1);
    const bool wide = type.ends_with("64"), half = type.ends_with("16");
    const std::string suffix = wide ? "b64" : half ? "b16" : "b32", reg = wide ? "%q" : half ? "%h" : "%r";
    const std::string operands = each.instruction.starts_with("cas") ? fmt::format("{0}2, {0}3", reg) : reg + "2";
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(2);
    const std::string address = space == "global" ? "%q0" : "%r40";
    gpu.run_clean(compile(fmt::format(R"(
        .shared .align 8 .b64 place; mov.u32 %r40, place;
        mov.{1} {2}1, {3}; mov.{1} {2}2, {4}; mov.{1} {2}3, {5};
        st.{0}.{1} [{6}], {2}1;
        atom.{0}.{7} {2}4, [{6}], {8};
        st.global.{1} [%q0+8], {2}4;
        ld.{0}.{1} {2}5, [{6}]; st.global.{1} [%q0], {2}5;)",
                                      space, suffix, reg, each.memory, each.operand, each.third, address,
                                      each.instruction, operands)),
                  blocks(1, 1), out);
    EXPECT_EQ(out[1], each.memory) << space << "." << each.instruction;
    EXPECT_EQ(out[0], each.after) << space << "." << each.instruction;
}

TEST(Atomics, Integers) {
    const Case cases[] = {
        {"add.u32", 0xFFFFFFFF, 2, 1},
        {"add.s32", 5, 0xFFFFFFF6, 0xFFFFFFFB},
        {"add.u64", ~0ull, 3, 2},
        {"exch.b32", 7, 9, 9},
        {"exch.b64", 7, ~0ull, ~0ull},
        {"cas.b32", 7, 7, 11, 11},
        {"cas.b32", 7, 8, 7, 11},
        {"cas.b64", 1ull << 40, 1ull << 40, 5, 5},
        {"cas.b16", 7, 7, 0xFFFE, 0xFFFE},
        {"min.u32", 5, 0xFFFFFFFF, 5},
        {"min.s32", 5, 0xFFFFFFFF, 0xFFFFFFFF},
        {"max.u32", 5, 0xFFFFFFFF, 0xFFFFFFFF},
        {"max.s32", 5, 0xFFFFFFFF, 5},
        {"min.s64", 5, ~0ull, ~0ull},
        {"max.u64", 5, ~0ull, ~0ull},
        {"and.b32", 0xF0F0, 0xFF00, 0xF000},
        {"or.b32", 0xF0F0, 0x0F00, 0xFFF0},
        {"xor.b64", 0xF0F0, 0xFF00, 0x0FF0},
        {"inc.u32", 4, 5, 5},
        {"inc.u32", 5, 5, 0},
        {"inc.u32", 9, 5, 0},
        {"dec.u32", 4, 5, 3},
        {"dec.u32", 0, 5, 5},
        {"dec.u32", 9, 5, 5},
    };
    for (const Case& each : cases)
        for (const char* space : {"global", "shared"}) check(each, space);
}

TEST(Atomics, Floats) {
    const Case cases[] = {
        {"add.f32", 0x3F800000, 0x40000000, 0x40400000},                          // 1 + 2
        {"add.f32", 0x7F800000, 0xFF800000, 0x7FFFFFFF},                          // ∞ − ∞
        {"add.f64", 0x3FF0000000000000, 0x3CA0000000000000, 0x3FF0000000000000},  // 1 + 2^-53: tie to even
        {"add.noftz.f16x2", 0x3C000001, 0x3C000001, 0x40000002},                  // 1 + 1, 2^-24 + 2^-24
        {"add.noftz.bf16x2", 0x3F803F80, 0x3F80BF80, 0x40000000},                 // 1 + 1, 1 − 1
        {"add.noftz.f16", 0x7BFF, 0x7BFF, 0x7C00},                                // overflow
        {"add.noftz.bf16", 0x3F80, 0x3B80, 0x3F80},                               // 1 + 2^-8: tie to even
    };
    for (const Case& each : cases)
        for (const char* space : {"global", "shared"}) check(each, space);
}

// Recorded on an H200: global memory flushes subnormals, shared memory does not.
TEST(Atomics, OnlyGlobalF32AddFlushesSubnormals) {
    check({"add.f32", 0x00000001, 0x00000001, 0x00000000}, "global");
    check({"add.f32", 0x00000001, 0x00000001, 0x00000002}, "shared");
}

TEST(Atomics, EveryLaneCounts) {
    for (const unsigned threads : {1u, 4u}) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(3);
        LaunchOptions options;
        options.threads = threads;
        EXPECT_TRUE(gpu.run(compile(R"(
            atom.global.add.u32 %r1, [%q0], 1;
            red.global.max.u32 [%q0+4], %r1;
            atom.add.u32 %r2, [%q0+8], 3;)"),
                            blocks(50, 96), options, out)
                        .ok());
        EXPECT_EQ(out[0], 4800u);
        EXPECT_EQ(out[1], 4799u);
        EXPECT_EQ(out[2], 14400u);
    }
}

TEST(Atomics, QuadWords) {
    Device gpu;
    auto* out = gpu.buffer<std::uint64_t>(6);
    gpu.run_clean(compile(R"(
        mov.u64 %q1, 1; mov.u64 %q2, 2; mov.u64 %q3, 3; mov.u64 %q4, 4;
        mov.b128 %x0, {%q1, %q2}; mov.b128 %x1, {%q3, %q4};
        atom.global.exch.b128 %x2, [%q0], %x0;
        atom.global.cas.b128 %x3, [%q0], %x0, %x1;
        st.global.b128 [%q0+16], %x2; st.global.b128 [%q0+32], %x3;)"),
                  blocks(1, 1), out);
    const std::vector<std::uint64_t> words(out, out + 6);
    EXPECT_EQ(words, (std::vector<std::uint64_t>{3, 4, 0, 0, 1, 2}));
}

}  // namespace
}  // namespace tilepath::exec
