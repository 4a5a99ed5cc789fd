#pragma once
// Asks ptxas, where it is installed, which of many instructions it accepts.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace tilepath::atom {

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

/// The lines of `instructions` that ptxas refuses for `target`. It reports in stages, so what it refuses is taken out
/// until the rest assembles.
inline std::set<std::size_t> refused_by_ptxas(const std::string& ptxas, const std::string& target,
                                              const std::vector<std::string>& instructions) {
    const std::string preamble = ".version 9.0\n.target " + target + "\n.address_size 64\n.visible .entry k() {\n" +
                                 ".reg .b32 r<200>; .reg .f32 f<200>; .reg .f64 g<99>; .reg .b64 q<9>; .reg .pred "
                                 "p<9>;\n.shared .align 128 .b8 s[4096];\n";
    constexpr int first_line = 7;
    std::string file = testing::TempDir() + "/ptxas_" + std::to_string(getpid()) + "_" + target + ".ptx";
    std::set<std::size_t> refused;
    for (bool clean = false; !clean;) {
        std::ofstream out(file);
        out << preamble;
        for (std::size_t i = 0; i < instructions.size(); ++i)
            out << (refused.contains(i) ? "" : instructions[i]) << "\n";
        out << "ret;\n}\n";
        out.close();
        clean = true;
        FILE* pipe = popen((ptxas + " -arch " + target + " " + file + " -o /dev/null 2>&1").c_str(), "r");
        std::array<char, 4096> line{};
        while (std::fgets(line.data(), line.size(), pipe)) {
            std::string text = line.data();
            std::size_t at = text.find(", line ");
            if (at == std::string::npos || text.find("; error") == std::string::npos) continue;
            std::size_t index = static_cast<std::size_t>(std::atoi(text.c_str() + at + 7) - first_line);
            if (index < instructions.size() && refused.insert(index).second) clean = false;
        }
        int status = pclose(pipe);
        EXPECT_TRUE(status == 0 || !clean) << "ptxas failed without naming a line";
    }
    std::filesystem::remove(file);
    return refused;
}

}  // namespace tilepath::atom
