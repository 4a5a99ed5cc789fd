#pragma once
// Asks ptxas, where it is installed, which of many instructions it accepts.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace tilepath {

inline std::optional<std::string> find_ptxas() {
    std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
    path += ":/usr/local/cuda/bin";
    for (std::size_t begin = 0; begin <= path.size();) {
        std::size_t end = std::min(path.find(':', begin), path.size());
        std::filesystem::path candidate = std::filesystem::path(path.substr(begin, end - begin)) / "ptxas";
        if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
        begin = end + 1;
    }
    return std::nullopt;
}

/// Lines that ptxas reports errors at when it assembles the module, and what it says; line 0: something without a line.
inline std::map<std::size_t, std::string> errors_of_ptxas(const std::string& ptxas, const std::string& target,
                                                          const std::string& text) {
    const std::string file = testing::TempDir() + "/ptxas_" + std::to_string(getpid()) + "_" + target + ".ptx";
    std::ofstream(file) << text;
    std::map<std::size_t, std::string> errors;
    FILE* pipe = popen((ptxas + " -O0 -arch " + target + " " + file + " -o /dev/null 2>&1").c_str(), "r");
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe)) {
        std::string line = buffer.data();
        std::size_t at = line.find(", line "), error = std::min(line.find("; error"), line.find("; fatal"));
        if (line.find(file) == std::string::npos) continue;  // about the text of one of its own macros
        if (at != std::string::npos && error != std::string::npos)
            errors.emplace(static_cast<std::size_t>(std::atoi(line.c_str() + at + 7)), line.substr(error + 10));
    }
    if (int status = pclose(pipe); status != 0 && errors.empty())
        errors.emplace(0, "ptxas failed without naming a line");
    std::filesystem::remove(file);
    return errors;
}

/// A module of some lines of PTX, and the number of the first of them in its text.
struct ModuleText {
    std::function<std::string(const std::vector<std::string>& lines)> of;
    std::size_t first_line = 1;
};

/// What ptxas refuses, by index, and what it says. It reports in stages, so what it refuses is taken out until nothing
/// more comes. A wrong line at the end keeps it from generating code, which takes long.
inline std::map<std::size_t, std::string> refused_by_ptxas(const std::string& ptxas, const std::string& target,
                                                           const ModuleText& text, std::vector<std::string> lines) {
    std::map<std::size_t, std::string> refused;
    const std::size_t count = lines.size(), first = text.first_line;
    lines.emplace_back("add.sat.u32 r0, r1, r2;");
    for (bool more = true; more;) {
        more = false;
        auto errors = errors_of_ptxas(ptxas, target, text.of(lines));
        for (auto& [line, what] : errors) {
            if (line < first) ADD_FAILURE() << "ptxas: " << what;
            if (line < first || line >= count + first) continue;
            if (!refused.emplace(line - first, what).second) continue;
            lines[line - first].clear();
            more = true;
        }
        EXPECT_TRUE(more || errors.contains(count + first)) << "ptxas did not reach the last line";
    }
    return refused;
}

}  // namespace tilepath
