// tests/bugs: small kernels, each with one bug, on which `tilepath check` tells exactly what is expected, and the
// corrected twin of each, on which it tells nothing.
//
// Both come from one text. Of a launch file, NAME.toml, and its kernel, NAME.ptx, the lines that end in `#bug` or
// `//bug` are the bug's, those in `#fix` or `//fix` the twin's. What is expected stands at the launch file's beginning:
//
//     #: finding CHECK @MARK | how the message begins | in the advice | in a fact | in a fact …
//     #: note …           the same, of a note; the exit status is 0
//     #: always note …    on the twin too
//     #: options --copies late        of `tilepath check`
//     #: nothing                     it looks like a bug and is none
//     #: error | in what is printed        bad input, exit status 2
//
// MARK is the line of the kernel that has `@MARK` in a comment; `-`: no line. The launch file of another name may share
// a kernel. With a [gemm] table every element of the twin's D must be proven.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/program.h"

namespace tilepath::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

const fs::path folder_of_bugs = fs::path(TILEPATH_TEST_DIR) / "bugs";

std::vector<std::string> lines_of(const fs::path& file) {
    std::ifstream in(file);
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

struct Expected {
    bool note = false, always = false, error = false;
    std::string check, mark, message;
    std::vector<std::string> advice_and_facts;
};

std::vector<Expected> expectations(const std::vector<std::string>& lines) {
    std::vector<Expected> out;
    for (const std::string& line : lines) {
        if (!line.starts_with("#: ") || line.starts_with("#: options") || line == "#: nothing") continue;
        std::vector<std::string> parts;
        std::stringstream rest(line.substr(3));
        for (std::string part; std::getline(rest, part, '|');) parts.push_back(trimmed(part));
        std::stringstream head(parts.at(0));
        Expected each;
        std::string word;
        head >> word;
        if (word == "always") each.always = true, head >> word;
        each.note = word == "note", each.error = word == "error";
        EXPECT_TRUE(each.note || each.error || word == "finding") << line;
        head >> each.check >> each.mark;
        each.message = parts.at(1);
        each.advice_and_facts.assign(parts.begin() + 2, parts.end());
        out.push_back(std::move(each));
    }
    return out;
}

/// `#: options …`: of the command.
std::string options_of(const std::vector<std::string>& lines) {
    const std::string word = "#: options ";
    for (const std::string& line : lines)
        if (line.starts_with(word)) return " " + line.substr(word.size());
    return "";
}

/// Lines of the other variant are empty, so that places stay.
std::string variant(const std::vector<std::string>& lines, bool bug) {
    std::string out;
    for (const std::string& line : lines) out += (line.ends_with(bug ? "fix" : "bug") ? "" : line) + "\n";
    return out;
}

class Bugs : public testing::TestWithParam<std::string> {
  protected:
    struct Told {
        Finished run;
        json report, found;
    };
    Told check(bool bug) {
        const std::vector<std::string> launch = lines_of(folder_of_bugs / (GetParam() + ".toml"));
        folder_.write("launch.toml", variant(launch, bug));
        for (const auto& entry : fs::directory_iterator(folder_of_bugs))
            if (entry.path().extension() == ".ptx")
                folder_.write(entry.path().filename().string(), variant(lines_of(entry.path()), bug));
        Told out{folder_.shell("tilepath check launch.toml --json" + options_of(launch)), {}, json::array()};
        out.report = json::parse(out.run.out, nullptr, false);
        if (out.report.is_object()) out.found = out.report.value("findings", json::array());
        return out;
    }
    int line_of(const Expected& expected) const {
        if (expected.mark == "-") return 0;
        const std::vector<std::string> lines = lines_of(folder_.path() / module());
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (lines[i].find(expected.mark + " ") != std::string::npos || lines[i].ends_with(expected.mark))
                return static_cast<int>(i) + 1;
        ADD_FAILURE() << "no line is marked " << expected.mark;
        return -1;
    }
    std::string module() const {
        for (const std::string& line : lines_of(folder_.path() / "launch.toml"))
            if (line.starts_with("module = \"")) return line.substr(10, line.find('"', 10) - 10);
        return GetParam() + ".ptx";
    }
    bool is(const json& found, const Expected& expected) const {
        return found.at("check") == expected.check && found.at("line") == line_of(expected) &&
               found.at("severity") == (expected.note ? "note" : "finding") &&
               found.at("message").get<std::string>().starts_with(expected.message);
    }
    void expect_exactly(const json& found, std::vector<Expected> expected) const {
        for (const json& each : found) {
            const auto at = std::ranges::find_if(expected, [&](const Expected& e) { return is(each, e); });
            if (at == expected.end()) {
                ADD_FAILURE() << "not expected: " << each.dump(2);
                continue;
            }
            const std::string text = each.at("advice").get<std::string>() + "\n" + each.at("facts").dump();
            for (const std::string& part : at->advice_and_facts) EXPECT_THAT(text, HasSubstr(part));
            expected.erase(at);
        }
        for (const Expected& each : expected)
            ADD_FAILURE() << fmt::format("not told: {} at {}: {}\ntold: {}", each.check, each.mark, each.message,
                                         found.dump(2));
    }

    Folder folder_;
};

TEST_P(Bugs, AreFoundAndTheirTwinsAreSilent) {
    const std::vector<Expected> expected = expectations(lines_of(folder_of_bugs / (GetParam() + ".toml")));
    const std::vector<std::string> lines = lines_of(folder_of_bugs / (GetParam() + ".toml"));
    ASSERT_EQ(expected.empty(), std::ranges::find(lines, "#: nothing") != lines.end());
    const Told bug = check(true);
    if (!expected.empty() && expected[0].error) {
        EXPECT_EQ(bug.run.status, 2);
        EXPECT_THAT(bug.run.err, HasSubstr(expected[0].message));
    } else {
        const bool ends = std::ranges::any_of(
            expected, [](const Expected& each) { return each.check == "fault" || each.check == "deadlock"; });
        const bool wrong = std::ranges::any_of(expected, [](const Expected& each) { return !each.note; });
        EXPECT_EQ(bug.run.status, ends ? 3 : wrong ? 1 : 0) << bug.run.err;
        expect_exactly(bug.found, expected);
    }
    const Told twin = check(false);
    EXPECT_EQ(twin.run.status, 0) << twin.run.out << twin.run.err;
    std::vector<Expected> always;
    std::ranges::copy_if(expected, std::back_inserter(always), &Expected::always);
    expect_exactly(twin.found, always);
    if (!twin.report.contains("provenance")) return;
    for (const char* what : {"matrix_instructions", "elements_of_d"}) {
        const json& counts = twin.report["provenance"][what];
        EXPECT_GT(counts.at("proven"), 0) << what;
        EXPECT_EQ(counts.at("disproven"), 0) << what;
        EXPECT_EQ(counts.at("unknown"), 0) << what;
    }
}

std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_of_bugs))
        if (entry.path().extension() == ".toml") out.push_back(entry.path().stem().string());
    std::ranges::sort(out);
    return out;
}

INSTANTIATE_TEST_SUITE_P(All, Bugs, testing::ValuesIn(names()), [](const auto& each) { return each.param; });

}  // namespace
}  // namespace tilepath::cli
