#include "vectors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tilepath::number {
namespace {

std::vector<std::filesystem::path> text_files(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    if (!std::filesystem::is_directory(folder)) return files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".txt") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

/// Dot products that real GPUs computed, every line to the bit.
void expect_no_difference(const std::filesystem::path& path) {
    const VectorFile file = vector_file(path);
    const auto r = recipe(file.request);
    ASSERT_TRUE(r) << to_string(r.error());
    std::size_t compared = 0, different = 0;
    for (const VectorLine& line : read_vectors(file)) {
        const std::uint64_t d = dot(*r, line.a, line.b, line.c);
        ++compared;
        if (d != line.d && ++different <= 3)
            ADD_FAILURE() << path.filename() << " line " << compared << fmt::format(": {:x}, GPU {:x}", d, line.d);
    }
    EXPECT_GT(compared, 0u) << path;
    EXPECT_EQ(different, 0u) << path.filename() << " of " << compared;
}

TEST(Vectors, PublishedByKhattakAndMikaitis) {
    const auto files = text_files(std::filesystem::path(TILEPATH_TEST_DIR) / "../../shared/vectors");
    if (files.empty()) GTEST_SKIP() << "the published vectors are not beside the project (../shared/vectors)";
    for (const auto& file : files) expect_no_difference(file);
}

TEST(Vectors, RecordedForThisProject) {
    const auto files = text_files(std::filesystem::path(TILEPATH_TEST_DIR) / "vectors/dot");
    if (files.empty()) GTEST_SKIP() << "tests/vectors/dot has no recordings";
    for (const auto& file : files) expect_no_difference(file);
}

}  // namespace
}  // namespace tilepath::number
