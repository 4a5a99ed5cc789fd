// Any bytes: the reader must end, with images or with errors.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "fatbin/fatbin.h"

using namespace tilepath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto images = fatbin::read_images({data, size}, "fuzz");
    TILEPATH_ASSERT(images || !images.error().empty(), "a refusal says why");
    return 0;
}
