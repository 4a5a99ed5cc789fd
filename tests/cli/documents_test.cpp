// Every command that README.md and docs/ show is run. In a ```console block each line that begins with `$ ` is a command,
// run in a copy of what the document speaks of (examples/, docs/, build/tilepath), and must exit with 0, or with N where
// `# exit status N` ends the line. The lines below it, if there are any, must be in what it prints, in that order; `…`
// stands for any text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/program.h"

namespace tilepath::cli {
namespace {

namespace fs = std::filesystem;
const fs::path root = fs::path(TILEPATH_TEST_DIR).parent_path();

struct Command {
    int line = 0;
    std::string text;
    int status = 0;
    std::vector<std::string> prints;
};

std::vector<Command> commands_of(const fs::path& document) {
    std::ifstream in(document);
    std::vector<Command> out;
    bool inside = false;
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.starts_with("```")) {
            inside = !inside && line == "```console";
            continue;
        }
        if (!inside) continue;
        if (line.starts_with("$ ")) {
            Command command{number, line.substr(2), 0, {}};
            if (const std::size_t at = line.find("# exit status "); at != std::string::npos) command.status = std::stoi(line.substr(at + 14));
            out.push_back(command);
        } else if (out.empty()) {
            ADD_FAILURE() << document << ":" << number << ": output before the first command";
        } else {
            out.back().prints.push_back(line);
        }
    }
    return out;
}

/// Whether `text` holds the pieces between `…`, in order, from `from` on; then `from` is behind them.
bool holds(const std::string& text, const std::string& line, std::size_t& from) {
    static const std::string dots = "…";
    std::size_t at = from;
    for (std::size_t begin = 0; begin <= line.size();) {
        const std::size_t end = std::min(line.find(dots, begin), line.size());
        const std::string piece = line.substr(begin, end - begin);
        const std::size_t found = text.find(piece, at);
        if (found == std::string::npos) return false;
        at = found + piece.size();
        begin = end + dots.size();
    }
    from = at;
    return true;
}

std::vector<std::string> documents() {
    std::vector<std::string> out = {"README.md"};
    for (const auto& entry : fs::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") out.push_back("docs/" + entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
}

class Documents : public testing::TestWithParam<std::string> {};

TEST_P(Documents, ShowCommandsThatWork) {
    const Folder folder;
    for (const char* part : {"examples", "docs", "README.md", "LICENSE"})
        if (fs::exists(root / part)) fs::copy(root / part, folder.path() / part, fs::copy_options::recursive);
    fs::create_directory(folder.path() / "build");
    fs::create_symlink(TILEPATH_PROGRAM, folder.path() / "build/tilepath");
    for (const Command& command : commands_of(root / GetParam())) {
        SCOPED_TRACE(GetParam() + ":" + std::to_string(command.line) + ": " + command.text);
        const Finished ran = folder.shell(command.text);
        EXPECT_EQ(ran.status, command.status) << ran.out << ran.err;
        std::size_t at = 0;
        const std::string printed = ran.out + ran.err;
        for (const std::string& line : command.prints)
            EXPECT_TRUE(holds(printed, line, at)) << "expected: " << line << "\nin:\n" << printed;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Documents, testing::ValuesIn(documents()), [](const auto& each) {
    std::string name = each.param;
    std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return name;
});

// The two commands of the README need no test of their own here: CI runs ./test, which builds what ./run builds.
TEST(DocumentReader, ScriptsThatTheReadmeNamesAreThere) {
    for (const char* script : {"run", "test", "bench/run"}) {
        EXPECT_EQ(access((root / script).c_str(), X_OK), 0) << script;
        EXPECT_EQ(Folder().shell("bash -n '" + (root / script).string() + "'").status, 0) << script;
    }
}

TEST(DocumentReader, TheReaderOfDocumentsFindsWhatIsWrong) {
    const Folder folder;
    folder.write("a.md", "text\n```console\n$ false  # exit status 1\n$ echo one two\none…\ntwo\n```\n```sh\n$ exit 9\n```\n");
    const std::vector<Command> commands = commands_of(folder.path() / "a.md");
    ASSERT_EQ(commands.size(), 2u);
    EXPECT_EQ(commands[0].status, 1);
    EXPECT_EQ(commands[1].prints, (std::vector<std::string>{"one…", "two"}));
    std::size_t at = 0;
    EXPECT_TRUE(holds("one two", "one…two", at));
    EXPECT_FALSE(holds("one two", "two", at)) << "output is searched in order";
}

}  // namespace
}  // namespace tilepath::cli
