#pragma once
// Asks ptxas, where it is installed, which instructions it accepts.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "modules.h"

namespace tilepath::isa {

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

/// Lines that ptxas reports errors at when it assembles the module, and what it says.
inline std::map<std::size_t, std::string> errors_of_ptxas(const std::string& ptxas, const std::string& target,
                                                          const std::string& text) {
    const std::string file = testing::TempDir() + fmt::format("/isa_{}_{}.ptx", getpid(), target);
    std::ofstream(file) << text;
    std::map<std::size_t, std::string> errors;
    FILE* pipe = popen(fmt::format("{} -O0 -arch {} {} -o /dev/null 2>&1", ptxas, target, file).c_str(), "r");
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe)) {
        std::string line = buffer.data();
        std::size_t at = line.find(", line "), error = line.find("; error");
        if (at != std::string::npos && error != std::string::npos)
            errors.emplace(static_cast<std::size_t>(std::atoi(line.c_str() + at + 7)), line.substr(error + 10));
    }
    if (int status = pclose(pipe); status != 0 && errors.empty())
        errors.emplace(0, "ptxas failed without naming a line");
    std::filesystem::remove(file);
    return errors;
}

/// What ptxas refuses, by index, and what it says. It reports in stages, so what it refuses is taken out until nothing
/// more comes. `through_code_generation`: all stages; otherwise a wrong line at the end keeps it from generating code,
/// which takes long.
inline std::map<std::size_t, std::string> refused_by_ptxas(const std::string& ptxas, const std::string& target,
                                                           const std::string& version, std::vector<std::string> lines) {
    std::map<std::size_t, std::string> refused;
    const std::size_t count = lines.size();
    lines.push_back("add.sat.u32 r0, r1, r2;");
    for (bool more = true; more;) {
        more = false;
        auto errors = errors_of_ptxas(ptxas, target, module_text(target, version, lines));
        for (auto& [line, what] : errors) {
            if (line < first_line) ADD_FAILURE() << "ptxas: " << what;
            if (line < first_line || line >= count + first_line) continue;
            if (!refused.emplace(line - first_line, what).second) continue;
            lines[line - first_line].clear();
            more = true;
        }
        EXPECT_TRUE(more || errors.contains(count + first_line)) << "ptxas did not reach the last line";
    }
    return refused;
}

}  // namespace tilepath::isa
