#include <filesystem>
#include <fstream>
#include <iterator>

#include "read_text.h"

namespace tilepath::ptx {
namespace {

void expect_round_trip(const Module& module) {
    const std::string printed = print(module);
    const auto again = read(Source("printed.ptx", printed));
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_TRUE(same_tree(module, *again)) << printed;
    EXPECT_EQ(print(*again), printed);
}

TEST(Print, OneInstructionPerLineAsPtxWritesIt) {
    const Module module = read_text(
        ".version 9.0 .target sm_90a,debug .address_size 64 .extern .func(.param .b32 r)vprintf(.param .b64 a,.param "
        ".b64 b);"
        ".visible .entry k(.param .u64 .ptr.global.align 16 p).maxntid 128{.reg .b32 %r<10>;.reg .pred %p<2>;.reg .f32 "
        "f;.reg .b64 d;"
        "@!%p1 ld.global.v4.b32{%r0,_,%r2,%r3},[d-16];{L:setp.eq.and.s32 %p1|_,%r1,-5,!%p1;}mov.f32 "
        "f,0F3f800000;mov.f32 f,1.5;"
        "add.u32 %r1,%r2,0x10U;mov.u32 %r1,%tid.x;call(%r1),vprintf,(d,d);.loc 1 2 3\nret;}");
    EXPECT_EQ(
        print(module),
        ".version 9.0\n.target sm_90a, debug\n.address_size 64\n"
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".visible .entry k(.param .u64 .ptr .global .align 16 p)\n.maxntid 128\n{\n"
        "\t.reg .b32 %r<10>;\n\t.reg .pred %p<2>;\n\t.reg .f32 f;\n\t.reg .b64 d;\n"
        "\t@!%p1 ld.global.v4.b32 {%r0, _, %r2, %r3}, [d+-16];\n"
        "\t{\n\t\tL:\n\t\tsetp.eq.and.s32 %p1|_, %r1, -5, !%p1;\n\t}\n"
        "\tmov.f32 f, 0f3F800000;\n\tmov.f32 f, 0d3FF8000000000000;\n\tadd.u32 %r1, %r2, 16U;\n\tmov.u32 %r1, %tid.x;\n"
        "\tcall (%r1), vprintf, (d, d);\n\t.loc 1 2 3\n\tret;\n}\n");
    EXPECT_EQ(print(module, module.instructions[0]), "@!%p1 ld.global.v4.b32 {%r0, _, %r2, %r3}, [d+-16]");
    expect_round_trip(module);
}

// Every kind of node, in the forms that print.cpp distinguishes.
const char* const everything = R"(
.version 9.0
.target sm_90a, debug
.address_size 64
.target sm_90
.file 1 "a.cu", 5, 6
.file 2 "b.cu"
.pragma "x", "y";
@@DWARF .byte 0x2b
.loc 1 2 3
.extern .shared .align 16 .b8 dyn[];
.extern .const[2] .b32 bank[];
.global .attribute(.managed) .s32 m;
.global .align 8 .attribute(.unified(1, 0xFFFFFFFFFFFFFFFF)) .f64 u;
.global .attribute(.managed, .unified(1, 2)) .v2 .f32 w[2] = {{1.0, 0f40000000}, {-0.0}};
.global .samplerref s = {addr_mode_0 = wrap, force_unnormalized_coords = 1};
.global .texref t;
.global .u64 a[] = {m, m+8, generic(m)+-4, 18446744073709551615, 5U, -3};
.global .u8 c[] = {0xff(m), 0xff00(m+4), 0xFF00000000000000(generic(m)+1), 0xFF(1000)};
.common .global .s64 e;
.weak .const .s32 x[2][3] = {{1, 2}, {}};
.func .attribute(.unified(3, 4)) g() .noreturn { trap; }
.extern .func (.param .align 8 .b8 r[16]) h(.reg .b32 a, .param .b8 b[]) .abi_preserve 3;
.func i;
.func j();
.alias j, g;
.visible .entry k(.param .u64 .ptr p, .param .u64 .ptr .const q, .param .align 64 .b8 z[128], .param .texref tt)
.reqntid 1, 2, 3 .reqnctapercluster 2 .explicitcluster .pragma "nounroll"; .maxnreg 32
{
    .reg .pred p1, p2; .reg .b32 %r<9>; .reg .b64 d<4>; .reg .v4 .f32 V; .shared .b8 sh[4]; .local .align 8 .b8 lo[8]; .param .b32 pa;
    .loc 1 2 3
    .loc 1 9 3, function_name str, inlined_at 1 2 3
    .loc 1 9 4, function_name .debug_str+16, inlined_at 1 9 3
    .pragma "used_bytes_mask 3";
    mov.b64 d0, -9223372036854775807-1; mov.b64 d0, 9223372036854775808; mov.b64 d0, 0U; mov.b64 d0, -1;
    ld.global.b32 %r1, [d0].unified; ld.b32 %r1, [16]; ld.b32 %r1, [d0+0x7fffffffffffffff]; ld.b32 %r1, [d0+0x8000000000000000];
    ld.const[2].b32 %r1, [bank+4];
    mov.u64 d1, m+8; mov.u64 d1, a[3]; ld.global.u32 %r1, a[d1+-4]; mov.f32 V.x, V.w; mov.v4.f32 {V.x, V.y, V.z, V.w}, V;
    tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [t, s, {%r1, %r2}]; cp.async.bulk.tensor.1d.x [%r1], [d0+64, {3}], [%r2];
    vadd.s32.s32.s32 %r1.h0, -%r2.b0, %r3.b3, %r4; setp.eq.and.s32 p1|p2, %r1, 2, !p1; elect.sync _|p1, -1;
    P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b8 n[3]) .noreturn; Q: .callprototype _; R: .callprototype _ ();
    A0: A1: B: T: .branchtargets B, A<2>; C: .calltargets g, j;
    call.uni (pa), d0, (d1, 5), P; call g; call g, (); @!p1 brx.idx %r1, T;
    { { .reg .b32 %r1; B: bra B; } { } }
    ret;
}
.section .debug_str { str: .b8 95, -1
end: .b16 3 .b32 end-str, .debug_info+0x4, str
.b64 str+12, -5 }
)";

