// A program of asynchronous copies, barriers, clusters, warpgroups and Tensor Memory, made by choices that the bytes
// are (tests/generated/tiles.h); half of them wild.
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "base/assert.h"
#include "generated/agreement.h"
#include "generated/tiles.h"

using namespace tilepath::generated;

namespace {

struct Target {
    explicit Target(const char* name) : forms(name), agreement(name) {}
    TileForms forms;
    Agreement agreement;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Target targets[] = {Target("sm_90a"), Target("sm_100a"), Target("sm_103a"), Target("sm_120a")};
    Choices choices(1, {data, size});
    Target& target = choices.among(targets);
    const Kernel kernel = generate_tiles(target.forms, choices, choices.one_in(2));
    const std::string wrong = target.agreement.check(kernel, 1 + choices.below(1000));
    if (!wrong.empty())
        std::fprintf(stderr, "%s\n// %s, grid %u, block %u, cluster %u\n%s\n", kernel.text.c_str(),
                     target.forms.target().c_str(), kernel.grid, kernel.block, kernel.cluster, wrong.c_str());
    TILEPATH_ASSERT(wrong.empty(), "every schedule gives one result");
    return 0;
}
