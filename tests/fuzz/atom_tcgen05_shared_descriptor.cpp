// Any 64 bits as tcgen05's descriptor of a shared operand: decoding loses nothing, every use ends with places for each
// element or with a refusal.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "atom/blackwell.h"
#include "base/assert.h"

using namespace tilepath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 12) return 0;
    std::uint64_t bits = 0;
    std::memcpy(&bits, data, sizeof bits);
    const std::uint8_t* use = data + 8;
    const atom::Tcgen05Descriptor descriptor = atom::decode_tcgen05_descriptor(bits);
    const auto encoded = atom::encode(descriptor);
    TILEPATH_ASSERT(encoded && *encoded == bits, "decoding loses nothing");
    TILEPATH_ASSERT(!atom::fields(descriptor).empty(), "every descriptor can be told in words");
    constexpr int element_bits[] = {4, 6, 8, 16, 32, 64};
    const auto major = use[0] & 1 ? atom::OperandMajor::mn : atom::OperandMajor::k;
    const int width = element_bits[(use[0] >> 2) % std::size(element_bits)], mn = use[1], k = use[2];
    const bool padded = (use[0] & 2) != 0;
    const Diagnostics found =
        atom::validate(descriptor, {major, layout::SwizzleMode::none, width, mn, k, 16, 16, padded});
    const auto parts = atom::described_parts(descriptor, major, width, mn, k, padded);
    if (!parts) {
        TILEPATH_ASSERT(!to_string(parts.error()).empty() && has_error(found), "a refusal says why");
        return 0;
    }
    int covered = 0;
    for (const atom::OperandPart& part : *parts) {
        TILEPATH_ASSERT(part.first_k == covered, "parts follow each other along k");
        covered += part.operand.k;
        const auto layout = atom::operand_layout(part.operand);
        TILEPATH_ASSERT(layout || has_error(found), "what has no layout is not valid");
        if (layout) TILEPATH_ASSERT(layout->size() == std::int64_t{mn} * part.operand.k, "a place for each element");
    }
    TILEPATH_ASSERT(covered == k, "parts cover all of k");
    return 0;
}