TEST(Print, EveryKindOfNodeReadsBackEqual) {
    const Module module = read_text(everything);
    ASSERT_FALSE(module.items.empty());
    expect_round_trip(module);
}

// A change of any one token of the text above changes the tree, or the text is not read; so same_tree misses nothing.
TEST(SameTree, TellsEveryChangedNumberApart) {
    const std::string text = everything;
    const Module module = read_text(text);
    int changed = 0;
    for (std::size_t at = 1; at < text.size(); ++at) {
        const bool lone_digit = std::isdigit(static_cast<unsigned char>(text[at])) &&
                                std::string_view(" ,-{(+").contains(text[at - 1]) &&
                                std::string_view(" ,;})]\n").contains(text[at + 1]);
        if (!lone_digit) continue;
        std::string other = text;
        other[at] = static_cast<char>(other[at] == '9' ? '8' : other[at] + 1);
        const auto again = read(Source("changed.ptx", other));
        if (!again) continue;
        ++changed;
        EXPECT_FALSE(same_tree(module, *again)) << "at " << text.substr(at > 40 ? at - 40 : 0, 60);
    }
    EXPECT_GT(changed, 40);
}

TEST(SameTree, TellsNamesModifiersAndOrderApart) {
    const std::string base = wrap("@%p1 add.u32 %r1, %r2, 5; L: bra L; { mov.u32 %r3, %tid.x; }");
    const Module module = read_text(base);
    const std::pair<const char*, const char*> changes[] = {
        {"%r2", "%r3"},     {".u32 %r1", ".s32 %r1"}, {"@%p1", "@!%p1"},     {"5;", "5U;"}, {"L: bra L", "M: bra M"},
        {".x;", ".y;"},     {"{ mov", "mov"},         {".visible", ".weak"}, {"@%p1 ", ""}, {"9.0", "8.9"},
        {"sm_90a", "sm_90"}};
    for (const auto& [from, to] : changes) {
        std::string text = base;
        text.replace(text.find(from), std::string_view(from).size(), to);
        if (std::string_view(to) == "mov") text.replace(text.find("}", text.find("mov")), 1, "");
        const auto other = read(Source("changed.ptx", text));
        ASSERT_TRUE(other) << from << to_string(other.error());
        EXPECT_FALSE(same_tree(module, *other)) << from;
    }
    EXPECT_TRUE(same_tree(module, read_text(wrap("@%p1 add .u32 %r1,%r2,0x5;/**/L:bra L;{mov.u32 %r3,%tid.r;}"))));
}

// What nvcc made of our own kernels.
TEST(Print, CompiledKernelsReadBackEqual) {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(TILEPATH_TEST_DIR "/../kernels")) {
        if (entry.path().extension() != ".ptx") continue;
        ++files;
        std::ifstream in(entry.path(), std::ios::binary);
        SCOPED_TRACE(entry.path().filename());
        expect_round_trip(read_text(std::string(std::istreambuf_iterator<char>(in), {})));
    }
    EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace tilepath::ptx
