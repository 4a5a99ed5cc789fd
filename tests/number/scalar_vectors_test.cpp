#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "scalar_model.h"

namespace tilepath::number {
namespace {

/// tests/vectors/scalar/GPU.txt: an opcode on a line of its own, then its recorded lines: operands, result, hexadecimal.
TEST(ScalarVectors, EveryRecordedFormAgrees) {
    std::ifstream in(TILEPATH_TEST_DIR "/vectors/scalar/h200.txt");
    ASSERT_TRUE(in) << "the recording is part of the project";
    ScalarForm form;
    std::size_t forms = 0, lines = 0, different = 0;
    for (std::string line; std::getline(in, line); ++lines) {
        if (line.front() != ' ') {
            form = scalar_form(line);
            ++forms;
            continue;
        }
        std::vector<std::uint64_t> words;
        std::stringstream digits(line);
        for (std::string word; digits >> word;) words.push_back(std::stoull(word, nullptr, 16));
        const std::uint64_t recorded = words.back();
        words.pop_back();
        const std::uint64_t d = model(form, words);
        if (d != recorded && ++different <= 10) ADD_FAILURE() << form.opcode << line << fmt::format(", model {:x}", d);
    }
    EXPECT_GT(forms, 700u);
    EXPECT_GT(lines, 18000u);
    EXPECT_EQ(different, 0u);
}

}  // namespace
}  // namespace tilepath::number
