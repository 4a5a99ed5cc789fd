#include "read_text.h"

namespace tilepath::ptx {
namespace {

const Operand& operand(const Module& module, int instruction, int index) {
    return module.operands_in(module.instructions.at(instruction).operands)[index];
}

TEST(Resolve, RegistersHaveDenseNumbersInTheirFunction) {
    const Module module = read_text(
        ".version 9.0\n.target sm_80\n"
        ".entry a() { .reg .b32 x, %r<10>; .reg .v4 .f32 V<2>; .reg .b64 y;\n"
        "mov.b32 x, %r0; mov.b32 %r9, 1; mov.f32 V0.x, V1.w; mov.b64 y, 0; }\n"
        ".entry b() { .reg .b32 %r<3>; mov.b32 %r2, 0; }");
    const auto number = [&](int i, int j) { return module.register_number(operand(module, i, j)); };
    EXPECT_EQ(number(0, 0), 0u);
    EXPECT_EQ(number(0, 1), 1u);
    EXPECT_EQ(number(1, 0), 10u);
    EXPECT_EQ(number(2, 0), 11u);
    EXPECT_EQ(number(2, 1), 11u + 4 + 3);
    EXPECT_EQ(number(3, 0), 19u);
    EXPECT_EQ(module.functions[0].register_count, 20u);
    EXPECT_EQ(number(4, 0), 2u);
    EXPECT_EQ(module.functions[1].register_count, 3u);
    EXPECT_EQ(operand(module, 1, 0).element, 9u);
    EXPECT_EQ(number(1, 1), none);  // an immediate
}

TEST(Resolve, InnerScopesHideOuterNames) {
    const Module module = read_body(
        "mov.b32 %r1, 0;\n{ .reg .b32 %r1; mov.b32 %r1, 1; { .reg .b32 %r<2>; mov.b32 %r1, 2; mov.b32 %r2, 3; "
        "}\nmov.b32 %r1, 4; }\nmov.b32 %r1, 5;");
    const auto number = [&](int i) { return module.register_number(operand(module, i, 0)); };
    const Id outer = number(0), inner = number(1), innermost = number(2);
    EXPECT_NE(outer, inner);
    EXPECT_NE(inner, innermost);
    EXPECT_NE(outer, innermost);
    EXPECT_EQ(number(3), outer + 1);  // %r2 is beyond the inner %r<2>
    EXPECT_EQ(number(4), inner);
    EXPECT_EQ(number(5), outer);
}

TEST(Resolve, LabelsBelongToTheirScope) {
    const Module module = read_body("{ L: bra L; bra DONE; }\n{ bra L; L: }\n{ { bra L; } L: }\nDONE:");
    const auto label = [&](int i) { return module.symbol(operand(module, i, 0)); };
    EXPECT_EQ(label(0)->node, 0u);
    EXPECT_EQ(label(1)->node, 3u);
    EXPECT_EQ(label(2)->node, 1u);
    EXPECT_EQ(label(3)->node, 2u);
    EXPECT_EQ(module.functions[0].label_count, 4u);
    std::set<std::uint32_t> numbers;
    for (int i = 0; i < 4; ++i) numbers.insert(label(i)->number);
    EXPECT_EQ(numbers, (std::set<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Resolve, FamiliesAndPlainNames) {
    const Module module = read_body(
        ".reg .b32 x<20>; .reg .b32 y1<5>, z7;\nmov.b32 x10, 0; mov.b32 y10, 0; mov.b32 y14, 0; mov.b32 z7, 0; mov.b32 "
        "x03, 0;");
    EXPECT_EQ(operand(module, 0, 0).element, 10u);
    EXPECT_EQ(operand(module, 1, 0).element, 0u);
    EXPECT_EQ(operand(module, 2, 0).element, 4u);
    EXPECT_EQ(operand(module, 3, 0).element, 0u);
    EXPECT_EQ(operand(module, 4, 0).element, 3u);
}

TEST(Resolve, KindsOfSymbols) {
    const Module module = read_body(
        ".shared .b32 s; .param .b32 q;\nmov.u32 %r1, %tid.x; mov.u64 %rd1, g; mov.u64 %rd1, f; mov.u32 %r1, s; "
        "ld.param.u64 %rd1, [p0]; st.param.b32 "
        "[q], %r1; mov.u64 %rd1, %clock64; mov.u32 %r1, %envreg31; mov.u32 %r1, %pm7; mov.u64 %rd1, %pm0_64; mov.u32 "
        "%r1, %reserved_smem_offset_1; mov.u32 %r1, "
        "%laneid;",
        ".global .u32 g; .func f();\n");
    const auto kind = [&](int i, int j) { return module.symbol(operand(module, i, j))->kind; };
    EXPECT_EQ(kind(0, 0), SymbolKind::reg);
    EXPECT_EQ(kind(0, 1), SymbolKind::special);
    EXPECT_EQ(kind(1, 1), SymbolKind::variable);
    EXPECT_EQ(kind(2, 1), SymbolKind::function);
    EXPECT_EQ(kind(3, 1), SymbolKind::variable);
    EXPECT_EQ(kind(4, 1), SymbolKind::param);
    EXPECT_EQ(kind(5, 0), SymbolKind::param);
    for (int i = 6; i < 12; ++i) EXPECT_EQ(kind(i, 1), SymbolKind::special) << i;
    EXPECT_EQ(module.symbol(operand(module, 0, 1))->function, none);
    EXPECT_EQ(module.symbol(operand(module, 4, 1))->function, module.function_named("k"));
}

TEST(Resolve, OwnNamesHidePredefinedOnes) {
    const Module module = read_body("mov.u32 %r1, %tid.x; { .reg .b32 %tid; mov.b32 %tid, 1; }\nmov.u32 %r1, %tid.y;");
    EXPECT_EQ(module.symbol(operand(module, 0, 1))->kind, SymbolKind::special);
    EXPECT_EQ(module.symbol(operand(module, 1, 0))->kind, SymbolKind::reg);
    EXPECT_EQ(module.symbol(operand(module, 2, 1))->kind, SymbolKind::special);
}

TEST(Resolve, ExternalVariablesMayBeDeclaredAgain) {
    const Module module = read_text(
        ".version 9.0\n.target sm_80\n.extern .global .b32 e;\n.extern .global .b32 e;\n.visible .global .b32 e = "
        "5;\n");
    EXPECT_EQ(module.variables[0].symbol, module.variables[2].symbol);
    EXPECT_EQ(module.symbols[module.variables[0].symbol].node, 2u);
}

struct Wrong {
    const char* body;
    const char* module_level;
    std::vector<const char*> messages;
};

TEST(Resolve, WhatIsWrong) {
    const Wrong rows[] = {
        {"mov.b32 %r1, %r11;", "", {"unknown name '%r11'", "its family has 10 names, the last of them number 9"}},
        {"mov.b32 value, 1; .reg .b32 value;", "", {"unknown name 'value'", "is declared on line 8, after its use"}},
        {".reg .b32 counter; mov.b32 conuter, 1;", "", {"unknown name 'conuter'", "did you mean 'counter'?"}},
        {"bra L; { L: }", "", {"unknown name 'L'", "inside of a { } of its own"}},
        {"{ L: } { bra L; }", "", {"unknown name 'L'"}},
        {"bra L;", ".func f() { L: ret; }", {"unknown name 'L'"}},
        {".reg .b32 a; .reg .b64 a;", "", {"'a' is declared twice in this scope", "it was declared on line 8"}},
        {".reg .b32 %r1;", "", {"'%r1' is declared twice", "line 7"}},
        {".reg .b32 %q7; .reg .b32 %q<8>;", "", {"'%q' is declared twice"}},
        {".reg .b32 %q<3>; .reg .b32 %q<5>;", "", {"'%q' is declared twice"}},
        {"A: A: bra A;", "", {"'A' is declared twice"}},
        {".reg .b32 L; L:", "", {"'L' is declared twice"}},
        {"p0:", "", {"'p0' is declared twice"}},
        {"P: .callprototype _; P: .callprototype _;", "", {"'P' is declared twice"}},
        {"call f;", "", {"unknown name 'f'"}},
        {"",
         ".global .u64 q = f; .func f() { ret; }",
         {"unknown name 'f'", "a function of this name is declared on line 4"}},
        {"", ".func f() { ret; } .func f() { ret; }", {"'f' has a body already"}},
        {"", ".func f(.param .b32 a); .func f(.param .b64 a) { ret; }", {"'f' is declared here with other parameters"}},
        {"", ".func f(.param .b32 a, .param .b32 a) { ret; }", {"'a' is declared twice"}},
        {"", ".global .u32 f; .func f() { ret; }", {"'f' is declared twice"}},
        {"", ".func b(); .alias b, f;", {"unknown name 'f'"}},
        {"", ".global .u32 g; .func b(); .alias b, g;", {"'g' is not a function"}},
        {"", ".shared .u32 s; .global .u64 a = s;", {"'s' has no address that is known before the kernel runs"}},
        {"mov.u32 %r1, %envreg32;", "", {"unknown name '%envreg32'"}},
        {"mov.u32 %r1, %pm8;", "", {"unknown name '%pm8'"}},
        {".reg .b32 %z<16777216>; .reg .b32 %y<16777216>;", "", {"more than 16777216 registers"}},
    };
    for (const Wrong& row : rows) {
        const std::string errors = errors_of(wrap(row.body, row.module_level));
        for (const char* message : row.messages)
            EXPECT_NE(errors.find(message), std::string::npos) << row.body << row.module_level << "\n" << errors;
    }
}

}  // namespace
}  // namespace tilepath::ptx
