// Any 64 bits as the zero-column mask of tcgen05.mma.ws: decoding loses nothing, and each column is used or not.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "atom/blackwell.h"
#include "base/assert.h"

using namespace tilepath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 10) return 0;
    std::uint64_t bits = 0;
    std::memcpy(&bits, data, sizeof bits);
    const atom::ZeroColumnMask mask = atom::decode_zero_column_mask(bits);
    const auto encoded = atom::encode(mask);
    TILEPATH_ASSERT(encoded && *encoded == bits, "decoding loses nothing");
    TILEPATH_ASSERT(!atom::fields(mask).empty(), "every mask can be told in words");
    const auto zeroed = atom::zeroed_columns(mask, 32 << data[8] % 4, 64 << data[9] % 4);
    if (zeroed)
        TILEPATH_ASSERT(zeroed->size() == 64u << data[9] % 4, "a bit for each column");
    else
        TILEPATH_ASSERT(!to_string(zeroed.error()).empty(), "a refusal says why");
    return 0;
}
