// Any bits as each of tcgen05's descriptors: decoding loses nothing, and every use ends with an answer or a refusal.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "atom/blackwell.h"
#include "base/assert.h"

using namespace tilepath;

namespace {

template <class Descriptor, class Bits>
void loses_nothing(const Descriptor& descriptor, Bits bits) {
    const auto encoded = atom::encode(descriptor);
    TILEPATH_ASSERT(encoded && *encoded == bits, "decoding loses nothing");
    TILEPATH_ASSERT(!atom::fields(descriptor).empty(), "every descriptor can be told in words");
}

template <class Value>
void answers(const Result<Value>& value) {
    if (!value) TILEPATH_ASSERT(!to_string(value.error()).empty(), "a refusal says why");
}

void use_shared(std::uint64_t bits, const std::uint8_t use[4]) {
    const atom::Tcgen05Descriptor descriptor = atom::decode_tcgen05_descriptor(bits);
    loses_nothing(descriptor, bits);
    constexpr int element_bits[] = {4, 6, 8, 16, 32, 64};
    const auto major = use[0] & 1 ? atom::OperandMajor::mn : atom::OperandMajor::k;
    const auto operand = atom::described(descriptor, major, element_bits[(use[0] >> 2) % std::size(element_bits)],
                                         use[1], use[2], (use[0] & 2) != 0);
    answers(operand);
    if (!operand) return;
    const Diagnostics found = atom::validate(descriptor, *operand);
    if (!atom::operand_layout(*operand)) TILEPATH_ASSERT(has_error(found), "what has no layout is not valid");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 12) return 0;
    std::uint64_t bits = 0;
    std::memcpy(&bits, data, sizeof bits);
    const std::uint8_t* use = data + 8;
    use_shared(bits, use);
    for (const atom::Tcgen05KindTraits& kind : atom::all_tcgen05_kinds()) {
        const auto descriptor = atom::decode_instruction_descriptor(static_cast<std::uint32_t>(bits), kind.kind);
        loses_nothing(descriptor, static_cast<std::uint32_t>(bits));
        answers(atom::described(descriptor, use[0] % 4, (use[1] & 1) != 0));
    }
    const atom::ZeroColumnMask mask = atom::decode_zero_column_mask(bits);
    loses_nothing(mask, bits);
    const auto zeroed = atom::zeroed_columns(mask, 32 << use[2] % 4, 64 << use[3] % 4);
    answers(zeroed);
    if (zeroed) TILEPATH_ASSERT(zeroed->size() == 64u << use[3] % 4, "a bit for each column");
    return 0;
}
