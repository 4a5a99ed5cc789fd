#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "number/recipe.h"

namespace tilepath::number {

/// One line of a vector file: `a b c d`, K elements each in a and b.
struct VectorLine {
    std::vector<std::uint64_t> a, b;
    std::uint64_t c = 0, d = 0;
};

/// A file named GPU[_INSTRUCTION]_A[_B]_D[_kN][_satfinite][_m8n8k4].txt, and the instruction that gave its results.
struct VectorFile {
    std::filesystem::path path;
    std::string gpu;
    DotRequest request;
    bool c_not_added = false;  ///< see docs/numerics.md, "Evidence"
};

VectorFile vector_file(const std::filesystem::path& path);
std::vector<VectorLine> read_vectors(const VectorFile& file);

}  // namespace tilepath::number
