#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace tilepath::kernels {

/// The PTX of kernels/FOLDER/MODULE.ptx.
inline std::string ptx_text(const std::string& folder, std::string_view module) {
    std::ifstream file(TILEPATH_TEST_DIR "/../kernels/" + folder + "/" + std::string(module) + ".ptx");
    EXPECT_TRUE(file) << module;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::size_t occurrences(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
}

}  // namespace tilepath::kernels
