#include "read_text.h"

namespace tilepath::ptx {
namespace {

std::vector<std::string_view> modifier_texts(const Module& module, const Instruction& instruction) {
    std::vector<std::string_view> texts;
    for (const Modifier& modifier : module.modifiers(instruction)) texts.push_back(modifier.text);
    return texts;
}

TEST(Instruction, OpcodeAndModifiersKeepTheirOrder) {
    const Module module = read_body(
        "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];\n"
        "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, "
        "%r3}], [%r4];\n"
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];");
    EXPECT_EQ(module.opcode(module.instructions[0]), "ldmatrix");
    EXPECT_EQ(modifier_texts(module, module.instructions[0]),
              (std::vector<std::string_view>{"sync", "aligned", "x4", "m8n8", "shared", "b16"}));
    EXPECT_EQ(modifier_texts(module, module.instructions[1]),
              (std::vector<std::string_view>{"async", "bulk", "tensor", "2d", "cta_group::2", "shared::cluster",
                                             "global", "mbarrier::complete_tx::bytes"}));
    EXPECT_EQ(modifier_texts(module, module.instructions[2]),
              (std::vector<std::string_view>{"ld", "sync", "aligned", "32x32b", "x2", "b32"}));
}

TEST(Instruction, HeadsWithSpacesAndComments) {
    const Module module = read_body("add .u32 %r1, %r2, %r3;\nadd/* x */.u32 %r1, %r2, %r3;\nadd.u32 %r1, %r2, %r3;");
    for (int i = 0; i < 3; ++i) {
        const Instruction& instruction = module.instructions[i];
        EXPECT_EQ(module.opcode(instruction), "add");
        ASSERT_EQ(module.modifiers(instruction).size(), 1u);
        const Modifier& modifier = module.modifiers(instruction)[0];
        EXPECT_EQ(modifier.text, "u32");
        EXPECT_EQ(module.text(module.span(instruction, modifier)), "u32");
    }
}

TEST(Instruction, EqualSpellingsShareOneHead) {
    const Module module = read_body("add.u32 %r1, %r2, %r3;\nsub.u32 %r1, %r2, %r3;\nadd.u32 %r4, %r5, 6;");
    EXPECT_EQ(module.instructions[0].head, module.instructions[2].head);
    EXPECT_NE(module.instructions[0].head, module.instructions[1].head);
}

TEST(Instruction, LegacyConstantBank) {
    const Module module = read_body("ld.const[2].b32 %r1, [16];");
    EXPECT_EQ(modifier_texts(module, module.instructions[0]), (std::vector<std::string_view>{"const[2]", "b32"}));
    EXPECT_EQ(operands_of_first(module)[1].bits, 16u);
}

TEST(Instruction, SpansCoverWhatTheyName) {
    const Module module = read_body("@!%p1  ld.global.f32 %f1, [%rd1+4] ;");
    const Instruction& instruction = module.instructions[0];
    EXPECT_EQ(module.text(instruction.span), "@!%p1  ld.global.f32 %f1, [%rd1+4] ;");
    EXPECT_EQ(module.text(module.opcode_span(instruction)), "ld");
    EXPECT_EQ(module.text(module.span(instruction, module.modifiers(instruction)[1])), "f32");
    const auto operands = operands_of_first(module);
    EXPECT_EQ(module.text(operands[0].span), "%f1");
    EXPECT_EQ(module.text(operands[1].span), "[%rd1+4]");
    EXPECT_EQ(module.text(module.operands[instruction.guard].span), "%p1");
}

TEST(Instruction, Guards) {
    const Module module = read_body("@%p1 bra L;\n@!%p2 bra L;\n@ ! %p3 bra L;\nbra L;\nL:");
    const auto guard = [&](int i) { return module.operands[module.instructions[i].guard]; };
    EXPECT_EQ(module.name(guard(0).name), "%p1");
    EXPECT_FALSE(guard(0).not_);
    EXPECT_TRUE(guard(1).not_);
    EXPECT_TRUE(guard(2).not_);
    EXPECT_EQ(module.instructions[3].guard, none);
}

TEST(Operand, Addresses) {
    struct Row {
        const char* text;
        const char* base;
        std::int64_t offset;
    };
    for (const Row& row : {Row{"[%rd1]", "%rd1", 0}, Row{"[%rd1+16]", "%rd1", 16}, Row{"[%rd1+-16]", "%rd1", -16},
                           Row{"[%rd1-16]", "%rd1", -16}, Row{"[%rd1+4*2]", "%rd1", 8}, Row{"[%rd1+4+4]", "%rd1", 8},
                           Row{"[ %rd1 + (0x10) ]", "%rd1", 16}, Row{"[%rd1-4+6]", "%rd1", 2}, Row{"[g+4]", "g", 4},
                           Row{"[p0]", "p0", 0}, Row{"[16]", "", 16}, Row{"[16+4]", "", 20}, Row{"[WARP_SZ]", "", 32},
                           Row{"[-4]", "", -4}}) {
        const Module module = read_body(std::string("ld.b32 %r1, ") + row.text + ";", ".global .u32 g[8];");
        const Operand& address = operands_of_first(module)[1];
        EXPECT_EQ(address.kind, OperandKind::address) << row.text;
        EXPECT_EQ(module.name(address.name), row.base) << row.text;
        EXPECT_EQ(address.offset(), row.offset) << row.text;
        EXPECT_FALSE(address.unified);
    }
    const Module module = read_body("ld.global.b32 %r1, [%rd1].unified;");
    EXPECT_TRUE(operands_of_first(module)[1].unified);
}

TEST(Operand, TensorAddresses) {
    const Module module = read_body(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+128], [%rd1+64, {0, %r2}], "
        "[%r4+8];\n"
        "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, s, {%f1, %f2}];",
        ".global .texref t; .global .samplerref s;");
    const Operand& address = operands_of_first(module)[1];
    ASSERT_EQ(address.kind, OperandKind::tensor_address);
    const auto parts = module.children(address);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(module.name(parts[0].name), "%rd1");
    EXPECT_EQ(parts[0].offset(), 64);
    ASSERT_EQ(parts[1].kind, OperandKind::vector);
    EXPECT_EQ(module.children(parts[1])[0].kind, OperandKind::immediate);
    EXPECT_EQ(module.name(module.children(parts[1])[1].name), "%r2");

