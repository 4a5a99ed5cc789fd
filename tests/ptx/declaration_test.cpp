#include "read_text.h"

namespace tilepath::ptx {
namespace {

Module read_module(const std::string& items) {
    return read_text(".version 9.0\n.target sm_90a\n.address_size 64\n" + items);
}

const Variable& variable_named(const Module& module, std::string_view name) {
    for (const Variable& variable : module.variables)
        if (module.name(variable.name) == name) return variable;
    ADD_FAILURE() << "no variable " << name;
    return module.variables.at(0);
}

TEST(ModuleDirectives, VersionTargetAddressSize) {
    const Module module = read_text(
        ".version 8.7\n.target sm_100a, texmode_independent, debug, map_f64_to_f32\n.address_size 64\n.target sm_90\n");
    EXPECT_EQ(module.version_major, 8u);
    EXPECT_EQ(module.version_minor, 7u);
    EXPECT_EQ(module.address_size, 64u);
    EXPECT_EQ(module.architecture(), "sm_100a");
    EXPECT_EQ(module.targets_of_module[0].words,
              (std::vector<std::string_view>{"sm_100a", "texmode_independent", "debug", "map_f64_to_f32"}));
    EXPECT_EQ(module.targets_of_module.size(), 2u);
    EXPECT_EQ(read_text(".version 6.4\n.target sm_70").address_size, 32u);  // PTX ISA 11.1.3
}

TEST(Variables, SpacesTypesLinkage) {
    const Module module = read_module(
        ".visible .global .align 16 .b8 a[64];\n.extern .shared .align 128 .b8 b[];\n.const .f32 c;\n.weak .global .v2 "
        ".u16 d;\n"
        ".common .global .s64 e;\n.global .texref f;\n.global .b128 g;\n.shared .v4 .f32 h[2][3];\n.tex .u32 "
        "i;\n.extern .const[2] .b32 j[];\n.shared .b32 k<4>;");
    const Variable& a = variable_named(module, "a");
    EXPECT_EQ(a.linkage, Linkage::visible);
    EXPECT_EQ(a.space, Space::global);
    EXPECT_EQ(a.type, Type::b8);
    EXPECT_EQ(alignment(a), 16u);
    EXPECT_EQ(size_in_bytes(module, a), 64u);
    EXPECT_EQ(variable_named(module, "b").linkage, Linkage::extern_);
    EXPECT_EQ(size_in_bytes(module, variable_named(module, "b")), 0u);
    EXPECT_EQ(module.dimensions_of(variable_named(module, "b")).size(), 1u);
    EXPECT_EQ(variable_named(module, "c").space, Space::const_);
    EXPECT_EQ(variable_named(module, "d").linkage, Linkage::weak);
    EXPECT_EQ(alignment(variable_named(module, "d")), 4u);  // of the whole vector
    EXPECT_EQ(variable_named(module, "e").linkage, Linkage::common);
    EXPECT_EQ(variable_named(module, "f").type, Type::texref);
    EXPECT_EQ(alignment(variable_named(module, "g")), 16u);
    EXPECT_EQ(size_in_bytes(module, variable_named(module, "h")), 2u * 3 * 4 * 4);
    EXPECT_EQ(alignment(variable_named(module, "h")), 16u);
    EXPECT_EQ(variable_named(module, "i").space, Space::tex);
    EXPECT_EQ(variable_named(module, "j").bank, 2);
    EXPECT_TRUE(variable_named(module, "k").parameterised);
    EXPECT_EQ(size_in_bytes(module, variable_named(module, "k")), 16u);
}

TEST(Variables, Attributes) {
    const Module module = read_module(
        ".global .attribute(.managed) .s32 a;\n.global .align 8 .attribute(.unified(19, 0xFFFFFFFFFFFFFFFF)) .f32 b;\n"
        ".global .attribute(.managed, .unified(1,2)) .f32 c;\n.func .attribute(.unified(0xAB, 0xCD)) f() { ret; }");
    EXPECT_TRUE(variable_named(module, "a").managed);
    EXPECT_FALSE(variable_named(module, "a").unified);
    EXPECT_TRUE(variable_named(module, "b").unified);
    EXPECT_EQ(variable_named(module, "b").unified_id[0], 19u);
    EXPECT_EQ(variable_named(module, "b").unified_id[1], ~std::uint64_t{0});
    EXPECT_TRUE(variable_named(module, "c").managed && variable_named(module, "c").unified);
    EXPECT_TRUE(module.functions[0].unified);
    EXPECT_EQ(module.functions[0].unified_id[1], 0xcdu);
}

TEST(Variables, OneStatementDeclaresSeveral) {
    const Module module = read_body(
        ".reg .pred p, %q<3>, r;\n.shared .align 8 .b32 x, y[4];\n.local .b64 l;\n.param .align 4 .b8 b[12];");
    EXPECT_EQ(variable_named(module, "p").type, Type::pred);
    EXPECT_EQ(variable_named(module, "%q").count, 3u);
    EXPECT_EQ(variable_named(module, "y").align, 8u);
    EXPECT_EQ(size_in_bytes(module, variable_named(module, "y")), 16u);
    EXPECT_EQ(module.text(variable_named(module, "y").name_span), "y");
    EXPECT_EQ(variable_named(module, "l").space, Space::local);
    EXPECT_EQ(variable_named(module, "b").space, Space::param);
}

TEST(Initializers, Values) {
    const Module module = read_module(
        ".global .s32 x[3][2] = { {1,2}, {-3} };\n.const .f32 v[] = { 0.5, 0f3f800000, -1.0 };\n.global .v2 .f32 w = "
        "{1.0, 2.0};\n"
        ".global .u32 n = 3*4+(1<<2);\n.global .s32 e[3] = {};\n.global .s32 y[][2] = {{1, 0}, {0, 1}, {2}};");
    const auto root = [&](const char* name) { return module.initializers[variable_named(module, name).initializer]; };
    const auto rows = module.children(root("x"));
    ASSERT_EQ(rows.size(), 2u);
    ASSERT_EQ(module.children(rows[0]).size(), 2u);
    EXPECT_EQ(module.children(rows[0])[1].bits, 2u);
    ASSERT_EQ(module.children(rows[1]).size(), 1u);
    EXPECT_EQ(module.children(rows[1])[0].offset(), -3);
    EXPECT_EQ(size_in_bytes(module, variable_named(module, "x")), 24u);
    EXPECT_EQ(size_in_bytes(module, variable_named(module, "v")), 12u);
    EXPECT_EQ(module.children(root("v"))[1].immediate, ImmediateKind::f32);
    EXPECT_EQ(module.children(root("v"))[2].bits, 0xbff0000000000000u);
    EXPECT_EQ(module.children(root("w")).size(), 2u);
    EXPECT_EQ(root("n").bits, 16u);
    EXPECT_EQ(module.children(root("e")).size(), 0u);
    EXPECT_EQ(size_in_bytes(module, variable_named(module, "y")), 24u);
}

TEST(Initializers, Addresses) {
    const Module module = read_module(
        ".global .u32 foo[4];\n.func f() { ret; }\n.global .u64 a[] = {foo, foo+8, generic(foo)+-4, f, 0};\n"
        ".global .u8 b[] = {0xff(foo), 0xff00(foo+4), 0xFF00000000000000(generic(foo)), 0xFF(1000+546), "
        "0xFF00(131187)};");
    const auto a = module.children(module.initializers[variable_named(module, "a").initializer]);
    ASSERT_EQ(a.size(), 5u);
    EXPECT_EQ(a[0].kind, InitializerKind::address);
    EXPECT_FALSE(a[0].generic);
    EXPECT_EQ(module.symbols[a[0].symbol].kind, SymbolKind::variable);
    EXPECT_EQ(a[1].offset(), 8);
    EXPECT_TRUE(a[2].generic);
    EXPECT_EQ(a[2].offset(), -4);
    EXPECT_EQ(module.symbols[a[3].symbol].kind, SymbolKind::function);
    EXPECT_EQ(a[4].kind, InitializerKind::value);
    const auto b = module.children(module.initializers[variable_named(module, "b").initializer]);
    ASSERT_EQ(b.size(), 5u);
    EXPECT_EQ(b[0].mask_byte, 0);
    EXPECT_EQ(b[1].mask_byte, 1);
    EXPECT_EQ(b[1].offset(), 4);
    EXPECT_EQ(b[2].mask_byte, 7);
    EXPECT_TRUE(b[2].generic);
    EXPECT_EQ(b[3].bits, 1546u & 0xff);
    EXPECT_EQ(b[4].bits, 131187u >> 8 & 0xff);
}

TEST(Initializers, SamplerFields) {
    const Module module = read_module(
        ".global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest, force_unnormalized_coords = 1 "
        "};");
    const auto fields = module.children(module.initializers[0].kind == InitializerKind::list
                                            ? module.initializers[0]
                                            : module.initializers[module.variables[0].initializer]);
    ASSERT_EQ(fields.size(), 3u);
    EXPECT_EQ(module.name(fields[0].name), "addr_mode_0");
    EXPECT_EQ(module.name(fields[0].value_name), "clamp_to_border");
    EXPECT_EQ(fields[2].value_name, none);
    EXPECT_EQ(fields[2].bits, 1u);
}

TEST(Functions, Entries) {
    const Module module = read_module(
        ".visible .entry k(.param .u64 .ptr.global.align 16 a, .param .u64 .ptr .align 4 b, .param .u64 .ptr c, .param "
        ".align 64 .b8 d[128], .param .texref t)\n"
        ".reqntid 128, 2\n.minnctapersm 3\n.maxnreg 64\n.reqnctapercluster 2, 1, "
        "1\n.explicitcluster\n.blocksareclusters\n.pragma \"nounroll\";\n{ ret; }\n"
        ".entry plain { ret; }\n.entry declared(.param .b32 x);\n.weak .entry m() .maxntid 16,16,4 .maxnctapersm 2 "
        ".maxclusterrank 8 { ret; }");
    ASSERT_EQ(module.functions.size(), 4u);
    const Function& k = module.functions[0];
    EXPECT_EQ(k.kind, FunctionKind::entry);
    EXPECT_EQ(k.linkage, Linkage::visible);
    EXPECT_TRUE(k.has_body);
    const auto parameters = module.variables_in(k.parameters);
    ASSERT_EQ(parameters.size(), 5u);
    EXPECT_TRUE(parameters[0].pointer);
    EXPECT_EQ(parameters[0].pointee_space, Space::global);
    EXPECT_EQ(parameters[0].pointee_align, 16u);
    EXPECT_EQ(parameters[0].align, 0u);
    EXPECT_EQ(parameters[1].pointee_space, Space::none);
    EXPECT_EQ(parameters[1].pointee_align, 4u);
    EXPECT_TRUE(parameters[2].pointer);
    EXPECT_EQ(alignment(parameters[3]), 64u);
    EXPECT_EQ(size_in_bytes(module, parameters[3]), 128u);
    EXPECT_EQ(parameters[4].type, Type::texref);
    const auto directives = module.directives_in(k.directives);
    ASSERT_EQ(directives.size(), 7u);
    EXPECT_EQ(directives[0].kind, DirectiveKind::reqntid);
    EXPECT_EQ(directives[0].count, 2);
    EXPECT_EQ(directives[0].values[1], 2u);
    EXPECT_EQ(directives[3].kind, DirectiveKind::reqnctapercluster);
    EXPECT_EQ(directives[6].kind, DirectiveKind::pragma);
    EXPECT_EQ(module.pragmas[directives[6].pragma].strings[0], "nounroll");
    EXPECT_FALSE(module.functions[1].has_parameter_list);
    EXPECT_FALSE(module.functions[2].has_body);
    EXPECT_EQ(module.function_named("m"), 3u);
    EXPECT_EQ(module.function_named("nothing"), none);
}

TEST(Functions, DeviceFunctions) {
    const Module module = read_module(
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.func none_at_all .noreturn { exit; }\n"
        ".visible .func (.reg .f32 r) f(.reg .f32 a, .param .align 4 .b8 rest[]) .abi_preserve 8 .abi_preserve_control "
        "3 { mov.f32 r, a; ret; }\n"
        ".func later();\n.func later() { ret; }");
    const Function& f = module.functions[2];
    EXPECT_EQ(module.variables_in(f.returns)[0].space, Space::reg);
    EXPECT_EQ(module.variables_in(f.parameters)[1].space, Space::param);
    EXPECT_EQ(module.directives_in(f.directives)[0].kind, DirectiveKind::abi_preserve);
    EXPECT_EQ(module.directives_in(f.directives)[1].values[0], 3u);
    EXPECT_EQ(module.directives_in(module.functions[1].directives)[0].kind, DirectiveKind::noreturn);
    EXPECT_EQ(module.functions[0].linkage, Linkage::extern_);
    EXPECT_FALSE(module.functions[0].has_body);
    EXPECT_EQ(module.function_named("later"), 4u);
    EXPECT_EQ(module.functions[3].symbol, module.functions[4].symbol);
    EXPECT_EQ(module.symbols[module.functions[3].symbol].node, 4u);
}

TEST(Functions, PrototypesAndTargets) {
    const Module module = read_body(
        "N0: N1: A:\nT: .branchtargets A, N<2>;\nbrx.idx %r1, T;\nC: .calltargets f, g;\n"
        "P: .callprototype (.param .align 8 .b8 _[16]) _ (.param .b8 _[12], .param .b32 named) .abi_preserve 10;\nQ: "
        ".callprototype _;\nR: .callprototype _ () .noreturn;",
        ".func f() { ret; }\n.func g() { ret; }");
    ASSERT_EQ(module.targets.size(), 2u);
    const auto labels = module.operands_in(module.targets[0].targets);
    ASSERT_EQ(labels.size(), 3u);
    EXPECT_EQ(module.name(labels[0].name), "A");
    EXPECT_EQ(module.name(labels[2].name), "N1");
    EXPECT_EQ(module.symbol(labels[2])->kind, SymbolKind::label);
    EXPECT_TRUE(module.targets[1].calls);
    EXPECT_EQ(module.symbol(module.operands_in(module.targets[1].targets)[1])->kind, SymbolKind::function);
    ASSERT_EQ(module.prototypes.size(), 3u);
    EXPECT_EQ(size_in_bytes(module, module.variables_in(module.prototypes[0].returns)[0]), 16u);
    EXPECT_EQ(module.variables_in(module.prototypes[0].parameters)[0].name, none);
    EXPECT_EQ(module.name(module.variables_in(module.prototypes[0].parameters)[1].name), "named");
    EXPECT_FALSE(module.prototypes[1].has_parameter_list);
    EXPECT_TRUE(module.prototypes[2].has_parameter_list);
    EXPECT_EQ(module.symbol(module.operands_in(module.instructions[2].operands)[1])->kind, SymbolKind::targets);
}

TEST(Functions, Aliases) {
    const Module module = read_module(".func f() { ret; }\n.func b();\n.alias b, f;\n.entry k() { call b; ret; }");
    ASSERT_EQ(module.aliases.size(), 1u);
    EXPECT_EQ(module.symbols[module.aliases[0].aliasee_symbol].node, 0u);
    EXPECT_EQ(module.aliases[0].symbol, module.functions[1].symbol);
}

TEST(Debugging, FilesAndSections) {
    const Module module = read_module(
        ".file 1 \"a b.cu\", 1339013327, 64118\n.file 2 \"c.cu\"\n"
        ".section .debug_str {\ns0: .b8 95, -1, 0x2b\n.b8 0\n}\n.section .debug_info\n{\n.b32 11430\n.b64 "
        ".debug_loc+0x4, s0, s0+12\n.b32 e-s\ns:\n.b16 -5,-65535\ne:\n.b64 -1\n}");
    ASSERT_EQ(module.files.size(), 2u);
    EXPECT_EQ(module.files[0].name, "a b.cu");
    EXPECT_EQ(module.files[0].size, 64118u);
    EXPECT_FALSE(module.files[1].has_details);
    ASSERT_EQ(module.sections.size(), 2u);
    EXPECT_EQ(module.sections[1].name, ".debug_info");
    EXPECT_EQ(module.sections[0].lines.count, 3u);
    const auto line = [&](int i) { return module.section_lines[module.sections[1].lines.first + i]; };
    const auto value = [&](int i, int j) { return module.section_values[line(i).values.first + j]; };
    EXPECT_EQ(value(0, 0).value, 11430);
    EXPECT_EQ(module.name(value(1, 0).name), ".debug_loc");
    EXPECT_EQ(value(1, 0).value, 4);
    EXPECT_EQ(value(1, 2).value, 12);
    EXPECT_EQ(module.name(value(2, 0).minus_name), "s");
    EXPECT_EQ(module.name(line(3).label), "s");
    EXPECT_EQ(value(4, 1).value, -65535);
}

// The chain of PTX ISA 11.5.4's example: line 15 inlined at 10, inlined at 27.
TEST(Debugging, LocationsAndInlining) {
    const Module module = read_body(
        "mov.u32 %r1, 0;\n.loc 1 27 3\n.loc 1 10 5, function_name info_string1, inlined_at 1 27 3\n"
        ".loc 1 15 3, function_name .debug_str+16, inlined_at 1 10 5\nmov.u32 %r1, 1;\n{ .loc 1 28 1\nmov.u32 %r1, 2; "
        "}\nmov.u32 %r1, 3;");
    EXPECT_EQ(module.instructions[0].location, none);
    const Location& innermost = module.locations[module.instructions[1].location];
    EXPECT_EQ(innermost.line, 15u);
    EXPECT_EQ(module.name(innermost.function_name), ".debug_str");
    EXPECT_EQ(innermost.function_name_offset, 16u);
    ASSERT_NE(innermost.inlined_at, none);
    const Location& middle = module.locations[innermost.inlined_at];
    EXPECT_EQ(middle.line, 10u);
    EXPECT_EQ(middle.column, 5u);
    const Location& outer = module.locations[middle.inlined_at];
    EXPECT_EQ(outer.line, 27u);
    EXPECT_EQ(outer.inlined_at, none);
    EXPECT_EQ(module.locations[module.instructions[2].location].line, 28u);
    EXPECT_EQ(module.locations[module.instructions[3].location].line, 28u);  // lexically preceding, scopes or not
}

TEST(Debugging, PragmasAndLegacyDwarf) {
    const Module module = read_module(
        ".pragma \"a\", \"b c\";\n@@DWARF .section .debug_pubnames, \"\", @progbits\n@@DWARF .byte 0x2b, 0x00\n.entry "
        "k() { .pragma \"nounroll\"; ret; }");
    EXPECT_EQ(module.pragmas[0].strings, (std::vector<std::string_view>{"a", "b c"}));
    EXPECT_EQ(module.dwarf_lines.size(), 2u);
    EXPECT_EQ(module.text(module.dwarf_lines[1]), "@@DWARF .byte 0x2b, 0x00");
    EXPECT_EQ(module.body(module.functions[0])[0].kind, StatementKind::pragma);
}

}  // namespace
}  // namespace tilepath::ptx
