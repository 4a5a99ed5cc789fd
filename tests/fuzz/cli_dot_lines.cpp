// Any lines for `tilepath dot`; the first byte chooses the arithmetic. What is read must compute, and its explanation
// must give the same bits.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "cli/dot_lines.h"
#include "number/explain.h"

using namespace tilepath;
using number::Format;

namespace {

std::vector<number::DotRecipe> make_recipes() {
    std::vector<number::DotRecipe> all;
    for (auto device : {number::Generation::ampere, number::Generation::hopper, number::Generation::blackwell})
        for (auto instruction :
             {number::Instruction::mma_sync, number::Instruction::wgmma, number::Instruction::tcgen05_mma})
            for (auto [a, d] : {std::pair{Format::f16, Format::f32},
                                {Format::f16, Format::f16},
                                {Format::bf16, Format::f32},
                                {Format::tf32, Format::f32},
                                {Format::f64, Format::f64},
                                {Format::e4m3, Format::f32},
                                {Format::e3m2, Format::f32},
                                {Format::e2m1, Format::f32},
                                {Format::s8, Format::s32},
                                {Format::u4, Format::s32},
                                {Format::b1, Format::s32}})
                for (auto scaling : {number::Scaling::none, number::Scaling::per_dot, number::Scaling::per_group}) {
                    number::DotRequest request{.device = device, .instruction = instruction, .a = a, .b = a, .d = d};
                    request.scaling = scaling;
                    if (auto recipe = number::recipe(request)) all.push_back(*recipe);
                }
    TILEPATH_ASSERT(all.size() > 20, "most of these exist");
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<number::DotRecipe> recipes = make_recipes();
    if (size == 0) return 0;
    const number::DotRecipe& recipe = recipes[data[0] % recipes.size()];
    const Source source("fuzz.txt", std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    const auto lines = cli::read_dot_lines(source, recipe);
    if (!lines) {
        TILEPATH_ASSERT(!to_string(lines.error()).empty(), "a refusal says why");
        return 0;
    }
    for (const cli::DotLine& line : *lines) {
        const number::Scales scales{line.scale_a, line.scale_b};
        const std::uint64_t d = number::dot(recipe, line.a, line.b, line.c, scales);
        const number::Explanation told = number::explain(recipe, line.a, line.b, line.c, scales);
        TILEPATH_ASSERT(told.result == d, "the explanation ends in the same bits");
        TILEPATH_ASSERT(!to_string(recipe, told).empty(), "an explanation has a text");
    }
    return 0;
}
