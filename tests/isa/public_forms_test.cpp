// Every form that public kernels use, textures aside: opcode and operand shapes in sm_80_forms.txt, and in
// sm_90_forms.txt what sm_90a kernels have besides (wgmma, bulk copies and tensor maps have tests of their own).
//   R register, S symbol, I -I integers, F32 F64 floats, {x4} vector of four, [R+I] address, R|R pair, (S,S) list
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "modules.h"

namespace tilepath::isa {
namespace {

/// One operand of such a shape; all registers are the same one, for binding looks at kinds, not types.
std::string operand(const std::string& shape) {
    if (shape.starts_with("{x")) {
        std::string vector = "{r0";
        for (int i = 1; i < std::stoi(shape.substr(2)); ++i) vector += ", r0";
        return vector + "}";
    }
    std::string text = std::regex_replace(shape, std::regex("F32"), "0f3F800000");
    text = std::regex_replace(text, std::regex("F64"), "0d3FF0000000000000");
    text = std::regex_replace(text, std::regex("R"), "r0");
    text = std::regex_replace(text, std::regex("S"), "s");
    return std::regex_replace(text, std::regex("I"), "8");
}

std::vector<std::string> lines_of_forms(const std::string& name) {
    std::ifstream file(TILEPATH_TEST_DIR "/isa/" + name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        const std::size_t space = line.find(' ');
        std::string head = line.substr(0, space), text = head;
        if (space != std::string::npos) {
            std::string shapes = line.substr(space + 1);
            for (std::size_t begin = 0, end; begin <= shapes.size(); begin = end + 1) {
                end = std::min(shapes.find(',', begin), shapes.size());
                text += (begin == 0 ? " " : ", ") + operand(shapes.substr(begin, end - begin));
            }
        }
        lines.push_back(text + ";");
    }
    return lines;
}

TEST(Sm80Forms, AllBind) {
    std::vector<std::string> lines;
    int calls = 0;
    for (std::string& line : lines_of_forms("sm_80_forms.txt")) {
        // What calls and branches name must exist; they have a module of their own below.
        if (line.starts_with("call") || line.starts_with("bra"))
            ++calls;
        else
            lines.push_back(std::move(line));
    }
    ASSERT_EQ(lines.size(), 709u);
    EXPECT_EQ(calls, 10);
    auto module = ptx::read(Source("test.ptx", module_text("sm_80", "9.0", lines)));
    ASSERT_TRUE(module) << to_string(module.error());
    EXPECT_EQ(to_string(check_instructions(*module)), "");
}

TEST(Sm90Forms, AllBind) {
    const std::vector<std::string> lines = lines_of_forms("sm_90_forms.txt");
    ASSERT_EQ(lines.size(), 108u);
    auto module = ptx::read(Source("test.ptx", module_text("sm_90a", "9.0", lines)));
    ASSERT_TRUE(module) << to_string(module.error());
    EXPECT_EQ(to_string(check_instructions(*module)), "");
}

TEST(Sm80Forms, CallsAndBranchesBind) {
    auto module = ptx::read(Source("test.ptx", R"(.version 9.0
.target sm_80
.address_size 64
.func (.param .b32 out) f(.param .b32 a) { ret; }
.func g(.param .b32 a) { ret; }
.visible .entry k() {
  .reg .b64 callee; .reg .pred p; .param .b32 x; .param .b32 y;
  prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
  nothing: .callprototype _ (.param .b32 _);
  call (y), callee, (x), prototype;
  call callee, (x), nothing;
  call.uni (y), f, (x);
  call.uni g, (x);
  @p bra done;
  bra.uni done;
done:
  ret;
})"));
    ASSERT_TRUE(module) << to_string(module.error());
    EXPECT_EQ(to_string(check_instructions(*module)), "");
}

}  // namespace
}  // namespace tilepath::isa
