// `tilepath isa` and the page that it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "program.h"

namespace tilepath::cli {
namespace {

TEST(Isa, ThePageIsWhatTheProgramPrints) {
    std::ifstream file(TILEPATH_TEST_DIR "/../docs/isa.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const Finished printed = Folder().shell("tilepath isa --markdown");
    EXPECT_EQ(printed.status, 0);
    EXPECT_TRUE(printed.out == page) << "write it anew: tilepath isa --markdown > docs/isa.md";
}

TEST(Isa, FindsFormsByPattern) {
    const Finished found = Folder().shell("tilepath isa ldmatrix");
    EXPECT_EQ(found.status, 0);
    EXPECT_THAT(found.out, testing::HasSubstr("ldmatrix.sync.aligned"));
    EXPECT_THAT(found.out, testing::Not(testing::HasSubstr("vote")));
}

}  // namespace
}  // namespace tilepath::cli
