// Any 32 bits as the instruction descriptor of each kind of tcgen05.mma: decoding loses nothing; what it describes has
// that descriptor, or it is refused with a reason.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "atom/blackwell.h"
#include "base/assert.h"

using namespace tilepath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 5) return 0;
    std::uint32_t bits = 0;
    std::memcpy(&bits, data, sizeof bits);
    for (const atom::Tcgen05KindTraits& kind : atom::all_tcgen05_kinds()) {
        const auto descriptor = atom::decode_instruction_descriptor(bits, kind.kind);
        const auto encoded = atom::encode(descriptor);
        TILEPATH_ASSERT(encoded && *encoded == bits, "decoding loses nothing");
        TILEPATH_ASSERT(!atom::fields(descriptor).empty(), "every descriptor can be told in words");
        const auto mma = atom::described(descriptor, data[4] % 4, (data[4] & 4) != 0);
        if (!mma) {
            TILEPATH_ASSERT(!to_string(mma.error()).empty(), "a refusal says why");
            continue;
        }
        const auto again = atom::instruction_descriptor(*mma);
        TILEPATH_ASSERT(again.m == descriptor.m && again.n == descriptor.n && again.a_type == descriptor.a_type &&
                            again.b_type == descriptor.b_type && again.sparse == descriptor.sparse &&
                            again.k96 == descriptor.k96,
                        "the instruction has the descriptor's shape and types");
        for (const int selector : {0, 1, 2, 3, 4}) {
            const auto metadata = mma->metadata(selector);
            TILEPATH_ASSERT(metadata || !to_string(metadata.error()).empty(), "a refusal says why");
        }
        for (const bool of_b : {false, true}) {
            const auto scales =
                mma->scales(of_b, mma->default_scale_vector(), of_b ? descriptor.sfb_id : descriptor.sfa_id);
            TILEPATH_ASSERT(scales || !to_string(scales.error()).empty(), "a refusal says why");
        }
    }
    return 0;
}
