// Each bad_NAME.ptx is a module with errors; bad_NAME.txt is what the user sees. TILEPATH_REBASE=1 writes the .txt
// anew, to be read through.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "read_text.h"

namespace tilepath::ptx {
namespace {

namespace fs = std::filesystem;

std::string load(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> bad_modules() {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(TILEPATH_TEST_DIR "/ptx"))
        if (entry.path().extension() == ".ptx" && entry.path().filename().string().starts_with("bad_"))
            paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

TEST(Diagnostics, BadModulesGiveTheExpectedText) {
    const auto paths = bad_modules();
    EXPECT_GE(paths.size(), 10u);
    for (const fs::path& path : paths) {
        SCOPED_TRACE(path.filename());
        const auto module = read(Source(path.filename().string(), load(path)));
        ASSERT_FALSE(module);
        fs::path expected = path;
        expected.replace_extension(".txt");
        if (std::getenv("TILEPATH_REBASE")) std::ofstream(expected, std::ios::binary) << to_string(module.error());
        EXPECT_EQ(to_string(module.error()), load(expected));
    }
}

// However a text is cut off, the reader says so instead of crashing or accepting it.
TEST(Diagnostics, EveryTruncationIsAnErrorOrAWholeModule) {
    const std::string text =
        wrap("@%p1 ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1+16];\nL: bra L; { .loc 1 2 3\n }",
             ".global .align 4 .u32 a[2][2] = {{1, 2}, {3+4, 0x10}};\n.section .debug_str { s: .b8 1, 2\n }");
    const std::size_t body = text.find("{\n.reg");
    for (std::size_t length = 0; length < text.size() - 1; ++length) {
        const auto module = read(Source("cut.ptx", text.substr(0, length)));
        if (length > body && length < text.rfind('}')) {
            EXPECT_FALSE(module) << length;
        }
        if (module) continue;
        for (const Diagnostic& diagnostic : module.error()) EXPECT_TRUE(diagnostic.place) << diagnostic.message;
    }
}

TEST(Diagnostics, BinaryFilesAreNamed) {
    EXPECT_NE(errors_of(std::string("\x7f"
                                    "ELF\x02\x01\x01\0\0\0",
                                    10))
                  .find("this is an ELF file (a compiled cubin or an object file)"),
              std::string::npos);
    EXPECT_NE(errors_of("\x50\xed\x55\xba rest").find("this is a fatbin"), std::string::npos);
    EXPECT_NE(errors_of(std::string(".version 8.0\n\0\0", 15)).find("this is a binary file"), std::string::npos);
    EXPECT_NE(errors_of("").find("found an empty file"), std::string::npos);
    EXPECT_NE(errors_of("__global__ void k() {}").find("expected '.version' first, found '__global__'"),
              std::string::npos);
}

TEST(Diagnostics, AtMostFiftyAndACount) {
    std::string body;
    for (int i = 0; i < 70; ++i) body += "mov.b32 x" + std::to_string(i) + ", 1;\n";
    const auto module = read(Source("many.ptx", wrap(body)));
    ASSERT_FALSE(module);
    ASSERT_EQ(module.error().size(), max_errors + 1);
    EXPECT_EQ(module.error().back().severity, Severity::note);
    EXPECT_EQ(module.error().back().message, "20 more errors are not shown");
}

std::string repeat(std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
}

TEST(Diagnostics, DeepNestingIsAnErrorNotACrash) {
    constexpr std::size_t deep = 200000;
    const auto expect = [](const std::string& text, const char* message) {
        EXPECT_NE(errors_of(text).find(message), std::string::npos) << message;
    };
    expect(wrap("mov.b32 %r1, " + repeat("(", deep) + "1;"), "nested too deeply");
    expect(wrap("mov.b32 %r1, " + repeat("-", deep) + "1;"), "nested too deeply");
    expect(wrap("mov.b32 %r1, " + repeat("1?", deep) + "1;"), "nested too deeply");
    expect(wrap("mov.b32 %r1, " + repeat("(.s64)", deep) + "1;"), "nested too deeply");
    expect(wrap("mov.b32 " + repeat("{", deep) + "%r1;"), "nested too deeply");
    expect(wrap("mov.b32 " + repeat("[%rd1,", deep) + "%r1;"), "nested too deeply");
    expect(wrap("call " + repeat("(", deep) + "%r1;"), "nested too deeply");
    expect(wrap("", ".global .u32 a[] = " + repeat("{", deep) + "1;"), "nested too deeply");
    expect(wrap(repeat("{", deep)), "more than 1000 scopes are nested here");
    EXPECT_TRUE(read(Source("scopes.ptx", wrap(repeat("{", 999) + repeat("}", 999)))));
}

TEST(Diagnostics, HugeNumbersAreBounded) {
    const std::pair<const char*, const char*> rows[] = {
        {".reg .b32 x<4000000000>;", "a number of registers from 0 to 16777216"},
        {".shared .b8 x[99999999999999999999];", "does not fit in 64 bits"},
        {".shared .b8 x[1000000000][1000000000][1000000000];", "larger than any memory"},
        {"T: .branchtargets N<4000000000>;", "a number of targets from 0 to 1048576"},
        {".shared .align 3 .b8 x;", "must be a power of two"},
        {".loc 99999999999 1 1", "a file index from 0 to 4294967295"}};
    for (const auto& [body, message] : rows)
        EXPECT_NE(errors_of(wrap(body)).find(message), std::string::npos) << body << errors_of(wrap(body));
}

}  // namespace
}  // namespace tilepath::ptx
