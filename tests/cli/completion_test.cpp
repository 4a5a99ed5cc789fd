// `tilepath completion`: every command and option is in it, and each shell that is installed takes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"

namespace tilepath::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What bash offers for a command line whose last word is begun.
std::string offered(const std::string& words) {
    const Folder folder;
    folder.write("complete.sh", "source <(tilepath completion bash)\nCOMP_WORDS=(" + words +
                                    ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_tilepath\necho \"${COMPREPLY[*]}\"\n");
    const Finished ran = folder.shell("bash complete.sh");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    return ran.out;
}

TEST(Completion, Bash) {
    EXPECT_EQ(offered("tilepath ex"), "extract\n");
    EXPECT_EQ(offered("tilepath --v"), "--version\n");
    EXPECT_EQ(offered("tilepath run --stop"), "--stop-at\n");
    EXPECT_EQ(offered("tilepath run --copies ''"), "eager late random\n");
    EXPECT_EQ(offered("tilepath run --copies l"), "late\n");
    EXPECT_EQ(offered("tilepath run a.toml --dev"), "--device\n");
    EXPECT_EQ(offered("tilepath completion z"), "zsh\n");
    EXPECT_EQ(offered("tilepath run fil"), "\n") << "files are bash's own affair";
    EXPECT_EQ(offered("tilepath init --stop"), "\n") << "an option of another command";
}

TEST(Completion, EveryShellThatIsHereTakesIt) {
    const Folder folder;
    for (const std::string shell : {"bash", "zsh", "fish"}) {
        const Finished text =
            folder.shell("tilepath completion " + shell + " >" + shell + ".txt; cat " + shell + ".txt");
        for (const char* word : {"gemm", "run", "init", "extract", "dot", "isa", "completion", "schedule", "eager",
                                 "Take the PTX out of"}) {
            if (shell == "bash" && std::string(word).starts_with("Take")) continue;  // it shows no descriptions
            EXPECT_THAT(text.out, HasSubstr(word)) << shell;
        }
        const Finished ran =
            folder.shell("command -v " + shell + " >/dev/null || exit 0; " + shell + " -n " + shell + ".txt");
        EXPECT_EQ(ran.status, 0) << ran.err;
    }
    EXPECT_EQ(folder.shell("tilepath completion tcsh").status, 2);
}

TEST(Completion, TheManualPageHasEveryCommandAndOption) {
    const Folder folder;
    EXPECT_EQ(folder.shell("tilepath completion man >tilepath.1").status, 0);
    const std::string page = folder.read("tilepath.1");
    EXPECT_THAT(page, AllOf(testing::StartsWith(".\\\""), HasSubstr(".SH NAME"), HasSubstr(".SH EXIT STATUS"),
                            HasSubstr(".SS tilepath extract")));
    if (folder.shell("command -v groff").status != 0) GTEST_SKIP() << "no groff";
    const Finished shown = folder.shell("groff -man -Tutf8 -ww -P-cbou tilepath.1");
    EXPECT_EQ(shown.status, 0);
    EXPECT_EQ(shown.err, "") << "a page without warnings";
    for (const char* text :
         {"--stop-at", "--copies eager|late|random", "tilepath extract [options] FILE", "EXIT STATUS"})
        EXPECT_THAT(shown.out, HasSubstr(text));
    // What --help lists is in the page, option by option.
    const std::string help =
        folder.shell("tilepath run --help; tilepath gemm --help; tilepath extract --help; tilepath isa --help").out;
    for (std::size_t at = help.find("--"); at != std::string::npos; at = help.find("--", at + 2)) {
        std::size_t end = at + 2;
        while (end < help.size() && (std::isalnum(static_cast<unsigned char>(help[end])) || help[end] == '-')) ++end;
        if (end > at + 2) {
            EXPECT_THAT(shown.out, HasSubstr(help.substr(at, end - at)));
        }
    }
}

}  // namespace
}  // namespace tilepath::cli
