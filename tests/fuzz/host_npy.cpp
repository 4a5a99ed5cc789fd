// Any bytes as a .npy file: an array whose data has the size that its shape says, or errors.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "host/npy.h"

using namespace tilepath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto array = host::read_npy_bytes("fuzz.npy", {data, size});
    if (!array) {
        TILEPATH_ASSERT(!to_string(array.error()).empty(), "a refusal says why");
        return 0;
    }
    std::uint64_t bytes = std::uint64_t(array->bytes);
    for (std::int64_t extent : array->shape) {
        TILEPATH_ASSERT(extent >= 0, "extents are not negative");
        bytes *= std::uint64_t(extent);
    }
    TILEPATH_ASSERT(array->data.size() == bytes, "the data is the shape's");
    return 0;
}