    const auto texture = module.children(module.operands_in(module.instructions[1].operands)[1]);
    ASSERT_EQ(texture.size(), 3u);
    EXPECT_EQ(module.name(texture[1].name), "s");
    EXPECT_EQ(module.children(texture[2]).size(), 2u);
}

TEST(Operand, VectorsAndSinks) {
    const Module module =
        read_body("ld.global.v4.f32 {%f0, _, %f2, _}, [%rd1];\nmov.b32 {%h1, %h2}, %r1;\nmov.b64 %rd1, {5, %r2};");
    const auto elements = module.children(operands_of_first(module)[0]);
    ASSERT_EQ(elements.size(), 4u);
    EXPECT_EQ(elements[0].kind, OperandKind::identifier);
    EXPECT_EQ(elements[1].kind, OperandKind::sink);
    EXPECT_EQ(elements[3].kind, OperandKind::sink);
    const auto source = module.children(module.operands_in(module.instructions[2].operands)[1]);
    EXPECT_EQ(source[0].bits, 5u);
}

TEST(Operand, PairsAndNegation) {
    const Module module = read_body(
        "setp.eq.and.s32 %p1|%p2, %r1, -5, !%p3;\nelect.sync _|%p1, -1;\nsetp.eq.s32 %p1|_, %r1, 2;\n"
        "vmad.s32.s32.s32 %r1, -%r2.b0, %r3.h1, %r4;");
    const auto operands = operands_of_first(module);
    ASSERT_EQ(operands[0].kind, OperandKind::pair);
    EXPECT_EQ(module.name(module.children(operands[0])[0].name), "%p1");
    EXPECT_EQ(module.name(module.children(operands[0])[1].name), "%p2");
    EXPECT_EQ(operands[2].offset(), -5);
    EXPECT_TRUE(operands[3].not_);
    EXPECT_EQ(module.name(operands[3].name), "%p3");
    const auto elect = module.operands_in(module.instructions[1].operands);
    EXPECT_EQ(module.children(elect[0])[0].kind, OperandKind::sink);
    EXPECT_EQ(module.children(elect[0])[1].kind, OperandKind::identifier);
    const auto swapped = module.operands_in(module.instructions[2].operands);
    EXPECT_EQ(module.children(swapped[0])[1].kind, OperandKind::sink);
    const auto video = module.operands_in(module.instructions[3].operands);
    EXPECT_TRUE(video[1].minus);
    EXPECT_EQ(video[1].component, Component::b0);
    EXPECT_EQ(video[2].component, Component::h1);
}

TEST(Operand, ComponentsAndOffsets) {
    const Module module = read_body(
        ".reg .v4 .f32 V;\nmov.u32 %r1, %tid.x;\nmov.u32 %r1, %ctaid.z;\nmov.f32 V.w, V.g;\nmov.u64 %rd1, "
        "g+8;\nmov.u64 %rd1, g+-8;\n"
        "mov.u64 %rd1, g[3];\nld.global.u32 %r1, g[%rd1+1];",
        ".global .u32 g[8];");
    const auto operand = [&](int i, int j) { return module.operands_in(module.instructions[i].operands)[j]; };
    EXPECT_EQ(operand(0, 1).component, Component::x);
    EXPECT_EQ(operand(1, 1).component, Component::z);
    EXPECT_EQ(operand(2, 0).component, Component::w);
    EXPECT_EQ(operand(2, 1).component, Component::y);
    EXPECT_EQ(operand(3, 1).offset(), 8);
    EXPECT_EQ(operand(4, 1).offset(), -8);
    ASSERT_EQ(operand(5, 1).kind, OperandKind::indexed);
    EXPECT_EQ(module.name(module.children(operand(5, 1))[0].name), "g");
    EXPECT_EQ(module.children(operand(5, 1))[1].bits, 3u);
    const auto index = module.children(operand(6, 1))[1];
    EXPECT_EQ(module.name(index.name), "%rd1");
    EXPECT_EQ(index.offset(), 1);
}

TEST(Operand, Calls) {
    const Module calls = read_body(
        ".reg .b64 fp;\nP: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\n"
        "call.uni (%r1), f, (%r2, 5);\ncall g;\ncall (%r1), fp, (%r2, %r3), P;\ncall g, ();",
        ".func (.reg .b32 d) f(.reg .b32 a, .reg .b32 b);\n.func g();\n");
    const auto operands = [&](int i) { return calls.operands_in(calls.instructions[i].operands); };
    ASSERT_EQ(operands(0).size(), 3u);
    EXPECT_EQ(operands(0)[0].kind, OperandKind::list);
    EXPECT_EQ(calls.children(operands(0)[0]).size(), 1u);
    EXPECT_EQ(calls.name(operands(0)[1].name), "f");
    EXPECT_EQ(calls.children(operands(0)[2])[1].bits, 5u);
    EXPECT_EQ(operands(1).size(), 1u);
    ASSERT_EQ(operands(2).size(), 4u);
    EXPECT_EQ(calls.symbol(operands(2)[3])->kind, SymbolKind::prototype);
    ASSERT_EQ(operands(3).size(), 2u);
    EXPECT_EQ(calls.children(operands(3)[1]).size(), 0u);
}

TEST(Lexical, CommentsLineMarkersAndContinuedLines) {
    const Module module = read_text(
        "\xef\xbb\xbf# 1 \"a.cu\"\n.version 9.0 // comment\r\n.target sm_80\n#line 7 \"b.cu\"\n  # 9\n"
        ".entry /* a\n b */ k() {\n.reg .b32 a;\nmov.b32 a, \\\n 1;\n/**/L /* a */ : ret/***/;}//");
    EXPECT_EQ(module.instructions.size(), 2u);
    EXPECT_EQ(operands_of_first(module)[1].bits, 1u);
}

TEST(Lexical, Names) {
    const Module module =
        read_body(".reg .b32 $a, %$b, a$, _x, add, reg, %_;\nmov.b32 $a, a$; mov.b32 add, reg; mov.b32 %_, _x;");
    EXPECT_EQ(module.name(operands_of_first(module)[0].name), "$a");
    EXPECT_EQ(module.name(operands_of_first(module)[1].name), "a$");
}

}  // namespace
}  // namespace tilepath::ptx
