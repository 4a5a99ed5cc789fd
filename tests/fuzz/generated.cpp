// A program made by choices that the bytes are: it must end alike however it is scheduled
// (tests/generated/agreement.h). `generated_programs --seconds N` does the same with choices from seeds.
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "base/assert.h"
#include "generated/agreement.h"

using namespace tilepath::generated;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Instructions instructions("sm_90");
    static Agreement agreement("sm_90");
    Choices choices(1, {data, size});
    const Kernel kernel = generate(instructions, choices, choices.one_in(4));
    const std::string wrong = agreement.check(kernel, 1);
    if (!wrong.empty())
        std::fprintf(stderr, "%s\n// grid %u, block %u\n%s\n", kernel.text.c_str(), kernel.grid, kernel.block,
                     wrong.c_str());
    TILEPATH_ASSERT(wrong.empty(), "every schedule gives one result");
    return 0;
}
