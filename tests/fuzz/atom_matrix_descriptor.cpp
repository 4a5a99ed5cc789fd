// Any 64 bits as a matrix descriptor, used by any operand: decoding loses nothing, and no use reads outside a table.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "atom/matrix_descriptor.h"
#include "base/assert.h"

using namespace tilepath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 8) return 0;
    std::uint64_t bits = 0;
    std::memcpy(&bits, data, sizeof bits);
    const atom::MatrixDescriptor descriptor = atom::decode_matrix_descriptor(bits);
    if (const auto encoded = atom::encode(descriptor))
        TILEPATH_ASSERT(*encoded == bits, "decoding loses nothing");
    else
        TILEPATH_ASSERT(!encoded.error().empty(), "a refusal says why");
    TILEPATH_ASSERT(!atom::fields(descriptor).empty(), "every descriptor can be told in words");

    std::uint8_t use[4] = {};
    std::memcpy(use, data + 8, std::min<std::size_t>(size - 8, sizeof use));
    constexpr int element_bits[] = {4, 6, 8, 16, 32, 64};
    const auto major = use[0] & 1 ? atom::OperandMajor::mn : atom::OperandMajor::k;
    const atom::SharedOperand operand =
        atom::described(descriptor, major, element_bits[(use[0] >> 1) % std::size(element_bits)], use[1], use[2]);
    const Diagnostics found = atom::validate(descriptor, operand);
    const auto places = atom::operand_places(descriptor, operand);
    if (places) {
        TILEPATH_ASSERT(places->size() == std::size_t(operand.mn) * std::size_t(operand.k), "a place for each element");
    } else {
        TILEPATH_ASSERT(!to_string(places.error()).empty(), "a refusal says why");
        TILEPATH_ASSERT(has_error(found), "what has no places is not valid");
    }
    return 0;
}
