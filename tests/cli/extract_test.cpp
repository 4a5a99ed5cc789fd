// `tilepath extract`, and files with PTX in them as modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "fatbin/build.h"

namespace tilepath::cli {
namespace {

using fatbin::elf_of;
using fatbin::fatbin_of;
using fatbin::ptx_of;
using testing::AllOf;
using testing::HasSubstr;

struct App : Folder {
    App() {
        const std::string two =
            fatbin_of({{.kind = 2, .payload = "machine code"}, {.payload = ptx_of("sm_80", "add")}}) +
            fatbin_of({{.payload = ptx_of("sm_90", "mul")}});
        write("app", elf_of(".nv_fatbin", two));
        write("sass.o", elf_of(".nv_fatbin", fatbin_of({{.kind = 2, .architecture = 90, .payload = "machine code"}})));
    }
};

TEST(Extract, WritesEveryPtx) {
    const App folder;
    const Finished ran = folder.shell("tilepath extract app --output out");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out,
              "app: 2 PTX, 1 SASS\n"
              "  SASS  sm_80          16 bytes\n"
              "  PTX   sm_80          79 bytes  add\n"
              "  PTX   sm_90          79 bytes  mul\n"
              "wrote out/app.1.sm_80.ptx\n"
              "wrote out/app.2.sm_90.ptx\n");
    EXPECT_EQ(folder.read("out/app.1.sm_80.ptx"), ptx_of("sm_80", "add"));
    EXPECT_EQ(folder.read("out/app.2.sm_90.ptx"), ptx_of("sm_90", "mul"));
    const Finished again = folder.shell("tilepath extract app --output out");
    EXPECT_EQ(again.status, 2);
    EXPECT_THAT(again.err, AllOf(HasSubstr("out/app.1.sm_80.ptx exists already"), HasSubstr("--force")));
    EXPECT_EQ(folder.shell("tilepath extract app --output out --force").status, 0);
    EXPECT_EQ(folder.shell("tilepath extract app --list; ls *.ptx").err.substr(0, 3), "ls:") << "--list writes nothing";
    EXPECT_EQ(folder.shell("tilepath extract app && cat app.2.sm_90.ptx").status, 0);
}

TEST(Extract, Json) {
    const App folder;
    const auto parsed = nlohmann::json::parse(folder.shell("tilepath extract app --json -o out").out, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded());
    EXPECT_EQ(parsed["images"].size(), 3u);
    EXPECT_EQ(parsed["images"][2]["file"], "out/app.2.sm_90.ptx");
    EXPECT_EQ(parsed["images"][2]["entries"][0], "mul");
    EXPECT_EQ(parsed["images"][0]["kind"], "SASS");
}

TEST(Extract, SaysWhatAFileIsThatHasNone) {
    const App folder;
    folder.write("text", "hello");
    folder.write("a.ptx", ptx_of("sm_80", "f"));
    folder.write("cut", folder.read("app").substr(0, 200));
    struct Row {
        const char *arguments, *says;
    };
    for (const Row& row :
         {Row{"sass.o", "sass.o holds SASS (machine code) for sm_90 and no PTX"},
          Row{"sass.o", "-gencode arch=compute_80,code=compute_80"}, Row{"text", "text holds no device code"},
          Row{"a.ptx", "a.ptx is PTX already"}, Row{"no_such", "cannot read no_such"}, Row{".", "it is a directory"},
          Row{"cut", "damaged or cut off"}, Row{"app -o text/x", "cannot make the folder text/x"}, Row{"", "FILE"},
          Row{"--list text", "text holds no device code"}}) {
        const Finished ran = folder.shell(std::string("tilepath extract ") + row.arguments);
        EXPECT_EQ(ran.status, 2) << row.arguments;
        EXPECT_THAT(ran.err, HasSubstr(row.says)) << row.arguments;
    }
    const Finished listed = folder.shell("tilepath extract --list sass.o");
    EXPECT_EQ(listed.status, 0);
    EXPECT_THAT(listed.out, AllOf(HasSubstr("sass.o: 1 SASS\n"), HasSubstr("note: sass.o holds SASS")));
}

TEST(Extract, RunAndInitTakeTheFileAsModule) {
    const App folder;
    EXPECT_EQ(folder.shell("tilepath init app --entry add -o a.toml").status, 0);
    const Finished ran = folder.shell("tilepath run a.toml");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, testing::StartsWith("app: PTX for sm_80\nadd: 1 CTAs"));
    EXPECT_THAT(folder.shell("tilepath run a.toml --json").out, HasSubstr("\"module\": \"app: PTX for sm_80\""));
    folder.write("b.toml", "module = \"sass.o\"\ngrid = [1]\nblock = [1]\n");
    const Finished bad = folder.shell("tilepath run b.toml");
    EXPECT_EQ(bad.status, 2);
    EXPECT_THAT(bad.err, AllOf(HasSubstr("b.toml:1:10: error: sass.o holds SASS"), HasSubstr("code=compute_80")));
}

}  // namespace
}  // namespace tilepath::cli
