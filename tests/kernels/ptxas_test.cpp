// ptxas, where it is installed, assembles every kernel for the target that its PTX names.
#include "../ptxas.h"

#include <gtest/gtest.h>

#include <iterator>

namespace tilepath::kernels {
namespace {

TEST(Ptxas, AssemblesEveryModule) {
    const auto ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    int modules = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(TILEPATH_TEST_DIR "/../kernels")) {
        if (file.path().extension() != ".ptx") continue;
        std::ifstream in(file.path());
        const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        const std::size_t at = text.find("\n.target ");
        ASSERT_NE(at, std::string::npos) << file.path();
        const std::size_t begin = at + 9;
        const std::string target = text.substr(begin, text.find_first_of(",\n", begin) - begin);
        for (const auto& [line, said] : errors_of_ptxas(*ptxas, target, text))
            ADD_FAILURE() << file.path() << ":" << line << ": " << said;
        ++modules;
    }
    EXPECT_GE(modules, 19);
}

}  // namespace
}  // namespace tilepath::kernels
