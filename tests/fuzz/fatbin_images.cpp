// Any bytes as an executable, library, archive, object file or fatbin: images whose sizes are theirs, or errors.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "fatbin/fatbin.h"

using namespace tilepath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint64_t most = 16 << 20;
    const auto images = fatbin::read_images({data, size}, "fuzz.bin", most);
    if (!images) {
        TILEPATH_ASSERT(!to_string(images.error()).empty(), "a refusal says why");
        return 0;
    }
    std::uint64_t text = 0;
    for (const fatbin::Image& image : *images) {
        text += image.ptx.size();
        TILEPATH_ASSERT(image.kind == fatbin::Image::Kind::ptx || image.ptx.empty(), "only PTX has a text");
    }
    TILEPATH_ASSERT(text <= most, "no more text than was allowed");
    return 0;
}
